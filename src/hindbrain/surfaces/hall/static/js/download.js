// Downloads: a text that the page holds becomes a file on the person's disk. Nothing is fetched for it.

import { button } from './ui.js';

/** A button that gives a text as a file; `read` brings the text when it is wanted. */
export function downloadable(words, name, read) {
  const give = async () => save(name, await read());
  return button(words, { onclick: give });
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser has begun to read by then
}
