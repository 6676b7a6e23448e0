// The recall tester: what an agent with this task would be told, why in that order, and what it costs.

import { ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { rowList } from '../memory/ranked.js';
import { note } from '../router.js';
import { badge, button, count, empty, facts, filled, heading, meter, num, panel } from '../ui.js';

const EXAMPLE = 'What an agent is about to do, in a sentence';

/** Show what `north` gives for a task. */
export async function show(page) {
  const task = h('input', { type: 'search', 'aria-label': 'The task', placeholder: EXAMPLE, value: page.query.get('task') ?? '', on: { keydown: (event) => event.key === 'Enter' && asked() } });
  const area = h('div', { class: 'stack recall-area' });
  let running = new AbortController();
  const line = h('div', { class: 'toolbar', role: 'search' }, task, button('Ask', { kind: 'primary', onclick: () => asked() }));
  replace(page.root, heading('Recall tester', { about: 'Type a task and see what north would tell an agent: each row, why it stands where it does, and what it costs. Asking here counts as no beat.' }), line, area);
  if (task.value.trim()) await run();
  else replace(area, empty('Type a task', 'For example what the next agent will be asked to do in this repository.'));

  async function asked() {
    note({ task: task.value.trim() });
    if (task.value.trim()) await run();
  }

  function run() {
    const words = { task: task.value.trim(), explain: true };
    running.abort();
    running = new AbortController();
    const signal = AbortSignal.any([page.signal, running.signal]);
    return filled(area, () => ask('north', words, { brain: page.brain, signal }), (found) => drawn(found, page), { signal, words: 'Asking' });
  }
}

function drawn(found, page) {
  const told = found.explain ?? {};
  const words = new Map((found.evidence ?? []).map((one) => [one.evidence_id, one.text]));
  const rows = (told.rows ?? []).map((row) => ({ ...row, label: words.get(row.id) ?? row.label }));
  const out = told.left_out_rows ?? [];
  return [
    panel('What it costs', { class: 'recall-cost' }, cost(found, told)),
    panel('What is told', { id: 'recall-rows', note: 'in this order' }, rows.length ? rowList(rows, page.brain) : empty('Nothing is known about this', 'No claim, card or evidence matches well enough.')),
    out.length ? panel('What is left out', { id: 'recall-out', note: 'it was found, and is not told' }, rowList(out, page.brain)) : null,
    gaps(found),
    panel('As an agent gets it', { id: 'recall-text' }, text(found.rendered, { tag: 'pre', mono: true, class: 'recall-text' })),
  ];
}

function cost(found, told) {
  const part = told.budget ? told.tokens / told.budget : 0;
  const spent = typeof told.tokens === 'number' && h('span', { class: 'row' }, `${num(told.tokens)} of ${num(told.budget)} tokens`, meter(part, { label: 'of the budget', kind: part > 0.95 ? 'warn' : 'accent' }));
  const known = Object.entries(found.memory_exists_by_tier ?? {}).map(([tier, number]) => `${num(number)} in ${tier}`);
  return facts({
    spent,
    'left out': typeof told.left_out === 'number' ? count(told.left_out, 'row') : null,
    'claims known': known.join(', '),
    'looked by': (told.served ?? []).map((one) => h('span', { class: 'line' }, text(plain(one.brain === 'medulla' ? 'medulla' : one.brain.split('/').at(-1), 40)), `: ${one.by}`, one.pending ? ` (${count(one.pending, 'row')} not read yet)` : '')),
  });
}

function gaps(found) {
  const rows = [...(found.conflicts ?? []).map((one) => [badge('disagrees', 'warn'), text(plain(one.text ?? one.rendered ?? one.label ?? JSON.stringify(one), 300))]), ...(found.honest_gaps ?? []).map((one) => [badge('gap', 'info'), text(plain(one.text, 300)), one.fix && h('span', { class: 'muted' }, text(plain(one.fix, 200)))])];
  if (!rows.length) return null;
  return panel('What disagrees, and what is missing', {}, h('ul', { class: 'cited' }, rows.map((one) => h('li', { class: 'row' }, one))));
}
