// What a person may do to experience: state something, speak against a rule, forget, propose a card, and have the Dreamer dream.

import { act } from '../api.js';
import { confirmAct, toast } from '../dialog.js';
import { h, plain, text } from '../dom.js';
import { count } from '../ui.js';

const STATED = [['C', 'rule: holds until experience speaks against it'], ['K', 'task knowledge: fades'], ['M', 'episode: fades'], ['T', 'how to be: every task is told']];

/** State something by hand. */
export function remember(page, done, given = {}) {
  confirmAct({
    title: 'State something',
    what: 'Only you can state experience by hand. A rule stands at once, until what happens speaks against it.',
    fields: [
      { name: 'text', label: 'What holds', kind: 'area', required: true },
      { name: 'level', label: 'How firmly', kind: 'select', options: STATED, value: 'C' },
      { name: 'space', label: 'Kind of act', value: given.space ?? 'global:user', required: true, hint: 'such as tool:glob or intent:fix_the_build; global:user for every task' },
      { name: 'entity', label: 'What it is about', value: given.entity ?? 'env:local', required: true },
      { name: 'tags', label: 'Tags', hint: 'short words to find it by, with commas between' },
    ],
    verb: 'Remember',
    run: ({ tags, ...rest }) => act('experience.remember', { ...rest, tags: tags.split(',').map((one) => one.trim()).filter(Boolean) }, { brain: page.brain }),
    done: (answer) => {
      toast(`Remembered at level ${answer.level}.`, 'good');
      done(answer);
    },
  });
}

/** Speak against a rule. */
export function speakAgainst(page, rule, done) {
  confirmAct({
    title: 'Speak against this rule',
    what: [h('p', {}, text(plain(rule.content, 300))), h('p', {}, 'Nothing is edited: an opposite experience is added, as strong as the rule. When more speaks against it than for it, it loses its trust and fades.')],
    fields: [{ name: 'content', label: 'What speaks against it', kind: 'area', required: true }],
    verb: 'Speak against it',
    run: ({ content }) => act('experience.feedback', { rule: rule.id, content }, { brain: page.brain }),
    done: (answer) => {
      toast(answer.demoted ? 'Noted. The rule has lost its trust and fades now.' : 'Noted. The rule still stands.', answer.demoted ? 'warn' : 'good');
      done(answer);
    },
  });
}

/** Forget one experience for good. */
export function forget(page, megram, done) {
  confirmAct({
    title: 'Forget this experience',
    what: [h('p', {}, text(plain(megram.content, 300))), h('p', {}, 'It is deleted for good, with the texts of the finished task it came from. That it was forgotten stays on record.')],
    fields: [{ name: 'reason', label: 'Why', required: true }],
    verb: 'Forget it',
    kind: 'danger',
    run: ({ reason }) => act('experience.forget', { megram: megram.id, reason }, { brain: page.brain }),
    done: (answer) => {
      toast(`Forgot ${count(answer.forgotten, 'experience')}.`, 'good');
      done(answer);
    },
  });
}

/** Make a candidate card of a rule. */
export function propose(page, rule, done) {
  confirmAct({
    title: 'Propose this rule as a card',
    what: [h('p', {}, text(plain(rule.content, 300))), h('p', {}, 'It becomes a candidate with its episodes as evidence; its gate does the rest.')],
    verb: 'Propose it',
    run: () => act('experience.propose', { rule: rule.id }, { brain: page.brain }),
    done: (answer) => {
      toast('There is a candidate card now. It waits for review.', 'good');
      done(answer);
    },
  });
}

/** Look what the Dreamer would do, and have it done after a yes. */
export async function dreamNow(page, done) {
  let plan;
  try {
    plan = await act('experience.dream', { dry_run: true }, { brain: page.brain, signal: page.signal });
  } catch (error) {
    if (!error.code) throw error;
    toast(error.message, 'bad');
    return;
  }
  confirmAct({
    title: 'Dream now',
    what: planned(plan),
    verb: 'Dream',
    run: () => act('experience.dream', {}, { brain: page.brain }),
    done: (answer) => {
      toast(answer.skipped ? 'Another Dreamer has this brain; nothing was done.' : dreamt(answer), 'good');
      done(answer);
    },
  });
}

function planned(plan) {
  const quiet = !plan.forgotten && !plan.spent && !plan.demoted.length && !plan.promoted.length;
  if (quiet) return 'Nothing has faded, nothing is contradicted, and nothing recurs often enough: a look now would change nothing.';
  return [
    h('p', {}, 'A look now would'),
    h(
      'ul',
      { class: 'plan' },
      plan.forgotten + plan.spent ? h('li', {}, `forget ${count(plan.forgotten + plan.spent, 'experience')} that faded or that rules carry`) : null,
      plan.demoted.length ? h('li', {}, `take the trust of ${count(plan.demoted.length, 'rule')}`) : null,
      plan.promoted.map((one) => h('li', {}, `make a rule of ${count(one.sources, 'experience')}: `, text(plain(one.content, 200)))),
    ),
  ];
}

function dreamt(answer) {
  return `${answer.forgotten + answer.spent} forgotten, ${count(answer.promoted.length, 'rule')} made, ${answer.demoted.length} distrusted.`;
}
