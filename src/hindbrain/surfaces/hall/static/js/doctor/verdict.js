// The verdict: what the doctor looked at, part by part, what is wrong, and what puts it right.

import { ask } from '../api.js';
import { h, plain, text } from '../dom.js';
import { badge, copyable, count, facts, num, table } from '../ui.js';

const STATES = { ok: ['all is well', 'good'], warn: ['look here', 'warn'], blocked: ['blocked', 'bad'], note: ['note', 'info'] };
const PARTS = {
  runtime: 'Runtime',
  brains: 'Brains',
  indexes: 'Indexes',
  environment: 'Environment',
  knowledge: 'Knowledge',
  record: 'Record',
  memory: 'Memory',
};
const SAFE = 'hindbrain doctor --fix'; // what doctor may do by itself

/** Ask the doctor. A report that says blocked is an answer like any other. */
export async function examined(page, { deep = false } = {}) {
  try {
    return await ask('doctor', { scan: deep }, { signal: page.signal });
  } catch (error) {
    if (error.answer?.sections) return error.answer;
    throw error;
  }
}

/** A state as a mark. */
export function stateBadge(state) {
  const [words, kind] = STATES[state] ?? [state, 'plain'];
  return badge(words, kind, state);
}

/** The parts with their findings, those with something to do first. `brains` names them, `repair` shows the plan of safe fixes. */
export function verdict(report, { named, repair }) {
  const rank = { blocked: 0, warn: 1, ok: 2 };
  const parts = [...report.sections].sort((one, other) => rank[one.status] - rank[other.status]);
  return h(
    'div',
    { class: 'stack' },
    h('div', { class: 'row' }, stateBadge(report.status), h('span', {}, summed(report))),
    h('div', { class: 'sections' }, parts.map((one) => section(one, report.warnings, { named, repair }))),
    report.notes.length ? notes(report.notes, { named }) : null,
  );
}

function summed(report) {
  if (!report.warnings.length) return `${count(report.brains.length, 'brain')} looked at; nothing to do.`;
  return `${count(report.warnings.length, 'finding')} in ${count(report.sections.filter((one) => one.findings).length, 'part')} of the house.`;
}

function section(one, warnings, tools) {
  const mine = warnings.filter((finding) => one.kinds.includes(finding.kind));
  const title = h('h3', {}, PARTS[one.section] ?? one.section);
  return h(
    'article',
    { class: `card section ${one.status}`, 'data-walk': '' },
    h('div', { class: 'row spread' }, title, stateBadge(one.status)),
    mine.length ? h('ul', { class: 'findings' }, mine.map((finding) => row(finding, tools))) : h('p', { class: 'muted' }, 'nothing found'),
  );
}

function row(finding, { named, repair }) {
  return h(
    'li',
    {},
    h('p', { class: 'row' }, badge(finding.kind.replaceAll('_', ' '), finding.level === 'blocked' ? 'bad' : 'warn'), finding.brain ? h('span', { class: 'muted' }, 'in ', text(named(finding.brain))) : null),
    text(plain(withoutBrain(finding), 400), { tag: 'p' }),
    putRight(finding, repair),
  );
}

// The text begins with the brain for those who read lines; here the brain stands beside it.
function withoutBrain(finding) {
  const head = `${finding.brain}: `;
  return finding.brain && finding.text.startsWith(head) ? finding.text.slice(head.length) : finding.text;
}

function putRight(finding, repair) {
  if (finding.command === SAFE && repair) return h('div', { class: 'stack' }, copyable(finding.command), repair());
  if (finding.command) return copyable(finding.command);
  return finding.fix ? h('p', {}, h('span', { class: 'muted' }, 'To do: '), text(String(finding.fix))) : null;
}

// The same note for many brains is one note.
function notes(rows, { named }) {
  const groups = Map.groupBy ? Map.groupBy(rows, (one) => one.kind) : grouped(rows);
  const items = [...groups.values()].map((held) => {
    const brains = [...new Set(held.map((one) => one.brain).filter(Boolean))].map(named);
    const shown = brains.slice(0, 5).join(', ') + (brains.length > 5 ? ` and ${num(brains.length - 5)} more` : '');
    return h('li', {}, h('p', { class: 'row' }, badge(held[0].kind.replaceAll('_', ' '), 'info'), shown ? h('span', { class: 'muted' }, 'in ', text(shown)) : null), text(plain(withoutBrain(held[0]), 400), { tag: 'p' }), putRight(held[0]));
  });
  return h('details', { class: 'notes', open: true }, h('summary', {}, count(groups.size, 'note')), h('ul', { class: 'findings' }, items));
}

function grouped(rows) {
  const found = new Map();
  for (const one of rows) found.set(one.kind, [...(found.get(one.kind) ?? []), one]);
  return found;
}

/** Each brain as the doctor saw it. */
export function brainTable(report, link) {
  const pending = report.memory.demotion_pending;
  return table(
    'Brains as the doctor saw them',
    [
      { name: 'Brain', of: (one) => link(one) },
      { name: 'State', of: (one) => (one.unreachable ? badge('unreachable', 'bad', plain(one.unreachable, 200)) : badge(one.state, one.state === 'warm' ? 'good' : 'plain')) },
      { name: 'Findings', of: (one) => found(report, one), class: 'number' },
      { name: 'Claims', of: (one) => number(one.claims), class: 'number' },
      { name: 'Nodes', of: (one) => number(one.node_count), class: 'number' },
      { name: 'Edges', of: (one) => number(one.edge_count), class: 'number' },
      { name: 'Waiting for demotion', of: (one) => num(pending.filter((mark) => mark.store_brain === (one.root ?? 'medulla')).length), class: 'number' },
      { name: 'Database', of: (one) => schema(report.databases?.[one.root ?? 'medulla']) },
    ],
    report.brains,
    { empty: 'no brain yet' },
  );
}

const found = (report, brain) => num(report.warnings.filter((one) => one.brain === (brain.root ?? 'medulla')).length);

const number = (value) => (value === undefined || value === null ? '?' : num(value));

function schema(look) {
  if (!look) return h('span', { class: 'muted' }, 'on a server');
  if (look.error) return badge('unreadable', 'bad', plain(look.error, 200));
  return look.compatible ? `schema ${look.schema_version}` : badge(`schema ${look.schema_version}, newer than this release`, 'bad');
}

/** The numbers of memory and letters. */
export function memoryFacts(report) {
  const { memory } = report;
  const { mailbox } = memory;
  const told = (value) => (value < 0 ? 'not readable' : num(value));
  return facts({
    'claims of the medulla': `${num(memory.medulla.active)} of ${num(memory.medulla.soft_cap)}`,
    'claims that disagree': num(memory.conflicts),
    'waiting for demotion': num(memory.demotion_pending.length),
    'without an origin': num(memory.unattributed.length),
    'not classified': num(memory.ambiguous),
    'letters in the spool': told(mailbox.spool_letters),
    'open letters': told(mailbox.open),
    'letters that wait for their box': told(mailbox.pending_distribution.count),
    'letters held back for a secret': told(mailbox.refused_hygiene),
    'letters that cannot be read': told(mailbox.malformed),
  });
}
