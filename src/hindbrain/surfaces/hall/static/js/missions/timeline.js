// The timeline of a mission: its events, the newest first. New ones are put on top; what is there stays as it is.

import { h, plain, replace, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { ago, button, count } from '../ui.js';
import { classBadge, outcomeBadge, worded } from './words.js';

const FIRST = 200;
const STEP = 20; // events that are asked for when something happened; more when that was not enough
const MOST = 1000; // that the operation gives at once

/** Follow the events of a mission. `read(number)` gives its state with that many of its last events. */
export function timeline({ read }) {
  const rows = h('ol', { class: 'events', reversed: true });
  const earlier = h('div', {});
  const element = h('div', { class: 'stack' }, rows, earlier);
  let known = [];

  async function begin(number = FIRST) {
    const state = await read(number);
    known = state.events;
    draw(state);
    return state;
  }

  async function more() {
    const last = known.at(-1)?.seq ?? 0;
    let state = await read(STEP);
    const first = state.events[0]?.seq ?? 0;
    if (first > last + 1) state = await read(Math.min(MOST, state.event_count - last));
    const end = known.at(-1)?.seq ?? 0; // it may have grown while this was read
    known = [...known, ...state.events.filter((one) => one.seq > end)];
    draw(state);
    return state;
  }

  function draw(state) {
    keyed(rows, [...known].reverse(), { key: (one) => one.event_id, make: row, mark: (one) => one.hash });
    const hidden = state.event_count - known.length;
    const show = button(`Show ${count(Math.min(hidden, MOST - known.length), 'earlier event')}`, { onclick: () => begin(MOST) });
    const rest = h('p', { class: 'muted' }, `${count(hidden, 'event')} before these are in the export of its events.`);
    replace(earlier, hidden > 0 ? (known.length < MOST ? show : rest) : null);
  }

  async function reveal(eventId) {
    if (!known.some((one) => one.event_id === eventId)) await begin(MOST);
    const found = [...rows.children].find((one) => one.dataset.event === eventId);
    if (!found) return;
    found.querySelector('details').open = true;
    found.scrollIntoView({ block: 'center' });
    found.querySelector('summary').focus({ preventScroll: true });
  }

  // The end of a mission does not say what was said before it; the round before does.
  const rounds = () =>
    known
      .filter((one) => one.payload?.control?.loss)
      .map(({ payload: { control } }, at, all) => ({ prev_directive: at ? all[at - 1].payload.control.directive : 'init', ...control, ...control.loss }));

  return { element, begin, more, reveal, rounds };
}

function row(event) {
  const loud = event.event_type === 'loop_warning' || event.event_type === 'budget_warning';
  return h(
    'li',
    { class: `event ${loud ? 'loud' : ''} ${event.source}`, value: event.seq, 'data-event': event.event_id },
    h(
      'details',
      {},
      h('summary', {}, h('span', { class: 'event-line' }, h('span', { class: 'event-number muted' }, String(event.seq)), h('b', {}, worded(event.event_type)), about(event), h('span', { class: 'row event-marks' }, event.outcome === 'noted' ? null : outcomeBadge(event.outcome), classBadge(event.evidence_class), h('span', { class: 'muted' }, ago(event.timestamp))))),
      inside(event),
    ),
  );
}

// What an event is about, in one line: the sentence where there is one, else the target.
function about(event) {
  const told = event.payload ?? {};
  const words = told.message ?? told.claim?.claim ?? told.guard?.classification?.replaceAll('_', ' ') ?? told.about?.summary ?? told.why ?? told.command ?? told.query ?? (event.target === '.' ? told.targets?.join(', ') : event.target) ?? '';
  return h('span', { class: 'event-about' }, text(plain(words, 160)));
}

function inside(event) {
  const who = event.source === 'runtime' ? 'seen by Hindbrain itself' : event.source === 'agent' ? 'told by the agent' : `told by ${event.source}`;
  const shown = { actor: event.actor, tool: event.tool, target: event.target, target_digest: event.target_digest, duration_ms: event.duration_ms || null, agent_confidence: event.agent_confidence, ...event.payload };
  const told = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== null && value !== undefined));
  return h(
    'div',
    { class: 'event-inside' },
    h('p', { class: 'muted' }, who, ', in the phase ', worded(event.phase), ', ', h('span', { class: 'mono' }, event.event_id)),
    h('pre', { class: 'sunken', tabindex: '0', 'aria-label': 'What was recorded' }, text(JSON.stringify(told, null, 2), { mono: true, class: 'pre' })),
    h('p', { class: 'muted mono digest' }, event.hash),
  );
}
