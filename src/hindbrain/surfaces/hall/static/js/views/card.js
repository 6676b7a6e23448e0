// One card: what it says, what it rests on, what it lacks, how it came to be, and what a person may do about it.

import { h, plain, replace, text } from '../dom.js';
import { actsOn, unlink } from '../knowledge/acts.js';
import { gateList } from '../knowledge/gate.js';
import { ROLES, look, statusKind } from '../knowledge/words.js';
import { go, link } from '../router.js';
import { ago, badge, button, facts, failure, heading, inTurn, panel, when } from '../ui.js';

const PERSON = 'hall:person'; // who looks; so the gate tells what is left when a person reviews
const AT_ONCE = 12; // rows of evidence that are asked for side by side
const HINTS = { intent_tags: 'wanted for', workflow_bias: 'way of working', tool_needs: 'tools' };
const EVENTS = {
  created: 'made', promoted: 'promoted', demoted: 'demoted', retired: 'retired', linked: 'evidence linked',
  unlinked: 'evidence unlinked', updated: 'remark or change', published_anchor: 'published',
};

/** Show the card of an address. */
export async function show(page, [cardId]) {
  const { brain, signal } = page;
  let drawn = '';
  async function draw() {
    const shown = await whole(cardId, { brain, signal });
    const seen = JSON.stringify(shown);
    if (seen === drawn || signal.aborted) return;
    drawn = seen;
    page.title(shown.card.statement);
    keeping(page.root, () => replace(page.root, card(shown, page, redraw)));
  }
  const redraw = inTurn(() => draw().catch((error) => told(error, page)));
  await draw();
  page.onLive(redraw);
}

function told(error, page) {
  if (error.name === 'AbortError' || error.code === 'owner_gone' || page.signal.aborted) return;
  const gone = error.code === 'unknown_card';
  replace(page.root, heading('This card is gone', { about: gone ? 'Somebody has forgotten it just now.' : null }), gone ? link(['b', page.brain.id, 'knowledge'], { class: 'button' }, 'To the board') : failure(error));
}

// All that is shown of a card: itself, its gate, its history, and the rows it cites.
async function whole(cardId, options) {
  const [found, gate, history, policy] = await Promise.all([
    look('knowledge.get', { card_id: cardId, derived: true }, options),
    look('knowledge.gate', { card_id: cardId, reviewer: PERSON }, options),
    look('knowledge.events', { card_id: cardId }, options),
    look('knowledge.policy', {}, options),
  ]);
  const rank = policy.policy.find((one) => one.tier === found.tier);
  const { rendered, served_brain: served, promotion_history: promotions, ...cardFacts } = found;
  return { card: cardFacts, gate, events: history.events, meaning: rank.meaning, why: rank.why, evidence: await cited(found, options) };
}

async function cited(found, options) {
  const roles = new Map();
  for (const { name } of ROLES) for (const id of found[`${name}_refs`]) roles.set(id, [...(roles.get(id) ?? []), name]);
  const ids = [...roles.keys()];
  const rows = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) rows.push(...(await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => row(id, options)))));
  return rows.map((one) => ({ ...one, roles: roles.get(one.id), gone: one.gone || found.missing_refs.includes(one.id) }));
}

async function row(id, options) {
  try {
    const found = await look('memory.get', { evidence_id: id, deleted: true }, options);
    return { id, content: found.content, by: found.provenance, source: found.source_file, gone: Boolean(found.deleted_at) };
  } catch (error) {
    if (error.code !== 'unknown_evidence') throw error;
    return { id, content: null, gone: true };
  }
}

function card(shown, page, redraw) {
  const { card: one, gate, why } = shown;
  const { brain } = page;
  const board = ['b', brain.id, 'knowledge'];
  const acts = actsOn(shown, { brain, done: redraw, gone: () => go(board) });
  const buttons = acts.map((act) => button(act.label, { kind: act.kind ?? 'plain', onclick: act.open, 'data-key': act.name }));
  return h(
    'div',
    { class: 'stack card-view', 'data-status': one.status },
    h('p', {}, link(board, {}, '← Board')),
    heading(text(plain(one.statement || one.content, 240)), { about: standing(shown, brain) }),
    h('div', { class: 'actions', role: 'group', 'aria-label': 'What you may do' }, buttons),
    h(
      'div',
      { class: 'card-columns' },
      h('div', { class: 'stack' }, meaning(one), evidence(shown, page, redraw), panel('How it came to be', {}, timeline(shown.events, brain))),
      h('div', { class: 'stack' }, panel('Gate', {}, gateList(gate, { missing: one.missing_refs, why })), panel('Facts', {}, plainFacts(one, brain))),
    ),
  );
}

