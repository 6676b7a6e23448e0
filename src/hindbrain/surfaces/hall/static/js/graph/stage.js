// The stage: the canvas with its buttons, its legend, and the name of what the pointer is on.

import { h, plain, replace } from '../dom.js';
import { button, num } from '../ui.js';
import { legendOf } from './colours.js';
import { explorer } from './explorer.js';

/** A stage for a model: {element, show(handlers)}; the explorer begins when the element is on the page. */
export function stage(model) {
  const label = `A map of ${num(model.size)} nodes and ${num(model.source.length)} edges. Search and lists beside it say the same in words.`;
  const canvas = h('canvas', { class: 'graph-canvas', role: 'img', 'aria-label': label });
  const over = h('p', { class: 'graph-over', 'aria-hidden': 'true' });
  const controls = h('div', { class: 'graph-controls' });
  const element = h('div', { class: 'graph-stage' }, h('div', { class: 'graph-frame' }, canvas, over, controls), legend(model));

  function show(handlers) {
    const onhover = (row) => replace(over, row === null ? null : `${plain(model.labels[row], 80)} · ${model.kinds[model.kind[row]]}`);
    const map = explorer(canvas, model, { ...handlers, onhover });
    const control = (sign, name, run) => button(sign, { label: name, title: name, onclick: run });
    replace(controls, control('+', 'Zoom in', () => map.zoom(1.6)), control('−', 'Zoom out', () => map.zoom(1 / 1.6)), control('⤢', 'Show the whole graph', () => map.frameOn()));
    return map;
  }

  return { element, show };
}

function legend(model) {
  const rows = legendOf(model).map(([group, name, many]) => h('li', {}, h('span', { class: `swatch is-${group}`, 'aria-hidden': 'true' }), `${name} `, h('span', { class: 'muted' }, num(many))));
  const ring = model.cited.some((claims) => claims > 0) && h('li', {}, h('span', { class: 'swatch is-ringed', 'aria-hidden': 'true' }), 'Cited by a claim');
  return h('ul', { class: 'graph-legend', 'aria-label': 'Colours' }, rows, ring);
}
