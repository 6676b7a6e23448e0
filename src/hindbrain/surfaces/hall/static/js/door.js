// Door: a page on a port that no other program had. It has the browser remove what it keeps for the address of the Hall, so that
// nothing which another program left there sees the ticket, and goes on to the Hall with it.
const WAIT_MS = 3000;
const hall = document.querySelector('meta[name="hall"]').content;
let gone = false;
function enter() {
  if (gone) return;
  gone = true;
  location.replace(`${hall}/${location.search}${location.hash}`);
}
const image = new Image();
image.onload = enter;
image.onerror = enter;
image.src = `${hall}/hall/clear.svg?${crypto.randomUUID()}`;
setTimeout(enter, WAIT_MS);
