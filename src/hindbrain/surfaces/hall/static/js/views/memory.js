// Memory: what a brain believes, as cards that one searches as one types, now or at any time in the past.

import { ask } from '../api.js';
import { toast } from '../dialog.js';
import { h, plain, replace } from '../dom.js';
import { claimCard } from '../memory/card.js';
import { MARKS } from '../memory/marks.js';
import { moment, past } from '../memory/past.js';
import { note } from '../router.js';
import { button, calmed, count, empty, failure, heading, num, select } from '../ui.js';

const PAGE = 50;
const MOST = 200; // rows of one answer
const TYPING_MS = 20;
const SORTS = [['', 'usual order'], ['newest', 'newest first'], ['oldest', 'oldest first'], ['label', 'by label'], ['strength', 'strongest first']];
const KEPT = ['q', 'agent', 'state', 'only', 'sort'];

/** Show the claims of a brain, or one of them. */
export async function show(page, rest) {
  if (rest[0]) {
    const one = await import('./claim.js');
    await one.show(page, rest[0]);
    return;
  }
  const first = await firstMoment(page);
  const list = listOf(page, first);
  replace(page.root, heading('Memory', { about: 'What this brain believes: each claim with who said it, from what, and whether it still holds.' }), list.banner, list.tools, list.told, list.cards, list.foot);
  list.facets();
  await list.search();
  page.onLive((event) => list.changed(event));
}

async function firstMoment(page) {
  const told = await ask('ledger.show', { limit: 1 }, { brain: page.brain, signal: page.signal });
  return told.entries[0]?.at ?? Date.now();
}

