// Missions: the work of agents, and the tasks that Hindbrain runs by itself. A list of each; one of them has its own page.

import { ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { statusBadge, STATUSES, TASK_STATES, taskBadge, worded } from '../missions/words.js';
import { link, note } from '../router.js';
import { ago, badge, count, empty, heading, meter, num, select, tabs } from '../ui.js';

const MOST = 200;
const FULL = 0.8; // of a budget: from here on it is nearly used

/** Show the lists, or the one mission or task that the address names. */
export async function show(page, rest) {
  if (rest[0] === 'task' && rest[1]) return (await import('./task.js')).show(page, rest[1]);
  if (rest[0]) return (await import('./mission.js')).show(page, rest[0]);
  return lists(page);
}

async function lists(page) {
  const missions = listing({ page, name: 'missions', states: STATUSES, of: missionsOf(page), card: missionCard, words: (one) => `${one.task} ${one.agent_id} ${one.mode}`, none: noMission });
  const tasks = listing({ page, name: 'tasks', states: TASK_STATES, of: tasksOf(page), card: taskCard, words: (one) => one.goal, none: noTask });
  await Promise.all([missions.load(), tasks.load()]);
  const items = [
    { name: 'missions', label: 'Missions', show: () => missions.element },
    { name: 'tasks', label: 'Tasks', show: () => tasks.element },
  ];
  const chosen = page.query.get('show') ?? 'missions';
  const about = 'Missions are work that agents have recorded and must prove. Tasks are goals that Hindbrain reaches by itself.';
  replace(page.root, heading('Missions', { about }), tabs('Missions and tasks', items, { chosen, onchoose: (name) => note({ show: name === 'missions' ? '' : name }) }).element);
  page.onLive(page.redone(() => Promise.all([missions.load(), tasks.load()])));
}

const missionsOf = (page) => async () => {
  const answer = await ask('mission.list', { limit: MOST, standing: true }, { brain: page.brain, signal: page.signal });
  return answer.missions.map((one) => ({ ...one, id: one.mission_id, state: one.status }));
};

// The loop of a mission is told as a task, too; it is shown with its mission.
const tasksOf = (page) => async () => {
  const answer = await ask('task.list', { limit: MOST }, { brain: page.brain, signal: page.signal });
  return answer.tasks.map((one) => ({ ...one, id: one.task_id }));
};

/** One list with its search and its filter. It is filled by load() and changes in place. */
function listing({ page, name, states, of, card, words, none }) {
  const state = { rows: [], chosen: page.query.get(`${name}_state`) ?? '' };
  const find = h('input', { type: 'search', placeholder: `Find among the ${name}`, 'aria-label': `Find among the ${name}`, on: { input: draw } });
  const filter = select(`State of the ${name}`, [['', 'every state'], ...states], { chosen: state.chosen, onchange: choose });
  const told = h('p', { class: 'muted', role: 'status' });
  const cards = h('div', { class: 'cards mission-cards' });
  const nothing = h('div', {});
  const element = h('div', { class: 'stack' }, h('div', { class: 'toolbar' }, find, filter, told), cards, nothing);

  function choose(value) {
    state.chosen = value;
    note({ [`${name}_state`]: value });
    draw();
  }

  function draw() {
    const wanted = find.value.trim().toLowerCase();
    const shown = state.rows.filter((one) => (!state.chosen || one.state === state.chosen) && words(one).toLowerCase().includes(wanted));
    keyed(cards, shown, { key: (one) => one.id, make: (one) => card(page, one) });
    replace(told, shown.length === state.rows.length ? count(shown.length, name.slice(0, -1)) : `${num(shown.length)} of ${count(state.rows.length, name.slice(0, -1))}`);
    const left = state.rows.length ? empty(`No such ${name.slice(0, -1)}`, 'Another state or fewer words may find it.') : none();
    replace(nothing, shown.length ? null : left);
  }

  async function load() {
    state.rows = await of();
    draw();
  }

  return { element, load };
}

function missionCard(page, one) {
  const path = ['b', page.brain.id, 'missions', one.mission_id];
  return h(
    'article',
    { class: 'card mission-card', 'data-walk': '' },
    h('div', { class: 'row spread' }, h('span', { class: 'row' }, statusBadge(one.status), badge(worded(one.mode)), one.erased ? badge('erased', 'bad') : null), ago(one.updated_at)),
    h('h3', {}, link(path, { class: 'clamp' }, text(plain(one.task, 200)))),
    h('p', { class: 'muted' }, text(plain(one.agent_id, 60)), `, ${count(one.event_count, 'event')}`),
    one.claims ? standing(one) : null,
  );
}

function standing(one) {
  const { claims, budget_consumed: used } = one;
  const warned = one.loop_warnings + one.warnings;
  return h(
    'div',
    { class: 'row' },
    h('span', { class: 'row' }, meter(used, { label: 'Budget used', kind: used >= FULL ? 'warn' : 'accent' }), h('span', { class: 'muted' }, `${Math.round(used * 100)}% of the budget`)),
    claims.all ? badge(`${num(claims.verified)} of ${count(claims.all, 'claim')} proven`, claims.verified === claims.all ? 'good' : 'plain') : badge('no claim yet'),
    claims.open ? badge(`${num(claims.open)} open`, 'warn') : null,
    warned ? badge(count(warned, 'warning'), 'warn') : null,
  );
}

function taskCard(page, one) {
  const path = ['b', page.brain.id, 'missions', 'task', one.task_id];
  return h(
    'article',
    { class: 'card task-card', 'data-walk': '' },
    h('div', { class: 'row spread' }, taskBadge(one.state, one.directive), ago(one.began_at)),
    h('h3', {}, link(path, { class: 'clamp' }, text(plain(one.goal, 200)))),
    h('div', { class: 'row' }, h('span', { class: 'muted' }, count(one.rounds, 'round')), one.directive && one.state !== 'done' ? badge(worded(one.directive), 'accent') : null, one.waiting ? badge(count(one.waiting, 'question'), 'warn') : null),
  );
}

const noMission = () => empty('No mission yet', 'An agent begins one before it looks for something, and proves at the end what it found. By hand:', { command: 'hindbrain mission start "review the retry path"' });
const noTask = () => empty('No task yet', 'A goal that Hindbrain reaches by itself, in a copy of this repository:', { command: 'hindbrain run "count the python files"' });
