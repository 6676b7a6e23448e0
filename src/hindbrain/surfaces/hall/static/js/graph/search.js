// The search box of the graph: what is typed is looked for among the names of all nodes, at once.

import { h, replace } from '../dom.js';
import { count, filled } from '../ui.js';
import { find } from './find.js';
import { nodeList } from './lists.js';
import { rowOf } from './model.js';

const MOST = 30;

/** The box with its list. `ask(words)` looks beyond the drawn nodes and returns ids. Returns {element, focus, named}. */
export function searchBox({ model, finder, onpick, ask, words = '' }) {
  const results = h('div', { class: 'graph-results' });
  const told = h('p', { class: 'visually-hidden', role: 'status' });
  const label = h('label', { for: 'graph-find' }, 'Find a node');
  const input = h('input', { type: 'search', id: 'graph-find', placeholder: 'File, class, function or claim', autocomplete: 'off', value: words, on: { input: drawn, keydown: pressed } });

  function drawn() {
    const typed = input.value.trim();
    if (!typed) {
      replace(results);
      replace(told);
      return;
    }
    const rows = find(finder, typed, MOST);
    replace(told, count(rows.length, 'node'));
    replace(results, nodeList(model, rows.map((row) => ({ row })), { label: 'Nodes found', onpick: picked, none: 'No drawn node has this name.' }), rows.length ? null : beyond(typed));
  }

  /** What is meant may be in the code under other words, or in a part that is not drawn. */
  function beyond(typed) {
    const found = h('div', { class: 'stack' });
    const list = (ids) => nodeList(model, ids.map((id) => ({ id, row: rowOf(model, id) })), { label: 'Found by meaning', onpick: picked, none: 'Nothing is near in meaning either.' });
    const look = () => filled(found, () => ask(typed), list, { words: 'Searching' });
    return h('div', { class: 'stack' }, h('button', { type: 'button', class: 'button', on: { click: look } }, 'Search the code by meaning'), found);
  }

  function picked(id, row) {
    clear();
    onpick(id, row);
  }

  function pressed(event) {
    const first = results.querySelector('button');
    if (event.key === 'ArrowDown' && first) {
      event.preventDefault();
      first.focus();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      first?.click();
    } else if (event.key === 'Escape' && input.value) {
      clear();
    }
  }

  function clear() {
    input.value = '';
    drawn();
  }

  drawn();
  return {
    element: h('div', { class: 'field' }, label, input, told, results),
    focus: () => input.focus(),
    named: (name) => replace(label, name),
  };
}
