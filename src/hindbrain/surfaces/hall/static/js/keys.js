// Keys: everything without a mouse. `?` tells which there are.

import { h } from './dom.js';
import { brainOf, usual } from './brains.js';
import { dialog } from './dialog.js';
import { palette } from './palette.js';
import { go, here } from './router.js';
import { BRAIN_VIEWS, HOUSE_VIEWS, viewOf } from './routes.js';

const WAIT_MS = 1200;
let since = -Infinity; // when g was pressed

/** Listen for keys on the whole page. */
export function listenForKeys() {
  document.addEventListener('keydown', pressed);
}

function pressed(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    palette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector('dialog[open]')) return;
  const second = performance.now() - since < WAIT_MS;
  since = -Infinity;
  if (second && jumped(event.key)) return;
  if (event.key === 'g') since = performance.now();
  else if (event.key === '/') {
    event.preventDefault();
    (document.querySelector('main input[type=search]') ?? { focus: palette }).focus();
  } else if (event.key === '?') help();
  else if (event.key === 'j' || event.key === 'k') walk(event.key === 'j' ? 1 : -1);
}

const writes = (element) => element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName);

function jumped(key) {
  const view = HOUSE_VIEWS.find((one) => one.key === key);
  if (view) {
    go([view.path].filter(Boolean));
    return true;
  }
  const inner = BRAIN_VIEWS.find((one) => one.key === key);
  const brain = brainOf(viewOf(here().parts).brainId) ?? usual();
  if (!inner || !brain) return false;
  go(['b', brain.id, inner.path]);
  return true;
}

// Cards and rows that can be walked carry data-walk; the focus goes from one to the next.
function walk(step) {
  const stops = [...document.querySelectorAll('main [data-walk]')];
  if (!stops.length) return;
  const at = stops.findIndex((stop) => stop.contains(document.activeElement));
  const next = stops[Math.max(0, Math.min(stops.length - 1, at < 0 ? 0 : at + step))];
  (next.matches('a, button, summary') ? next : next.querySelector('a, button, summary'))?.focus();
}

function help() {
  const rows = [
    ['Ctrl K', 'search or go anywhere'],
    ['/', 'search in this view'],
    ['j, k', 'next and previous card'],
    ['?', 'this list'],
    ...[...HOUSE_VIEWS, ...BRAIN_VIEWS].map((view) => [`g ${view.key}`, view.name]),
  ];
  dialog('Keys', h('dl', { class: 'facts keys' }, rows.map(([key, words]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, words)))));
}
