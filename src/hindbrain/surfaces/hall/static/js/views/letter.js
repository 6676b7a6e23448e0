// One letter: all it says, its thread, what became of it, and an answer right here.

import { act } from '../api.js';
import { brainNamed } from '../brains.js';
import { h, plain, replace, text } from '../dom.js';
import { confirmAct, toast } from '../dialog.js';
import { keeping } from '../keyed.js';
import { link } from '../router.js';
import { ago, badge, button, empty, facts, heading, panel, when } from '../ui.js';
import { FATES, about, classBadges, fateBadge } from './letters.js';

/** Show one letter of those that `read` gives. */
export async function showLetter(page, id, read) {
  let drawn = '';
  const draw = (swept) => {
    const seen = JSON.stringify(swept);
    if (seen === drawn) return;
    drawn = seen;
    const letter = swept.letters.find((one) => one.id === id);
    if (!letter) {
      replace(page.root, heading('Letter'), empty('This letter is not here', 'It may lie in a box that this home does not know.', { action: link(['mail'], { class: 'button' }, 'To the mail') }));
      return;
    }
    page.title(letter.what);
    keeping(page.root, () => replace(page.root, ...parts(letter, swept.letters, again)));
  };
  const first = async () => draw(await read());
  const again = page.redone(first);
  page.onLive(again);
  await first();
}

function parts(letter, letters, again) {
  const brain = letter.box === 'medulla' ? brainNamed('medulla') : brainNamed(letter.box);
  const open = FATES[letter.state].open;
  const actions = [
    open ? button('Answer and close', { kind: 'primary', onclick: () => closed(letter, again) }) : null,
    button('Answer', { onclick: () => answered(letter, brain, again) }),
  ];
  return [
    h('nav', { 'aria-label': 'Back' }, link(['mail'], {}, '← Mail')),
    heading('Letter', { actions }),
    panel(null, { class: 'letter-whole' }, h('div', { class: 'row' }, fateBadge(letter), classBadges(letter)), text(letter.what, { tag: 'p', class: 'letter-text' }), said(letter)),
    panel('Its fate', {}, steps(letter, letters)),
    panel('Thread', {}, thread(letter, letters)),
    panel('Facts', {}, facts({ Id: h('code', {}, letter.id), Written: when(letter.ts), [letter.arrived_by ? 'Stated author' : 'Written by']: text(letter.agent), 'Arrived by': letter.arrived_by, Tool: letter.tool && text(letter.tool), Box: brain ? link(['b', brain.id, 'memory'], {}, text(plain(brain.display_name, 60))) : letter.box && text(letter.box), Verdict: letter.verdict && text(letter.verdict), Case: letter.case && text(letter.case) })),
  ];
}

function said(letter) {
  return [
    letter.expected ? h('div', {}, h('h3', {}, 'What should have happened'), text(letter.expected, { tag: 'p' })) : null,
    letter.snippet ? h('div', {}, h('h3', {}, 'The lines that show it'), h('pre', { class: 'snippet' }, text(letter.snippet))) : null,
  ];
}

// The fate as steps: what has happened is marked, what has not is still to come.
function steps(letter, letters) {
  const answers = letters.filter((one) => letter.answered_by.includes(one.id));
  const closing = answers.find((one) => one.class === 'triage' || one.class === 'receipt');
  const rows = letter.state === 'external'
    ? [['written', letter], ['set aside: about a tool that is not ours', letter]]
    : [['written', letter], ['answered', answers[0]], ['closed', letter.state === 'fired_clay' ? closing ?? letter : null]];
  return h('ol', { class: 'fate' }, rows.map(([words, by]) => h('li', { class: by ? 'done' : '' }, h('b', {}, words), by ? [' ', ago(by.ts)] : h('span', { class: 'muted' }, ' not yet'))));
}

function thread(letter, letters) {
  const known = new Map(letters.map((one) => [one.id, one]));
  const before = letter.answers.map((one) => known.get(one)).filter(Boolean);
  const after = letter.answered_by.map((one) => known.get(one)).filter(Boolean);
  if (!before.length && !after.length) return h('p', { class: 'muted' }, 'no answer yet, and it answers nothing');
  const row = (one, words) => h('li', { class: one.id === letter.id ? 'here' : '' }, h('div', { class: 'row' }, fateBadge(one), h('span', { class: 'muted' }, words)), one.id === letter.id ? text(one.what, { tag: 'p' }) : h('p', {}, link(['mail', one.id], {}, text(plain(one.what, 300)))), h('p', { class: 'muted' }, about(one), ', ', ago(one.ts)));
  return h('ol', { class: 'thread' }, before.map((one) => row(one, 'answered by this letter')), row(letter, 'this letter'), after.map((one) => row(one, 'answers it')));
}

function closed(letter, again) {
  confirmAct({
    title: 'Answer and close',
    what: [text(plain(letter.what, 300)), ' It stays as it was written; your answer closes it.'],
    fields: [
      { name: 'what', label: 'What was done about it', kind: 'area', required: true },
      { name: 'verdict', label: 'Verdict', kind: 'select', options: [['fixed', 'fixed'], ['answered', 'answered'], ['rejected', 'rejected: it does not count']] },
    ],
    verb: 'Close it',
    run: (given) => act('triage', { answers: [letter.id], ...given }, { brain: brainNamed(letter.box) }),
    done: () => {
      toast('The letter is closed.', 'good');
      again();
    },
  });
}

function answered(letter, brain, again) {
  confirmAct({
    title: 'Answer',
    what: 'An answer that closes nothing: the letter stays open.',
    fields: [{ name: 'what', label: 'Your answer', kind: 'area', required: true }],
    verb: 'Send it',
    run: (given) => act('report', { class: 'note', answers: [letter.id], ...given, ...(brain?.root ? {} : { brain: 'medulla' }) }, { brain }),
    done: () => {
      toast('The answer is written.', 'good');
      again();
    },
  });
}
