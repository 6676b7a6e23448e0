// Loss: the curves of the controller over its rounds, with each directive marked where it was given.

import { lines } from '../charts.js';
import { h, text } from '../dom.js';
import { badge, facts, table } from '../ui.js';
import { worded } from './words.js';

const KINDS = { accept: 'good', success: 'good', abandon: 'bad', init: 'plain' };
const CURVES = [
  ['D', 'D', 'D, how far off'],
  ['P', 'P', 'P, whether the approach is to blame'],
  ['Omega', 'Ω', 'Ω, budget used'],
  ['L', 'L', 'L, their sum'],
];

/** Curves and a table of rounds: [{D, P, Omega, L, grad_l, directive, prev_directive, rationale}, …]. */
export function lossOf(rounds) {
  if (!rounds.length) return h('p', { class: 'muted' }, 'No round yet: the controller decides after the first plan was tried.');
  if (rounds.length === 1) return h('div', { class: 'stack' }, facts(Object.fromEntries(CURVES.map(([field, , name]) => [name, rounds[0][field].toFixed(2)]))), moves(rounds), details(rounds));
  const series = CURVES.map(([field, , name], index) => ({ name, kind: index + 1, dashed: field === 'Omega', points: rounds.map((one, at) => [at + 1, one[field]]) }));
  const marks = rounds.map((one, at) => ({ x: at + 1, label: '', kind: one.directive === 'abandon' ? 'bad' : '' }));
  const drawn = lines({ title: 'Loss by round', series, marks, yMin: 0, yMax: Math.max(1, ...rounds.map((one) => one.L)), xLabel: 'round', height: 260 });
  return h('div', { class: 'stack loss' }, drawn, moves(rounds), details(rounds));
}

// The ways from one directive to the next, in their order.
function moves(rounds) {
  const steps = rounds.map((one, at) => h('li', {}, h('span', { class: 'muted' }, `${at + 1}`), badge(worded(one.prev_directive)), h('span', { 'aria-label': 'to' }, '→'), badge(worded(one.directive), KINDS[one.directive] ?? 'accent')));
  return h('ol', { class: 'directives', 'aria-label': 'Directives by round' }, steps);
}

function details(rounds) {
  const numbered = rounds.map((one, at) => ({ ...one, number: at + 1 }));
  const columns = [
    { name: 'Round', of: (one) => String(one.number), class: 'number' },
    ...CURVES.map(([field, name]) => ({ name, of: (one) => one[field].toFixed(2), class: 'number' })),
    { name: '∇L', of: (one) => signed(one.grad_l), class: 'number' },
    { name: 'Why', of: (one) => text(one.rationale ?? '') },
  ];
  return h('details', { class: 'rounds' }, h('summary', {}, 'Every round, with its numbers and reasons'), table('Rounds', columns, numbered));
}

const signed = (value) => (value === undefined || value === null ? '' : `${value > 0 ? '+' : ''}${value.toFixed(2)}`);
