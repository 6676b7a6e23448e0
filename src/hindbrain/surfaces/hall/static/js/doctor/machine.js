// The machine: the owner that serves this page, the program it runs, the model for meaning, and the hosts that know of it.

import { h, plain, text } from '../dom.js';
import { ago, badge, copyable, count, facts, meter, num, table } from '../ui.js';

const COLOURS = { green: ['set up', 'good'], red: ['wrong', 'bad'], grey: ['not set up', 'plain'] };
const MODEL = { ready: 'good', installing: 'info', damaged: 'bad' };

/** The owner of this home. */
export function owner(house, update) {
  const seconds = house.owner.uptime_seconds;
  return facts({
    version: house.owner.version,
    build: text(update.owner?.build ?? update.this_process.build, { mono: true }),
    process: String(house.owner.process_id),
    'up for': lasted(seconds),
    'sessions open': num(house.owner.active_sessions),
    'owners seen': num(update.owners_visible),
  });
}

/** Seconds as people say them. */
function lasted(seconds) {
  const steps = [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];
  const [size, name] = steps.find(([step]) => seconds >= step) ?? steps.at(-1);
  return count(Math.floor(seconds / size), name);
}

/** The program and its surroundings, as the doctor saw them. */
export function surroundings(report) {
  const { python, install } = report;
  return h(
    'div',
    { class: 'stack' },
    facts({
      home: text(report.home, { mono: true }),
      program: text(install.current_exe, { mono: true }),
      python: python.version,
      sqlite: python.sqlite_version,
      'vector extension': python.vector_extension ? text(String(python.vector_extension)) : 'none',
      schema: String(report.supported_schema_version),
    }),
    install.warnings.map((words) => h('p', {}, badge('note', 'info'), ' ', text(words))),
  );
}

/** Whether what is installed, what runs and what is expected are one and the same. */
export function update(answer) {
  const kind = answer.diagnosis || answer.owner_version_skew || answer.state === 'stale' ? 'warn' : answer.state === 'current' ? 'good' : 'plain';
  const steps = answer.plan.map((step) => h('li', {}, h('p', {}, text(step.action)), step.command ? copyable(step.command) : null));
  return h(
    'div',
    { class: 'stack' },
    h('div', { class: 'row' }, badge(stateWords(answer), kind), answer.owner_version_skew ? badge('the owner runs another build than is installed', 'warn') : null),
    facts({ installed: answer.installed.version, 'build installed': text(answer.installed.build, { mono: true }), 'from a working copy': answer.installed.editable ? 'yes' : null, expected: answer.expected.version, newest: answer.latest === 'unknown' ? 'nobody was asked' : answer.latest }),
    steps.length ? h('ul', { class: 'findings' }, steps) : h('p', { class: 'muted' }, 'Nothing goes out to look for a newer version by itself.'),
  );
}

const stateWords = (answer) => (answer.diagnosis ? answer.diagnosis.replaceAll('_', ' ') : answer.state === 'unknown' ? 'no other version is expected' : answer.state.replaceAll('_', ' '));

/** The model that finds memory by meaning, and how far each brain is with it. */
export function model(answer, named) {
  const columns = [
    { name: 'Brain', of: (one) => text(plain(named(one.brain), 60)) },
    { name: 'Rows with vectors', of: (one) => [num(one.total - one.pending), ' of ', num(one.total)], class: 'number' },
    { name: '', of: (one) => (one.total ? meter((one.total - one.pending) / one.total, { label: 'rows with vectors' }) : h('span', { class: 'muted' }, 'nothing to do')) },
  ];
  const installed = answer.state !== 'absent';
  return h(
    'div',
    { class: 'stack' },
    h('div', { class: 'row' }, badge(answer.state, MODEL[answer.state] ?? 'plain'), answer.reason ? h('span', {}, text(answer.reason)) : null),
    installed ? facts({ stamp: answer.stamp && text(answer.stamp, { mono: true }), size: answer.bytes ? `${Math.round(answer.bytes / 1e6)} MB` : null, path: answer.path && text(answer.path, { mono: true }) }) : copyable('hindbrain model install'),
    installed ? table('How far each brain is', columns, answer.embedded) : null,
  );
}

/** Which hosts list Hindbrain, and whether they reached it. */
export function hosts(answer) {
  const columns = [
    { name: 'Host', of: (one) => one.title },
    { name: 'State', of: (one) => badge(...(COLOURS[one.color] ?? [one.color, 'plain'])) },
    { name: 'Why', of: (one) => text(plain(one.reason, 160)) },
    { name: 'Last handshake', of: (one) => handshake(one.last_handshake) },
  ];
  const missing = answer.hosts.filter((one) => one.color === 'grey').length;
  return h('div', { class: 'stack' }, table('Hosts', columns, answer.hosts), missing ? h('div', { class: 'stack' }, h('p', { class: 'muted' }, 'To set one up:'), copyable('hindbrain install')) : null);
}

const handshake = (one) => (one ? ago(one.at) : h('span', { class: 'muted' }, 'never'));
