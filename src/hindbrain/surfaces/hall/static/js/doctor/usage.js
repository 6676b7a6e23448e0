// Usage: what came of the guidance of one brain, and what models cost there.

import { ask } from '../api.js';
import { bars } from '../charts.js';
import { h, plain, svg, text } from '../dom.js';
import { badge, count, empty, facts, num, table } from '../ui.js';

const OUTCOMES = [['used', 'used', 1], ['accepted', 'accepted', 1], ['rejected', 'rejected', 2], ['misses', 'missed', 4], ['rollbacks', 'rolled back', 4], ['contradictions', 'contradicted', 4], ['neutral', 'neutral', 5]];
const ADVICE = {
  candidate_for_workflow_hardening: ['it may become a habit', 'good'],
  investigate_misses: ['look into the misses', 'warn'],
  observe_more_evidence: ['more is to be seen first', 'plain'],
  observe_or_rollback: ['watch it, or take it back', 'warn'],
  review_before_default_change: ['review it first', 'bad'],
};
const DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;

/** Read the adoption of a brain. */
export const adoptionOf = (brain, signal) => ask('adoption.analytics', {}, { brain, signal });

/** Read what models cost in a brain. */
export const costOf = (brain, signal) => ask('control.cost', { days: DAYS }, { brain, signal });

/** What came of guidance: bars by outcome, and a table by track and feature. */
export function adoption(answer) {
  if (!answer.total_events) {
    return empty('Nothing was recorded yet', 'Agents record what came of the guidance they were given:', { command: 'hindbrain adoption capture SURFACE OUTCOME --execute' });
  }
  const sums = OUTCOMES.map(([key, name, kind]) => ({ name, kind, value: answer.groups.reduce((sum, one) => sum + one[key], 0) }));
  const columns = [
    { name: 'Guidance', of: (one) => [one.track.replaceAll('_', ' '), h('span', { class: 'muted' }, ' · ', text(plain(one.feature, 60)))] },
    { name: 'All', of: (one) => num(one.total), class: 'number' },
    { name: 'Outcomes', of: outcomes },
    { name: 'So', of: (one) => badge(...(ADVICE[one.recommendation] ?? [one.recommendation.replaceAll('_', ' '), 'plain'])) },
  ];
  return h('div', { class: 'stack' }, h('p', { class: 'muted' }, `${count(answer.total_events, 'record')} of what came of guidance`), bars({ title: 'What came of guidance', rows: sums, height: 160, format: whole }), table('What came of guidance, by feature', columns, answer.groups));
}

// One bar for all outcomes of a feature, and their numbers in words.
function outcomes(one) {
  const seen = OUTCOMES.filter(([key]) => one[key]);
  let left = 0;
  const pieces = seen.map(([key, , kind]) => {
    const width = (one[key] / one.total) * 100;
    const piece = svg('rect', { x: left, width, height: 8, class: `bar kind-${kind}` });
    left += width;
    return piece;
  });
  const told = seen.map(([key, name]) => `${num(one[key])} ${name}`).join(', ');
  return h('div', { class: 'outcomes' }, svg('svg', { viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, pieces), h('span', {}, told));
}

/** What models cost: tokens by day, and a table by model and role. */
export function cost(answer) {
  const { total } = answer;
  const left = facts({ 'tokens left today': capped(answer.left.day_tokens), 'money left today': answer.left.day_micros === null ? 'no cap' : money(answer.left.day_micros) });
  if (!total.calls) return h('div', { class: 'stack' }, empty('No model was asked', `In the last ${DAYS} days nothing was spent here. The control loop goes by its rules until a model is set.`, { command: 'hindbrain control models' }), left);
  const rows = days(answer.by_day).map(([day, sum]) => ({ name: day.slice(5), value: sum, title: `${day}: ${num(sum)} tokens` }));
  const columns = (name) => [
    { name, of: (one) => text(plain(one.name, 60)) },
    { name: 'Calls', of: (one) => num(one.calls), class: 'number' },
    { name: 'Tokens in', of: (one) => num(one.prompt_tokens), class: 'number' },
    { name: 'Tokens out', of: (one) => num(one.completion_tokens), class: 'number' },
    { name: 'Time', of: (one) => `${(one.elapsed_ms / 1000).toFixed(1)} s`, class: 'number' },
    { name: 'Cost', of: (one) => money(one.cost_micros), class: 'number' },
  ];
  return h(
    'div',
    { class: 'stack' },
    h('p', { class: 'muted' }, `${count(total.calls, 'call')}, ${num(tokens(total))} tokens and ${money(total.cost_micros)} in ${DAYS} days`),
    bars({ title: 'Tokens per day', rows, height: 160, format: whole }),
    table('What each model cost', columns('Model'), answer.by_model),
    table('What each role cost', columns('Role'), answer.by_role),
    left,
  );
}

// Every day of the span has its bar, also those on which nothing was asked.
function days(rows) {
  const known = new Map(rows.map((one) => [one.name, tokens(one)]));
  const today = Date.now();
  return Array.from({ length: DAYS }, (_, back) => new Date(today - (DAYS - 1 - back) * DAY_MS).toISOString().slice(0, 10)).map((day) => [day, known.get(day) ?? 0]);
}

const tokens = (one) => one.prompt_tokens + one.completion_tokens;

const capped = (value) => (value === null ? 'no cap' : num(value));

const money = (micros) => (micros / 1e6).toFixed(4);

// Between two whole numbers an axis of counts says nothing.
const whole = (value) => (Number.isInteger(value) ? num(value) : '');
