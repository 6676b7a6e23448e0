// Confusion: how often memory went to the wrong place or did not come, week by week, by the letters that say so.

import { lines } from '../charts.js';
import { h } from '../dom.js';
import { empty, num, table } from '../ui.js';

const WEEK_MS = 7 * 24 * 3600 * 1000;
const KINDS = {
  leak: 'leaked',
  false_absence: 'not found though there',
  wrong_store_write: 'written to the wrong store',
  misattribution: 'wrong origin',
  vanished: 'vanished',
};

/** The plot of the weeks, and its numbers. */
export function confusion(report) {
  const { weeks, confusion: all } = report.memory;
  if (weeks.some((one) => one.confusion_rate < 0)) return empty('The letters cannot be read', 'Their numbers are not known, so nothing is drawn.', { command: 'hindbrain inbox-sweep' });
  const at = (one) => monday(one.week);
  const series = [
    { name: 'letters of misdelivered memory', points: weeks.map((one) => [at(one), one.confusion_rate]), kind: 4 },
    { name: 'times memory was served', points: weeks.map((one) => [at(one), one.memory_beats_served]), kind: 1, dashed: true },
  ];
  const sum = weeks.reduce((total, one) => total + one.confusion_rate, 0);
  const beats = weeks.reduce((total, one) => total + one.memory_beats_served, 0);
  return h(
    'div',
    { class: 'stack' },
    h('p', { class: 'muted' }, `${num(sum)} in ${weeks.length} weeks, while memory was served ${num(beats)} times. ${all.rejected ? `Not counted: ${num(all.rejected)} that somebody looked at and rejected.` : ''}`),
    lines({ title: 'Confusion per week', series, time: true, height: 200, yMin: 0, yMax: Math.max(2, ...series.flatMap((one) => one.points.map((point) => point[1]))) }),
    h('details', {}, h('summary', {}, 'The numbers'), numbers(weeks)),
  );
}

function numbers(weeks) {
  const columns = [
    { name: 'Week', of: (one) => one.week },
    { name: 'Letters', of: (one) => num(one.confusion_rate), class: 'number' },
    ...Object.entries(KINDS).map(([kind, name]) => ({ name, of: (one) => num(one.by_kind[kind] ?? 0), class: 'number' })),
    { name: 'Served', of: (one) => num(one.memory_beats_served), class: 'number' },
  ];
  return table('Confusion per week', columns, [...weeks].reverse());
}

/** When an ISO week such as 2026-W47 began, in milliseconds. */
function monday(week) {
  const [year, number] = week.split('-W').map(Number);
  const fourth = new Date(Date.UTC(year, 0, 4)); // always in the first week
  const first = fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * (WEEK_MS / 7);
  return first + (number - 1) * WEEK_MS;
}
