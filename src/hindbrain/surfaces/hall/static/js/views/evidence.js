// Evidence: what was seen and said, word for word, with its source. Raw, and never knowledge by itself.

import { ask } from '../api.js';
import { h, plain, replace } from '../dom.js';
import { evidenceCard } from '../memory/rows.js';
import { note } from '../router.js';
import { button, calmed, count, empty, failure, field, heading } from '../ui.js';

const PAGE = 50;
const FILTERS = [['wing', 'Wing'], ['room', 'Room'], ['tag', 'Tag'], ['source', 'Source'], ['thread', 'Conversation']];

/** Show the evidence of a brain, or one row of it. */
export async function show(page, rest) {
  if (rest[0]) {
    const one = await import('../memory/row_page.js');
    await one.showRow(page, rest[0]);
    return;
  }
  const list = listOf(page);
  replace(page.root, heading('Evidence', { about: 'What was seen and said, word for word. It is no belief by itself: claims and cards rest on it.' }), list.tools, list.told, list.cards, list.foot);
  await list.load();
  page.onLive(() => list.changed());
}

function listOf(page) {
  const wanted = Object.fromEntries(['q', 'deleted', ...FILTERS.map(([name]) => name)].map((name) => [name, page.query.get(name) ?? '']));
  const tier = page.brain.kind === 'medulla' ? 'medulla' : 'project';
  let running = new AbortController();
  let next = null;
  let nearest = false;
  const cards = h('div', { class: 'cards evidence-cards' });
  const told = h('p', { class: 'muted', role: 'status' });
  const find = h('input', { type: 'search', 'aria-label': 'Search evidence', placeholder: 'Search by words and meaning', value: wanted.q, on: { input: () => set('q', find.value.trim()) } });
  const inputs = FILTERS.map(([name, label]) => filter(name, label));
  const deleted = h('input', { type: 'checkbox', id: 'evidence-deleted', checked: wanted.deleted === '1', on: { change: () => { find.disabled = deleted.checked; set('deleted', deleted.checked ? '1' : ''); } } });
  const more = button('More', { onclick: () => further() });
  const foot = h('div', { class: 'row' }, more);
  const narrowed = h('details', { class: 'filters', open: FILTERS.some(([name]) => wanted[name]) || wanted.deleted === '1' }, h('summary', {}, 'Filters'), h('div', { class: 'filter-fields' }, inputs, h('div', { class: 'field check' }, deleted, h('label', { for: 'evidence-deleted' }, 'What was deleted'))));
  const tools = h('div', { class: 'stack' }, h('div', { class: 'toolbar' }, find), narrowed);
  const soon = calmed(180, () => load());
  find.disabled = deleted.checked;
  return { cards, told, tools, foot, load, changed };

  function filter(name, label) {
    const control = h('input', { type: 'text', id: `evidence-${name}`, value: wanted[name], list: `evidence-${name}s`, on: { input: () => set(name, control.value.trim()) } });
    return h('div', {}, field(label, control), h('datalist', { id: `evidence-${name}s` }));
  }

  function set(name, value) {
    wanted[name] = value;
    nearest = false;
    note({ [name]: value });
    soon();
  }

  function filters() {
    return Object.fromEntries(FILTERS.map(([name]) => [name, wanted[name]]).filter(([, value]) => value));
  }

  function answered(extra) {
    running.abort();
    running = new AbortController();
    const signal = AbortSignal.any([page.signal, running.signal]);
    if (wanted.q && !wanted.deleted) return ask('memory.search', { query: wanted.q, top_k: PAGE, tier, floor: !nearest, ...filters() }, { brain: page.brain, signal });
    return ask('memory.list', { tier, limit: PAGE, ...(wanted.deleted ? { deleted: true } : {}), ...filters(), ...extra }, { brain: page.brain, signal });
  }

  async function load(limit = PAGE) {
    try {
      const found = await answered({ limit });
      const rows = found.results ?? found.rows;
      const held = cards.contains(document.activeElement) ? document.activeElement.closest('[data-id]')?.dataset.id : null;
      next = found.next_cursor ?? null;
      replace(cards, rows.length ? rows.map((row) => evidenceCard(row, page.brain)) : nothing(found));
      if (held) [...cards.children].find((card) => card.dataset.id === held)?.querySelector('a')?.focus({ preventScroll: true });
      replace(told, found.results ? `${count(rows.length, 'row')}, the best first` : count(found.total, 'row'));
      foot.hidden = !next;
      suggest(rows);
    } catch (error) {
      failed(error);
    }
  }

  async function further() {
    try {
      const found = await answered({ cursor: next });
      next = found.next_cursor ?? null;
      cards.append(...found.rows.map((row) => evidenceCard(row, page.brain)));
      foot.hidden = !next;
      suggest(found.rows);
    } catch (error) {
      failed(error);
    }
  }

  // What one may filter by is suggested from what is on the screen.
  function suggest(rows) {
    const seen = { wing: (row) => [row.wing], room: (row) => [row.room], tag: (row) => row.tags, source: (row) => [row.source_file], thread: (row) => [row.thread] };
    for (const [name, of] of Object.entries(seen)) {
      const values = [...new Set(rows.flatMap(of).filter(Boolean))].slice(0, 40);
      replace(tools.querySelector(`#evidence-${name}s`), values.map((value) => h('option', { value: plain(value, 300) })));
    }
  }

  function nothing(found) {
    if (wanted.deleted) return empty('Nothing is deleted here', 'What somebody deletes stays here until it is purged.');
    if (wanted.q && !nearest) return empty('Nothing here is about this', `${count(found.evidence_exists ?? 0, 'row')} were looked at.`, { action: button('Show the nearest anyway', { onclick: () => ((nearest = true), load()) }) });
    if (wanted.q || Object.keys(filters()).length) return empty('No row is like this', 'Fewer filters show more.');
    return empty('No evidence is kept here yet', 'Agents record what they observe; documents and conversations are taken in so:', { command: 'hindbrain memory ingest docs/' });
  }

  function failed(error) {
    if (error.name === 'AbortError') return;
    if (!error.code) console.error(error);
    foot.hidden = true;
    replace(cards, failure(error, () => load()));
  }

  function changed() {
    const shown = cards.querySelectorAll('.evidence-card').length;
    return !wanted.q && shown <= 500 ? load(Math.max(PAGE, shown)) : null;
  }
}
