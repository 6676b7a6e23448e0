// The detail: one pair with its newest episodes, or one experience with what is behind it. Each with its curve.

import { ask } from '../api.js';
import { h, plain, text } from '../dom.js';
import { link } from '../router.js';
import { ago, badge, button, count, facts, panel, when } from '../ui.js';
import { forget } from './acts.js';
import { balance } from './balance.js';
import { fading } from './curve.js';
import { acts, trust } from './rules.js';
import { way } from './ways.js';
import { LEVELS, adviceBadge, stateBadge, writerWords } from './words.js';

const RECENT = 10;

/** Everything about a pair: {data, draw}. */
export async function pairDetail(page, pair, choose) {
  const data = await ask('experience.query', { ...pair, recent: RECENT }, { brain: page.brain, signal: page.signal });
  const draw = (changed) => {
    const curve = fading(page, pair);
    const whole = panel(
      h('span', {}, text(plain(pair.space, 120)), h('span', { class: 'slash' }, ' / '), text(plain(pair.entity, 120))),
      { class: 'detail', id: 'detail' },
      h('div', { class: 'row' }, adviceBadge(data.action), balance(data.attention, data.decision, Math.max(1, data.attention)), h('span', { class: 'muted' }, count(data.count, 'experience'))),
      curve.element,
      data.rules.length ? listed('Rules here', data.rules.map((one) => h('li', {}, way(page, { rule: one.id }, () => choose(one.id), {}, text(plain(one.content, 200)))))) : null,
      data.recent.length ? listed('Newest', data.recent.map((one) => episode(page, one, choose, changed))) : null,
    );
    return { element: whole, ready: curve.load() };
  };
  return { data, draw };
}

/** Everything about one experience: {data, draw}. */
export async function megramDetail(page, id, choose) {
  const data = await ask('experience.explain', { megram: id }, { brain: page.brain, signal: page.signal });
  const { megram } = data;
  const draw = (changed) => {
    const curve = fading(page, { megram: megram.id });
    const whole = panel(
      'Behind this experience',
      { class: 'detail', id: 'detail', actions: way(page, { pair: megram.space, entity: megram.entity }, () => choose(null, { space: megram.space, entity: megram.entity }), { class: 'button' }, 'Its pair') },
      text(megram.content, { tag: 'p', class: 'content' }),
      h('div', { class: 'row' }, stateBadge(megram.state), badge(levelWords(megram.level), 'plain'), megram.tags.map((tag) => badge(text(plain(tag, 40)), 'plain', 'tag'))),
      curve.element,
      data.trust ? h('div', { class: 'stack' }, h('h3', {}, 'What would bankrupt it'), trust(data.trust), opposed(page, data.trust.against, choose)) : null,
      facts(known(page, data)),
      data.sources.length ? listed(`Made of ${count(data.sources.length + data.sources_left_out, 'experience')}`, data.sources.map((one) => source(page, one, choose))) : null,
      data.history.length ? listed('What befell it', data.history.map((one) => h('li', {}, when(one.at), ` ${one.kind}`, one.into ? [' into ', way(page, { rule: one.into }, () => choose(one.into), {}, one.into.slice(0, 8))] : null))) : null,
      acting(page, data, changed),
    );
    return { element: whole, ready: curve.load() };
  };
  return { data, draw };
}

const levelWords = (level) => `${level}: ${LEVELS.find(([name]) => name === level)?.[1] ?? ''}`;

function known(page, data) {
  const { megram } = data;
  const loss = data.loss ? Object.entries(data.loss).map(([name, value]) => `${name} ${typeof value === 'number' ? value.toFixed(2) : value}`).join(', ') : null;
  return {
    about: text(`${megram.space} / ${megram.entity}`, { mono: true }),
    'written by': writerWords(megram.writer),
    since: when(megram.created_at),
    'half of it is gone after': megram.half_life_days ? `${megram.half_life_days.toFixed(1)} days` : 'it does not fade',
    used: megram.recalls ? [count(megram.recalls, 'time'), ', last ', ago(megram.last_recalled_at)] : 'never',
    task: data.task_id?.startsWith('tsk_') ? link(['b', page.brain.id, 'missions', 'task', data.task_id], {}, text(data.task_id, { mono: true })) : data.task_id,
    mission: data.mission_id ? link(['b', page.brain.id, 'missions', data.mission_id], {}, text(data.mission_id, { mono: true })) : null,
    loss: loss && text(loss),
    'worded by': data.distilled_by && text(data.distilled_by),
    'carried by': data.carried_by ? text(data.carried_by, { mono: true }) : null,
    id: text(megram.id, { mono: true }),
  };
}

function acting(page, data, changed) {
  const rule = { ...data.megram };
  if (rule.state === 'law') return null;
  if (rule.level === 'C') return acts(page, rule, changed);
  return h('div', { class: 'actions' }, button('Forget', { kind: 'danger', onclick: () => forget(page, rule, changed) }));
}

function opposed(page, rows, choose) {
  return rows.length ? listed('Against it now', rows.map((one) => source(page, one, choose))) : null;
}

function listed(title, rows) {
  return h('div', { class: 'stack' }, h('h3', {}, title), h('ul', { class: 'episodes' }, rows));
}

function source(page, one, choose) {
  if (one.gone) return h('li', { class: 'muted' }, `${one.id.slice(0, 8)}: forgotten since`);
  return h('li', {}, h('div', { class: 'row' }, stateBadge(one.state), h('span', { class: 'muted' }, ago(one.created_at))), way(page, { rule: one.id }, () => choose(one.id), {}, text(plain(one.content, 240))));
}

function episode(page, one, choose, changed) {
  const drop = button('Forget', { kind: 'quiet', label: `Forget: ${plain(one.content, 60)}`, onclick: () => forget(page, one, changed) });
  return h(
    'li',
    {},
    h('div', { class: 'row spread' }, h('div', { class: 'row' }, stateBadge(one.state), h('span', { class: 'muted' }, ago(one.created_at), `, ${one.attention.toFixed(2)} left`)), drop),
    way(page, { rule: one.id }, () => choose(one.id), {}, text(plain(one.content, 240))),
  );
}
