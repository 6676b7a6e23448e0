// Papers of a mission: its flight record, its hand-over, its proof packet, and whether its chain of events holds.

import { ask } from '../api.js';
import { h, replace, text } from '../dom.js';
import { downloadable } from '../download.js';
import { badge, copyable, count, empty, facts, filled, num, panel, table, tabs, when } from '../ui.js';
import { gradeBadge, outcomeBadge, span, verdictBadge, worded } from './words.js';

const OVER = ['closed', 'abandoned'];

/** The papers of a mission in tabs. draw(state) reads the open one again when the mission has gone on. */
export function papers({ missionId, first, of }) {
  const told = { state: first };
  let open = null;
  const item = (name, label, load, draw) => ({ name, label, show: () => area(load, draw) });
  const read = (operation, args = {}) => ask(operation, { mission_id: missionId, ...args }, of);
  const items = [
    item('flight', 'Flight record', () => read('flight', { records: 0 }), flight),
    item('handoff', 'Hand-over', () => (told.state.handoffs.length ? read('mission.export', { format: 'handoff' }) : null), handoff),
    item('proof', 'Proof packet', () => (OVER.includes(told.state.status) ? read('mission.export', { format: 'proof' }) : null), (answer) => proof(answer, file)),
    item('chain', 'Chain', () => read('mission.verify_chain'), chain),
  ];
  const file = async () => (await read('mission.export', { format: 'proof', file: true })).file;

  function area(load, draw) {
    const place = h('div', { class: 'stack' });
    open = () => filled(place, load, draw, { signal: of.signal });
    open();
    return place;
  }

  function draw(state) {
    const more = told.state.event_count !== state.event_count;
    told.state = state;
    if (more) open();
  }

  return { element: panel('What it leaves behind', {}, tabs('Papers', items).element), draw };
}

function flight(record) {
  const columns = [
    { name: 'Event', of: (one) => String(one.seq), class: 'number' },
    { name: 'Did', of: (one) => worded(one.did) },
    { name: 'To', of: (one) => text(one.target ?? ''), class: 'roomy' },
    { name: 'Outcome', of: (one) => outcomeBadge(one.outcome) },
    { name: 'Took', of: (one) => (one.duration_ms ? span(one.duration_ms) : ''), class: 'number' },
  ];
  const counted = Object.entries({ ...record.evidence.direct, ...record.evidence.graph_only });
  return [
    h('p', { class: 'row' }, counted.length ? counted.map(([name, number]) => badge(`${num(number)} ${worded(name)}`, name.startsWith('direct') ? 'good' : 'plain')) : badge('no evidence yet')),
    table('What was done', columns, record.actions, { empty: 'nothing was done yet' }),
    h('h3', {}, 'For which reasons'),
    record.reasons.length ? h('ol', { class: 'reasons' }, record.reasons.map((one) => h('li', { value: one.seq }, h('b', {}, worded(one.did)), ' ', text(one.why)))) : h('p', { class: 'muted' }, 'no reason was told'),
  ];
}

function handoff(answer) {
  if (!answer) return empty('It was not handed over', 'A hand-over is one page for whoever goes on.');
  const { data } = answer;
  const list = (title, rows, words) => (rows.length ? h('div', {}, h('h3', {}, title), h('ul', { class: 'dotted' }, rows.map((one) => h('li', {}, words(one))))) : null);
  return [
    h('p', { class: 'stored-block' }, text(data.mission_summary)),
    facts({ Made: when(data.created_at), For: data.recipient_agent_id ? text(data.recipient_agent_id) : 'anybody', Id: h('span', { class: 'mono' }, data.handoff_id) }),
    list('Proven', data.verified_claims, (one) => text(one.claim)),
    list('Open', data.open_hypotheses, (one) => text(one)),
    list('Ruled out', data.dead_paths, (one) => [text(one.target, { mono: true }), ': ', text(one.why_ruled_out)]),
    copyable(`hindbrain mission resume ${data.handoff_id}`),
  ];
}

function proof(answer, file) {
  if (!answer) return empty('No proof packet yet', 'A mission gets its packet when it is closed or given up.');
  const { data } = answer;
  const columns = [
    { name: 'Claim', of: (one) => text(one.claim), class: 'roomy' },
    { name: 'Verdict', of: (one) => verdictBadge(one.verdict) },
    { name: 'Evidence', of: (one) => gradeBadge(one.evidence_grade) },
    { name: 'Shown by', of: (one) => one.evidence_refs.map((id) => h('div', { class: 'mono' }, id)) },
  ];
  return [
    h('p', { class: 'stored-block' }, text(data.summary)),
    data.forced ? h('p', {}, badge('closed by force', 'bad'), ' ', text(data.forced_reason ?? '')) : null,
    table('Claims of the packet', columns, [...data.verified_claims, ...data.rejected_claims], { empty: 'it proves no claim' }),
    data.gaps.length ? h('div', {}, h('h3', {}, 'What stays open'), h('ul', { class: 'dotted' }, data.gaps.map((one) => h('li', {}, text(one))))) : null,
    facts({ Sealed: when(data.created_at), Events: num(data.event_count), 'Direct evidence': num(data.counters.direct_evidence_count), Took: span(data.counters.duration_ms), Digest: h('span', { class: 'mono digest' }, data.packet_digest) }),
    h('div', { class: 'actions' }, downloadable('Download the packet', `${data.mission_id}.proof.json`, file)),
    h('details', {}, h('summary', {}, 'The packet as it is'), h('pre', { class: 'sunken', tabindex: '0', 'aria-label': 'Proof packet' }, text(answer.rendered, { mono: true, class: 'pre' }))),
  ];
}

function chain(answer) {
  const words = answer.valid ? [badge('holds', 'good'), ` ${count(answer.events, 'event')}, each bound to the one before, all as written.`] : [badge(answer.valid === null ? 'erased' : 'broken', 'bad'), ' ', text(answer.rendered)];
  const place = h('p', {}, words);
  return replace(h('div', { class: 'stack' }), place, h('p', { class: 'muted' }, 'Anybody can compute it again:'), copyable(`hindbrain mission verify-chain ${answer.mission_id}`));
}
