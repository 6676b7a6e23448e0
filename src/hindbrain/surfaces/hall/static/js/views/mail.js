// Mail: letters about what went wrong or well, each with its fate, and the boxes they lie in.

import { act, ask } from '../api.js';
import { house, readable } from '../brains.js';
import { h, plain, replace, text } from '../dom.js';
import { confirmAct, toast } from '../dialog.js';
import { keeping } from '../keyed.js';
import { link, note } from '../router.js';
import { ago, badge, button, count, empty, heading, num, panel } from '../ui.js';
import { FATES, about, classBadges, fateBadge, worded, written } from './letters.js';
import { showLetter } from './letter.js';

const MOST = 1000;
const CLASSES = ['friction', 'bug', 'honesty', 'win', 'memory_misdelivery', 'idea'];
const KINDS = ['', 'leak', 'false_absence', 'wrong_store_write', 'misattribution', 'vanished'];

/** Show all letters, or one with its thread. */
export async function show(page, [id]) {
  const read = () => ask('inbox_sweep', { limit: MOST }, { signal: page.signal });
  if (id) {
    await showLetter(page, id, read);
    return;
  }
  await showAll(page, read);
}

async function showAll(page, read) {
  let swept = await read();
  const chosen = { box: page.query.get('box') ?? '', fate: page.query.get('fate') ?? '', q: page.query.get('q') ?? '' };
  const list = h('div', { class: 'stack' });
  const boxes = h('div', { class: 'cards' });
  const fates = h('div', { class: 'row', role: 'group', 'aria-label': 'Fate' });
  const find = h('input', { type: 'search', 'aria-label': 'Search letters', placeholder: 'Words of a letter, its writer or its class', value: chosen.q, on: { input: () => choose({ q: find.value }) } });
  const write = button('Write a letter', { kind: 'primary', onclick: () => composed(again) });
  replace(
    page.root,
    heading('Mail', { about: 'Letters about what went wrong or well. They are kept for good; their fate is read from their answers.', actions: write }),
    panel('Boxes', {}, boxes),
    h('div', { class: 'toolbar' }, find, fates),
    list,
  );
  const choose = (change) => {
    Object.assign(chosen, change);
    note(chosen);
    draw();
  };
  const draw = () =>
    keeping(page.root, () => {
      replace(fates, fateButtons(swept, chosen, choose));
      replace(boxes, boxCards(swept, chosen, choose));
      replace(list, threads(swept, chosen));
    });
  const again = page.redone(async () => {
    const found = await read();
    if (JSON.stringify(found) === JSON.stringify(swept)) return;
    swept = found;
    draw();
  });
  page.onLive(again);
  draw();
}

function fateButtons(swept, chosen, choose) {
  const all = [['', 'All', swept.total], ...Object.entries(FATES).map(([name, fate]) => [name, fate.name, swept.counts[name] ?? 0])];
  return all.map(([name, words, number]) => button(`${words} ${num(number)}`, { title: FATES[name]?.words, 'aria-pressed': String(chosen.fate === name), onclick: () => choose({ fate: name }) }));
}

function boxCards(swept, chosen, choose) {
  const names = [...new Set(swept.letters.map((letter) => letter.box))].filter(Boolean).sort();
  if (!names.length) return h('p', { class: 'muted' }, 'no box holds a letter');
  return names.map((box) => {
    const inside = swept.letters.filter((letter) => letter.box === box);
    const open = inside.filter((letter) => FATES[letter.state]?.open);
    const pressed = chosen.box === box;
    const choice = button(text(boxName(box)), { kind: 'quiet', 'aria-pressed': String(pressed), onclick: () => choose({ box: pressed ? '' : box }) });
    return h('div', { class: `card box ${pressed ? 'chosen' : ''}` }, h('div', { class: 'row spread' }, choice, open.length ? badge(`${num(open.length)} open`, 'info') : badge('nothing open', 'good')), h('p', { class: 'muted' }, count(inside.length, 'letter')));
  });
}

const boxName = (box) => plain(box.split('/').at(-1) || box, 60);

function threads(swept, { box, fate, q }) {
  const words = q.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const has = (letter) => words.every((word) => `${letter.what} ${letter.agent} ${letter.class} ${letter.kind ?? ''} ${letter.expected ?? ''}`.toLowerCase().includes(word));
  const shown = swept.letters
    .filter((letter) => (!box || letter.box === box) && (!fate || letter.state === fate) && has(letter))
    .sort((one, other) => other.at - one.at);
  if (!swept.letters.length) return empty('No letter was written yet', 'Agents write them when memory misleads them, and people too:', { command: 'hindbrain report friction "north took eight seconds"' });
  if (!shown.length) return empty('No letter is like this', 'Choose another box or fate, or other words.');
  return [h('p', { class: 'muted', role: 'status' }, count(shown.length, 'letter')), shown.map(line)];
}

function line(letter) {
  return h(
    'article',
    { class: 'card letter', 'data-walk': '' },
    h('div', { class: 'row' }, fateBadge(letter), classBadges(letter), letter.verdict ? badge(text(plain(letter.verdict, 40)), 'good') : null),
    h('h3', { class: 'clamp' }, link(['mail', letter.id], {}, text(plain(letter.what, 300)))),
    h('p', { class: 'muted' }, about(letter), ', ', ago(letter.ts), letter.answered_by.length ? `, ${count(letter.answered_by.length, 'answer')}` : null),
  );
}

function composed(done) {
  const places = house.brains.filter(readable).map((brain) => [brain.root ?? 'medulla', plain(brain.display_name, 60)]);
  confirmAct({
    title: 'Write a letter',
    what: 'It is kept for good and filed into the box of its project. It is no memory.',
    fields: [
      { name: 'about', label: 'About', kind: 'select', options: places },
      { name: 'class', label: 'Class', kind: 'select', options: CLASSES.map((name) => [name, worded(name)]) },
      { name: 'kind', label: 'Kind of a misdelivery', kind: 'select', options: KINDS.map((name) => [name, worded(name) || 'none']) },
      { name: 'what', label: 'What happened', kind: 'area', required: true },
      { name: 'expected', label: 'What should have happened', kind: 'area' },
    ],
    verb: 'Write it',
    run: (given) => act('report', written(given), { brain: house.brains.find((brain) => brain.root === given.about) }),
    done: () => {
      toast('The letter is written.', 'good');
      done();
    },
  });
}
