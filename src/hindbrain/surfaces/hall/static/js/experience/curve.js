// The curve of a pair or of one experience: how it came about, where it stands today, and how it fades if nothing new comes.

import { act } from '../api.js';
import { lines } from '../charts.js';
import { h } from '../dom.js';
import { filled, select } from '../ui.js';

const SPANS = [['30', 'a month'], ['60', 'two months'], ['180', 'half a year']];
const BACK = 0.5; // of the span ahead, so that today stands in the left third

/** A curve with a choice of how far to look. `about` names what is drawn: {space, entity} or {megram}. */
export function fading(page, about) {
  const area = h('div', { class: 'curve-area' });
  const span = select('How far to look ahead', SPANS, { chosen: '60', onchange: load });
  async function load() {
    const days = Number(span.value);
    const asked = () => act('experience.curve', { ...about, days, back: days * BACK }, { brain: page.brain, signal: page.signal });
    await filled(area, asked, drawn, { signal: page.signal });
  }
  return { element: h('div', { class: 'stack' }, h('div', { class: 'row' }, h('span', { class: 'muted' }, 'if nothing new comes, for'), span), area), load };
}

function drawn(answer) {
  const days = [...answer.before.days.slice(0, -1), ...answer.days];
  const along = (name) => {
    const values = [...answer.before[name].slice(0, -1), ...answer[name]];
    return days.map((day, index) => [day, values[index]]);
  };
  const series = [
    { name: 'attention: how much there is', points: along('attention'), kind: 1 },
    { name: 'decision: which way it points', points: along('decision'), kind: 2, dashed: true },
    { name: `heard from ${answer.heard_from}`, points: [[days[0], answer.heard_from], [days.at(-1), answer.heard_from]], kind: 5, dashed: true },
  ];
  const most = Math.max(1, ...answer.attention, ...answer.before.attention);
  const least = Math.min(0, ...answer.decision, ...answer.before.decision);
  return lines({ title: 'How it fades', series, yMin: least, yMax: most, marks: [{ x: 0, label: 'today' }], xLabel: 'days', height: 220 });
}
