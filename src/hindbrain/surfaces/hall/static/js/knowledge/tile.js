// A card on the board: its statement, what it rests on, and what one should know before using it.

import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { badge } from '../ui.js';
import { ROLES } from './words.js';

const DOTS = 5;

/** One card. `found` has what the review queue says of it: {stale, contradicted}. */
export function tile(brain, card, found = {}) {
  return h(
    'article',
    { class: 'card tile', 'data-walk': '', 'data-card': card.card_id, 'data-status': card.status },
    h('h3', {}, link(['b', brain.id, 'knowledge', card.card_id], { title: plain(card.statement || card.content, 240) }, text(plain(card.statement || card.content, 240), { class: 'clamp' }))),
    h('p', { class: 'tile-foot muted' }, text(plain(card.field, 40)), importance(card.importance)),
    h('p', { class: 'tile-evidence muted' }, evidence(card)),
    marks(card, found, brain),
  );
}

function evidence(card) {
  const told = ROLES.map(({ name }) => [name, card[`${name}_refs`].length]).filter(([, size]) => size);
  return told.length ? told.map(([name, size]) => h('span', {}, `${size} ${name}`)) : 'no evidence';
}

function importance(value) {
  const words = `importance ${value} of ${DOTS}`;
  return h('span', { class: 'dots', role: 'img', 'aria-label': words, title: words }, '●'.repeat(value), h('span', { class: 'faint' }, '●'.repeat(DOTS - value)));
}

function marks(card, found, brain) {
  const waits = card.status === 'candidate' || card.status === 'demoted';
  const { gate } = card;
  const shown = [
    gate && waits && gate.allowed ? badge('gate open', 'good', `may become ${gate.target_status}`) : null,
    gate && waits && !gate.allowed ? badge(`gate lacks ${gate.reasons.length}`, 'warn', plain(gate.reasons.join('; '))) : null,
    found.contradicted ? badge('contradicted', 'bad', 'the review queue has both sides') : null,
    found.stale ? badge('stale', 'warn', 'what it rests on changed') : null,
    !found.stale && card.missing_refs.length ? badge('evidence gone', 'warn', 'a row that it cites was deleted') : null,
    ['promoted', 'canonical'].includes(card.status) && !card.backed ? badge('not backed', 'bad', 'the ledger has no entry for this status: it counts for nothing') : null,
    card.opt_in ? badge('opt-in', 'plain', 'shown only where cards are asked for') : null,
    card.brain === 'medulla' && brain.root ? badge('medulla', 'accent', 'lives in the medulla, for every project') : null,
  ].filter(Boolean);
  return shown.length ? h('div', { class: 'row' }, shown) : null;
}
