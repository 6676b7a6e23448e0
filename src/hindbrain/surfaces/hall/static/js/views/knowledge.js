// The board: what is known, by rank and status. A card is opened at its own address.

import { h, plain, replace, text } from '../dom.js';
import { tile } from '../knowledge/tile.js';
import { RANKS, STATUSES, look } from '../knowledge/words.js';
import { note } from '../router.js';
import { badge, button, calmed, count, empty, field, heading, inTurn, num } from '../ui.js';

const MOST = 1000; // cards that one question answers
const IN_CELL = 12; // cards of a cell before the rest is asked for
const MARKED = 1000; // items of the review queue that are looked at for marks

/** Show the board, or the card that the address names. */
export async function show(page, rest) {
  if (rest[0]) return (await import('./card.js')).show(page, rest);
  const asked = { q: page.query.get('q') ?? '', field: page.query.get('field') ?? '', domain: page.query.get('domain') ?? '' };
  const state = { asked, answer: null, found: new Map(), meanings: new Map(), whole: new Set(), drawn: '' };
  const controls = toolbar(state, () => load());
  const board = h('div', { class: 'board' });
  replace(page.root, heading('Knowledge', { about: 'Cards: what follows from evidence. The higher a rank, the rarer and the better proven.' }), controls.element, board);
  const options = { brain: page.brain, signal: page.signal };
  let latest = 0;

  async function load() {
    const turn = ++latest;
    note({ q: asked.q, field: asked.field, domain: asked.domain });
    const args = { limit: MOST, gates: true, facets: true, ...(asked.q && { query: asked.q }), ...(asked.field && { field: asked.field }), ...(asked.domain && { domain: asked.domain }) };
    const answer = await look('knowledge.list', args, options);
    if (turn !== latest || page.signal.aborted) return;
    state.answer = answer;
    controls.offer(answer);
    draw();
  }

  const mark = inTurn(async () => {
    const queue = await look('review', { limit: MARKED }, options);
    state.found = marksOf(queue.items);
    draw();
  });

  function draw() {
    const seen = JSON.stringify([state.answer.cards, state.answer.counts, [...state.found], [...state.whole], asked]);
    if (seen === state.drawn || page.signal.aborted) return;
    state.drawn = seen;
    const columns = sized(state.answer.counts);
    board.style.setProperty('--columns', columns.map((one) => (one.size ? 'minmax(0, 1fr)' : 'minmax(0, 0.45fr)')).join(' '));
    keepingFocus(board, () => replace(board, drawn(page.brain, state, columns, () => draw())));
  }

  const policy = await look('knowledge.policy', {}, options);
  state.meanings = new Map(policy.policy.map((one) => [one.tier, one.meaning]));
  await load();
  const again = () => Promise.all([load(), mark()]).catch((error) => error.name === 'AbortError' || error.code === 'owner_gone' || controls.fail(error));
  page.onLive(again);
  mark().catch((error) => error.name === 'AbortError' || controls.fail(error));
}

function toolbar(state, changed) {
  const { asked } = state;
  const calm = calmed(150, () => run());
  const words = h('input', { type: 'search', value: asked.q, placeholder: 'Find cards by their words', 'aria-label': 'Find cards by their words', maxlength: 200, on: { input: () => ((asked.q = words.value.trim()), calm()) } });
  const fields = h('select', { on: { change: () => ((asked.field = fields.value), run()) } });
  const domains = h('select', { on: { change: () => ((asked.domain = domains.value), run()) } });
  const told = h('p', { class: 'muted board-told', role: 'status' });
  const trouble = h('div', {});
  const run = () => changed().then(() => replace(trouble), fail);
  const fail = (error) => error.name === 'AbortError' || replace(trouble, h('p', { class: 'failure', role: 'alert' }, text(error.message)));
  const element = h('div', { class: 'stack' }, h('div', { class: 'toolbar board-bar' }, words, field('Field', fields), field('Domain', domains), told), trouble);
  let offered = '';
  function offer(answer) {
    replace(told, told_(answer));
    const now = JSON.stringify(answer.facets);
    if (now === offered) return;
    offered = now;
    options(fields, 'every field', answer.facets.fields.map((one) => [one.name, `${plain(one.name, 40)} (${num(one.count)})`]), asked.field);
    options(domains, 'every domain', Object.entries(answer.facets.domains).map(([name, size]) => [name, `${name} (${num(size)})`]), asked.domain);
  }
  return { element, offer, fail };
}

