// Marks: how a claim stands, in badges, and where it is at home.

import { brainNamed } from '../brains.js';
import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { badge, count } from '../ui.js';

const BELIEFS = { verified: 'good', authored: 'plain' };
const GRADES = { correct: 'good', partial: 'warn', wrong: 'bad' };

/** The marks that a claim carries, and the words for them; what filters and cards share. */
export const MARKS = {
  stale: 'stale',
  evidence_changed: 'evidence changed',
  graded_wrong: 'graded wrong',
  graded_correct: 'graded correct',
  demotion_pending: 'waits for demotion',
  promoted: 'shared with the medulla',
  unattributed: 'of unknown origin',
};

/** The badges of a row. */
export function marks(row) {
  const grade = row.grade ?? row.grades?.[0]?.grade ?? (row.graded_wrong ? 'wrong' : null);
  const changed = row.evidence_changed ? Object.keys(row.evidence_changed) : [];
  return [
    row.belief && badge(text(plain(row.belief, 20)), BELIEFS[row.belief] ?? 'plain'),
    row.state === 'superseded' && badge('an earlier version', 'warn'),
    row.absolute && badge('absolute', 'accent', 'wins over what a repository says itself'),
    grade && badge(`graded ${grade}`, GRADES[grade] ?? 'plain'),
    row.demotion_pending && badge(MARKS.demotion_pending, 'bad', 'the next consolidation takes it out'),
    row.stale && !row.contradicted_by_code && badge(MARKS.stale, 'warn', 'older than claims are trusted unasked'),
    changed.length ? badge(MARKS.evidence_changed, 'warn', plain(changed.join(', '))) : row.contradicted_by_code && badge('contradicted by code', 'warn'),
    row.witness === true && badge('shared', 'info', MARKS.promoted),
    row.chain && badge('promoted', 'info', plain(row.chain.text)),
    row.witness_superseded && badge('its original changed', 'warn'),
    row.unattributed && badge(MARKS.unattributed, 'warn'),
    row.versions > 1 && badge(count(row.versions, 'version')),
  ].filter(Boolean);
}

/** When a row was born: its own stamp, or its age from now. */
export const bornAt = (row) => row.created ?? (row.age_ms === null || row.age_ms === undefined ? null : Date.now() - row.age_ms);

/** What a brain is called: by its name among those that are known, else as it was written. */
export function brainWords(name) {
  const brain = brainNamed(name);
  return text(plain(brain?.display_name ?? name ?? 'unknown', 60));
}

/** A link to a place in a brain of that name, or its words alone where no such brain is known. */
export function inBrain(name, parts, ...children) {
  const brain = brainNamed(name);
  const words = children.length ? children : [brainWords(name)];
  return brain ? link(['b', brain.id, ...parts], {}, ...words) : h('span', {}, ...words);
}
