// Acts on a card: a person's, each with what will happen, a reason and a confirmation. What is refused is told in words.

import { CallError, act } from '../api.js';
import { confirmAct, toast } from '../dialog.js';
import { h, plain, text } from '../dom.js';
import { gateList } from './gate.js';
import { REASONS, ROLES, lacks, look } from './words.js';

const OUTWARD = { worktree: 'repo', repo: 'global' };
const REASON = { name: 'reason', label: 'Why', kind: 'area', required: true, hint: 'A sentence; it is kept in the history of the card.' };
const REVIEWER = { name: 'reviewer', label: 'Who answers for it', hint: 'Left empty it is you, as hall:person.' };

/** What a person may do to a card now: [{name, label, kind, open}]. `done(answer)` follows an act; `gone()` one that leaves no card. */
export function actsOn(shown, { brain, done, gone }) {
  const { card } = shown;
  const waits = card.status === 'candidate' || card.status === 'demoted';
  const active = card.status === 'promoted' || card.status === 'canonical';
  const next = active ? OUTWARD[card.anchor_kind] : null;
  const told = (answer) => (toast(inWords(answer, card), 'good'), done(answer));
  const context = { ...shown, brain, done: told };
  return [
    waits && { name: 'promote', label: 'Promote', kind: 'primary', open: () => promote(context) },
    active && { name: 'demote', label: 'Demote', open: () => demote(context, ['demoted', 'retired']) },
    waits && { name: 'retire', label: 'Retire', open: () => demote(context, ['retired']) },
    next && { name: 'publish', label: `Publish to ${next}`, open: () => publish(context, next) },
    { name: 'annotate', label: 'Add a remark', open: () => annotate(context) },
    card.status !== 'retired' && { name: 'link', label: 'Link evidence', open: () => linked(context) },
    { name: 'reject', label: 'Reject', kind: 'danger', open: () => reject(context) },
    { name: 'forget', label: 'Forget', kind: 'danger', open: () => forget({ ...context, done: (answer) => (toast(inWords(answer, card), 'good'), gone()) }) },
  ].filter(Boolean);
}

// What was done, with the words of the card instead of its id.
const inWords = (answer, card) => text(plain(answer.rendered, 300).replaceAll(card.card_id, () => `“${plain(card.statement || card.content, 80)}”`).replaceAll('->', '→'));

const says = (card) => h('blockquote', { class: 'says' }, text(card.statement || card.content));

/** The id of evidence that a person named, or wrote down just now: a sentence is kept as evidence first, once. */
export function witness(brain) {
  const kept = new Map();
  return async (said) => {
    if (said.startsWith('ev_') && !said.includes(' ')) return said;
    if (!brain.root) throw new CallError('id_needed', 'What you saw belongs to a project; here only an ev_ id can be given.', 'Record it in its project, and give its id.');
    if (!kept.has(said)) kept.set(said, (await act('record', { text: said }, { brain })).evidence_id);
    return kept.get(said);
  };
}

/** Call an operation; a closed gate is told as what is missing. */
export async function governed(operation, args, { brain }) {
  try {
    return await act(operation, args, { brain });
  } catch (error) {
    const gate = error.answer?.error?.gate;
    if (!gate) throw error;
    throw new CallError(error.code, `Its gate to ${gate.target_status} stays closed. It lacks ${lacks(gate).join(', and ')}.`, 'Link what is missing, then promote it. Nothing was changed.', error.answer);
  }
}

/** Stop where a card does not say any more what was read: an agent may edit it until it is promoted. `same(now)` compares. */
export async function unchanged(cardId, same, { brain }) {
  if (same(await look('knowledge.get', { card_id: cardId }, { brain }))) return;
  throw new CallError('changed_meanwhile', 'What it says was changed while you decided.', 'Close this, read it again, and decide anew. Nothing was done.');
}

const asRead = (card, options) => unchanged(card.card_id, (now) => ['statement', 'content', 'scope_constraints'].every((name) => now[name] === card[name]), options);

// Rows of evidence to choose from, as boxes to check.
function picker(legend, rows, checked) {
  const boxes = rows.map((row, at) => [row, h('input', { type: 'checkbox', id: `row-${at}`, checked: checked(row) })]);
  const lines = boxes.map(([row, box]) => h('li', {}, box, h('label', { for: box.id }, text(plain(row.content ?? row.id, 140)), h('span', { class: 'muted' }, ` ${row.roles.join(', ')}`))));
  const element = rows.length ? h('fieldset', { class: 'picker' }, h('legend', {}, legend), h('ul', {}, lines)) : null;
  return { element, chosen: () => boxes.filter(([, box]) => box.checked).map(([row]) => row.id) };
}

const saw = (label) => ({ name: 'saw', label, hint: 'An ev_ id, or a sentence: it is kept as evidence first.' });

const living = (shown) => shown.evidence.filter((row) => !row.gone);

