// Lines of a task: one for each message between its roles. New ones come at the end; who reads further up is left there.

import { h, plain, text } from '../dom.js';
import { worded } from './words.js';

const ROLES = { R1: 'perceiver', R2: 'planner', R3: 'executor', R4a: 'validator', R4b: 'judge', R5: 'memory', R6: 'auditor', R7: 'controller', User: 'person' };
const CHATTER = ['MemoryQuery', 'MemoryResponse']; // told by the recall that sums them up
const NEAR = 40; // pixels from the end that still count as being there

/** A list of lines that grows: add(lines, cursor), cursor(), toEnd(). */
export function lineList() {
  const rows = h('ol', { class: 'lines', tabindex: '0', 'aria-label': 'What is said' });
  let last = 0;
  const atEnd = () => rows.scrollHeight - rows.scrollTop - rows.clientHeight < NEAR;
  const toEnd = () => (rows.scrollTop = rows.scrollHeight);

  function add(lines, cursor) {
    const follow = atEnd();
    const fresh = lines.filter((one) => one.seq > last && !CHATTER.includes(one.type));
    rows.append(...fresh.map(row));
    last = Math.max(last, cursor);
    if (follow) toEnd();
  }

  return { element: rows, add, toEnd, cursor: () => last };
}

function row(line) {
  const loud = ['PlanDirective', 'FinalResult', 'ConfirmationRequest', 'ClarificationRequest'].includes(line.type);
  const said = worded(line.type.replace(/(?<=[a-z])(?=[A-Z])/g, '_')).toLowerCase();
  return h(
    'li',
    { class: loud ? 'loud' : null },
    h('span', { class: 'muted' }, line.at),
    h('span', { class: 'way-of', title: `${line.from} to ${line.to}` }, `${ROLES[line.from] ?? line.from} → ${ROLES[line.to] ?? line.to}`),
    h('span', { class: 'said' }, h('b', {}, said), ' ', text(plain(line.text, 400))),
  );
}
