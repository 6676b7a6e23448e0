// The versions of a claim: a list of them, and the difference between any two.

import { h, plain, replace, text } from '../dom.js';
import { ago, badge, panel, select } from '../ui.js';
import { difference } from './diff.js';

const ENDINGS = {
  'claim.memorize': 'replaced by a newer version',
  'claim.file': 'replaced by what its file says',
  'claim.witness': 'replaced when it was shared',
  'claim.promote': 'replaced when it was shared',
  'claim.grade': 'replaced when it was graded',
  'claim.removed': 'its file was removed',
  'claim.withdraw': 'withdrawn',
  'claim.reject': 'rejected',
  'claim.merge': 'merged into another claim',
  'claim.demote': 'taken back',
};

/** Versions, newest first, and what changed from one to the other. */
export function versionsPanel(versions) {
  const items = versions.map((one, index) => item(one, index, versions.length));
  return panel('Versions', { id: 'versions', note: versions.length > 1 ? `${versions.length}, the newest first` : 'there is only this one' }, versions.length > 1 ? compared(versions) : null, h('ol', { class: 'versions' }, items));
}

function item(one, index, all) {
  return h(
    'li',
    { class: 'stack' },
    h(
      'div',
      { class: 'row' },
      h('b', {}, named(index, all)),
      badge(one.live ? 'live' : 'ended', one.live ? 'good' : 'plain'),
      h('span', { class: 'muted' }, 'by ', text(plain(one.source_agent, 40)), ', ', text(plain(one.channel, 20)), ' channel, ', ago(one.created)),
      one.ended_by && h('span', { class: 'muted' }, ENDINGS[one.ended_by] ?? ['ended by ', text(verb(one.ended_by))], ' ', ago(one.archived_at)),
    ),
    text(one.body, { tag: 'p' }),
  );
}

// An act as its verb: `claim.memorize` is memorize.
const verb = (act) => plain(String(act).split('.').at(-1), 40);

const named = (index, all) => `Version ${all - index}`;

// Two choices and what lies between them; the last change is shown first.
function compared(versions) {
  const options = versions.map((one, index) => [String(index), `${named(index, versions.length)}, ${new Date(one.created ?? 0).toLocaleDateString()}`]);
  const area = h('div', { class: 'stack compared', 'aria-live': 'polite' });
  let [old, young] = [1, 0];
  const before = select('Earlier version', options, { chosen: '1', onchange: (value) => ((old = Number(value)), draw()) });
  const after = select('Later version', options, { chosen: '0', onchange: (value) => ((young = Number(value)), draw()) });
  const draw = () => replace(area, difference(versions[old].body, versions[young].body), besides(versions[old], versions[young]));
  draw();
  return h('div', { class: 'stack' }, h('div', { class: 'toolbar' }, h('span', {}, 'From'), before, h('span', {}, 'to'), after), area);
}

// What else is another between two versions: who, how firmly, from what.
function besides(one, other) {
  const rows = [
    ['belief', one.belief, other.belief],
    ['confidence', one.confidence, other.confidence],
    ['by', one.source_agent, other.source_agent],
    ['evidence', one.evidence.join(', '), other.evidence.join(', ')],
  ].filter(([, was, is]) => was !== is);
  if (!rows.length) return null;
  return h('ul', { class: 'besides muted' }, rows.map(([name, was, is]) => h('li', {}, `${name}: `, h('del', {}, text(shown(was))), ' ', h('ins', {}, text(shown(is))))));
}

const shown = (value) => (value === null || value === undefined || value === '' ? 'none' : plain(value, 200));
