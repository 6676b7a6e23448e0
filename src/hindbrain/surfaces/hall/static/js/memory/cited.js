// What a claim cites, and whether that is still what it was.

import { brainNamed } from '../brains.js';
import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { badge, panel } from '../ui.js';
import { brainWords } from './marks.js';

const WHY = {
  evidence_changed: 'the file changed since it was cited',
  evidence_missing: 'the file is gone',
  missing: 'the file is gone',
};

/** The citations of a claim, each with its state and the ways from there. In the past nothing is compared with today's files. */
export function citedPanel(row, brain, { past = false } = {}) {
  const rows = row.evidence ?? [];
  if (!rows.length) return panel('Evidence', { id: 'cited' }, h('p', { class: 'muted' }, 'It cites nothing: it rests on the word of whoever said it.'));
  return panel('Evidence', { id: 'cited', note: 'what it cites' }, h('ul', { class: 'cited' }, rows.map((one) => h('li', { class: 'row' }, citation(one, row, brain, past)))));
}

// A citation in its parts: the brain it lies in, path and line. In the medulla they carry the root before a #.
function partsOf(value, brain) {
  const [root, rest] = /^\/.*#/u.test(value) ? [value.slice(0, value.indexOf('#')), value.slice(value.indexOf('#') + 1)] : [brain.root ?? 'medulla', value];
  const found = /^(.*?):(\d+)(?:-\d+)?$/u.exec(rest);
  return { root, path: found ? found[1] : rest, line: found ? Number(found[2]) : null };
}

function citation(value, row, brain, past) {
  if (/^ev_[0-9a-f]+$/u.test(value)) return [link(['b', brain.id, 'evidence', value], {}, text(value, { mono: true }))];
  const { root, path } = partsOf(value, brain);
  const home = brainNamed(root);
  const why = row.evidence_changed?.[path];
  const node = `file::${path}`;
  return [
    text(plain(value.includes('#') ? value.slice(value.indexOf('#') + 1) : value, 300), { mono: true }),
    root !== (brain.root ?? 'medulla') && h('span', { class: 'muted' }, 'in ', brainWords(root)),
    !past && stateOf(why, brain),
    home?.kind === 'project' && link(['b', home.id, 'graph'], { query: { node }, 'aria-label': `${plain(path, 120)} in the graph` }, 'graph'),
    home?.kind === 'project' && link(['b', home.id, 'evidence'], { query: { source: path }, 'aria-label': `evidence from ${plain(path, 120)}` }, 'evidence'),
  ];
}

function stateOf(why, brain) {
  if (why) return badge('changed', 'warn', WHY[why] ?? plain(why));
  return brain.kind === 'project' ? badge('as it was cited', 'good') : null;
}
