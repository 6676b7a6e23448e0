// Balance: both sums of a pair in one small drawing. How much there is, and which way it points.

import { h, svg } from '../dom.js';

const WIDE = 100;
const MIDDLE = WIDE / 2;

/** A bar from the middle: left against, right for it; the pale bar is attention. `most` is the attention that fills a side. */
export function balance(attention, decision, most) {
  const half = (value) => (Math.min(Math.abs(value), most) / (most || 1)) * MIDDLE;
  const pale = half(attention);
  const strong = half(decision);
  const drawing = svg(
    'svg',
    { viewBox: `0 0 ${WIDE} 10`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { x: 0, y: 0, width: WIDE, height: 10, rx: 2, class: 'ground' }),
    svg('rect', { x: MIDDLE - pale, y: 2, width: pale * 2, height: 6, class: 'attention' }),
    svg('rect', { x: decision < 0 ? MIDDLE - strong : MIDDLE, y: 2, width: strong, height: 6, class: decision < 0 ? 'against' : 'for' }),
    svg('rect', { x: MIDDLE - 0.4, y: 0, width: 0.8, height: 10, class: 'middle' }),
  );
  const told = `attention ${attention.toFixed(2)}, decision ${signed(decision)}`;
  return h('span', { class: 'balance' }, h('span', { class: 'balance-bar' }, drawing), h('span', { class: 'muted' }, told));
}

/** A number with its sign. */
export const signed = (value) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(2)}`;
