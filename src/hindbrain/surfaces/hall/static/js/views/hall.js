// The Hall: every brain at a glance, and the totals across all of them.

import { house, refresh } from '../brains.js';
import { h, plain, replace, svg, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { RANKS, RANK_WORDS } from '../knowledge/words.js';
import { link } from '../router.js';
import { ago, badge, count, empty, heading, num, panel } from '../ui.js';

const COLOURS = { dao_tian: 1, dao_ren: 5, shu: 3, qi: 6 };
const STATES = { warm: 'good', dormant: 'plain', missing: 'bad', unreachable: 'bad' };
const HEALTH = { ok: 'good', warning: 'warn', error: 'bad' };
const MANY = 12; // brains from which on one wants to search among them

/** Show the cards of all brains. */
export async function show(page) {
  if (!house.brains.length) await refresh({ signal: page.signal });
  const cards = h('div', { class: 'cards' });
  const nothing = h('div', {});
  const totals = h('div', { class: 'totals' });
  const find = h('input', { type: 'search', placeholder: 'Find a brain', 'aria-label': 'Find a brain', on: { input: () => draw() } });
  const about = h('p', { class: 'muted' });
  replace(page.root, heading('The Hall', { about: 'What each brain knows, what agents do right now, and what waits for you.' }), panel('Across all brains', {}, totals), house.brains.length > MANY ? h('div', { class: 'toolbar' }, find, about) : null, cards, nothing);
  const draw = () => {
    const words = find.value.trim().toLowerCase();
    const shown = house.brains.filter((brain) => `${brain.display_name} ${brain.root ?? ''}`.toLowerCase().includes(words));
    replace(totals, summed(house.totals));
    replace(about, words ? `${count(shown.length, 'brain')} of ${num(house.brains.length)}` : count(house.brains.length, 'brain'));
    keyed(cards, shown, { key: (brain) => brain.id, make: card });
    replace(nothing, shown.length || !words ? null : empty('No brain has this name', 'A brain goes by the name of its directory.'), house.brains.some((brain) => brain.kind === 'project') ? null : beginning());
  };
  const stop = () => house.handlers.delete(draw);
  house.handlers.add(draw);
  page.signal.addEventListener('abort', stop);
  draw();
}

function beginning() {
  return empty('No repository has a brain yet', 'Give one its memory: in its directory, run', { command: 'hindbrain init' });
}

function summed(totals) {
  const shown = [
    [totals.brains, 'brain'],
    [totals.claims, 'claim'],
    [totals.evidence, 'evidence', 'evidence'],
    [totals.cards, 'card'],
    [totals.agents_online, 'agent present', 'agents present'],
    [totals.missions_open, 'open mission'],
    [totals.letters_open, 'open letter'],
  ];
  return shown.map(([value, one, many = `${one}s`]) => h('div', { class: 'total' }, h('b', {}, num(value ?? 0)), h('span', { class: 'muted' }, value === 1 ? one : many)));
}

function card(brain) {
  const project = brain.kind === 'project';
  const inside = (view) => ['b', brain.id, view];
  const name = link(inside('memory'), {}, text(plain(brain.display_name, 80)));
  return h(
    'article',
    { class: `card brain ${project ? '' : 'medulla'}`, 'data-walk': '' },
    h('div', { class: 'row spread' }, h('h3', { class: 'name' }, name), marks(brain)),
    h('p', { class: 'place muted' }, project ? text(brain.root, { mono: true }) : 'what belongs to no project'),
    brain.claims === null ? null : numbers(brain),
    brain.claims === null ? null : ranks(brain.cards),
    waiting(brain, inside),
    h('p', { class: 'muted' }, brain.last_beat_ms ? ['last ', beat(), ' ', ago(brain.last_beat_ms)] : ['no ', beat(), ' yet'], brain.last_change_ms ? [', changed ', ago(brain.last_change_ms)] : null),
    troubles(brain.health),
  );
}

const beat = () => h('abbr', { title: 'what memory tells an agent that begins a task' }, 'beat');

function marks(brain) {
  const { status } = brain.health;
  return h('span', { class: 'row' }, badge(brain.state, STATES[brain.state] ?? 'plain'), status === 'ok' ? null : badge(status, HEALTH[status]));
}

function numbers(brain) {
  const cards = Object.values(brain.cards ?? {}).flatMap(Object.values).reduce((sum, one) => sum + one, 0);
  const shown = [[brain.claims, brain.claims === 1 ? 'claim' : 'claims'], [brain.evidence, 'evidence'], [cards, cards === 1 ? 'card' : 'cards']];
  return h('div', { class: 'numbers' }, shown.map(([value, name]) => h('div', {}, h('b', {}, num(value ?? 0)), h('span', {}, name))));
}

// Cards by rank: one bar for all, and the numbers beside their names.
function ranks(cards) {
  const sums = Object.entries(cards ?? {}).map(([tier, states]) => [tier, Object.values(states).reduce((sum, one) => sum + one, 0)]);
  const all = sums.reduce((sum, [, one]) => sum + one, 0);
  if (!all) return h('p', { class: 'muted' }, 'no cards yet');
  const ordered = [...sums].sort((one, other) => RANKS.indexOf(one[0]) - RANKS.indexOf(other[0]));
  let left = 0;
  const pieces = ordered.map(([tier, one]) => {
    const width = (one / all) * 100;
    const piece = svg('rect', { x: left, width, height: 8, class: `bar kind-${COLOURS[tier] ?? 2}` });
    left += width;
    return piece;
  });
  const told = ordered.map(([tier, one]) => [tier, count(one, ...(RANK_WORDS[tier] ?? [tier, tier]))]);
  const drawn = svg('svg', { viewBox: '0 0 100 8', preserveAspectRatio: 'none', role: 'img', 'aria-label': `cards by rank: ${told.map(([tier, words]) => `${words} (${tier})`).join(', ')}` }, pieces);
  return h('div', { class: 'stack' }, h('div', { class: 'ranks' }, drawn), h('div', { class: 'rank-names' }, told.map(([tier, words]) => h('span', { title: `cards of the rank ${tier}` }, words))));
}

function waiting(brain, inside) {
  const agents = brain.agents_present ?? [];
  const marked = [
    brain.letters_open ? badge(count(brain.letters_open, 'open letter'), 'info') : null,
    brain.missions_open ? badge(count(brain.missions_open, 'open mission'), 'accent') : null,
    brain.tasks_running ? badge(count(brain.tasks_running, 'running task'), 'accent') : null,
    brain.review_waiting ? badge(`${num(brain.review_waiting)} to review`, 'warn') : null,
    ...agents.slice(0, 3).map((name) => badge(text(plain(name, 30)), 'good', 'present now')),
    agents.length > 3 ? badge(`and ${num(agents.length - 3)} more`, 'good') : null,
  ].filter(Boolean);
  return marked.length ? h('div', { class: 'row' }, marked) : null;
}

function troubles(health) {
  if (!health.why?.length) return null;
  return h('div', { class: 'why' }, health.why.slice(0, 2).map((one) => h('p', {}, text(one.text), one.fix ? h('span', { class: 'muted' }, ' ', text(one.fix)) : null)));
}
