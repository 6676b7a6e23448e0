// Labels: which names fit on the screen. The most telling first, and never one over another.

import { plain } from '../dom.js';
import { toScreen } from './camera.js';

const HIGH = 16;
const APART = 9_000; // square pixels of the screen for each label
const FROM = { directory: 0, file: 0.28, claim: 0.28, class: 0.6, section: 0.6, function: 0.9, other: 1.1 }; // scale from which a group is named
const WEIGHT = { directory: 3, file: 2, claim: 2.4, class: 1.4, section: 0.8, function: 1, other: 0.4 };

/** Rows in the order in which they deserve a name. */
export function namingOrder(model, groups) {
  const worth = Float32Array.from({ length: model.size }, (_, row) => {
    const bound = Math.log2(2 + model.start[row + 1] - model.start[row]);
    return bound * WEIGHT[groups[model.kind[row]]];
  });
  return Uint32Array.from(worth.keys()).sort((a, b) => worth[b] - worth[a] || a - b);
}

/** Names to draw: [{row, x, y, words}]. `first` rows come before all others and at any zoom. */
export function chosen({ model, groups, order, at, radius, camera, widths, first }) {
  const most = Math.max(8, (camera.width * camera.height) / APART);
  const taken = new Set();
  const found = [];
  const seen = new Set();
  const place = (row) => {
    const [x, y] = toScreen(camera, at[row * 2], at[row * 2 + 1]);
    if (x < 0 || y < 8 || x > camera.width - 10 || y > camera.height - 8) return;
    const words = wordsOf(widths, model, row);
    const wide = widths.of(words);
    const away = Math.max(radius[row] * camera.scale, 2) + 4;
    const left = x + away + wide > camera.width - 4 ? x - away - wide : x + away; // at the edge a name goes to the other side
    if (claim(taken, left, y, wide)) found.push({ row, x: left, y, words });
  };
  for (const row of first) {
    if (found.length >= most) break;
    seen.add(row);
    place(row);
  }
  for (let i = 0; i < order.length && found.length < most; i += 1) {
    const row = order[i];
    if (!seen.has(row) && camera.scale >= FROM[groups[model.kind[row]]]) place(row);
  }
  return found;
}

function wordsOf(widths, model, row) {
  if (widths.words[row] === undefined) widths.words[row] = plain(model.labels[row], 42) || '·';
  return widths.words[row];
}

/** Take the cells of a label if all of them are free. */
function claim(taken, left, y, wide) {
  const line = Math.round(y / HIGH);
  const from = Math.floor(left / 12);
  const to = Math.floor((left + wide + 8) / 12);
  const cells = [];
  for (let high = line; high <= line + 1; high += 1) {
    for (let cell = from; cell <= to; cell += 1) {
      const key = high * 4096 + cell;
      if (taken.has(key)) return false;
      cells.push(key);
    }
  }
  for (const key of cells) taken.add(key);
  return true;
}

/** How wide words are in a font, measured once each. */
export function widthsIn(context) {
  const known = new Map();
  return {
    words: [],
    of(words) {
      let wide = known.get(words);
      if (wide === undefined) {
        wide = context.measureText(words).width;
        known.set(words, wide);
      }
      return wide;
    },
  };
}
