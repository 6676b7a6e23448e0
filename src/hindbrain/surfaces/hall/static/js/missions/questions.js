// Questions of a task: what it must not do without a person, or what it did not understand. Answered where they are asked.

import { act, CallError } from '../api.js';
import { toast } from '../dialog.js';
import { h, replace, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { ago, button, failure, field, panel } from '../ui.js';

/** The questions of a task; draw(waiting) shows those that wait and leaves alone what somebody types in. */
export function questions({ taskId, brain, done }) {
  const list = h('div', { class: 'stack' });
  const element = panel('It waits for you', { class: 'questions' }, list);
  element.hidden = true;

  async function answer(question, args, trouble, controls) {
    controls.forEach((one) => (one.disabled = true));
    replace(trouble);
    try {
      const told = await act('task.answer', { task_id: taskId, request_id: question.request_id, ...args }, { brain });
      toast(told.rendered, 'good');
      await done();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      controls.forEach((one) => (one.disabled = false));
      replace(trouble, failure(error));
    }
  }

  function draw(waiting) {
    keyed(list, waiting, { key: (one) => one.request_id, mark: (one) => one.request_id, make: (one) => (one.kind === 'confirm' ? confirming(one, answer) : clarifying(one, answer)) });
    element.hidden = !waiting.length;
  }

  return { element, draw };
}

function confirming(question, answer) {
  const trouble = h('div', {});
  const give = (allowed) => () => answer(question, { allowed }, trouble, controls);
  const controls = [button('Allow it once', { kind: 'primary', onclick: give(true) }), button('Refuse', { kind: 'danger', onclick: give(false) })];
  const minutes = question.waits_s ? `Without an answer it is refused after ${Math.round(question.waits_s / 60)} minutes.` : '';
  return h(
    'div',
    { class: 'question' },
    h('p', {}, 'May it do this one thing, once? ', h('span', { class: 'muted' }, 'asked ', ago(question.asked_at))),
    h('pre', { class: 'sunken', tabindex: '0', 'aria-label': 'What it wants to do' }, text(question.texts.join('\n'), { mono: true, class: 'pre' })),
    question.why ? h('p', {}, text(question.why)) : null,
    h('p', { class: 'muted' }, question.tool ? `By the tool ${question.tool}. ` : '', minutes),
    trouble,
    h('div', { class: 'actions' }, controls),
  );
}

function clarifying(question, answer) {
  const trouble = h('div', {});
  const fields = question.texts.map((words, at) => {
    const input = h('textarea', { rows: 2, id: `${question.request_id}-${at}`, required: true });
    return { input, element: field(text(words), input) };
  });
  const send = button('Answer', { kind: 'primary', type: 'submit' });
  const submitted = (event) => {
    event.preventDefault();
    answer(question, { answers: fields.map((one) => one.input.value.trim()) }, trouble, [send]);
  };
  return h('form', { class: 'question form', on: { submit: submitted } }, h('p', {}, 'What is meant? ', h('span', { class: 'muted' }, 'asked ', ago(question.asked_at))), fields.map((one) => one.element), trouble, h('div', { class: 'actions' }, send));
}
