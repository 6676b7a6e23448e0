// One claim: what it says, where it comes from, what it cites, how it changed, and what a person does with it.

import { ask } from '../api.js';
import { toast } from '../dialog.js';
import { h, plain, replace, text } from '../dom.js';
import { claimActs } from '../memory/acts.js';
import { citedPanel } from '../memory/cited.js';
import { bornAt, brainWords, inBrain, marks } from '../memory/marks.js';
import { moment, pastBanner } from '../memory/past.js';
import { versionsPanel } from '../memory/versions.js';
import { entryTable } from '../memory/entries.js';
import { go, link } from '../router.js';
import { ago, badge, empty, facts, heading, inTurn, meter, num, panel, when } from '../ui.js';

const ENTRIES = 30;

/** Show one claim of a brain. */
export async function show(page, slug) {
  let shown = await load(page, slug).catch((error) => {
    if (error.code !== 'unknown_claim') throw error;
    return null;
  });
  if (!shown) {
    const back = link(['b', page.brain.id, 'memory'], { class: 'button' }, 'To its memory');
    replace(page.root, heading('Claim'), empty('This brain has no such claim', 'It may have been forgotten, or the address was cut.', { action: back }));
    return;
  }
  // Only what changed is drawn anew: whoever reads or chooses keeps their place.
  const again = inTurn(async () => {
    try {
      const found = await load(page, slug);
      if (found.print === shown.print) return;
      shown = found;
      kept(page.root, () => draw(page, slug, found, again));
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (error.code === 'unknown_claim') go(['b', page.brain.id, 'memory']);
      else toast(error.message, 'bad');
    }
  });
  draw(page, slug, shown, again);
  page.onLive(again);
}

async function load({ brain, signal, query }, slug) {
  const at = moment(query);
  const [told, record] = await Promise.all([
    ask('history', { claim: slug, ...(at ? { as_of: at } : {}) }, { brain, signal }),
    ask('ledger.show', { subject: slug, newest: true, limit: ENTRIES }, { brain, signal }),
  ]);
  const { row, versions } = told;
  const entries = at ? record.entries.filter((one) => one.at <= at) : record.entries;
  return { row, versions, entries, at, print: JSON.stringify([versions, row && { ...row, age_ms: null }, entries]) };
}

function draw(page, slug, { row, versions, entries, at }, again) {
  const { brain } = page;
  const name = plain(row?.claim ?? slug, 160);
  page.title(name);
  const done = (gone) => (gone ? go(['b', brain.id, 'memory']) : again());
  const acts = at ? null : claimActs(row, brain, { slug, ended: row ? null : versions[0].ended_by, done });
  const memory = ['b', brain.id, 'memory'];
  replace(
    page.root,
    at && h('div', { class: 'past-banner', role: 'status' }, pastBanner(at, link([...memory, slug], { class: 'button' }, 'Show it now'))),
    heading(text(name), { about: link(memory, { query: { as_of: at } }, 'Memory of ', text(plain(brain.display_name, 60))), actions: acts }),
    row ? said(row, versions) : ended(versions[0]),
    row && h('div', { class: 'panels' }, provenance(row, brain, slug), citedPanel(row, brain, { past: Boolean(at) })),
    versionsPanel(versions),
    panel('In the ledger', { id: 'record', note: 'what was done about it, the last first' }, entryTable(entries, brain), link(['b', brain.id, 'ledger'], { query: { subject: slug } }, 'Show all of it there')),
  );
}

// Draws with the focus and the chosen versions where they were.
function kept(root, drawn) {
  const choices = () => [...root.querySelectorAll('#versions select')];
  const name = (element) => element.getAttribute('aria-label') ?? element.textContent;
  const chosen = choices().map((one) => one.value);
  const held = root.contains(document.activeElement) ? name(document.activeElement) : null;
  drawn();
  choices().forEach((one, index) => {
    if (chosen[index] === undefined || one.value === chosen[index]) return;
    one.value = chosen[index];
    one.dispatchEvent(new Event('change'));
  });
  if (held) ([...root.querySelectorAll('a, button, select, summary')].find((one) => name(one) === held) ?? root.querySelector('h1')).focus({ preventScroll: true });
}

function said(row, versions) {
  return panel(
    null,
    { class: 'memory-said' },
    text(row.text, { tag: 'p', class: 'memory-text' }),
    h('div', { class: 'row' }, marks({ ...row, versions: versions.length })),
    facts({
      belief: text(plain(row.belief, 30)),
      confidence: row.confidence === null ? 'not said' : h('span', { class: 'row' }, num(row.confidence), meter(row.confidence, { label: 'confidence' })),
      [row.arrived_by ? 'stated author' : 'said by']: text(plain(row.source_agent, 60)),
      'arrived by': row.arrived_by ? `${row.arrived_by}, not checked here` : null,
      said: h('span', {}, ago(bornAt(row)), ', ', when(bornAt(row))),
      'first version': versions.length > 1 ? when(versions.at(-1).created) : null,
      name: text(row.slug, { mono: true }),
      graded: row.grades?.length ? row.grades.map((one) => h('span', { class: 'line' }, one.grade, ' by ', text(plain(one.by, 40)), ' ', ago(one.at))) : null,
    }),
  );
}

function ended(last) {
  return panel(
    null,
    { class: 'memory-said' },
    h('div', { class: 'row' }, badge('not believed any more', 'warn'), h('span', { class: 'muted' }, 'ended by ', text(plain(last.ended_by, 40), { mono: true }), ' ', ago(last.archived_at))),
    text(last.body, { tag: 'p', class: 'memory-text' }),
  );
}

// The chain from whoever learned it to whoever shared it, each step a place one can go to.
function provenance(row, brain, slug) {
  const { chain } = row;
  const origin = chain?.learned_in ?? row.origin_brain;
  const own = origin === (brain.root ?? 'medulla');
  const steps = [
    row.arrived_by && h('li', {}, 'Arrived by ', row.arrived_by, '. Its author, state and confidence are what the file states: ', text(plain(`${row.stated.author}, ${row.stated.belief}, ${row.stated.confidence ?? 'no confidence'}`, 120)), '.'),
    h('li', {}, row.arrived_by ? 'Stated author: ' : 'Learned by ', text(plain(chain?.learned_by ?? row.source_agent, 60), { tag: 'b' }), ' in ', own ? brainWords(origin) : inBrain(origin, ['memory', slug]), ', ', when(chain?.learned_at ?? bornAt(row))),
    chain && h('li', {}, 'Promoted by ', text(plain(chain.promoted_by, 60), { tag: 'b' }), ', ', when(chain.promoted_at), ': ', text(chain.reason)),
    chain && h('li', {}, witness(row, origin, slug)),
    row.witness === true && h('li', {}, 'Shared: its copy is in ', inBrain('medulla', ['memory', slug])),
    row.state === 'doctrine_born' && h('li', {}, 'Born as doctrine: it belongs to no project.'),
  ];
  return panel('Where it comes from', { id: 'chain' }, h('ol', { class: 'chain' }, steps));
}

function witness(row, origin, slug) {
  const { exists, superseded } = row.witness ?? {};
  if (exists === undefined) return ['Its original is in ', inBrain(origin, ['memory', slug]), '.'];
  if (!exists) return 'Its original is gone.';
  return superseded ? ['Its original in ', inBrain(origin, ['memory', slug]), ' was replaced since.'] : ['Its original still stands in ', inBrain(origin, ['memory', slug]), '.'];
}
