// Rules: what has hardened, how far each is from losing its trust, and what would take it.

import { h, plain, text } from '../dom.js';
import { ago, badge, button, count, empty, meter } from '../ui.js';
import { forget, propose, speakAgainst } from './acts.js';
import { signed } from './balance.js';
import { way } from './ways.js';
import { stateBadge, stateWords, writerWords } from './words.js';

/** One rule as a card. `choose(id)` looks behind it; `changed()` is called after an act. */
export function ruleCard(page, rule, { choose, changed }) {
  const name = way(page, { rule: rule.id }, () => choose(rule.id));
  name.append(text(plain(rule.content, 300)));
  return h(
    'article',
    { class: 'card rule', 'data-walk': '' },
    h('h3', {}, name),
    h('div', { class: 'row' }, ruleMarks(rule)),
    h('p', { class: 'muted' }, text(plain(`${rule.space} / ${rule.entity}`, 120), { mono: true })),
    h('p', { class: 'muted' }, 'by ', writerWords(rule.writer), ', ', ago(rule.created_at), rule.recalls ? `, used ${count(rule.recalls, 'time')}` : ', not used yet'),
    rule.trust ? trust(rule.trust) : null,
    acts(page, rule, changed),
  );
}

/** What a person may do to a rule. */
export function acts(page, rule, changed) {
  return h(
    'div',
    { class: 'actions' },
    rule.sigma ? button('Speak against it', { onclick: () => speakAgainst(page, rule, changed) }) : null,
    button('Propose as a card', { onclick: () => propose(page, rule, changed) }),
    button('Forget', { kind: 'danger', onclick: () => forget(page, rule, changed) }),
  );
}

function ruleMarks(rule) {
  const law = rule.withheld_by_law ?? null;
  return [
    rule.state ? stateBadge(rule.state) : null,
    rule.trust?.lost ? badge('trust is gone', 'bad') : null,
    rule.trust?.overruled && !rule.trust.lost ? badge('left out of the next task', 'warn', 'the two newest episodes speak against it') : null,
    law === null ? null : badge(`withheld by law ${law}`, 'bad', 'following it would break a law; it is kept and never handed on'),
  ];
}

/** How a rule stands, and what would bankrupt it. */
export function trust(one) {
  const whole = Math.max(one.attention, 1e-9);
  const kind = one.margin <= 0 ? 'bad' : one.margin / whole < 0.5 ? 'warn' : 'good';
  const head = h('p', {}, 'Trust left ', meter(one.margin / whole, { label: 'trust left', kind }), ' ', signed(one.margin), h('span', { class: 'muted' }, `, ${one.against_count ? count(one.against_count, 'experience') : 'nothing'} against it`));
  if (one.lost) return h('div', { class: 'trust' }, head, h('p', {}, 'Its trust is gone: the next night of the Dreamer takes it, and it fades.'));
  const blows = one.would_take_it.map((blow) => h('li', {}, h('b', {}, `${blow.needed} ×`), ` ${stateWords(blow.state)}`));
  return h('div', { class: 'trust' }, head, h('p', { class: 'muted' }, 'Would bankrupt it, coming at once:'), h('ul', { class: 'blows' }, blows));
}

/** Where there is no rule yet. */
export function noRule() {
  return empty('Nothing has hardened yet', 'About six agreeing ends within days make a rule. You can also state one.');
}

/** Laws and what thinking rests on: told, never weighed. */
export function thinking(rows) {
  if (!rows.length) return null;
  const items = rows.map((one) => h('li', {}, text(one.content)));
  return h('details', { class: 'laws' }, h('summary', {}, `${count(rows.length, 'law')} and ways of thinking that no experience overrules`), h('ol', {}, items));
}