function standing({ card: one, meaning: words }, brain) {
  return h(
    'span',
    { class: 'row' },
    badge(one.status, statusKind(one.status)),
    badge(one.tier, 'accent', words),
    one.missing_refs.length ? badge('evidence gone', 'warn', 'a row that it cites was deleted') : null,
    one.counterexample_refs.length ? badge('counterexamples', 'bad', 'something that was seen speaks against it') : null,
    one.status !== 'candidate' && one.status !== 'retired' && !one.backed ? badge('not backed', 'bad', 'the ledger has no entry for this status') : null,
    one.opt_in ? badge('opt-in', 'plain', 'shown only where cards are asked for') : null,
    one.brain === 'medulla' && brain.root ? badge('medulla', 'accent', 'lives in the medulla, for every project') : null,
    h('span', {}, words),
  );
}

function meaning(one) {
  const hints = Object.entries(one.trigger_hints ?? {}).filter(([, words]) => words.length);
  return panel(
    'What it says',
    {},
    text(one.content, { tag: 'p' }),
    one.scope_constraints ? h('p', {}, h('b', {}, 'Where it holds: '), text(one.scope_constraints)) : null,
    hints.length ? h('div', { class: 'stack' }, hints.map(([name, words]) => h('p', { class: 'row' }, h('span', { class: 'muted' }, HINTS[name] ?? name), words.map((word) => badge(text(plain(word, 40))))))) : null,
  );
}

function evidence(shown, page, redraw) {
  const groups = ROLES.map((role) => [role, shown.evidence.filter((one) => one.roles.includes(role.name))]).filter(([role, rows]) => rows.length || role.name === 'supporting' || role.name === 'verification');
  const drawn = groups.map(([role, rows]) =>
    h(
      'section',
      { class: `role ${role.name}`, 'data-role': role.name },
      h('h3', {}, role.name, ' ', h('span', { class: 'muted' }, `${role.meaning}: ${rows.length}`)),
      rows.length ? h('ul', {}, rows.map((one) => piece(one, role, shown, page, redraw))) : h('p', { class: 'muted' }, 'none yet'),
    ),
  );
  return panel('Evidence', {}, drawn);
}

function piece(one, role, shown, { brain }, redraw) {
  const words = one.content ? text(plain(one.content, 280)) : h('span', { class: 'muted' }, 'its words are gone');
  const loose = button('Unlink', { kind: 'quiet', label: `Cite ${one.id} as ${role.name} no longer`, 'data-key': `unlink-${role.name}-${one.id}`, onclick: () => unlink(shown, one, role.name, { brain, done: redraw }) });
  const source = one.source && !one.source.endsWith(one.id) ? text(plain(one.source, 80), { mono: true }) : null;
  return h(
    'li',
    { class: 'piece' },
    h('p', {}, words),
    h('p', { class: 'row muted' }, link(['b', brain.id, 'evidence', one.id], { class: 'mono', 'data-key': `${role.name}-${one.id}` }, one.id), one.by ? h('span', {}, one.by) : null, source, one.gone ? badge('deleted', 'bad') : null, shown.card.status === 'retired' ? null : loose),
  );
}

function timeline(events, brain) {
  return h('ol', { class: 'timeline' }, [...events].reverse().map((event) => happened(event, brain)));
}

function happened(event, brain) {
  const more = event.metadata ?? {};
  const refs = [more.evidence_id, ...(more.verification_refs ?? []), ...(more.evidence_refs ?? [])].filter(Boolean);
  const moved = event.to_status && event.from_status !== event.to_status ? ` ${event.from_status ? `${event.from_status} → ` : ''}${event.to_status}` : '';
  return h(
    'li',
    { class: event.event_type },
    h('p', {}, h('b', {}, EVENTS[event.event_type] ?? event.event_type), moved, more.role ? ` as ${more.role}` : '', ', ', ago(event.created_at)),
    event.reason ? h('p', {}, text(event.reason)) : null,
    h('p', { class: 'row muted' }, text(plain(event.actor, 60)), event.channel === 'human' ? badge('a person', 'accent') : null, more.reviewer ? h('span', {}, 'reviewed by ', text(plain(more.reviewer, 60))) : null, more.reason_type ? h('span', {}, more.reason_type) : null, refs.map((id) => link(['b', brain.id, 'evidence', id], { class: 'mono' }, id))),
  );
}

function plainFacts(one, brain) {
  const other = (id) => id && link(['b', brain.id, 'knowledge', id], { class: 'mono' }, id);
  return facts({
    Id: text(one.card_id, { mono: true }),
    Field: text(one.field),
    Domain: one.domain,
    Importance: `${one.importance} of 5`,
    Stability: one.stability,
    Scope: one.anchor_kind,
    Anchor: text(one.anchor_id, { mono: true }),
    'Lives in': text(one.brain === 'medulla' ? 'the medulla' : one.brain, { mono: one.brain !== 'medulla' }),
    'Made by': text(one.created_by),
    Made: when(one.created_at),
    Changed: when(one.updated_at),
    'Raised from': other(one.derived_from),
    Supersedes: other(one.supersedes),
  });
}

// Drawn anew, the focus stays on what has the same key; where that is gone, as an act that was done, on the head.
function keeping(root, redraw) {
  const key = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  redraw();
  if (key) (root.querySelector(`[data-key="${CSS.escape(key)}"]`) ?? root.querySelector('h1')).focus({ preventScroll: true });
}
