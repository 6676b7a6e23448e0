// Claims of a mission: what was concluded, whether it is proven, by which evidence, and what it lacks.

import { h, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { button } from '../ui.js';
import { gradeBadge, verdictBadge, worded } from './words.js';

/** Draw claims into a list. `onevent(id)` shows the event that a claim rests on. */
export function claimList(list, claims, { onevent }) {
  keyed(list, claims, { key: (one) => one.claim_id, make: (one) => row(one, onevent) });
}

function row(claim, onevent) {
  return h(
    'li',
    { class: `claim ${claim.verdict}`, 'data-claim': claim.claim_id },
    h('p', { class: 'claim-text' }, text(claim.claim)),
    h('div', { class: 'row' }, verdictBadge(claim.verdict), gradeBadge(claim.evidence_grade), claim.inherited_from ? h('span', { class: 'muted' }, 'inherited, not verified here') : null),
    claim.evidence_refs.length ? h('p', { class: 'row' }, h('span', { class: 'muted' }, 'shown by'), claim.evidence_refs.map((id) => shownBy(id, onevent))) : null,
    claim.evidence_classes.length ? h('p', { class: 'muted' }, claim.evidence_classes.map(worded).join(', ')) : null,
    claim.missing.length ? h('div', {}, h('p', { class: 'muted' }, 'It lacks'), h('ul', { class: 'dotted' }, claim.missing.map((one) => h('li', {}, text(one))))) : null,
  );
}

function shownBy(id, onevent) {
  if (!id.startsWith('evt_')) return text(id, { mono: true });
  return button(id, { kind: 'quiet', title: 'Show this event', onclick: () => onevent(id), class: 'button quiet mono reference' });
}
