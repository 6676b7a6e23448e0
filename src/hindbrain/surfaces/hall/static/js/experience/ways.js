// Ways through experience: links that change what is looked at without showing the whole view anew.

import { link } from '../router.js';

/** A link to something in this view. A plain click chooses it in place; a new tab opens it by its address. */
export function way(page, query, choose, props = {}, ...children) {
  const clicked = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    choose();
  };
  return link(['b', page.brain.id, 'experience'], { query, on: { click: clicked }, ...props }, ...children);
}
