// Pairs: what was done, and to what, with what experience advises about it.

import { ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { note } from '../router.js';
import { ago, calmed, count, empty, num, select } from '../ui.js';
import { balance } from './balance.js';
import { way } from './ways.js';
import { ADVICE, LEVELS, adviceBadge, mark } from './words.js';

const MOST = 200;
const TYPING_MS = 120;

/** The list of pairs with its search. `chosen()` is the pair that is looked at, `choose` shows another. */
export function pairs(page, { chosen, choose }) {
  const state = { rows: [], advice: page.query.get('advice') ?? '', asked: 0 };
  const find = h('input', { type: 'search', placeholder: 'Find an act or what it was done to', 'aria-label': 'Find a pair', value: page.query.get('find') ?? '', on: { input: calmed(TYPING_MS, typed) } });
  const filter = select('What it advises', [['', 'every advice'], ...ADVICE.map(([name, words]) => [name, words])], { chosen: state.advice, onchange: filtered });
  const told = h('p', { class: 'muted', role: 'status' });
  const list = h('div', { class: 'pair-list' });
  const nothing = h('div', {});
  const element = h('div', { class: 'stack' }, h('div', { class: 'toolbar' }, find, filter), told, list, nothing);

  function filtered(value) {
    state.advice = value;
    note({ advice: value });
    return load();
  }

  function typed() {
    note({ find: find.value.trim() });
    return load();
  }

  async function load() {
    state.asked += 1;
    const turn = state.asked;
    const words = find.value.trim();
    const asked = { find: words, limit: MOST, ...(state.advice ? { action: state.advice } : {}) };
    const answer = await ask('experience.pairs', asked, { brain: page.brain, signal: page.signal });
    if (turn !== state.asked) return; // somebody asked on; the next answer is on its way
    state.rows = answer.pairs;
    draw();
    const all = Object.values(answer.by_action).reduce((sum, one) => sum + one, 0);
    replace(told, answer.left_out ? `the strongest ${num(answer.pairs.length)} of ${count(answer.total, 'pair')}` : count(answer.total, 'pair'));
    replace(nothing, answer.total ? null : none(all || words || state.advice));
  }

  function draw() {
    const most = Math.max(1, ...state.rows.map((one) => one.attention));
    const now = chosen();
    const rows = state.rows.map((one) => ({ ...one, most, now: one.space === now?.space && one.entity === now?.entity }));
    keyed(list, rows, { key: (one) => `${one.space}\u0000${one.entity}`, make: (one) => card(page, one, choose), mark });
  }

  return { element, load, draw, rows: () => state.rows };
}

function none(some) {
  if (some) return empty('No such pair', 'Other words or another advice may find it.');
  return empty('Nothing was experienced here yet', 'Experience comes from tasks that Hindbrain runs by itself and from missions:', { command: 'hindbrain run "Count the Python files"' });
}

function card(page, one, choose) {
  const name = way(page, { pair: one.space, entity: one.entity }, () => choose({ space: one.space, entity: one.entity }), { 'aria-current': one.now ? 'true' : null });
  name.append(text(plain(one.space, 80)), h('span', { class: 'slash' }, ' / '), text(plain(one.entity, 80)));
  const held = LEVELS.filter(([level]) => one.levels[level]).map(([level, words]) => `${num(one.levels[level])} ${one.levels[level] === 1 && words.endsWith('s') ? words.slice(0, -1) : words}`);
  return h(
    'article',
    { class: `card pair ${one.now ? 'chosen' : ''}`, 'data-walk': '' },
    h('div', { class: 'row spread' }, h('h3', {}, name), adviceBadge(one.action)),
    balance(one.attention, one.decision, one.most),
    h('p', { class: 'muted' }, held.join(', '), one.newest_at ? [', newest ', ago(one.newest_at)] : null),
  );
}
