// Places: where one was at each address of this visit, so that going back leads there and no focus is lost on the way.

const known = new Map();
let entry = null;

/** Keep where one is at the address that is left, and begin with the one that is shown now. */
export function leave() {
  history.scrollRestoration = 'manual';
  if (entry) known.set(entry, { top: window.scrollY, href: document.activeElement?.getAttribute('href') });
  entry = history.state?.entry ?? crypto.randomUUID();
  history.replaceState({ ...history.state, entry }, '');
}

/** Be where one was at this address before. At a new one, a focus that went with the last view goes to the head of this one. */
export function arrive(main) {
  const was = known.get(entry);
  if (was) window.scrollTo(0, was.top);
  const again = was?.href && [...main.querySelectorAll('a[href]')].find((one) => one.getAttribute('href') === was.href);
  const lost = known.size > 0 && document.activeElement === document.body;
  if (lost) (again || main.querySelector('h1[tabindex]'))?.focus({ preventScroll: true });
  if (again) again.scrollIntoView({ block: 'nearest' }); // what stands above it may have another height by now
}
