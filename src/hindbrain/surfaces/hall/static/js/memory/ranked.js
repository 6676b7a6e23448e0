// Rows as they were ranked: place, ways, boosts and score, as small bars.

import { brainNamed } from '../brains.js';
import { h, plain, svg, text } from '../dom.js';
import { link } from '../router.js';
import { badge, num } from '../ui.js';
import { brainWords } from './marks.js';

const VIEWS = { claim: 'memory', evidence: 'evidence', card: 'knowledge', instinct: 'experience' };
const KINDS = { claim: 'accent', card: 'good', instinct: 'info' };
const WAYS = { words: 'found by words', meaning: 'found by meaning', late: 'read closely', neighbours: 'found beside others' };
const PARTS = { lexical: 'words', keyword: 'words', dense: 'meaning', late: 'close reading', prior: 'kind of source', thread: 'conversation' };
const WHY = {
  below_floor: 'matches too little',
  over_limit: 'others match better',
  budget: 'no room in the budget',
  waits_for_demotion: 'waits for demotion',
  repeats: 'says again what another row says',
  nothing_relevant: 'nothing that was found is about the task',
  task: 'matches the task',
  pair: 'stands beside a claim of the same name',
  recent: 'is among the newest',
};

/** Rows in their order, each with why it stands there. */
export function rowList(rows, brain) {
  const most = Math.max(...rows.map((row) => row.score ?? 0), 1e-9);
  const tops = topsOf(rows);
  return h('ol', { class: 'ranked' }, rows.map((row) => h('li', { class: 'ranked-row', 'data-walk': '' }, place(row), body(row, brain, tops), score(row, most))));
}

// The best score of each way and kind: what a way counts is its own, so a bar is full for its best row.
function topsOf(rows) {
  const tops = {};
  for (const row of rows) {
    for (const [name, one] of Object.entries(row.ways ?? {})) {
      const key = `${row.kind} ${name}`;
      tops[key] = Math.max(tops[key] ?? 1e-9, one?.score ?? 0);
    }
  }
  return tops;
}

const place = (row) => h('span', { class: 'ranked-place muted' }, row.rank ? num(row.rank) : '–');

function body(row, brain, tops) {
  const home = brainNamed(row.brain) ?? brain;
  const words = text(plain(row.label || row.id, 90));
  const target = targetOf(row, home);
  return h(
    'div',
    { class: 'stack ranked-body' },
    h('div', { class: 'row' }, badge(row.kind, KINDS[row.kind] ?? 'plain'), target ? link(target.parts, { query: target.query }, words) : words, row.brain && h('span', { class: 'muted' }, 'in ', brainWords(row.brain))),
    h('div', { class: 'row ranked-ways' }, ways(row, tops), parts(row.parts), boosts(row.boosts)),
    row.why && h('p', { class: 'muted' }, text(plain(WHY[row.why] ?? row.why, 300))),
  );
}

// Where a row is at home; code is looked at in the graph, an instinct among the others.
function targetOf(row, home) {
  if (row.kind === 'code') return home.kind === 'project' ? { parts: ['b', home.id, 'graph'], query: { node: row.id } } : null;
  const view = VIEWS[row.kind];
  if (!view || !row.id) return null;
  return { parts: row.kind === 'instinct' ? ['b', home.id, view] : ['b', home.id, view, row.id] };
}

function ways(row, tops) {
  return Object.entries(row.ways ?? {})
    .filter(([, one]) => one)
    .map(([name, one]) => bar(WAYS[name] ?? name, one.score, { most: tops[`${row.kind} ${name}`], more: one.rank ? `place ${num(one.rank)}` : null }));
}

function parts(found) {
  return Object.entries(found ?? {})
    .filter(([, one]) => one)
    .map(([name, one]) => bar(PARTS[name] ?? name.replaceAll('_', ' '), one));
}

function boosts(found) {
  return (found ?? []).map((one) => badge(`${plain(one.name, 40).replaceAll('_', ' ')} ${one.added >= 0 ? '+' : ''}${short(one.added)}`, one.added >= 0 ? 'good' : 'warn'));
}

const short = (value) => (typeof value === 'number' ? String(Math.round(value * 100) / 100) : '?');

// A number as a small bar with its name, of the most there is.
function bar(name, value, { most = 1, more } = {}) {
  const width = Math.max(0, Math.min(1, (value ?? 0) / most)) * 40;
  const drawn = svg('svg', { viewBox: '0 0 40 6', class: 'small-bar', 'aria-hidden': 'true' }, svg('rect', { width: 40, height: 6, rx: 2, class: 'track' }), svg('rect', { width, height: 6, rx: 2, class: 'fill' }));
  return h('span', { class: 'way-bar' }, plain(name, 40), drawn, h('span', { class: 'muted' }, short(value), more && `, ${more}`));
}

function score(row, most) {
  const told = typeof row.score === 'number' ? short(row.score) : '';
  const width = ((row.score ?? 0) / most) * 60;
  const drawn = svg('svg', { viewBox: '0 0 60 8', class: 'score-bar', 'aria-hidden': 'true' }, svg('rect', { width: 60, height: 8, rx: 2, class: 'track' }), svg('rect', { width, height: 8, rx: 2, class: 'fill' }));
  return h('span', { class: 'ranked-score' }, told && [drawn, h('span', {}, `score ${told}`)], typeof row.tokens === 'number' && h('span', { class: 'muted' }, `${num(row.tokens)} tokens`));
}
