// Parts: small pieces that every view is made of.

import { h, plain, replace, svg, text } from './dom.js';

const MINUTE = 60_000;
const STEPS = [
  [MINUTE, 1000, 'second'],
  [60 * MINUTE, MINUTE, 'minute'],
  [24 * 60 * MINUTE, 60 * MINUTE, 'hour'],
  [30 * 24 * 60 * MINUTE, 24 * 60 * MINUTE, 'day'],
  [365 * 24 * 60 * MINUTE, 30 * 24 * 60 * MINUTE, 'month'],
  [Infinity, 365 * 24 * 60 * MINUTE, 'year'],
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const NUMBER = new Intl.NumberFormat('en');

/** Milliseconds of a moment that came as a number or as ISO text. */
export function moment(value) {
  return typeof value === 'string' ? Date.parse(value) : value;
}

/** How long ago a moment was, with the moment itself as title. It stays true while it is shown: see aged. */
export function ago(value) {
  const at = moment(value);
  return known(at) ? stamped(at, since(at), { 'data-ago': at }) : h('span', { class: 'muted' }, 'never');
}

/** Tell anew how long ago everything on the page was. What is read aloud when it changes stays as it is. */
export function aged() {
  for (const one of document.querySelectorAll('time[data-ago]')) {
    const words = since(Number(one.dataset.ago));
    if (one.textContent !== words && !one.closest('[role=status], [role=alert]')) one.textContent = words;
  }
}

function since(at) {
  const past = Date.now() - at;
  if (Math.abs(past) < 5000) return 'just now';
  const [, unit, name] = STEPS.find(([limit]) => Math.abs(past) < limit);
  return RELATIVE.format(-Math.round(past / unit), name);
}

/** A moment as date and time. */
export function when(value) {
  const at = moment(value);
  return known(at) ? stamped(at, new Date(at).toLocaleString()) : '';
}

// What no calendar has is no moment, whoever wrote it down.
const known = (at) => at !== null && at !== undefined && !Number.isNaN(new Date(at).getTime());

function stamped(at, words, more) {
  const date = new Date(at);
  return h('time', { datetime: date.toISOString(), title: date.toLocaleString(), ...more }, words);
}

/** A number with its noun: `1 claim`, `2,000 claims`. */
export function count(number, noun, plural = `${noun}s`) {
  return `${NUMBER.format(number)} ${number === 1 ? noun : plural}`;
}

/** A number as people write it. */
export const num = (number) => NUMBER.format(number);

/** A small mark. Kinds: plain, good, warn, bad, info, accent. */
export function badge(words, kind = 'plain', title) {
  return h('span', { class: `badge ${kind}`, title }, words);
}

/** A button. Kinds: plain, primary, danger, quiet. */
export function button(words, { kind = 'plain', onclick, title, label, type = 'button', disabled, ...rest } = {}) {
  const props = { class: `button ${kind}`, type, title, 'aria-label': label, disabled, on: onclick ? { click: onclick } : {}, ...rest };
  return h('button', props, words);
}

/** A titled part of a page. */
export function panel(title, { actions, level = 2, id, class: more = '', note } = {}, ...children) {
  const head = title
    ? h('header', { class: 'panel-head' }, h(`h${level}`, {}, title), note && h('p', { class: 'muted' }, note), actions && h('div', { class: 'actions' }, actions))
    : null;
  return h('section', { class: `panel ${more}`, id }, head, ...children);
}

/** The head of a view: what it is, and what one may do here. */
export function heading(title, { about, actions } = {}) {
  return h(
    'header',
    { class: 'heading' },
    h('div', {}, h('h1', { tabindex: '-1' }, title), about && h('p', { class: 'muted' }, about)),
    actions && h('div', { class: 'actions' }, actions),
  );
}

/** Nothing here: why, and what makes something appear. Commands can be copied. */
export function empty(title, words, { command, action } = {}) {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), words && h('p', { class: 'muted' }, words), command && copyable(command), action);
}

/** Something failed: what, and the way out. */
export function failure(error, retry) {
  return h(
    'div',
    { class: 'failure', role: 'alert' },
    h('p', { class: 'empty-title' }, text(error.message || 'Something failed.')),
    error.fix && h('p', {}, text(error.fix)),
    error.code && h('p', { class: 'muted mono' }, String(error.code)),
    retry && button('Try again', { onclick: retry }),
  );
}

/** Something is on its way. */
export function loading(words = 'Loading') {
  return h('div', { class: 'loading', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), `${words}…`);
}

/** A command that one may copy. */
export function copyable(command) {
  const done = h('span', { class: 'visually-hidden', role: 'status' });
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    replace(done, 'copied');
    control.replaceChildren('Copied');
    setTimeout(() => control.replaceChildren('Copy'), 1500);
  };
  const control = button('Copy', { kind: 'quiet', onclick: copy, label: `Copy the command ${plain(command)}` });
  return h('div', { class: 'copyable' }, h('code', {}, text(command)), control, done);
}

