// Cowork: agents side by side in one checkout. Who is here, what they say to each other, what they hold.

import { act, ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { confirmAct, dialog, toast } from '../dialog.js';
import { keeping } from '../keyed.js';
import { note } from '../router.js';
import { ago, badge, button, count, empty, facts, heading, panel, select, table, tabs, when } from '../ui.js';

const PRESENCE = { online: 'good', stale: 'warn', never_seen: 'plain' };
const STATUS = { pending: 'warn', drained: 'info', acked: 'good', failed: 'bad' };
const EVENTS = 100;
const ME = 'person'; // whoever writes from here has an inbox of this name, for the answers

/** Show the bus of one checkout. */
export async function show(page) {
  let bus = await read(page);
  const area = h('div', {});
  const state = h('div', { class: 'row' });
  let chosen = page.query.get('tab') ?? 'agents';
  let of = page.query.get('agent') ?? '';
  replace(
    page.root,
    heading('Cowork', { about: 'Agents who work in this checkout at once: presence, messages, shared work, reserved files.', actions: [button('Send a message', { kind: 'primary', onclick: () => sent(page, bus, again) })] }),
    state,
    area,
  );
  const items = () => [
    { name: 'agents', label: `Agents ${bus.agents.length}`, show: () => agents(bus) },
    { name: 'deliveries', label: `Deliveries ${bus.deliveries.length}`, show: () => deliveries(bus, of, (name) => { of = name; note({ agent: of }); draw(); }) },
    { name: 'channels', label: `Channels ${bus.channels.length}`, show: () => channels(bus) },
    { name: 'sessions', label: `Sessions ${bus.sessions.length}`, show: () => sessions(page, bus, again) },
    { name: 'files', label: `Reserved files ${bus.reservations.length}`, show: () => reservations(page, bus, again) },
    { name: 'events', label: 'Events', show: () => events(bus) },
  ];
  const draw = () => {
    replace(state, verdict(bus.doctor));
    if (!bus.agents.length && !bus.events.length) {
      replace(area, empty('Nobody has used this bus yet', 'Agents register themselves when their host is connected; anybody can:', { command: 'hindbrain cowork register codex-a --tool codex' }));
      return;
    }
    const shown = tabs('Cowork', items(), { chosen, onchoose: (name) => { chosen = name; note({ tab: name }); } });
    keeping(area, () => replace(area, shown.element));
  };
  const again = page.redone(async () => {
    const found = await read(page);
    if (JSON.stringify(found) === JSON.stringify(bus)) return;
    bus = found;
    draw();
  });
  page.onLive(again);
  draw();
}

async function read(page) {
  const asked = (name, args = {}) => ask(name, args, { brain: page.brain, signal: page.signal });
  const [agents_, channels_, deliveries_, sessions_, reservations_, events_, doctor] = await Promise.all([
    asked('cowork.agents'), asked('cowork.channel.list'), asked('cowork.deliveries', { limit: 200 }), asked('cowork.session.list'),
    asked('cowork.reservations'), asked('cowork.events', { limit: EVENTS }), asked('cowork.doctor'),
  ]);
  return { agents: agents_.agents, channels: channels_.channels, deliveries: deliveries_.deliveries, sessions: sessions_.sessions, reservations: reservations_.reservations, events: events_.events, doctor };
}

function verdict(doctor) {
  const kind = { ok: 'good', warning: 'warn', error: 'bad' }[doctor.status] ?? 'plain';
  return [badge(doctor.status === 'ok' ? 'all is well' : doctor.status, kind), (doctor.warnings ?? []).map((words) => h('span', { class: 'muted' }, text(words)))];
}

function agents(bus) {
  return h('div', { class: 'cards' }, bus.agents.map((agent) => h(
    'article',
    { class: 'card agent' },
    h('div', { class: 'row spread' }, h('h3', { class: 'agent-name' }, text(plain(agent.agent_id, 80))), badge(agent.presence.replace('_', ' '), PRESENCE[agent.presence] ?? 'plain')),
    facts({ Tool: text(agent.tool), Transport: text(agent.transport), 'Last seen': agent.last_seen_at ? ago(agent.last_seen_at) : 'never', Waiting: count(agent.pending_count, 'message'), Pane: agent.tmux_target && text(agent.tmux_target) }),
    agent.pending_preview.length ? h('ul', { class: 'previews' }, agent.pending_preview.map((one) => h('li', {}, h('b', {}, text(plain(one.from, 60))), ' ', text(one.preview)))) : null,
  )));
}

function deliveries(bus, of, choose) {
  const names = [...new Set(bus.deliveries.flatMap((one) => [one.from, one.target_agent_id]))].filter(Boolean).sort();
  const rows = bus.deliveries.filter((one) => !of || one.from === of || one.target_agent_id === of).reverse();
  const chooser = select('Messages of', [['', 'everybody'], ...names.map((name) => [name, plain(name, 60)])], { chosen: of, onchange: choose });
  return [
    h('div', { class: 'toolbar' }, chooser),
    table('Deliveries, newest first', [
      { name: 'State', of: (one) => badge(one.status, STATUS[one.status] ?? 'plain') },
      { name: 'From', of: (one) => text(plain(one.from, 60)) },
      { name: 'To', of: (one) => text(plain(one.target_agent_id, 60)) },
      { name: 'Message', of: (one) => text(one.message_preview) },
      { name: 'Thread', of: (one) => text(one.thread_id ?? one.channel ?? '') },
      { name: 'When', of: (one) => ago(one.delivered_at) },
    ], rows, { empty: 'no message was sent' }),
  ];
}

function channels(bus) {
  return table('Channels', [
    { name: 'Channel', of: (one) => text(one.channel) },
    { name: 'Agents', of: (one) => text(one.agents.join(', ')) },
    { name: 'Set', of: (one) => ago(one.updated_at) },
  ], bus.channels, { empty: 'no channel yet' });
}

function sessions(page, bus, again) {
  if (!bus.sessions.length) return h('p', { class: 'muted' }, 'no shared work was named yet');
  return [...bus.sessions].reverse().map((one) => panel(text(plain(one.title, 120)), {
    level: 3,
    actions: [
      button('Hand-over page', { onclick: () => handover(page, one) }),
      one.status === 'closed' ? null : button('Close', { onclick: () => closed(page, one, again) }),
    ],
  }, facts({ Id: text(one.session_id), State: badge(one.status, one.status === 'active' ? 'good' : 'plain'), Goal: one.goal && text(one.goal), Agents: text(one.agents.join(', ')), Thread: one.thread_id && text(one.thread_id), Begun: when(one.created_at) })));
}

async function handover(page, session) {
  try {
    const answer = await ask('cowork.handoff', { session_id: session.session_id, all_sessions: true }, { brain: page.brain, signal: page.signal });
    dialog('Hand-over', h('pre', {}, text(answer.rendered)));
  } catch (error) {
    toast(error.message, 'bad');
  }
}

function closed(page, session, again) {
  confirmAct({
    title: 'Close this shared work',
    what: text(session.title),
    verb: 'Close it',
    run: () => act('cowork.session.close', { session_id: session.session_id }, { brain: page.brain }),
    done: () => {
      toast('It is closed.', 'good');
      again();
    },
  });
}

function reservations(page, bus, again) {
  return table('Reserved files', [
    { name: 'Path', of: (one) => text(one.path, { mono: true }) },
    { name: 'Held by', of: (one) => text(plain(one.agent_id, 60)) },
    { name: 'How', of: (one) => (one.shared ? 'shared' : 'alone') },
    { name: 'Why', of: (one) => text(one.reason ?? '') },
    { name: 'Until', of: (one) => when(one.until) },
    { name: '', of: (one) => button('Release', { label: `Release ${plain(one.path, 80)}`, onclick: () => released(page, one, again) }) },
  ], bus.reservations, { empty: 'no file is reserved' });
}

function released(page, one, again) {
  confirmAct({
    title: 'Release this file',
    what: [text(one.agent_id), ' holds ', text(one.path, { mono: true }), ' and may be in the middle of it.'],
    verb: 'Release it',
    kind: 'danger',
    run: () => act('cowork.release', { agent_id: one.agent_id, paths: [one.path] }, { brain: page.brain }),
    done: () => {
      toast('It is released.', 'good');
      again();
    },
  });
}

function events(bus) {
  if (!bus.events.length) return h('p', { class: 'muted' }, 'nothing has happened yet');
  return h('ol', { class: 'feed', tabindex: '0', 'aria-label': 'Events, newest first' }, [...bus.events].reverse().map((one) => h('li', {}, h('span', { class: 'muted' }, ago(one.occurred_at)), h('span', {}, badge(one.event_type.replace('_', ' ')), ' ', text(plain(one.actor_agent_id ?? '', 60)), one.target_agent_ids.length ? [' → ', text(plain(one.target_agent_ids.join(', '), 120))] : null, one.message_preview ? [': ', text(one.message_preview)] : null))));
}

function sent(page, bus, again) {
  const people = bus.agents.filter((agent) => agent.agent_id !== ME).map((agent) => [`agent ${agent.agent_id}`, plain(agent.agent_id, 60)]);
  const rooms = bus.channels.map((one) => [`channel ${one.channel}`, `channel ${plain(one.channel, 60)}`]);
  if (!people.length) {
    toast('There is nobody to write to yet.', 'warn');
    return;
  }
  confirmAct({
    title: 'Send a message',
    what: 'It waits in the inbox until the agent reads it. To an agent it is a message, not an order.',
    fields: [
      { name: 'to', label: 'To', kind: 'select', options: [...people, ...rooms] },
      { name: 'message', label: 'Message', kind: 'area', required: true },
    ],
    verb: 'Send',
    run: async ({ to, message }) => {
      if (!bus.agents.some((agent) => agent.agent_id === ME)) await act('cowork.register', { agent_id: ME, tool: 'hall' }, { brain: page.brain });
      const [kind, ...name] = to.split(' ');
      const told = { from: ME, message };
      return kind === 'channel'
        ? act('cowork.channel.send', { ...told, channel: name.join(' ') }, { brain: page.brain })
        : act('cowork.send', { ...told, to: name.join(' ') }, { brain: page.brain });
    },
    done: () => {
      toast('The message is on its way.', 'good');
      again();
    },
  });
}
