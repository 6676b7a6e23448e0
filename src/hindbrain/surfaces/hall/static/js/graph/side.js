// The side of the graph: the selected node with its facts, what may be asked about it, and the lists of what is lit.

import { h, plain, replace, text } from '../dom.js';
import { link } from '../router.js';
import { ago, badge, button, count, facts, failure, loading, num, panel, select } from '../ui.js';
import { nodeList } from './lists.js';
import { degree, neighbours } from './model.js';

const DEPTHS = [['1', '1 edge away'], ['2', '2 edges away'], ['3', '3 edges away']];

/** The panel of one node. `state` is {mode, depth}; `acts` are near(depth), impact(), path(), close(), draw() or null. */
export function nodePanel({ model, row, id, brain, state, acts, load }) {
  const drawn = row !== undefined;
  const kind = drawn ? model.kinds[model.kind[row]] : '';
  const name = drawn ? model.labels[row] : id;
  const told = h('div', { class: 'stack' });
  told.setAttribute('aria-busy', 'true');
  load()
    .then((answer) => replace(told, answer && (answer.node ? described(answer.node) : h('p', {}, text(answer.reason)))))
    .catch((error) => error.name === 'AbortError' || replace(told, failure(error)))
    .finally(() => told.removeAttribute('aria-busy'));
  const depth = select('Depth of the neighbourhood', DEPTHS, { chosen: String(state.depth), onchange: (value) => acts.near(Number(value)) });
  depth.dataset.act = 'depth';
  const pressed = (mode) => ({ 'aria-pressed': String(state.mode === mode), 'data-act': mode });
  const tools = h(
    'div',
    { class: 'actions', role: 'group', 'aria-label': 'Ask about this node' },
    button('Neighbourhood', { onclick: () => acts.near(state.depth), ...pressed('near') }),
    depth,
    button('Impact', { onclick: acts.impact, title: 'what a change of it reaches', ...pressed('impact') }),
    button('Path to…', { onclick: acts.path, title: 'the shortest way to another node', ...pressed('path') }),
  );
  const whole = panel(
    text(plain(name, 120)),
    { class: 'graph-node', actions: button('Close', { kind: 'quiet', onclick: acts.close, label: 'Close this node' }) },
    h('p', { class: 'mono node-id' }, text(id)),
    h('p', { class: 'row' }, kind && badge(kind), drawn && badge(count(degree(model, row), 'edge')), drawn && model.cited[row] > 0 && badge(`cited by ${count(model.cited[row], 'claim')}`, 'warn'), !drawn && badge('not among the drawn nodes', 'info')),
    told,
    drawn && claimsOf(model, row, brain),
    !drawn && acts.draw && button('Draw the graph around it', { onclick: acts.draw }),
    tools,
  );
  whole.querySelector('h2').tabIndex = -1; // where the focus goes when a node was chosen from a list
  return whole;
}

function described(node) {
  const { provenance: place } = node;
  const lines = place.line_start ? `${place.line_start} to ${place.line_end}` : '';
  const shown = facts({
    Path: place.source_path && text(place.source_path, { mono: true }),
    Lines: lines,
    Changed: node.last_modified ? ago(node.last_modified * 1000) : '',
  });
  return [shown, place.excerpt && h('pre', { class: 'excerpt' }, text(place.excerpt, { mono: true }))];
}

/** The claims that cite a node, or the claim that the node is. */
function claimsOf(model, row, brain) {
  const to = (one) => link(['b', brain.id, 'memory', model.slugs.get(one)], {}, text(plain(model.labels[one], 100)));
  if (model.slugs.has(row)) return h('p', {}, 'A claim: ', to(row));
  const rows = [...new Set(neighbours(model, row).map((one) => one.row))].filter((one) => model.slugs.has(one));
  if (!rows.length) return null;
  const more = model.cited[row] - rows.length;
  return h(
    'div',
    { class: 'stack' },
    h('h3', {}, 'Claims that cite it'),
    h('ul', { class: 'graph-claims', 'aria-label': 'Claims that cite it' }, rows.map((one) => h('li', {}, to(one)))),
    more > 0 && h('p', { class: 'muted' }, `and ${num(more)} more that are not drawn`),
  );
}

/** The lists of what is lit. */
export function resultPanel(model, title, found, { onpick, close }) {
  const head = { class: 'graph-result', actions: close && button('Clear', { kind: 'quiet', onclick: close, label: `Clear ${title}` }) };
  if (found.blocked && !found.groups.length) return panel(title, head, h('p', {}, text(found.blocked)));
  return panel(
    title,
    head,
    found.words && h('p', { class: 'muted', role: 'status' }, found.words),
    found.groups.map((group) => [h('h3', {}, `${group.title} (${num(group.items.length)})`), nodeList(model, group.items, { label: group.title, onpick })]),
    !found.groups.length && h('p', { class: 'muted' }, 'Nothing is bound to it.'),
  );
}

/** The panel while its lists are on their way, or when they failed. */
export function waitingPanel(title) {
  return panel(title, { class: 'graph-result' }, loading('Asking the graph'));
}

/** The same panel for what went wrong. */
export function failedPanel(title, error, again) {
  return panel(title, { class: 'graph-result' }, failure(error, again));
}
