// Charts: hand-drawn, readable without colour, with their numbers told as a table to those who do not see them.

import { h, svg } from './dom.js';
import { when } from './ui.js';

const WIDTH = 640;
const PAD = { left: 44, right: 12, top: 12, bottom: 26 };

/**
 * Curves over one axis. series: [{name, points: [[x, y], …], kind: 1…6, step, dashed}]; marks: [{x, label, kind}].
 * x values are milliseconds when `time` is set. Returns a figure with a legend.
 */
export function lines({ title, series, height = 200, yMin, yMax, time = false, marks = [], xLabel = '', format = short }) {
  const all = series.flatMap((one) => one.points);
  if (!all.length) return h('p', { class: 'muted' }, 'no points yet');
  const scale = scales(all, { height, yMin, yMax });
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${height}`, class: 'chart', role: 'img', 'aria-label': `${title}: ${told(series, format)}` });
  drawing.append(...grid(scale, height, format), ...axis(scale, height, time, format, xLabel));
  for (const mark of marks) drawing.append(...marked(mark, scale, height));
  series.forEach((one, index) => drawing.append(curve(one, scale, one.kind ?? index + 1)));
  return h('figure', { class: 'figure' }, drawing, series.length > 1 || series[0].name ? legend(series) : null);
}

/** Bars of named values: rows [{name, value, kind, title}]. */
export function bars({ title, rows, height = 180, format = short }) {
  if (!rows.length) return h('p', { class: 'muted' }, 'nothing to draw yet');
  const most = Math.max(...rows.map((row) => row.value), 1e-9);
  const scale = scales([[0, 0], [rows.length, most]], { height, yMin: 0 });
  const width = (WIDTH - PAD.left - PAD.right) / rows.length;
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${height}`, class: 'chart', role: 'img', 'aria-label': `${title}: ${rows.map((row) => `${row.name} ${format(row.value)}`).join(', ')}` });
  drawing.append(...grid(scale, height, format));
  const every = Math.ceil(rows.length / 8);
  rows.forEach((row, index) => {
    const top = scale.y(row.value);
    const left = PAD.left + index * width + width * 0.15;
    const bar = svg('rect', { x: left, y: top, width: width * 0.7, height: Math.max(0, height - PAD.bottom - top), rx: 2, class: `bar kind-${row.kind ?? 1}` }, svg('title', {}, row.title ?? `${row.name}: ${format(row.value)}`));
    drawing.append(bar);
    if (index % every === 0) drawing.append(svg('text', { x: left + width * 0.35, y: height - 8, class: 'tick', 'text-anchor': 'middle' }, row.name));
  });
  return h('figure', { class: 'figure' }, drawing);
}

function scales(points, { height, yMin, yMax }) {
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const x0 = Math.min(...xs);
  const x1 = Math.max(...xs);
  const y0 = yMin ?? Math.min(0, ...ys);
  const y1 = yMax ?? (Math.max(...ys) || 1);
  const inner = WIDTH - PAD.left - PAD.right;
  const tall = height - PAD.top - PAD.bottom;
  return {
    x: (value) => PAD.left + ((value - x0) / (x1 - x0 || 1)) * inner,
    y: (value) => PAD.top + tall - ((value - y0) / (y1 - y0 || 1)) * tall,
    x0, x1, y0, y1,
  };
}

function grid(scale, height, format) {
  return [0, 0.5, 1].flatMap((part) => {
    const value = scale.y0 + part * (scale.y1 - scale.y0);
    const y = scale.y(value);
    return [
      svg('line', { x1: PAD.left, x2: WIDTH - PAD.right, y1: y, y2: y, class: 'grid' }),
      svg('text', { x: PAD.left - 6, y: y + 4, class: 'tick', 'text-anchor': 'end' }, format(value)),
    ];
  });
}

function axis(scale, height, time, format, label) {
  const ends = scale.x1 > scale.x0 ? [[scale.x0, 'start'], [scale.x1, 'end']] : [[scale.x0, 'start']];
  const words = (value) => (time ? clock(value, scale.x1 - scale.x0) : format(value));
  const ticks = ends.map(([value, anchor]) => svg('text', { x: scale.x(value), y: height - 8, class: 'tick', 'text-anchor': anchor }, words(value)));
  if (label) ticks.push(svg('text', { x: WIDTH / 2, y: height - 8, class: 'tick', 'text-anchor': 'middle' }, label));
  return ticks;
}

function curve(one, scale, kind) {
  const placed = one.points.map(([x, y]) => [scale.x(x), scale.y(y)]);
  let path = `M${placed[0].join(',')}`;
  for (const [x, y] of placed.slice(1)) path += one.step ? `H${x}V${y}` : `L${x},${y}`;
  const drawn = [svg('path', { d: path, class: `curve kind-${kind} ${one.dashed ? 'dashed' : ''}` })];
  if (placed.length <= 60) for (const [x, y] of placed) drawn.push(svg('circle', { cx: x, cy: y, r: 2.5, class: `point kind-${kind}` }));
  return svg('g', {}, svg('title', {}, one.name ?? ''), drawn);
}

function marked(mark, scale, height) {
  const x = scale.x(mark.x);
  return [
    svg('line', { x1: x, x2: x, y1: PAD.top, y2: height - PAD.bottom, class: `mark ${mark.kind ?? ''}` }, svg('title', {}, mark.label)),
    svg('text', { x: x + 3, y: PAD.top - 3, class: 'tick' }, mark.label),
  ];
}

function legend(series) {
  const keys = series.map((one, index) => h('li', {}, svg('svg', { viewBox: '0 0 18 8', class: 'key', 'aria-hidden': 'true' }, svg('path', { d: 'M0,4L18,4', class: `curve kind-${one.kind ?? index + 1} ${one.dashed ? 'dashed' : ''}` })), one.name));
  return h('figcaption', {}, h('ul', { class: 'legend' }, keys));
}

function told(series, format) {
  return series
    .filter((one) => one.points.length)
    .map((one) => `${one.name ?? 'value'} from ${format(one.points[0][1])} to ${format(one.points.at(-1)[1])}`)
    .join('; ');
}

function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  if (size >= 1e4) return `${Math.round(value / 1e3)}k`;
  if (Number.isInteger(value)) return String(value);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function clock(value, span) {
  const words = when(value);
  if (!words) return '';
  const date = new Date(value);
  return span < 36 * 3600 * 1000 ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : date.toLocaleDateString([], { month: 'short', day: 'numeric' });
}
