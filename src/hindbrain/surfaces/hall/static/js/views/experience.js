// Experience: instincts by pair, how they fade, the rules that came of them, and the nights of the Dreamer.

import { ask } from '../api.js';
import { h, replace } from '../dom.js';
import { dreamNow, remember } from '../experience/acts.js';
import { megramDetail, pairDetail } from '../experience/detail.js';
import { nightRow } from '../experience/nights.js';
import { pairs } from '../experience/pairs.js';
import { noRule, ruleCard, thinking } from '../experience/rules.js';
import { LEVELS, mark } from '../experience/words.js';
import { keyed } from '../keyed.js';
import { note } from '../router.js';
import { button, empty, failure, heading, num, panel } from '../ui.js';

const NIGHTS = 10;
const LIVE_MS = 500;

/** Show the experience of a brain; `?pair=&entity=` or `?rule=` says what is looked at. */
export async function show(page) {
  const looking = { pair: asked(page.query), rule: page.query.get('rule'), mark: null };
  const levels = h('div', { class: 'levels' });
  const detail = h('div', { class: 'detail-area', 'aria-live': 'off' });
  const rules = h('div', { class: 'cards rule-cards' });
  const noRules = h('div', {});
  const laws = h('div', {});
  const nights = h('ul', { class: 'nights' });
  const noNights = h('div', {});
  const list = pairs(page, { chosen: () => (looking.rule ? null : looking.pair), choose: (pair) => choose(null, pair, true) });
  const about = 'What happened when something was tried. It fades by itself; what recurs hardens into a rule, and what contradicts a rule takes its trust.';
  const actions = [button('State something…', { onclick: () => remember(page, redraw, looking.pair ?? {}) }), button('Dream now…', { kind: 'primary', onclick: () => dreamNow(page, redraw) })];
  const nothing = () => replace(detail, panel('How it fades', { class: 'detail' }, empty('Nothing is chosen', 'Choose a pair to see how what it advises came about and how it fades.')));

  async function choose(rule, pair = looking.pair, moved = true) {
    Object.assign(looking, { rule, pair: rule ? looking.pair : pair, mark: null });
    note({ rule: rule ?? '', pair: rule ? '' : pair?.space, entity: rule ? '' : pair?.entity });
    list.draw();
    await look();
    if (moved && !page.signal.aborted) detail.scrollIntoView({ block: 'nearest' });
  }

  // The detail is drawn anew only when it changed: whoever reads it keeps the place.
  async function look() {
    if (!looking.rule && !looking.pair) return nothing();
    const { rule, pair } = looking;
    const left = () => page.signal.aborted || rule !== looking.rule || pair !== looking.pair; // something else is looked at by now
    try {
      const found = looking.rule ? await megramDetail(page, looking.rule, choose) : await pairDetail(page, looking.pair, choose);
      const now = mark(found.data);
      if (left() || now === looking.mark) return null;
      looking.mark = now;
      const drawn = found.draw(redraw);
      replace(detail, drawn.element);
      return drawn.ready;
    } catch (error) {
      if (!error.code || page.signal.aborted) throw error;
      if (left()) return null;
      looking.mark = null;
      return replace(detail, panel('How it fades', { class: 'detail' }, failure(error, look)));
    }
  }

  async function overview() {
    const of = { brain: page.brain, signal: page.signal };
    const [summary, dreamt] = await Promise.all([ask('experience.summary', {}, of), ask('experience.nights', { limit: NIGHTS }, of)]);
    replace(levels, LEVELS.map(([level, words, means]) => h('div', { class: 'total', title: means }, h('b', {}, num(summary.level_counts[level] ?? 0)), h('span', { class: 'muted' }, `${level}: ${words}`))));
    keyed(rules, summary.c_level, { key: (one) => one.id, make: (one) => ruleCard(page, one, { choose: (id) => choose(id), changed: redraw }), mark });
    replace(noRules, summary.c_level.length ? null : noRule());
    if (!laws.childElementCount) replace(laws, thinking(summary.t_level));
    keyed(nights, dreamt.nights, { key: (one) => one.seq, make: (one) => nightRow(page, one, choose), mark });
    replace(noNights, dreamt.nights.length ? null : empty('The Dreamer has changed nothing yet', 'It looks after each task, every few minutes, and when you ask it to.'));
  }

  const redraw = page.redone(async () => {
    await Promise.all([list.load(), overview()]);
    await look();
  });

  await Promise.all([list.load(), overview()]);
  if (!looking.rule && !looking.pair && list.rows().length) {
    const [{ space, entity }] = list.rows();
    looking.pair = { space, entity };
    list.draw();
  }
  replace(
    page.root,
    heading('Experience', { about, actions }),
    panel('How much there is', { class: 'level-panel' }, levels),
    h('div', { class: 'experience' }, panel('Instincts by pair', { class: 'pair-panel' }, list.element), detail),
    panel('Rules', { note: 'what has hardened, and what would bankrupt it' }, rules, noRules, laws),
    panel('The Dreamer’s last nights', {}, nights, noNights),
  );
  await look();
  page.onLive(redraw, { wait: LIVE_MS });
}

function asked(query) {
  const space = query.get('pair');
  return space ? { space, ...(query.get('entity') ? { entity: query.get('entity') } : {}) } : null;
}
