// The ledger: all that was done in a brain, the last first, and whether the chain of it holds.

import { ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { entryItem } from '../memory/entries.js';
import { note } from '../router.js';
import { badge, button, calmed, count, empty, failure, filled, heading, num } from '../ui.js';

const PAGE = 50;
const PREFIXES = ['brain.', 'claim.', 'evidence.', 'card.', 'mission.', 'megram.', 'dream.', 'control.', 'adoption.', 'graph.', 'call.refused', 'boot.'];

/** Show the record of a brain. */
export async function show(page) {
  const wanted = { act: page.query.get('act') ?? '', subject: page.query.get('subject') ?? '', after: Number(page.query.get('after')) || 0 };
  const entries = h('ol', { class: 'entries ledger' });
  let running = new AbortController();
  const told = h('p', { class: 'muted', role: 'status' });
  const proof = h('div', { class: 'proof' });
  const act = input('Acts that begin with', wanted.act, 'act', 'ledger-acts');
  const subject = input('About one claim, card or mission', wanted.subject, 'subject');
  const more = button('Earlier entries', { onclick: () => further() });
  const verify = button('Verify', { kind: 'primary', onclick: () => verified(page, proof) });
  replace(
    page.root,
    heading('Ledger', { about: 'Who did what, when and by which channel. Each entry seals the one before it; it holds numbers and names, and no words of anybody.', actions: verify }),
    proof,
    h('div', { class: 'toolbar ledger-tools' }, act, subject, h('datalist', { id: 'ledger-acts' }, PREFIXES.map((value) => h('option', { value })))),
    told,
    entries,
    h('div', { class: 'row' }, more),
  );
  await load();
  page.onLive(() => fresh());

  function input(label, value, name, list) {
    const soon = calmed(200, () => load());
    const typed = (event) => {
      wanted[name] = event.target.value.trim();
      note({ [name]: wanted[name] });
      soon();
    };
    return h('input', { type: 'search', 'aria-label': label, placeholder: label, value, list, on: { input: typed } });
  }

  function asked(extra) {
    const given = { newest: true, limit: PAGE, act: wanted.act, subject: wanted.subject, after: wanted.after, ...extra };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  }

  // What is typed later ends the question before it.
  async function load() {
    try {
      running.abort();
      running = new AbortController();
      const signal = AbortSignal.any([page.signal, running.signal]);
      const found = await ask('ledger.show', asked(), { brain: page.brain, signal });
      replace(entries, found.entries.length ? found.entries.map((one) => entryItem(one, page.brain)) : h('li', {}, empty('No entry is like this', 'Another filter shows more.')));
      more.hidden = found.entries.length < PAGE;
      tell(found);
    } catch (error) {
      failed(error);
    }
  }

  function tell(found) {
    const since = wanted.after ? ` Only those after ${num(wanted.after)} are shown.` : '';
    replace(told, `${count(found.last, 'entry', 'entries')} in all.${since}`);
  }

  async function further() {
    try {
      const before = Number(entries.lastElementChild.dataset.seq);
      const found = await ask('ledger.show', asked({ before }), { brain: page.brain, signal: AbortSignal.any([page.signal, running.signal]) });
      entries.append(...found.entries.map((one) => entryItem(one, page.brain)));
      more.hidden = found.entries.length < PAGE;
      tell(found);
    } catch (error) {
      failed(error);
    }
  }

  // New entries go before the others, which stay as they are, open or closed.
  async function fresh() {
    const last = Number(entries.querySelector('[data-seq]')?.dataset.seq) || 0;
    if (!last) {
      await load();
      return;
    }
    try {
      const found = await ask('ledger.show', asked({ after: Math.max(last, wanted.after) }), { brain: page.brain, signal: AbortSignal.any([page.signal, running.signal]) });
      if (found.entries.length === PAGE) await load();
      else entries.prepend(...found.entries.map((one) => entryItem(one, page.brain)));
      tell(found);
    } catch (error) {
      failed(error);
    }
  }

  function failed(error) {
    if (error.name === 'AbortError') return;
    if (!error.code) console.error(error);
    more.hidden = true;
    replace(entries, h('li', {}, failure(error, load)));
  }
}

function verified(page, proof) {
  return filled(proof, () => proven(page), drawn, { signal: page.signal, words: 'Walking the whole chain' });
}

// A chain that does not hold is an answer too, and the one that matters.
async function proven(page) {
  try {
    return await ask('ledger.verify', {}, { brain: page.brain, signal: page.signal });
  } catch (error) {
    if (error.code === 'ledger_broken') return error.answer;
    throw error;
  }
}

function drawn(found) {
  if (found.intact) {
    return h('div', { class: 'proof-told', role: 'status' }, badge('the chain holds', 'good'), h('span', {}, `${count(found.entries, 'entry', 'entries')} were walked; none was changed, removed or put in.`), h('span', { class: 'muted' }, 'head ', text(found.head, { mono: true })));
  }
  return h(
    'div',
    { class: 'failure', role: 'alert' },
    h('p', { class: 'empty-title' }, `The chain does not hold at ${count(found.breaks.length, 'place')}.`),
    h('ul', {}, found.breaks.slice(0, 50).map((one) => h('li', {}, `Entry ${num(one.seq)}: `, text(plain(one.reason))))),
    found.error?.fix && h('p', {}, text(found.error.fix)),
  );
}
