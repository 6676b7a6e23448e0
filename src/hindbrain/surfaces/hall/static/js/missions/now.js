// Now: the route of a mission and the rule that gives its next move, what it must not do, its budget, and its circles.

import { h, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { badge, facts, meter, num } from '../ui.js';
import { span, worded } from './words.js';

/** Draw where a mission stands, of its state, the explanation of its route, and its flight record. What is open stays open. */
export function drawNow(area, state, route, flight) {
  const pieces = [
    ['budget', [state.budget, state.budget_used], () => budget(state)],
    ['move', [route.move, route.rule, route.soft_warning], () => moveOf(route, state)],
    ['requirements', route.facts.open_requirements, () => requirements(route, state)],
    ['circles', flight.circles, () => circles(flight)],
    ['forbidden', route.policy?.do_not, () => forbidden(route)],
    ['workspace', [state.context_guard, state.warnings], () => workspace(state)],
    ['considered', route.considered, () => considered(route)],
  ];
  keyed(area, pieces, { key: ([name]) => name, mark: ([, facts]) => JSON.stringify(facts ?? null), make: ([, , make]) => make() ?? h('div', { hidden: true }) });
}

function budget(state) {
  const { budget: most, budget_used: used } = state;
  const rows = [
    ['Calls', used.tool_calls, most.tool_calls_max, num],
    ['Files read', used.files, most.files_read_max, num],
    ['Time', used.ms, most.soft_deadline_ms, span],
  ];
  return h('div', { class: 'budget' }, rows.map(([name, value, limit, format]) => budgetRow(name, value, limit, format)));
}

function budgetRow(name, value, limit, format) {
  const part = value / limit;
  const kind = part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'accent';
  return h('div', { class: 'budget-row' }, h('span', {}, name), meter(part, { label: `${name} used`, kind }), h('span', { class: 'muted' }, `${format(value)} of ${format(limit)}`, part > 1 ? ', used up' : ''));
}

function moveOf(route, state) {
  const { move } = route;
  if (!move) return h('p', {}, h('b', {}, 'No next move. '), `Rule ${route.rule}: ${route.because}.`);
  return h(
    'div',
    { class: 'move' },
    h('p', {}, h('span', { class: 'muted' }, 'Next move '), h('b', {}, worded(move.type)), ' ', named(move.target, state)),
    h('p', {}, text(move.why)),
    facts({ 'By the rule': `${route.rule}, ${route.name}: ${route.because}`, With: h('span', { class: 'mono' }, move.tool), Route: worded(route.route) }),
    route.soft_warning ? h('p', {}, badge('warning', 'warn'), ' ', text(route.soft_warning)) : null,
  );
}

// A claim by what it says: an id tells a reader nothing.
function named(target, state) {
  const claim = state.claims.find((one) => one.claim_id === target);
  return claim ? [h('span', { class: 'muted' }, 'of '), text(claim.claim)] : text(target, { mono: true });
}

function required(words, state) {
  const claim = state.claims.find((one) => words.startsWith(`${one.claim_id}: `));
  return claim ? [text(claim.claim), h('span', { class: 'muted' }, words.slice(claim.claim_id.length))] : text(words);
}

function requirements(route, state) {
  const open = route.facts.open_requirements ?? [];
  return open.length ? h('div', {}, h('p', { class: 'muted' }, 'Before it can be closed'), h('ul', { class: 'dotted' }, open.map((one) => h('li', {}, required(one, state))))) : null;
}

function circles(flight) {
  const { warnings, repeated_searches: repeated } = flight.circles;
  if (!warnings.length) return h('p', { class: 'muted' }, 'It has not gone in circles.');
  const latest = [...new Map(warnings.map((one) => [one.rule, one])).values()];
  return h(
    'div',
    { class: 'circles' },
    h('p', {}, badge(`${num(warnings.length)} loop ${warnings.length === 1 ? 'warning' : 'warnings'}`, 'warn'), repeated ? h('span', { class: 'muted' }, ` ${num(repeated)} searches were made again`) : null),
    h('ul', { class: 'dotted' }, latest.map((one) => h('li', {}, h('b', {}, one.rule), ' ', text(one.message)))),
  );
}

function forbidden(route) {
  const listed = route.policy?.do_not ?? [];
  if (!listed.length) return null;
  return h('details', {}, h('summary', {}, `What it must not do now (${num(listed.length)})`), h('ul', { class: 'dotted' }, listed.map((one) => h('li', {}, text(one.item, { mono: true }), ': ', text(one.reason), h('span', { class: 'muted' }, ` until ${one.until}`)))));
}

function workspace(state) {
  const guard = state.context_guard;
  if (!guard) return null;
  const good = guard.classification === 'single_repo';
  return h('p', {}, h('span', { class: 'muted' }, 'Workspace '), badge(worded(guard.classification), good ? 'good' : 'warn'), ' ', h('span', { class: 'muted' }, text(guard.reason)), state.warnings.map((one) => h('span', { class: 'warned' }, ' ', badge('warning', 'warn'), ' ', text(one))));
}

function considered(route) {
  const rows = route.considered.map((one) => h('li', {}, h('b', {}, `${one.rule} ${one.name}`), ' ', one.matched ? badge('holds', 'accent') : badge('does not hold'), h('span', { class: 'muted' }, ` when ${one.when}`)));
  return h('details', {}, h('summary', {}, 'Which rules were looked at'), h('ul', { class: 'dotted' }, rows));
}
