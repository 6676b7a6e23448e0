// The difference of two texts, word by word.

import { h, text } from '../dom.js';

const MOST = 4_000_000; // cells of the table: beyond that the two middles are told whole

// The pieces of two texts: [{kind: 'same' | 'gone' | 'new', words}], in order.
function pieces(before, after) {
  const old = tokens(before);
  const young = tokens(after);
  let head = 0;
  while (head < old.length && head < young.length && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < young.length - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const middle = between(old.slice(head, old.length - tail), young.slice(head, young.length - tail));
  return joined([
    ...old.slice(0, head).map((word) => ['same', word]),
    ...middle,
    ...old.slice(old.length - tail).map((word) => ['same', word]),
  ]);
}

const tokens = (words) => String(words ?? '').match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

// The longest common run of words, by the usual table.
function between(old, young) {
  if (old.length * young.length > MOST || !old.length || !young.length) {
    return [...old.map((word) => ['gone', word]), ...young.map((word) => ['new', word])];
  }
  const width = young.length + 1;
  const table = new Uint16Array((old.length + 1) * width);
  for (let one = old.length - 1; one >= 0; one -= 1) {
    for (let other = young.length - 1; other >= 0; other -= 1) {
      const at = one * width + other;
      table[at] = old[one] === young[other] ? table[at + width + 1] + 1 : Math.max(table[at + width], table[at + 1]);
    }
  }
  const found = [];
  let [one, other] = [0, 0];
  while (one < old.length || other < young.length) {
    const at = one * width + other;
    if (one < old.length && other < young.length && old[one] === young[other]) {
      found.push(['same', old[one]]);
      one += 1;
      other += 1;
    } else if (other >= young.length || (one < old.length && table[at + width] >= table[at + 1])) found.push(['gone', old[one++]]);
    else found.push(['new', young[other++]]);
  }
  return found;
}

// Neighbours of one kind are one piece; what is gone stands before what is new, also across a blank they share.
function joined(found) {
  const made = [];
  let changes = { gone: '', new: '' };
  const put = (kind, words) => {
    if (!words) return;
    if (made.at(-1)?.kind === kind) made.at(-1).words += words;
    else made.push({ kind, words });
  };
  const settle = () => {
    if (changes.gone.trim()) put('gone', changes.gone);
    put(changes.new.trim() ? 'new' : 'same', changes.new);
    changes = { gone: '', new: '' };
  };
  found.forEach(([kind, word], index) => {
    const changing = changes.gone || changes.new;
    if (kind !== 'same') changes[kind] += word;
    else if (changing && !word.trim() && found[index + 1] && found[index + 1][0] !== 'same') changes = { gone: changes.gone + word, new: changes.new + word };
    else {
      settle();
      put('same', word);
    }
  });
  settle();
  return made;
}

/** The difference as people read it: what is gone struck out, what is new underlined. */
export function difference(before, after) {
  const found = pieces(before, after);
  if (found.every((one) => one.kind === 'same')) return h('p', { class: 'muted' }, 'The words are the same.');
  return h('p', { class: 'difference' }, found.map((one) => (one.kind === 'same' ? text(one.words) : h(one.kind === 'gone' ? 'del' : 'ins', {}, said(one), text(one.words)))));
}

const said = (one) => h('span', { class: 'visually-hidden' }, one.kind === 'gone' ? ' gone: ' : ' new: ');