function told_(answer) {
  const cut = answer.total > answer.cards.length ? `, the first ${num(answer.cards.length)} are shown` : '';
  return `${count(answer.total, 'card')}${cut}`;
}

function options(control, all, rows, chosen) {
  const known = rows.some(([name]) => name === chosen) || !chosen ? rows : [...rows, [chosen, plain(chosen, 40)]];
  replace(control, h('option', { value: '' }, all), known.map(([name, words]) => h('option', { value: name, selected: name === chosen }, words)));
  control.value = chosen;
}

function marksOf(items) {
  const found = new Map();
  for (const item of items) {
    for (const id of item.card_ids) {
      const one = { ...(found.get(id) ?? {}) };
      if (item.kind === 'stale') one.stale = true;
      if (item.kind === 'contradiction') one.contradicted = true;
      found.set(id, one);
    }
  }
  return found;
}

const sized = (counts) => STATUSES.map((status) => ({ ...status, size: RANKS.reduce((sum, rank) => sum + (counts[rank]?.[status.name] ?? 0), 0) }));

function drawn(brain, state, columns, redraw) {
  const { answer, asked } = state;
  if (!answer.total) return nothing(asked);
  return [
    h('div', { class: 'board-head', 'aria-hidden': 'true' }, columns.map((one) => h('div', {}, badge(one.name, one.kind), h('span', { class: 'muted' }, num(one.size))))),
    RANKS.filter((rank) => answer.counts[rank]).map((rank) => lane(brain, state, rank, columns, redraw)),
  ];
}

function nothing(asked) {
  if (asked.q || asked.field || asked.domain) return empty('No card is like this', 'Take a word or a filter away.');
  return empty('No card yet', 'An agent distills cards from evidence; you can try it yourself:', { command: 'hindbrain knowledge distill --help' });
}

function lane(brain, state, rank, columns, redraw) {
  const sizes = state.answer.counts[rank];
  const all = Object.values(sizes).reduce((sum, one) => sum + one, 0);
  const cells = columns.map((status) => cell(brain, state, rank, status, redraw));
  return h(
    'section',
    { class: `lane ${rank}`, 'aria-label': `${rank}: ${count(all, 'card')}` },
    h('header', { class: 'lane-head' }, h('h2', {}, rank), h('span', { class: 'muted' }, num(all)), h('p', { class: 'muted' }, state.meanings.get(rank))),
    h('div', { class: 'lane-cells' }, cells),
  );
}

function cell(brain, state, rank, status, redraw) {
  const cards = state.answer.cards.filter((card) => card.tier === rank && card.status === status.name);
  const size = state.answer.counts[rank][status.name] ?? 0;
  const name = `${rank}/${status.name}`;
  const shown = state.whole.has(name) ? cards : cards.slice(0, IN_CELL);
  const more = cards.length - shown.length;
  const cut = size - cards.length;
  const open = () => (state.whole.add(name), redraw());
  return h(
    'div',
    { class: `cell ${size ? '' : 'bare'}`, 'data-cell': name, role: 'group', 'aria-label': `${rank}, ${status.name}: ${count(size, 'card')}` },
    size ? h('p', { class: 'cell-name' }, badge(status.name, status.kind), h('span', { class: 'muted' }, ` ${num(size)}, ${status.meaning}`)) : null,
    shown.map((card) => tile(brain, card, state.found.get(card.card_id))),
    more ? button(`Show ${num(more)} more`, { kind: 'quiet', onclick: open }) : null,
    cut ? h('p', { class: 'muted' }, `${num(cut)} not shown: ask by words or by field`) : null,
  );
}

// A board that is drawn anew has the focus where it was: on the same card, wherever that went.
function keepingFocus(board, redraw) {
  const held = document.activeElement?.closest?.('[data-card]');
  const id = held && board.contains(held) ? held.dataset.card : null;
  redraw();
  if (id) board.querySelector(`[data-card="${CSS.escape(id)}"] a`)?.focus({ preventScroll: true });
}
