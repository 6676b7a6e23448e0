// One mission: what happens in it while it happens, where it stands and why, what is proven, and what it leaves behind.

import { ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { missionActs } from '../missions/acts.js';
import { claimList } from '../missions/claims.js';
import { lossOf } from '../missions/loss.js';
import { drawNow } from '../missions/now.js';
import { papers } from '../missions/papers.js';
import { timeline } from '../missions/timeline.js';
import { statusBadge, worded } from '../missions/words.js';
import { link } from '../router.js';
import { ago, badge, facts, heading, panel } from '../ui.js';

/** Show a mission, and follow it for as long as it is shown. */
export async function show(page, missionId) {
  const of = { brain: page.brain, signal: page.signal };
  const events = timeline({ read: (number) => ask('mission.status', { mission_id: missionId, events: number }, of) });
  const first = await events.begin();
  page.title(first.task);
  const parts = { head: h('div', {}), now: h('div', { class: 'stack' }), claims: h('ul', { class: 'claims' }), loss: h('div', {}), none: h('div', {}) };
  const kept = papers({ missionId, first, of });
  const acts = missionActs({ missionId, brain: page.brain, done: () => follow() });

  async function draw(state) {
    const [route, flight] = await Promise.all([ask('route_explain', { mission_id: missionId }, of), ask('flight', { mission_id: missionId, records: 0 }, of)]);
    keyed(parts.head, [state], { key: () => 'head', mark: (one) => `${one.status} ${one.event_count} ${one.child_mission_ids}`, make: (one) => about(page, one) });
    acts.draw(state);
    drawNow(parts.now, state, route, flight);
    claimList(parts.claims, state.claims, { onevent: events.reveal });
    replace(parts.none, state.claims.length ? null : h('p', { class: 'muted' }, 'Nothing is claimed yet.'));
    const rounds = events.rounds();
    drawOnce(parts.loss, rounds, () => lossOf(rounds));
    kept.draw(state);
  }

  const follow = page.redone(async () => draw(await events.more()));
  replace(
    page.root,
    h('nav', { 'aria-label': 'Back' }, link(['b', page.brain.id, 'missions'], {}, '← Missions')),
    heading(text(plain(first.task, 300)), { actions: acts.element }),
    parts.head,
    h('div', { class: 'mission-grid' }, h('div', { class: 'stack' }, panel('Timeline', { note: 'the newest first', class: 'timeline-panel' }, events.element), panel('Claims and their proof', {}, parts.claims, parts.none)), h('div', { class: 'stack' }, panel('Where it stands', {}, parts.now), panel('The controller', { note: 'after each verification' }, parts.loss))),
    kept.element,
  );
  await draw(first);
  page.onLive(follow, { wait: 150 });
}

function about(page, state) {
  const up = state.parent_mission_id;
  const to = (id) => link(['b', page.brain.id, 'missions', id], { class: 'mono' }, id);
  return h(
    'div',
    { class: 'stack' },
    h('div', { class: 'row' }, statusBadge(state.status), badge(worded(state.mode)), badge(`${state.risk} risk`, state.risk === 'high' ? 'warn' : 'plain'), badge(`phase: ${worded(state.phase)}`)),
    facts({
      Agent: text(plain(state.agent_id, 80)),
      Began: ago(state.created_at),
      'Last event': ago(state.updated_at),
      Id: h('span', { class: 'mono' }, state.mission_id),
      'Comes from': up ? to(up) : null,
      'Goes on in': state.child_mission_ids.length ? state.child_mission_ids.map((id) => h('div', {}, to(id))) : null,
    }),
    state.criteria.length ? h('div', {}, h('p', { class: 'muted' }, 'It has to show'), h('ul', { class: 'dotted' }, state.criteria.map((one) => h('li', {}, text(one.criterion))))) : null,
  );
}

// Curves are drawn anew only when there is another round: an open table of them stays open.
function drawOnce(area, rounds, make) {
  if (area.dataset.rounds === String(rounds.length)) return;
  area.dataset.rounds = String(rounds.length);
  replace(area, make());
}
