// Entries of a ledger: who did what about what, with what was written down.

import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { ago, badge, empty, when } from '../ui.js';

const PLACES = { card: 'knowledge', msn: 'missions', megram: 'experience', graph: 'graph' };
const KINDS = { human: 'accent', agent: 'plain', runtime: 'plain', research: 'info', dream: 'info' };

/** Entries as a list in which each opens to what was written down. */
export function entryTable(entries, brain) {
  if (!entries.length) return empty('No entry is like this', 'Another filter shows more.');
  return h('ol', { class: 'entries' }, entries.map((one) => entryItem(one, brain)));
}

/** One entry. */
export function entryItem(one, brain) {
  return h(
    'li',
    { 'data-walk': '', 'data-seq': String(one.seq) },
    h(
      'details',
      { class: 'entry' },
      h(
        'summary',
        {},
        h('span', { class: 'entry-seq muted' }, `#${one.seq}`),
        h('span', { class: 'entry-act' }, text(one.act, { mono: true }), one.told && h('span', { class: 'muted entry-told' }, text(plain(one.told, 120)))),
        h('span', { class: 'entry-who' }, text(plain(one.actor, 40)), ' ', badge(text(plain(one.channel, 20)), KINDS[one.channel] ?? 'plain')),
        h('span', { class: 'entry-at muted' }, ago(one.at)),
      ),
      h('div', { class: 'stack entry-body' }, h('p', {}, 'About ', about(one, brain), ', ', when(one.at)), text(JSON.stringify(one.payload, null, 2), { tag: 'pre', mono: true }), h('p', { class: 'muted' }, 'hash ', text(one.hash, { mono: true }))),
    ),
  );
}

// What an entry is about, as a link where it leads somewhere.
function about(one, brain) {
  const words = text(plain(one.slug ?? one.subject, 80), { mono: true });
  const parts = placeOf(one, brain);
  return parts ? link(['b', brain.id, ...parts], {}, words) : words;
}

function placeOf(one, brain) {
  if (one.slug) return ['memory', one.slug];
  const named = one.subject.replace(/^task:/u, '');
  const view = PLACES[/^[a-z]+/u.exec(named)?.[0]];
  if (!view || (brain.kind === 'medulla' && view !== 'knowledge')) return null;
  return named.includes('_') ? [view, named] : [view];
}
