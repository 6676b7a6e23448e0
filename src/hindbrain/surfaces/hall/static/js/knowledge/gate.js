// The gate of a card: what it asks for, what is there, and what is missing. In words, with a mark for each.

import { h, text } from '../dom.js';
import { badge } from '../ui.js';

/** The gate of a card as a list of what it asks for. `why` is the reason for its height. */
export function gateList(verdict, { missing = [], why } = {}) {
  const { requirements, evidence_counts: have } = verdict;
  const roles = ['supporting', 'verification', 'teaching'].map((role) => [role, have[role], requirements[`min_${role}_refs`]]);
  const rows = roles.filter(([, has, needs]) => needs || has).map(([role, has, needs]) => row(has >= needs, `${role} evidence: ${has}`, needs ? `of ${needs} that it needs` : 'none is needed'));
  if (requirements.reviewer_required) rows.push(row(true, 'a person answers for it', verdict.status === verdict.target_status ? 'and did' : 'that is you, if you promote it here'));
  if (have.counterexample) rows.push(row(false, `counterexamples: ${have.counterexample}`, 'each one closes the gate, unless a person lets it pass'));
  for (const id of missing) rows.push(row(false, [text(id, { mono: true }), ' was deleted'], 'restore it, or cite it no longer'));
  return h('div', { class: 'gate' }, state(verdict), h('ul', {}, rows), why && h('p', { class: 'muted' }, `Why so: ${why}.`));
}

function state(verdict) {
  const held = verdict.status === verdict.target_status;
  const words = held ? `It is ${verdict.status}. Its gate would be ` : `Its gate to ${verdict.target_status} is `;
  return h('p', { class: 'gate-state' }, words, verdict.allowed ? badge('open', 'good') : badge('closed', 'warn'), held ? ' today.' : '.');
}

function row(met, what, more) {
  return h('li', { class: met ? 'met' : 'lacking' }, h('span', { class: 'gate-mark', 'aria-hidden': 'true' }, met ? '✓' : '✗'), h('span', {}, h('span', { class: 'visually-hidden' }, met ? 'met: ' : 'missing: '), what, ' ', h('span', { class: 'muted' }, more)));
}