/** A table with a caption. Columns: {name, of: row => node or string, class}. */
export function table(caption, columns, rows, { empty: none = 'nothing' } = {}) {
  if (!rows.length) return h('p', { class: 'muted' }, none);
  const head = h('tr', {}, columns.map((column) => h('th', { scope: 'col', class: column.class }, column.name)));
  const body = rows.map((row) => h('tr', {}, columns.map((column) => h('td', { class: column.class, 'data-name': column.name }, column.of(row)))));
  const whole = h('table', {}, h('caption', { class: 'visually-hidden' }, caption), h('thead', {}, head), h('tbody', {}, body));
  return h('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': caption }, whole);
}

/** Names with their values. Empty values are left out. */
export function facts(pairs) {
  const shown = Object.entries(pairs).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return h('dl', { class: 'facts' }, shown.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

/** Tabs of one view: items {name, label, show: () => node}. Returns {element, choose}. */
export function tabs(label, items, { chosen = items[0].name, onchoose } = {}) {
  const area = h('div', { class: 'tab-area', role: 'tabpanel', tabindex: '0' });
  const buttons = items.map((item) => h('button', { type: 'button', role: 'tab', class: 'tab', on: { click: () => choose(item.name, true) } }, item.label));
  const bar = h('div', { class: 'tabs', role: 'tablist', 'aria-label': label, on: { keydown: walked } }, buttons);
  function walked(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = buttons.indexOf(document.activeElement);
    const next = (at + step + items.length) % items.length;
    buttons[next].focus();
    choose(items[next].name, true);
  }
  function choose(name, told = false) {
    const at = Math.max(0, items.findIndex((item) => item.name === name));
    buttons.forEach((control, index) => {
      control.setAttribute('aria-selected', String(index === at));
      control.tabIndex = index === at ? 0 : -1;
    });
    area.setAttribute('aria-label', items[at].label);
    replace(area, items[at].show());
    if (told) onchoose?.(items[at].name);
  }
  choose(chosen);
  return { element: h('div', {}, bar, area), choose };
}

/** How much of a whole, between 0 and 1. */
export function meter(value, { label, kind = 'accent' }) {
  const part = Math.max(0, Math.min(1, value || 0));
  const drawn = svg('svg', { viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  drawn.append(svg('rect', { width: 100, height: 6, rx: 3, class: 'track' }), svg('rect', { width: part * 100, height: 6, rx: 3, class: 'fill' }));
  return h('span', { class: `meter ${kind}`, role: 'img', 'aria-label': `${label}: ${Math.round(part * 100)} percent`, title: label }, drawn);
}

/** A field with its label. */
export function field(label, control, { hint } = {}) {
  const id = control.id || `field-${Math.random().toString(36).slice(2, 9)}`;
  control.id = id;
  if (hint) control.setAttribute('aria-describedby', `${id}-hint`);
  return h('div', { class: 'field' }, h('label', { for: id }, label), control, hint && h('p', { class: 'hint muted', id: `${id}-hint` }, hint));
}

/** A choice among words: options [[value, label], …]. */
export function select(label, options, { chosen, onchange } = {}) {
  const rows = options.map(([value, words]) => h('option', { value, selected: value === chosen }, words));
  return h('select', { 'aria-label': label, on: { change: (event) => onchange?.(event.target.value) } }, rows);
}

/** Call a function once the calls have paused for a moment. */
export function calmed(wait, run) {
  let timer = null;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), wait);
  };
}

/**
 * Call a function for what keeps coming: soon, one call at a time, and for all that came meanwhile one call more.
 * It rests as long as the last call took, so that whoever answers is not kept busy by the asking.
 */
export function steady(wait, run) {
  let waiting = null;
  let planned = false;
  const later = (ms) => {
    planned = true;
    setTimeout(next, ms);
  };
  async function next() {
    const given = waiting;
    waiting = null;
    const from = performance.now();
    try {
      await run(given);
    } finally {
      planned = false;
      if (waiting) later(Math.max(wait, performance.now() - from));
    }
  }
  return (event) => {
    if (waiting?.event !== 'reset') waiting = event; // that all may have changed is not forgotten for what came after it
    if (!planned) later(wait);
  };
}

/** Run a reading one at a time: asked for while one is under way, it runs once more after it. So no old answer comes last. */
export function inTurn(run) {
  let running = null;
  let again = false;
  async function turns() {
    try {
      do {
        again = false;
        await run();
      } while (again);
    } finally {
      running = null;
    }
  }
  return () => {
    again = true;
    running ??= turns();
    return running;
  };
}

/** A part that loads: shows that it does, then what came, or what failed with a way to try again. */
export async function filled(area, load, draw, { signal, words } = {}) {
  const waiting = setTimeout(() => replace(area, loading(words)), area.childNodes.length ? 400 : 60);
  area.setAttribute('aria-busy', 'true');
  try {
    const found = await load();
    if (!signal?.aborted) replace(area, draw(found));
  } catch (error) {
    if (error.name === 'AbortError' || signal?.aborted) return;
    if (!error.code) console.error(error);
    replace(area, failure(error, () => filled(area, load, draw, { signal, words })));
  } finally {
    clearTimeout(waiting);
    area.removeAttribute('aria-busy');
  }
}
