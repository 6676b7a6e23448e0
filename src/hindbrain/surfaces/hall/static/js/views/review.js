// The review queue: what waits for a person, by kind, with what may be done about each right there.

import { h, plain, replace, text } from '../dom.js';
import { KEYS, cardOf, decide, isHard, labelOf } from '../knowledge/choices.js';
import { look, statusKind } from '../knowledge/words.js';
import { link } from '../router.js';
import { ago, badge, button, count, empty, failure, heading, inTurn, num } from '../ui.js';

const AT_FIRST = 50;
const MOST = 1000;
const AFTER_G_MS = 1200; // then a letter is a way to go, not an act
const KINDS = [
  { name: 'returned', title: 'Came back', about: 'rejected values that somebody tried to write again', kind: 'bad' },
  { name: 'contradiction', title: 'Contradictions', about: 'proposed, with both sides cited; nothing is decided', kind: 'bad' },
  { name: 'stale', title: 'Stale', about: 'active cards whose evidence changed or went', kind: 'warn' },
  { name: 'open_gate', title: 'Open gates', about: 'candidates that have all their gate asks for', kind: 'good' },
];

/** Show the queue. */
export async function show(page) {
  const { brain, signal } = page;
  const about = h('span', { role: 'status' });
  const area = h('div', { class: 'stack queue', on: { keydown: letters(() => state.items, () => context) } });
  const state = { limit: AT_FIRST, items: [], drawn: '' };
  const keys = h('span', { class: 'keys-told' }, h('kbd', {}, 'j'), ' ', h('kbd', {}, 'k'), ' walk; the letter on a button does it for the card that has the focus');
  replace(page.root, heading('Review', { about: 'What waits for a person. Whatever you decide is an ordinary act, with your reason on record.' }), h('p', { class: 'row spread muted' }, about, keys), area);

  async function draw() {
    const queue = await look('review', { limit: state.limit }, { brain, signal });
    const seen = JSON.stringify(queue.items.concat(queue.counts));
    if (seen === state.drawn || signal.aborted) return;
    state.drawn = seen;
    state.items = queue.items;
    replace(about, `${count(queue.total, 'item')}${queue.unread_files ? `; ${count(queue.unread_files, 'cited file')} could not be read` : ''}`);
    keeping(area, () => replace(area, shown(queue, context)));
  }
  const redraw = inTurn(() => draw().catch((error) => error.name === 'AbortError' || error.code === 'owner_gone' || replace(area, failure(error, redraw))));
  const context = { brain, done: redraw, more: () => ((state.limit = MOST), redraw()) };
  await draw();
  page.onLive(redraw);
}

function shown(queue, context) {
  if (!queue.total) return empty('Nothing waits for you', 'No value came back, no cards disagree, none lost its ground, and no gate stands open.');
  return [
    KINDS.filter((kind) => queue.counts[kind.name]).map((kind) => group(kind, queue, context)),
    queue.capped ? h('p', { class: 'muted' }, 'There are too many contradictions to name all of them; settle these first.') : null,
    queue.left_out ? button(`Show ${num(queue.left_out)} more`, { onclick: context.more }) : null,
  ];
}

function group(kind, queue, context) {
  const items = queue.items.filter((item) => item.kind === kind.name);
  const size = queue.counts[kind.name];
  return h(
    'section',
    { class: 'queue-kind', 'data-kind': kind.name },
    h('header', { class: 'lane-head' }, h('h2', {}, kind.title), badge(num(size), kind.kind), h('p', { class: 'muted' }, kind.about)),
    items.map((item) => drawnItem(item, context)),
  );
}

function drawnItem(item, context) {
  const whole = item.choices.filter((choice) => !cardOf(choice) || choice.name === 'keep');
  return h(
    'article',
    { class: 'panel item', 'data-walk': '', 'data-item': item.key },
    h('h3', {}, text(item.why), item.last_at ? [', ', ago(item.last_at)] : null),
    item.statements.length ? h('div', { class: item.statements.length > 1 ? 'sides' : 'stack' }, item.statements.map((one) => side(one, item, context))) : null,
    h('p', { class: 'muted' }, h('b', {}, 'To settle it: '), text(item.settle)),
    h('div', { class: 'actions' }, whole.map((choice) => control(choice, item, context)), item.statements.length ? null : link(['b', context.brain.id, 'ledger'], { class: 'button' }, 'Look into the ledger')),
  );
}

function side(one, item, context) {
  const id = one.card_id;
  const cites = item.citations.filter((cite) => cite.card_id === id);
  const choices = item.choices.filter((choice) => cardOf(choice) === id && choice.name !== 'keep');
  return h(
    'div',
    { class: 'side-of', 'data-card': id },
    h('p', { class: 'statement' }, link(['b', context.brain.id, 'knowledge', id], { 'data-key': `${item.key}-${id}` }, text(plain(one.statement, 240)))),
    h('p', { class: 'row' }, badge(one.status, statusKind(one.status)), badge(one.tier, 'accent'), h('span', { class: 'muted' }, text(plain(one.field, 40)))),
    cites.length ? h('ul', { class: 'cites' }, cites.map((cite) => citation(cite, context.brain))) : null,
    choices.length ? h('div', { class: 'actions' }, choices.map((choice) => control(choice, item, context))) : null,
  );
}

function citation(cite, brain) {
  const words = cite.living ? text(plain(cite.excerpt ?? cite.evidence_id, 200)) : h('span', { class: 'muted' }, 'gone');
  return h('li', {}, h('span', { class: 'muted' }, `${cite.role}: `), link(['b', brain.id, 'evidence', cite.evidence_id], {}, words));
}

function control(choice, item, context) {
  const key = KEYS[choice.name];
  const words = [labelOf(choice), key ? h('kbd', { 'aria-hidden': 'true' }, key) : null];
  const kind = choice.name === 'promote' ? 'primary' : isHard(choice) ? 'danger' : 'plain';
  return button(words, { kind, title: plain(choice.about, 200), 'aria-keyshortcuts': key, 'data-key': `${item.key}-${choice.name}-${cardOf(choice) ?? ''}`, onclick: () => decide(choice, item, context) });
}

// A letter does what its button does, for the item and the side of it that has the focus.
function letters(items, context) {
  let gone = -Infinity; // when g was pressed
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const second = performance.now() - gone < AFTER_G_MS;
    gone = event.key === 'g' ? performance.now() : -Infinity;
    const item = items().find((one) => one.key === event.target.closest('[data-item]')?.dataset.item);
    if (second || !item) return;
    const fits = item.choices.filter((choice) => KEYS[choice.name] === event.key);
    const near = event.target.closest('[data-card]')?.dataset.card;
    const choice = fits.find((one) => cardOf(one) === near) ?? fits[0];
    if (!choice) return;
    event.preventDefault();
    decide(choice, item, context());
  };
}

// Drawn anew, the focus stays where it was; where that is gone, on the first that is left.
function keeping(area, redraw) {
  const held = area.contains(document.activeElement) ? document.activeElement : null;
  const key = held?.dataset.key;
  redraw();
  if (!held) return;
  const again = key && area.querySelector(`[data-key="${CSS.escape(key)}"]`);
  (again ?? area.querySelector('[data-walk] a, [data-walk] button'))?.focus({ preventScroll: Boolean(again) });
}