function promote({ card, gate, why, brain, done, ...shown }) {
  const rows = living(shown).filter((row) => !row.roles.includes('counterexample'));
  const pick = picker('It was checked again by', rows, (row) => row.roles.includes('verification'));
  const find = witness(brain);
  const spare = { name: 'spare', label: 'Let its counterexamples pass', kind: 'check', hint: 'They stay on the card; you answer for it.' };
  confirmAct({
    title: gate.target_status === 'canonical' ? 'Make it canonical' : 'Promote this card',
    what: [says(card), gateList(gate, { missing: card.missing_refs, why }), pick.element],
    fields: [saw('Another row, or what you saw'), REASON, REVIEWER, ...(card.counterexample_refs.length ? [spare] : [])],
    typed: gate.target_status === 'canonical' ? 'promote' : undefined,
    verb: 'Promote',
    run: async (given) => {
      await asRead(card, { brain });
      const refs = [...pick.chosen(), ...(given.saw ? [await find(given.saw)] : [])];
      const more = { ...(given.reviewer && { reviewer: given.reviewer }), ...(given.spare && { allow_counterexamples: true }) };
      return governed('knowledge.promote', { card_id: card.card_id, status: gate.target_status, verification_refs: refs, reason: given.reason, ...more }, { brain });
    },
    done,
  });
}

function demote({ card, brain, done, ...shown }, statuses) {
  const pick = picker('Evidence against it', living(shown), (row) => row.roles.includes('counterexample'));
  const find = witness(brain);
  const words = { demoted: 'demoted: it can be promoted again', retired: 'retired: that is final' };
  confirmAct({
    title: statuses.length > 1 ? 'Demote or retire' : 'Retire',
    what: [says(card), h('p', {}, 'It leaves every context at once. It stays readable.'), pick.element],
    fields: [
      { name: 'status', label: 'It becomes', kind: 'select', options: statuses.map((one) => [one, words[one]]) },
      saw('Another row, or what you saw'),
      { name: 'kind', label: 'Kind of reason', kind: 'select', options: REASONS },
      REASON,
    ],
    verb: statuses.length > 1 ? 'Demote' : 'Retire',
    kind: 'danger',
    run: async (given) => {
      const refs = [...pick.chosen(), ...(given.saw ? [await find(given.saw)] : [])];
      return governed('knowledge.demote', { card_id: card.card_id, status: given.status, evidence_refs: refs, reason: given.reason, reason_type: given.kind }, { brain });
    },
    done,
  });
}

function publish({ card, brain, done }, to) {
  const wide = to === 'global';
  const all = { name: 'all', label: 'Make it everybody’s', kind: 'check', hint: `It is for the domain ${card.domain} now; in the medulla it is for all.` };
  const words = wide ? 'It moves to the medulla with copies of its evidence, readable in every project.' : 'It holds for the whole repository, not only for this checkout.';
  confirmAct({
    title: `Publish to ${to}`,
    what: [says(card), h('p', {}, words)],
    fields: [REASON, REVIEWER, ...(wide && card.domain !== 'global' ? [all] : [])],
    verb: 'Publish',
    run: (given) => governed('knowledge.publish', { card_id: card.card_id, to, reason: given.reason, ...(given.reviewer && { reviewer: given.reviewer }), ...(given.all && { as_global: true }) }, { brain }),
    done,
  });
}

function annotate({ card, brain, done }) {
  confirmAct({
    title: 'Add a remark',
    what: [says(card), h('p', {}, 'It goes into the history of the card and changes nothing else.')],
    fields: [{ ...REASON, label: 'Remark' }],
    verb: 'Add',
    run: (given) => governed('knowledge.annotate', { card_id: card.card_id, reason: given.reason }, { brain }),
    done,
  });
}

function linked({ card, brain, done }) {
  const find = witness(brain);
  confirmAct({
    title: 'Link evidence',
    what: says(card),
    fields: [
      { ...saw('Which row, or what you saw'), required: true },
      { name: 'role', label: 'As', kind: 'select', options: ROLES.map((role) => [role.name, `${role.name}: ${role.meaning}`]) },
      { name: 'note', label: 'What it shows' },
    ],
    verb: 'Link',
    run: async (given) => governed('knowledge.link', { card_id: card.card_id, evidence_id: await find(given.saw), role: given.role, note: given.note }, { brain }),
    done,
  });
}

/** Let a card cite a row no longer. */
export function unlink({ card }, row, role, { brain, done }) {
  confirmAct({
    title: 'Cite it no longer',
    what: [h('blockquote', { class: 'says' }, text(plain(row.content ?? row.id, 240))), h('p', {}, `It is ${role} evidence of this card. The row itself stays.`)],
    fields: [REASON],
    verb: 'Unlink',
    kind: 'danger',
    run: (given) => governed('knowledge.unlink', { card_id: card.card_id, evidence_id: row.id, role, reason: given.reason }, { brain }),
    done: (answer) => (toast(inWords(answer, card), 'good'), done(answer)),
  });
}

function reject({ card, brain, done }) {
  confirmAct({
    title: 'Reject what it says',
    what: [says(card), h('p', {}, 'Every card that says this is retired, and nobody can write it again, in whatever dress. A person can lift that.')],
    fields: [{ ...REASON, label: 'Why it must not come back' }],
    typed: 'reject',
    verb: 'Reject',
    kind: 'danger',
    run: async (given) => {
      await asRead(card, { brain });
      return act('reject', { claim: card.card_id, reason: given.reason }, { brain });
    },
    done,
  });
}

function forget({ card, brain, done }) {
  confirmAct({
    title: 'Forget this card',
    what: [says(card), h('p', {}, 'Its words, its history and its copies are erased for real. The ledger keeps that you did it, not what it said. This cannot be taken back.')],
    fields: [{ name: 'reason', label: 'Why', kind: 'area' }],
    typed: 'forget',
    verb: 'Forget',
    kind: 'danger',
    run: (given) => act('forget', { claim: card.card_id, reason: given.reason }, { brain }),
    done,
  });
}
