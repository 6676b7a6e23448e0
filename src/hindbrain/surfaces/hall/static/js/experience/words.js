// Words of experience: what levels, states and advice are called where people read them.

import { badge } from '../ui.js';

/** Levels, from the softest: letter, name, what it means. */
export const LEVELS = [
  ['M', 'episodes', 'what happened, once'],
  ['K', 'task knowledge', 'what helped a task, and may fade'],
  ['C', 'rules', 'what keeps being so'],
  ['T', 'laws and thinking', 'what no experience overrules'],
];

/** What a pair advises: word of the house, in plain words, kind of its badge. */
export const ADVICE = [
  ['Exploit', 'do it again', 'good'],
  ['Avoid', 'avoid', 'bad'],
  ['Caution', 'with care', 'warn'],
  ['Ignore', 'too little to go by', 'plain'],
];

const STATES = {
  abandon: ['ended in vain', 'bad'],
  accept: ['went well', 'good'],
  best_practice: ['rule: prefer', 'good'],
  break_symmetry: ['worked when nothing moved', 'good'],
  change_approach: ['wrong approach', 'bad'],
  change_path: ['dead end', 'plain'],
  constraint: ['rule: avoid', 'bad'],
  declared: ['a person said so', 'accent'],
  dissonance: ['went well against it', 'good'],
  hypothesis: ['a guess', 'plain'],
  law: ['law', 'accent'],
  negative_feedback: ['a person speaks against it', 'bad'],
  persona: ['how to be', 'accent'],
  refine: ['small correction', 'plain'],
  success: ['good enough', 'good'],
};

const WRITERS = { R7: 'the control loop', dreamer: 'the Dreamer', operator: 'a person' };

/** A state in words. */
export const stateWords = (state) => STATES[state]?.[0] ?? String(state);

/** Who wrote an experience. */
export const writerWords = (writer) => WRITERS[writer] ?? String(writer);

/** A state as a mark. */
export function stateBadge(state) {
  return badge(stateWords(state), STATES[state]?.[1] ?? 'plain');
}

/** Advice as a mark. */
export function adviceBadge(action) {
  const [, words, kind] = ADVICE.find(([name]) => name === action) ?? ['', action, 'plain'];
  return badge(words, kind, action);
}

/** A row for comparing: what changes by the mere passing of time is left out. */
export function mark(row) {
  return JSON.stringify(row, (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value));
}
