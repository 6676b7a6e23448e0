// Lists of nodes: the same as the canvas shows, in words. Each row selects its node; arrows walk.

import { h, plain, text } from '../dom.js';
import { groupOf } from './colours.js';

const MOST = 200;

/** A list of nodes. Items: {row} or {id} for a node that is not drawn, with `note` (words) and `mark` (a node). */
export function nodeList(model, items, { label, onpick, none = 'None.' }) {
  if (!items.length) return h('p', { class: 'muted' }, none);
  const rows = items.slice(0, MOST).map((item) => h('li', {}, nodeButton(model, item, onpick)));
  const more = items.length - rows.length;
  return h(
    'div',
    { class: 'node-list' },
    h('ul', { 'aria-label': label, on: { keydown: walked } }, rows),
    more > 0 && h('p', { class: 'muted' }, `and ${more} more`),
  );
}

function nodeButton(model, { row, id, note, mark }, onpick) {
  const external = row === undefined ? id : model.ids[row];
  const name = row === undefined ? id : model.labels[row];
  const kind = row === undefined ? 'other' : model.kinds[model.kind[row]];
  return h(
    'button',
    { type: 'button', class: 'node-row', title: plain(external, 300), 'data-node': external, on: { click: () => onpick(external, row) } },
    h('span', { class: `swatch is-${groupOf(kind)}`, 'aria-hidden': 'true' }),
    h('span', { class: 'grow' }, text(plain(name, 90), { class: 'node-name' }), h('span', { class: 'node-place muted' }, placeOf(model, row, kind))),
    note && h('span', { class: 'node-note muted' }, note),
    mark,
  );
}

function placeOf(model, row, kind) {
  const path = row === undefined ? '' : model.paths[model.path[row]];
  return [kind, path && path !== '.' ? h('span', { class: 'mono' }, text(plain(path, 120))) : null].flatMap((part, at) => (part ? [at ? ' · ' : '', part] : []));
}

/** Arrow keys go through the buttons of a list. */
export function walked(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const ends = { Home: 0, End: -1 }[event.key];
  if (step === undefined && ends === undefined) return;
  const stops = [...event.currentTarget.querySelectorAll('button')];
  const at = stops.indexOf(document.activeElement);
  event.preventDefault();
  (step === undefined ? stops.at(ends) : stops[at + step])?.focus();
}
