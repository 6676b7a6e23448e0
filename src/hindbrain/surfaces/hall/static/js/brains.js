// Brains: which there are. Read once for the whole page, and again when something changed.

import { get } from './api.js';

/** What the overview said last: {brains, totals, owner}, and who is told when it is read anew. */
export const house = { brains: [], totals: null, owner: null, handlers: new Set() };

let asked = 0;
let shown = 0;

/** Read the overview anew. What was asked for earlier does not come over what was asked for later. */
export async function refresh({ signal } = {}) {
  asked += 1;
  const turn = asked;
  const found = await get('overview', {}, { signal });
  if (turn < shown) return house;
  shown = turn;
  Object.assign(house, { brains: found.brains, totals: found.totals, owner: found.owner });
  for (const handler of house.handlers) handler(house);
  return house;
}

/** The brain of an address, or undefined. */
export const brainOf = (id) => house.brains.find((brain) => brain.id === id);

/** The brain that an event tells of, by its name. */
export const brainNamed = (name) => house.brains.find((brain) => (brain.root ?? 'medulla') === name);

/** Whether anybody can say whose brain it is; of another one there is nothing but the directory. */
export const readable = (brain) => brain.kind !== 'project' || Boolean(brain.root);

/** The brain that was looked at last, else the first project. */
export function usual() {
  const brains = house.brains.filter(readable);
  return brains.find((brain) => brain.id === localStorage.getItem('hall-brain')) ?? brains.find((brain) => brain.kind === 'project') ?? brains[0];
}

/** Remember which brain is looked at. */
export const looked = (brain) => localStorage.setItem('hall-brain', brain.id);
