// A claim as a card of the list.

import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { ago, meter } from '../ui.js';
import { bornAt, brainWords, marks } from './marks.js';

const SHOWN = 400; // characters of a text that a clamped card may need

/** The card of a claim in the list of its brain. `asOf`: the list is of that time, and so is the claim that one opens. */
export function claimCard(row, brain, asOf = null) {
  const name = link(['b', brain.id, 'memory', row.slug], { query: { as_of: asOf } }, text(plain(row.claim, 120)));
  const foreign = row.origin_brain && row.origin_brain !== (brain.root ?? 'medulla');
  return h(
    'article',
    { class: 'card memory-card', 'data-walk': '', 'data-slug': row.slug },
    h('h3', {}, name),
    h('p', { class: 'clamp' }, text(clipped(row.text))),
    h('div', { class: 'row' }, marks(row)),
    h(
      'footer',
      { class: 'row muted memory-foot' },
      h('span', {}, row.arrived_by && `by ${row.arrived_by}, stated author `, text(plain(row.source_agent, 40))),
      foreign && h('span', {}, 'from ', brainWords(row.origin_brain)),
      ago(bornAt(row)),
      typeof row.strength === 'number' && meter(row.strength, { label: 'strength' }),
    ),
  );
}

function clipped(value) {
  const words = String(value ?? '');
  return words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words;
}
