// Following: reading again what has changed, one reading at a time, for as long as the page is shown.

import { CallError } from '../api.js';
import { toast } from '../dialog.js';

/** A function that runs a reading. Called while one is under way, it runs once more after it. Tells what fails. */
export function following(page, read) {
  let running = false;
  let again = false;
  return async function follow() {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again && !page.signal.aborted) {
        again = false;
        await read();
      }
    } catch (error) {
      told(page, error);
    } finally {
      running = false;
    }
  };
}

// That the owner is away is told by the frame of the page, and all is read anew when it is back.
function told(page, error) {
  if (page.signal.aborted || error.name === 'AbortError' || error.code === 'owner_gone') return;
  if (!(error instanceof CallError)) throw error;
  toast(error.message, 'bad');
}
