// Words: what the states of missions and tasks are called on the page, and how they are marked.

import { badge } from '../ui.js';

const STATUS = {
  active: ['active', 'accent'],
  handed_off: ['handed over', 'info'],
  closed: ['closed', 'good'],
  abandoned: ['given up', 'bad'],
};
const TASK = {
  running: ['running', 'accent'],
  waiting: ['waits for a person', 'warn'],
  done: ['done', 'good'],
  lost: ['lost', 'bad'],
};
const VERDICT = {
  verified_for_mission: ['proven', 'good'],
  insufficient_evidence: ['not proven', 'warn'],
  candidate: ['never judged', 'plain'],
  rejected: ['rejected', 'bad'],
  stale: ['stale', 'warn'],
};
const GRADE = {
  direct: ['direct evidence', 'good'],
  direct_unverified: ['told, not seen', 'warn'],
  graph_only: ['no direct evidence: graph only', 'warn'],
  inferred: ['no direct evidence', 'warn'],
};
const OUTCOMES = { failed: 'bad', error: 'bad', blocked: 'bad', hypothesis_refuted: 'bad', passed: 'good', hypothesis_supported: 'good', recovered: 'good', empty: 'warn', inconclusive: 'warn', not_recovered: 'bad' };

const marked = (table) => (name) => badge(...(table[name] ?? [worded(name), 'plain']));

/** The state of a mission. */
export const statusBadge = marked(STATUS);

/** The state of a task. */
export const taskBadge = (state, directive) => (state === 'done' && directive === 'abandon' ? badge('given up', 'bad') : marked(TASK)(state));

/** Whether a claim is proven. */
export const verdictBadge = marked(VERDICT);

/** What kind of evidence a claim has. */
export const gradeBadge = marked(GRADE);

/** What came of an event. */
export const outcomeBadge = (name) => badge(worded(name), OUTCOMES[name] ?? 'plain');

/** What an event can prove. */
export function classBadge(name) {
  if (name === 'unclassified') return null;
  if (name === 'direct_unverified') return badge('told, not seen', 'warn');
  return badge(worded(name), name.startsWith('direct') || name === 'host_handshake' ? 'good' : 'plain');
}

/** A name of the wire as words. */
export const worded = (name) => String(name ?? '').replaceAll('_', ' ');

/** The states of missions, for a choice. */
export const STATUSES = Object.entries(STATUS).map(([name, [words]]) => [name, words]);

/** The states of tasks, for a choice. */
export const TASK_STATES = Object.entries(TASK).map(([name, [words]]) => [name, words]);

/** Milliseconds as people say them. */
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
