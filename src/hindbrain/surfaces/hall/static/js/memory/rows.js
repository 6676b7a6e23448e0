// Rows of evidence: as cards of a list, and as turns of a conversation.

import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { ago, badge } from '../ui.js';

const SHOWN = 500;
const HEAD = 90;
const MADE = { human: 'accent', research: 'info', runtime: 'plain' };

// When a row was said, or else kept.
const seenAt = (row) => row.said_at ?? row.added_at;

/** Who said it, as far as it is known; what nobody said was observed by whom recorded it. */
export const speakerOf = (row) => plain(row.speaker || row.role || (row.source_type === 'manual' && row.recorded_by) || '', 60);

/** The card of a row in the list of its brain. */
export function evidenceCard(row, brain) {
  const content = String(row.content ?? '');
  const [first, rest] = headed(content);
  return h(
    'article',
    { class: 'card evidence-card', 'data-walk': '', 'data-id': row.evidence_id },
    h('h3', {}, link(['b', brain.id, 'evidence', row.evidence_id], {}, text(plain(first, HEAD) || 'an empty row'))),
    rest && h('p', { class: 'clamp' }, text(rest.slice(0, SHOWN))),
    h('div', { class: 'row' }, badge(row.provenance, MADE[row.provenance] ?? 'plain', 'how it was made'), row.deleted_at && badge('deleted', 'bad'), (row.tags ?? []).slice(0, 6).map((tag) => badge(text(plain(tag, 30))))),
    h('footer', { class: 'row muted' }, speakerOf(row) && text(speakerOf(row)), place(row) && text(place(row)), ago(seenAt(row))),
  );
}

// The first line as the head, and what comes after it; a long line is parted between two words.
function headed(content) {
  const whole = content.trim();
  const line = whole.split('\n', 1)[0];
  const room = [...line].slice(0, HEAD).join('').length;
  const at = line.length > room ? (line.lastIndexOf(' ', room) > 0 ? line.lastIndexOf(' ', room) : room) : line.length;
  const first = whole.slice(0, at).trim();
  return [line.length > at ? `${first}…` : first, whole.slice(at).trim()];
}

/** Wing and room of a row in words. */
export const place = (row) => [row.wing, row.room].filter(Boolean).map((one) => plain(one, 40)).join(' / ');

/** A row as a turn of its conversation; the one that is looked at is marked. */
export function turn(row, brain, { here = false } = {}) {
  return h(
    'li',
    { class: `turn ${here ? 'here' : ''}`, 'aria-current': here ? 'true' : null },
    h('div', { class: 'row muted' }, h('b', {}, text(speakerOf(row) || 'somebody')), ago(seenAt(row)), here ? badge('this row', 'accent') : link(['b', brain.id, 'evidence', row.evidence_id], {}, 'look at it')),
    text(row.content, { tag: 'p' }),
  );
}
