// Doctor: what is wrong and what puts it right, how often memory went astray, what came of guidance, and what it cost.

import { ask } from '../api.js';
import { brainNamed, brainOf, house, readable, refresh, usual } from '../brains.js';
import { h, plain, replace, text } from '../dom.js';
import { confusion } from '../doctor/confusion.js';
import { hosts, model, owner, surroundings, update } from '../doctor/machine.js';
import { repair } from '../doctor/repair.js';
import { adoption, adoptionOf, cost, costOf } from '../doctor/usage.js';
import { brainTable, examined, memoryFacts, verdict } from '../doctor/verdict.js';
import { link, note } from '../router.js';
import { button, empty, filled, heading, panel, select, when } from '../ui.js';

const LIVE_MS = 1000;

/** Show the doctor's report and the numbers beside it; `?brain=` says whose usage is shown. */
export async function show(page) {
  if (!house.brains.length) await refresh({ signal: page.signal });
  const areas = Object.fromEntries(['verdict', 'brains', 'confusion', 'memory', 'owner', 'around', 'update', 'model', 'hosts', 'adoption', 'cost'].map((name) => [name, h('div', { class: 'area' })]));
  const looked = h('p', { class: 'muted', role: 'status' });
  const projects = house.brains.filter((brain) => brain.kind === 'project' && readable(brain));
  const state = { brain: [brainOf(page.query.get('brain')), usual(), projects[0]].find((brain) => projects.includes(brain)), seen: new Map() };
  const of = { signal: page.signal };
  const fill = (name, load, draw, more) => filled(areas[name], load, draw, { ...of, ...more });
  const again = button('Look again', { kind: 'primary', onclick: () => examine() });
  const deep = button('Look at every file and entry', { onclick: () => examine({ deep: true }) });
  const safe = button('Safe repairs…', { onclick: () => repair(page, named, examine) });

  // One report fills several panels; each shows by itself that it waits, and what failed.
  async function examine(how = {}) {
    for (const control of [again, deep]) control.disabled = true;
    const signal = anew('looking');
    const report = examined({ signal }, how);
    const more = { signal, words: 'The doctor opens every brain' };
    const tools = { named, repair: () => button('See the plan…', { onclick: () => repair(page, named, examine) }) };
    await Promise.all([
      fill('verdict', () => report, (found) => verdict(found, tools), more),
      fill('brains', () => report, (found) => brainTable(found, brainLink), more),
      fill('confusion', () => report, confusion, more),
      fill('memory', () => report, memoryFacts, more),
      fill('around', () => report, surroundings, more),
    ]);
    if (signal.aborted) return;
    for (const control of [again, deep]) control.disabled = false;
    replace(looked, 'looked ', when(Date.now()));
  }

  function machine() {
    const status = ask('update.status', {}, of);
    return Promise.all([
      fill('owner', () => status, (found) => owner(house, found)),
      fill('update', () => status, update),
      fill('model', () => ask('model.status', {}, of), (found) => model(found, named)),
    ]);
  }

  // What was asked for earlier is not shown over what was asked for later.
  function anew(name) {
    state[name]?.abort();
    state[name] = new AbortController();
    return AbortSignal.any([page.signal, state[name].signal]);
  }

  // Numbers of one brain.
  function usage() {
    const { brain } = state;
    const signal = anew('asking');
    state.filled = Promise.all([
      filled(areas.adoption, () => adoptionOf(brain, signal), adoption, { signal }),
      filled(areas.cost, () => costOf(brain, signal), cost, { signal }),
      filled(areas.hosts, () => ask('hosts.status', brain.root ? { project: brain.root } : {}, { signal }), hosts, { signal }),
    ]);
    return state.filled;
  }

  // Guidance and models belong to the work in a repository; the medulla has neither.
  const chosen = (id) => {
    state.brain = brainOf(id);
    note({ brain: id });
    return usage();
  };
  const choice = select('Brain whose usage is shown', projects.map((brain) => [brain.id, plain(brain.display_name, 60)]), { chosen: state.brain?.id, onchange: chosen });
  const ofOne = [
    h('div', { class: 'toolbar' }, h('span', { class: 'usage-of' }, 'Of the brain'), choice),
    panel('Adoption', { note: 'what came of guidance' }, areas.adoption),
    panel('Cost', { note: 'what models were asked, and what it cost' }, areas.cost),
    panel('Hosts', { note: 'programs that may reach Hindbrain from this project' }, areas.hosts),
  ];
  const about = 'What is wrong, why it may be, and what puts it right. Looking changes nothing.';
  replace(
    page.root,
    heading('Doctor', { about, actions: [again, deep, safe] }),
    panel('What was found', { actions: looked }, areas.verdict),
    panel('Brains', {}, areas.brains),
    panel('Confusion per week', { note: 'memory that went to the wrong place, or did not come' }, areas.confusion),
    h('div', { class: 'panels' }, panel('Memory and letters', {}, areas.memory), panel('This owner', {}, areas.owner, areas.around)),
    h('div', { class: 'panels' }, panel('Program', {}, areas.update), panel('Model for meaning', {}, areas.model)),
    h('section', { class: 'stack usage', 'aria-label': 'Usage of one brain' }, state.brain ? ofOne : empty('No repository has a brain yet', 'Adoption, cost and hosts are told of a repository.', { command: 'hindbrain init' })),
  );
  const whole = examine();
  await Promise.all([machine(), state.brain && usage()]);
  if (state.brain) page.onLive(() => Promise.all([redrawn('adoption', adoptionOf, adoption), redrawn('cost', costOf, cost)]), { wait: LIVE_MS });
  await whole;

  // What changes while one looks is put in place when it came; until then the old stays.
  async function redrawn(name, read, draw) {
    await state.filled;
    const { brain } = state;
    const found = await read(brain, page.signal);
    const now = JSON.stringify(found);
    if (brain !== state.brain || page.signal.aborted || state.seen.get(name) === now) return;
    state.seen.set(name, now);
    replace(areas[name], draw(found));
  }
}

const named = (name) => brainNamed(name)?.display_name ?? name;

function brainLink(row) {
  const brain = brainNamed(row.root ?? 'medulla');
  const name = text(plain(row.name, 60));
  return brain ? link(['b', brain.id, 'memory'], {}, name) : name;
}
