// The shell: what stands around every view. Ways to go, the state of the stream, and the colours.

import { h, plain, replace } from './dom.js';
import { house, brainOf, usual } from './brains.js';
import { icon } from './icons.js';
import { live } from './live.js';
import { go, here, link } from './router.js';
import { BRAIN_VIEWS, HOUSE_VIEWS, viewOf } from './routes.js';
import { badge, button } from './ui.js';
import { toast } from './dialog.js';

const THEMES = ['auto', 'light', 'dark'];
const ICONS = { auto: 'auto', light: 'sun', dark: 'moon' };

/** Build the shell once; returns {main, draw} where draw marks what is shown now. */
export function shell({ onsearch }) {
  const main = h('main', { id: 'main', tabindex: '-1' });
  const nav = h('nav', { class: 'nav', id: 'nav', 'aria-label': 'Views' });
  const state = h('p', { class: 'stream', role: 'status' });
  const theme = button(icon('auto'), { kind: 'quiet', onclick: () => themed(theme, true) });
  const menu = button(icon('menu'), { kind: 'quiet', label: 'Views', 'aria-expanded': 'false', 'aria-controls': 'nav', onclick: () => opened(menu) });
  menu.classList.add('menu');
  const find = h('button', { type: 'button', class: 'find', on: { click: onsearch } }, icon('search'), h('span', {}, 'Search…'), h('kbd', {}, 'Ctrl K'));
  const aside = h('aside', { class: 'side' }, brand(), menu, find, nav, h('footer', { class: 'side-foot' }, state, theme));
  document.body.replaceChildren(h('a', { class: 'skip', href: '#main', on: { click: skipped } }, 'Skip to the view'), aside, main);
  themed(theme, false);
  streamed(state);
  live.watch((now, before) => streamed(state, now, before));
  const draw = () => {
    document.body.classList.remove('menu-open');
    menu.setAttribute('aria-expanded', 'false');
    renew(nav, { moved: true });
  };
  house.handlers.add(() => renew(nav));
  nav.addEventListener('focusout', () => setTimeout(() => renew(nav)));
  return { main, draw };

  function skipped(event) {
    event.preventDefault();
    main.focus();
  }
}

function brand() {
  return link([], { class: 'brand' }, h('img', { src: '/hall/icon.svg', alt: '', width: 28, height: 28 }), h('span', {}, 'Hindbrain'));
}

function opened(menu) {
  const open = document.body.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(open));
}

// Only what changed is drawn anew, with the focus where it was; a list of brains that somebody chooses from stays open.
function renew(nav, { moved = false } = {}) {
  const next = h('nav', {}, ways());
  const same = next.childNodes.length === nav.childNodes.length && [...next.childNodes].every((one, at) => one.isEqualNode(nav.childNodes[at]));
  const chooses = nav.querySelector('select:focus');
  if (same || (chooses && !moved)) return;
  const held = nav.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  replace(nav, [...next.childNodes]);
  if (chooses) nav.querySelector('select')?.focus({ preventScroll: true });
  if (held) [...nav.querySelectorAll('a')].find((one) => one.getAttribute('href') === held)?.focus({ preventScroll: true });
}

function ways() {
  const { view, brainId } = viewOf(here().parts);
  const brain = brainOf(brainId) ?? usual();
  const waiting = house.totals?.letters_open;
  const first = HOUSE_VIEWS.map((one) => way([one.path].filter(Boolean), one, one === view, one.path === 'mail' && waiting));
  if (!brain) return [h('ul', {}, first)];
  const offered = BRAIN_VIEWS.filter((one) => !(one.projects && brain.kind !== 'project'));
  const marks = { review: brain.review_waiting, missions: brain.missions_open };
  return [
    h('ul', {}, first),
    h('div', { class: 'nav-brain' }, h('label', { for: 'nav-brain' }, 'Brain'), chooser(brain, view)),
    h('ul', {}, offered.map((one) => way(['b', brain.id, one.path], one, one === view, marks[one.path]))),
  ];
}

// Another brain, in the same view where it has one.
function chooser(brain, view) {
  const names = house.brains.map((one) => h('option', { value: one.id, selected: one.id === brain.id }, plain(one.display_name, 60)));
  const chosen = (event) => {
    const next = brainOf(event.target.value);
    const same = BRAIN_VIEWS.find((one) => one === view && !(one.projects && next.kind !== 'project'));
    go(['b', next.id, same?.path ?? 'memory']);
  };
  return h('select', { id: 'nav-brain', title: brain.root ? plain(brain.root) : 'what belongs to no project', on: { change: chosen } }, names);
}

function way(parts, view, current, waiting) {
  return h('li', {}, link(parts, { class: 'way', 'aria-current': current ? 'page' : null }, icon(view.icon), h('span', {}, view.name), waiting ? badge(String(waiting), 'accent') : null));
}

function themed(control, next) {
  const chosen = /(?:^|; )hall-theme=(\w+)/.exec(document.cookie)?.[1] ?? 'auto';
  const now = next ? THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] : chosen;
  document.cookie = `hall-theme=${now}; path=/; max-age=31536000; SameSite=Strict`; // kept when the entrance clears the storage
  if (now === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
  control.setAttribute('aria-label', `Colours: ${now}`);
  control.title = `Colours: ${now}`;
  replace(control, icon(ICONS[now]));
  if (next) document.dispatchEvent(new CustomEvent('themechange'));
}

const WORDS = { connecting: 'connecting', live: 'live', lost: 'the owner is away' };
let away = null;

function streamed(place, now = live.state, before = null) {
  replace(place, h('span', { class: `dot ${now}`, 'aria-hidden': 'true' }), WORDS[now]);
  if (now === 'lost' && before === 'live') away = toast('The owner is away. The page waits for the next one; what you see may be old.', 'warn', { keep: 0 });
  if (now === 'live' && away) {
    away();
    away = null;
    toast('The owner is back. Everything was read anew.', 'good');
  }
}
