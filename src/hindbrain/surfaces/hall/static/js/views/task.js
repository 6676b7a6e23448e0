// One task: the loop while it turns. Its plan, its curves, every line as it is said, what it asks of a person, and how it ended.

import { act, ask, CallError } from '../api.js';
import { confirmAct, toast } from '../dialog.js';
import { h, plain, replace, text } from '../dom.js';
import { keyed } from '../keyed.js';
import { lineList } from '../missions/lines.js';
import { lossOf } from '../missions/loss.js';
import { questions } from '../missions/questions.js';
import { span, taskBadge } from '../missions/words.js';
import { link } from '../router.js';
import { ago, badge, button, count, facts, heading, num, panel } from '../ui.js';

const WAIT_S = 20; // the owner answers at once when something is said
const REST_MS = 300; // between two looks at a task that says a lot
const AGAIN_MS = 3000; // after a look that failed

/** Show a task, and follow it until it ends or the page is left. */
export async function show(page, taskId) {
  const of = { brain: page.brain, signal: page.signal };
  const parts = { marks: h('div', { class: 'row' }), plan: h('div', {}), loss: h('div', {}), cost: h('div', {}), end: h('div', {}) };
  const said = lineList();
  const asked = questions({ taskId, brain: page.brain, done: () => again() });
  const again = page.redone(() => look(0));
  const cancel = button('Cancel…', { kind: 'danger', onclick: () => cancelling(taskId, page.brain, again) });
  let seen = null;

  async function look(wait) {
    const task = await ask('task.show', { task_id: taskId, after: said.cursor(), wait_s: wait }, of);
    const [lines, cost] = await Promise.all([ask('control.watch', { task_id: taskId, after: said.cursor(), limit: 2000 }, of), ask('control.cost', { task_id: taskId }, of)]);
    said.add(lines.lines.filter((one) => one.seq <= task.cursor), task.cursor); // what was said since is news to the next look
    if (task.cursor < seen?.cursor) return seen; // another look was told more meanwhile
    draw(task, cost);
    seen = task;
    return task;
  }

  function draw(task, cost) {
    replace(parts.marks, taskBadge(task.state, task.directive), badge(count(task.rounds.length, 'round')), badge(count(task.attempts, 'attempt')), h('span', { class: 'muted' }, 'began ', ago(task.began_at)));
    cancel.hidden = over(task);
    parts.end.hidden = !over(task);
    asked.draw(task.waiting);
    const once = (area, facts, make) => keyed(area, [facts], { key: () => 'one', make });
    once(parts.plan, task.plan, () => planOf(task.plan));
    once(parts.loss, task.rounds, () => lossOf(task.rounds));
    once(parts.cost, [cost.total, cost.left, task.final?.x?.cost], () => costOf(cost, task.final?.x?.cost));
    once(parts.end, [task.state, task.final, task.changed], () => endOf(task));
  }

  const first = await look(0);
  page.title(first.goal);
  replace(
    page.root,
    h('nav', { 'aria-label': 'Back' }, link(['b', page.brain.id, 'missions'], { query: { show: 'tasks' } }, '← Tasks')),
    heading(text(plain(first.goal, 300)), { actions: cancel }),
    parts.marks,
    asked.element,
    parts.end,
    h('div', { class: 'panels' }, panel('The loop', { note: 'the loss by round' }, parts.loss), panel('Goal and plan', {}, parts.plan)),
    panel('What is said', { note: 'by the roles of the loop' }, said.element),
    panel('Cost', {}, parts.cost),
  );
  said.toEnd();
  follow();

  // Waits for news for as long as the task goes on. A failed look is told once and tried again.
  async function follow() {
    let told = null;
    while (!page.signal.aborted && !over(seen)) {
      try {
        await look(WAIT_S);
        told?.();
        told = null;
        await rest(REST_MS);
      } catch (error) {
        if (error.name === 'AbortError' || page.signal.aborted) break;
        if (!(error instanceof CallError)) throw error;
        told ??= toast(error.message, 'warn', { keep: 0 });
        await rest(AGAIN_MS);
      }
    }
    told?.();
  }
}

const over = (task) => task.state === 'done' || task.state === 'lost';
const rest = (ms) => new Promise((go) => setTimeout(go, ms));

function cancelling(taskId, brain, done) {
  confirmAct({
    title: 'Cancel the task',
    what: 'It stops what it does, keeps what it has and says how far it came.',
    fields: [{ name: 'why', label: 'Why', kind: 'text' }],
    verb: 'Cancel the task',
    kind: 'danger',
    run: ({ why }) => act('task.cancel', { task_id: taskId, why }, { brain }),
    done,
  });
}

const PARTS = { open: ['open', 'plain'], tried: ['tried, not yet judged', 'accent'], matched: ['reached', 'good'], failed: ['failed', 'bad'] };

function planOf(plan) {
  if (!plan) return h('p', { class: 'muted' }, 'No plan yet.');
  const list = (title, rows) => (rows.length ? h('div', {}, h('p', { class: 'muted' }, title), h('ul', { class: 'dotted' }, rows.map((one) => h('li', {}, text(one))))) : null);
  const part = (one) => h('li', { class: 'part' }, h('p', {}, text(one.intent || 'not yet told')), h('p', {}, badge(...PARTS[one.state])), one.why ? h('p', { class: 'muted' }, text(one.why)) : null);
  return h('div', { class: 'stack' }, list('It is reached when', plan.criteria), h('p', { class: 'muted' }, `Plan ${num(plan.number)}, ${count(plan.parts.length, 'part')}`), h('ol', { class: 'parts' }, plan.parts.map(part)));
}

function costOf(cost, own) {
  const { total, left } = cost;
  return facts({
    'Calls of models': num(total.calls),
    Tokens: num(total.prompt_tokens + total.completion_tokens),
    Price: total.cost_micros ? `$${(total.cost_micros / 1e6).toFixed(4)}` : 'nothing',
    'Calls of tools': own ? num(own.tool_call_count) : null,
    'Time in tools': own ? span(own.tool_elapsed_ms) : null,
    'Tokens left for it': left.task_tokens === null ? null : num(left.task_tokens),
  });
}

function endOf(task) {
  if (task.state === 'lost') return panel('It was lost', {}, h('p', {}, 'The process that ran it is gone. Run the goal again.'));
  if (!task.final) return h('div', {});
  const given = task.directive === 'abandon';
  const { output } = task.final;
  const shown = output === null || output === '' || given ? null : typeof output === 'string' ? output : JSON.stringify(output, null, 2);
  return panel(
    given ? 'It was given up' : task.final.x.unmet_criteria.length ? 'It was partly reached' : 'It was reached',
    { class: given ? 'ended bad' : 'ended good' },
    h('p', { class: 'stored-block' }, text(task.final.summary)),
    shown ? h('pre', { class: 'sunken', tabindex: '0', 'aria-label': 'Result' }, text(shown, { mono: true, class: 'pre' })) : null,
    task.changed.length ? h('div', {}, h('p', { class: 'muted' }, 'Changed in ', text(task.workspace, { mono: true })), h('ul', { class: 'dotted' }, task.changed.map((one) => h('li', {}, text(one, { mono: true }))))) : null,
    task.apply ? h('p', {}, 'Your project is unchanged. To bring this into it, run in a terminal: ', text(task.apply, { mono: true })) : null,
  );
}
