// The past: a slider over the time of a brain, from its first entry until now.

import { h, replace } from '../dom.js';
import { button, calmed, when } from '../ui.js';

const STEPS = 1000;

/** The time in an address, in milliseconds, or null for now. */
export function moment(query) {
  const given = query.get('as_of') ?? '';
  return Number(given) || Date.parse(given) || null;
}

/** The line that says one looks at the past, with the way back. */
export const pastBanner = (at, action) => [h('p', {}, h('b', {}, 'You are viewing ', when(at), '.'), ' Nothing here is newer than that.'), action];

/**
 * A slider from the first moment to now. `choose(ms or null)` is called when one stays somewhere; null is now.
 * Returns {element, at, banner}: banner says that one looks at the past, while one does.
 */
export function past(first, { chosen, choose }) {
  let at = chosen;
  let span = Math.max(1, Date.now() - first);
  const told = h('output', { class: 'past-told', for: 'past' });
  const banner = h('div', { class: 'past-banner', role: 'status' });
  const tell = calmed(120, () => choose(at));
  const slider = h('input', { type: 'range', id: 'past', min: '0', max: String(STEPS), step: '1', value: String(placed()), on: { input: moved } });
  const now = button('Now', { kind: 'quiet', label: 'Back to now', onclick: back });
  draw();
  return { element: h('div', { class: 'past' }, h('label', { for: 'past' }, 'As of'), slider, told, now), banner, at: () => at };

  function placed() {
    return at === null ? STEPS : Math.round(((at - first) / span) * STEPS);
  }

  function moved() {
    span = Math.max(1, Date.now() - first);
    const step = Number(slider.value);
    at = step >= STEPS ? null : Math.round(first + (span * step) / STEPS);
    draw();
    tell();
  }

  function back() {
    at = null;
    slider.value = String(STEPS);
    draw();
    choose(null);
  }

  function draw() {
    const words = at === null ? 'now' : new Date(at).toLocaleString();
    replace(told, at === null ? 'now' : when(at));
    slider.setAttribute('aria-valuetext', words);
    now.hidden = at === null;
    if (at === null) replace(banner);
    else replace(banner, pastBanner(at, button('Back to now', { onclick: back })));
    banner.hidden = at === null;
  }
}
