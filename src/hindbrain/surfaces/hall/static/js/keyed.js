// Keyed: a list that changes in place. What did not change stays the same element, so focus, scroll and open details stay.

const KEPT = Symbol('kept');

/**
 * Make the children of an element those of the rows. `key` names a row, `make` draws it, `mark` says when it has to be drawn anew.
 */
export function keyed(container, rows, { key, make, mark = JSON.stringify }) {
  const known = container[KEPT] ?? new Map();
  const now = new Map();
  let place = container.firstElementChild;
  for (const row of rows) {
    const name = key(row);
    const old = known.get(name);
    const here = Boolean(old) && old.element === place;
    const made = settled(old, row, mark(row), make);
    now.set(name, made);
    if (here) place = made.element;
    if (made.element === place) {
      place = place.nextElementSibling;
    } else {
      container.insertBefore(made.element, place);
    }
  }
  for (const [name, old] of known) if (now.get(name)?.element !== old.element) old.element.remove();
  container[KEPT] = now;
}

function settled(old, row, mark, make) {
  if (old?.mark === mark) return old;
  const element = make(row);
  if (old) succeed(old.element, element);
  return { element, mark };
}

// The new element takes the place of the old one, its open details and its focus.
function succeed(old, element) {
  const open = [...old.querySelectorAll('details')].map((one) => one.open);
  [...element.querySelectorAll('details')].forEach((one, index) => (one.open = open[index] ?? one.open));
  const held = old.contains(document.activeElement) ? focusable(old).indexOf(document.activeElement) : -1;
  old.replaceWith(element);
  if (held >= 0) focusable(element)[held]?.focus({ preventScroll: true });
}

const focusable = (element) => [...element.querySelectorAll('a[href], button, input, select, textarea, summary')];

/** Draw a part anew with the focus and the scrolling where they were. Where the focus is gone, it goes to the head of the view. */
export function keeping(root, redraw) {
  const held = root.contains(document.activeElement) ? document.activeElement : null;
  const scrolled = stops(root).filter((one) => one.scrollTop).map((one) => [named(one), one.scrollTop]);
  redraw();
  const now = stops(root);
  for (const [name, top] of scrolled) {
    const again = now.find((one) => named(one) === name);
    if (again) again.scrollTop = top;
  }
  if (held && !held.isConnected) refocus(root, held);
}

/** Focus what has come for something that is gone; where nothing has, the head of the view. */
export function refocus(root, gone) {
  const now = stops(root);
  const again = now.find((one) => named(one) === named(gone)) ?? now.find((one) => uncounted(one) === uncounted(gone));
  (again ?? document.querySelector('main h1[tabindex]'))?.focus({ preventScroll: Boolean(again) });
}

const stops = (root) => [...focusable(root), ...root.querySelectorAll('[tabindex="0"]')];
const named = (element) => [element.tagName, element.getAttribute('href'), element.getAttribute('aria-label') ?? element.textContent].join(' ');
const uncounted = (element) => named(element).replace(/[\d.,]+/g, ''); // `Open 7` and `Open 8` are the same button
