// Letters: what the views of mail know of them together.

import { plain, text } from '../dom.js';
import { badge } from '../ui.js';

/** What may become of a letter. */
export const FATES = {
  wet_ink: { name: 'Unanswered', sign: '●', words: 'nobody has answered yet; wet_ink at a terminal', kind: 'info', open: true },
  in_flight: { name: 'Answered', sign: '◍', words: 'answered, but by nothing that closes it; in_flight at a terminal', kind: 'warn', open: true },
  fired_clay: { name: 'Closed', sign: '↳', words: 'closed for good; fired_clay at a terminal', kind: 'good', open: false },
  external: { name: 'Set aside', sign: '◌', words: 'about a tool that is not ours; external at a terminal', kind: 'plain', open: false },
};

/** The mark of a letter's fate. */
export function fateBadge(letter) {
  const fate = FATES[letter.state];
  return badge(`${fate.sign} ${fate.name}`, fate.kind, fate.words);
}

/** A name of the wire as words. */
export const worded = (name) => plain(name, 40).replaceAll('_', ' ');

/** What a letter is about: its class, and the kind of a misdelivery. */
export const classBadges = (letter) => [badge(text(worded(letter.class))), letter.kind ? badge(text(worded(letter.kind)), 'warn') : null];

/** Who wrote it, and where it lies. */
export function about(letter) {
  const place = letter.box ? letter.box.split('/').at(-1) || letter.box : 'the spool';
  return [letter.arrived_by ? 'stated author ' : 'by ', text(plain(letter.agent ?? 'nobody', 60)), ' in ', text(plain(place, 60))];
}

/** The arguments of a letter, without what was left empty. */
export function written({ about: where, ...given }) {
  const told = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  return where === 'medulla' ? { ...told, brain: 'medulla' } : told;
}
