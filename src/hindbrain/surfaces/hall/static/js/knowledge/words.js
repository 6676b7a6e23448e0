// Words of knowledge: what statuses, roles and acts are called here, and how cards of any brain are read.

import { act, ask } from '../api.js';

/** Ranks in the order in which they are read. */
export const RANKS = ['dao_tian', 'dao_ren', 'shu', 'qi'];

/** What a card of a rank is, as [one, many]. */
export const RANK_WORDS = { dao_tian: ['universal law', 'universal laws'], dao_ren: ['law of a field', 'laws of a field'], shu: ['method', 'methods'], qi: ['tool', 'tools'] };

/** Statuses from the left to the right of the board, each with its colour and its meaning. */
export const STATUSES = [
  { name: 'candidate', kind: 'info', meaning: 'not used yet' },
  { name: 'promoted', kind: 'good', meaning: 'in use' },
  { name: 'canonical', kind: 'accent', meaning: 'in use, a law' },
  { name: 'demoted', kind: 'warn', meaning: 'lost its standing' },
  { name: 'retired', kind: 'plain', meaning: 'over for good' },
];

/** Roles of evidence in the order in which they are read. */
export const ROLES = [
  { name: 'supporting', meaning: 'what it rests on' },
  { name: 'verification', meaning: 'that it was checked again' },
  { name: 'teaching', meaning: 'what a person taught' },
  { name: 'counterexample', meaning: 'what speaks against it' },
];

/** Kinds of reasons for which a card loses its standing. */
export const REASONS = [
  ['contradicted', 'contradicted by what was seen'],
  ['obsolete', 'obsolete'],
  ['superseded', 'superseded by something better'],
  ['out_of_scope', 'out of scope'],
  ['unsafe', 'unsafe'],
];

const OF_MEDULLA = new Set(['knowledge.list', 'review']);

/** Read about cards of a brain. What is asked by id of the medulla is asked from no project at all. */
export function look(operation, args, { brain, signal }) {
  const named = brain.root || OF_MEDULLA.has(operation);
  return named ? ask(operation, args, { brain, signal }) : act(operation, args, { brain, signal });
}

/** The colour of a status. */
export const statusKind = (status) => STATUSES.find((one) => one.name === status)?.kind ?? 'plain';

/** What a gate lacks, as phrases: from its numbers, and only for the rest from what the house says. */
export function lacks(verdict) {
  const { requirements, evidence_counts: have } = verdict;
  const roles = ['supporting', 'verification', 'teaching']
    .map((role) => [role, have[role], requirements[`min_${role}_refs`]])
    .filter(([, has, needs]) => has < needs)
    .map(([role, has, needs]) => `${needs - has} more ${role} evidence (it has ${has} of ${needs})`);
  const said = roles.concat(have.counterexample ? [`${have.counterexample} counterexample${have.counterexample > 1 ? 's' : ''} to be let pass by a person`] : []);
  return said.length ? said : verdict.reasons;
}
