// The palette: go anywhere and find anything by typing. Ctrl+K or / opens it.

import { ask } from './api.js';
import { house, brainOf, readable, usual } from './brains.js';
import { h, plain, replace, text } from './dom.js';
import { dialog } from './dialog.js';
import { address, here } from './router.js';
import { BRAIN_VIEWS, HOUSE_VIEWS, viewOf } from './routes.js';
import { calmed } from './ui.js';

let shown = null;

/** Open the palette, unless it is open. */
export function palette() {
  if (shown) return;
  const input = h('input', { type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-label': 'Search or go to', placeholder: 'A view, a brain, or words of a claim', autocomplete: 'off' });
  const list = h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'Found' });
  let rows = [];
  let at = 0;
  let asked = 0;
  const draw = () => {
    replace(list, rows.map((row, index) => h('li', { role: 'option', id: `palette-${index}`, 'aria-selected': String(index === at), on: { click: () => choose(index), mousemove: () => move(index) } }, h('span', {}, row.words), h('span', { class: 'muted' }, row.kind))));
    if (rows.length) input.setAttribute('aria-activedescendant', `palette-${at}`);
    else input.removeAttribute('aria-activedescendant');
    list.children[at]?.scrollIntoView({ block: 'nearest' });
  };
  const move = (index) => {
    if (index === at) return;
    at = index;
    draw();
  };
  const choose = (index) => {
    if (!rows[index]) return;
    location.hash = rows[index].to;
    shown.close();
  };
  const search = calmed(80, async () => {
    const words = input.value.trim();
    const number = ++asked;
    if (words.length < 2) return;
    const brain = brainOf(viewOf(here().parts).brainId) ?? usual();
    if (!brain || !readable(brain)) return;
    const tier = brain.root ? {} : { tier: 'medulla' };
    const found = await ask('claims', { query: words, limit: 8, ...tier }, { brain }).catch(() => null);
    if (number !== asked || !shown || !found) return;
    rows = [...places(words), ...found.claims.map((claim) => claimed(claim, brain))];
    draw();
  });
  const typed = () => {
    at = 0;
    rows = places(input.value.trim());
    draw();
    search();
  };
  const walked = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && rows.length) {
      event.preventDefault();
      move((at + step + rows.length) % rows.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      choose(at);
    }
  };
  input.addEventListener('input', typed);
  input.addEventListener('keydown', walked);
  shown = dialog('Go to', h('div', {}, input, list), { class: 'palette', onclose: () => (shown = null) });
  typed();
  input.focus();
}

function claimed(claim, brain) {
  return { words: text(plain(claim.claim, 90)), kind: 'claim', to: address(['b', brain.id, 'memory', claim.slug]) };
}

function places(words) {
  const known = viewOf(here().parts).brainId;
  const all = [
    ...HOUSE_VIEWS.map((view) => ({ name: view.name, words: view.name, kind: 'view', to: address([view.path].filter(Boolean)) })),
    ...ordered(house.brains, known).flatMap((brain) => inside(brain)),
  ];
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = wanted.length ? all.filter((one) => wanted.every((word) => one.name.toLowerCase().includes(word))) : all;
  return matching.slice(0, 12);
}

const ordered = (brains, first) => [...brains].sort((one, other) => Number(other.id === first) - Number(one.id === first));

function inside(brain) {
  const shownName = plain(brain.display_name, 60);
  return BRAIN_VIEWS.filter((view) => !(view.projects && brain.kind !== 'project')).map((view) => ({
    name: `${shownName} ${view.name}`,
    words: [text(shownName), ` · ${view.name}`],
    kind: brain.kind === 'project' ? 'brain' : 'medulla',
    to: address(['b', brain.id, view.path]),
  }));
}