function listOf(page, first) {
  const wanted = Object.fromEntries(KEPT.map((name) => [name, page.query.get(name) ?? '']));
  let asOf = moment(page.query);
  let running = new AbortController();
  let next = null;
  let counting = 0;
  const cards = h('div', { class: 'cards memory-cards' });
  const told = h('p', { class: 'muted memory-told', role: 'status' });
  const find = h('input', { type: 'search', placeholder: 'Search what is believed', 'aria-label': 'Search what is believed', value: wanted.q, on: { input: typed } });
  const more = button('More', { onclick: () => further() });
  const foot = h('div', { class: 'row memory-more' }, more);
  const agents = chooser('By whom', 'agent');
  const states = chooser('How firmly', 'state');
  const only = chooser('Which', 'only');
  const sort = select('Order', SORTS, { chosen: wanted.sort, onchange: (value) => set('sort', value) });
  const slider = past(first, { chosen: asOf, choose: (at) => { asOf = at; note({ as_of: at ?? '' }); search(); facets(); } });
  const tools = h('div', { class: 'stack' }, h('div', { class: 'toolbar memory-tools' }, find, agents, states, only, sort), slider.element);
  const seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && next && further(), { rootMargin: '300px' });
  seen.observe(foot);
  page.signal.addEventListener('abort', () => seen.disconnect());
  const soon = calmed(TYPING_MS, () => search());
  foot.hidden = true;
  return { cards, told, tools, foot, banner: slider.banner, search, facets, changed };

  function chooser(label, name) {
    return select(label, [['', label]], { chosen: '', onchange: (value) => set(name, value) });
  }

  function set(name, value) {
    wanted[name] = value;
    note({ [name]: value });
    search();
  }

  function typed() {
    wanted.q = find.value;
    soon();
  }

  function asked(extra) {
    const given = { query: wanted.q.trim(), author: wanted.agent, state: wanted.state, only: wanted.only, sort: wanted.sort, as_of: asOf, ...extra };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '' && value !== null && value !== undefined));
  }

  // Every search ends the one before it; what is on the screen stays until the answer is there.
  async function answered(extra) {
    running.abort();
    running = new AbortController();
    const signal = AbortSignal.any([page.signal, running.signal]);
    return ask('claims', asked(extra), { brain: page.brain, signal });
  }

  async function search(limit = PAGE) {
    try {
      const found = await answered({ limit });
      const held = cards.contains(document.activeElement) ? document.activeElement.closest('[data-slug]')?.dataset.slug : null;
      next = found.next_cursor;
      replace(cards, found.claims.length ? found.claims.map((row) => claimCard(row, page.brain, asOf)) : nothing());
      if (held) [...cards.children].find((card) => card.dataset.slug === held)?.querySelector('a')?.focus({ preventScroll: true });
      replace(told, total(found));
      foot.hidden = !next;
      requestAnimationFrame(() => performance.mark('hall:search-painted', { detail: wanted.q }));
    } catch (error) {
      failed(error);
    } finally {
      // Last, because the browser asks for the page's icon whenever its address changes.
      if (!page.signal.aborted) note({ q: wanted.q });
    }
  }

  async function further() {
    const cursor = next;
    next = null;
    try {
      const found = await answered({ limit: PAGE, cursor });
      next = found.next_cursor;
      cards.append(...found.claims.map((row) => claimCard(row, page.brain, asOf)));
      foot.hidden = !next;
    } catch (error) {
      failed(error);
    }
  }

  function failed(error) {
    if (error.name === 'AbortError') return;
    if (!error.code) console.error(error);
    foot.hidden = true;
    replace(cards, failure(error, () => search()));
  }

  function total(found) {
    const words = found.total_is_least ? `${num(found.total)} claims or more` : count(found.total, 'claim');
    return [filtered() ? `${words} of this kind` : words, asOf ? ' at that time' : ''].join('');
  }

  function filtered() {
    return ['agent', 'state', 'only'].some((name) => wanted[name]) || wanted.q.trim();
  }

  function nothing() {
    if (filtered()) return empty('No claim is like this', 'Fewer words or fewer filters find more.', { action: button('Show all', { onclick: clear }) });
    if (asOf) return empty('Nothing was believed yet', 'This brain had no claim at that time.');
    return empty('Nothing is remembered here yet', 'Agents remember what they learn; a person does it so:', { command: 'hindbrain memorize "Release day" "We release on Tuesdays."' });
  }

  function clear() {
    for (const name of ['q', 'agent', 'state', 'only']) wanted[name] = '';
    find.value = '';
    for (const control of [agents, states, only]) control.value = '';
    note({ q: '', agent: '', state: '', only: '' });
    search();
    find.focus();
  }

  // What one may filter by, with how much there is of each.
  async function facets() {
    counting += 1;
    const turn = counting;
    try {
      const { facets: found } = await ask('claims', { limit: 1, facets: true, ...(asOf ? { as_of: asOf } : {}) }, { brain: page.brain, signal: page.signal });
      if (turn !== counting) return;
      fill(agents, 'anybody', found.agents.map((one) => [one.name, plain(one.name, 60), one.count]), 'agent');
      fill(states, 'any belief', Object.entries(found.states).map(([name, number]) => [name, name, number]), 'state');
      fill(only, 'any mark', markOptions(found.marks, page.brain, asOf), 'only');
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (!error.code) console.error(error);
      toast(`The filters could not be counted: ${error.message}`, 'warn');
    }
  }

  function fill(control, all, options, name) {
    const chosen = wanted[name];
    const known = options.some(([value]) => value === chosen) || !chosen ? options : [...options, [chosen, MARKS[chosen] ?? chosen, null]];
    replace(control, h('option', { value: '' }, all), known.map(([value, words, number]) => h('option', { value }, number === null ? words : `${words} (${num(number)})`)));
    control.value = chosen;
  }

  function changed(event) {
    if (asOf && event.event !== 'reset') return null;
    const shown = cards.querySelectorAll('.memory-card').length;
    if (shown > MOST) {
      replace(told, 'Something changed. ', button('Show it', { kind: 'quiet', onclick: () => search() }));
      return null;
    }
    return Promise.all([search(Math.max(PAGE, shown)), facets()]);
  }
}

// Which files changed is looked up when it is asked for, so nobody knows how many beforehand.
function markOptions(numbers, brain, asOf) {
  const looked = brain.kind === 'project' && !asOf ? ['evidence_changed'] : [];
  const known = Object.keys(MARKS).filter((name) => numbers[name] || looked.includes(name));
  return known.map((name) => [name, MARKS[name], numbers[name] ?? null]);
}
