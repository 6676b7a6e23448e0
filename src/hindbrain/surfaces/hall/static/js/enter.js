// Entrance: keeps the key of this visit and goes on to where the address leads, without the ticket in it.
const key = document.querySelector('meta[name="hall-key"]').content;
localStorage.setItem('hall-key', key);
location.replace(`/${location.hash}`);
