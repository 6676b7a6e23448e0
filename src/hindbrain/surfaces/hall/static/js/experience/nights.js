// Nights: what the Dreamer did when it looked.

import { h, plain, text } from '../dom.js';
import { ago, count } from '../ui.js';
import { way } from './ways.js';

/** One night: when, and what it forgot, made and distrusted. */
export function nightRow(page, one, choose) {
  const gone = one.forgotten + one.spent;
  const did = [
    one.promoted ? `made ${count(one.promoted, 'rule')}` : null,
    one.demoted ? `took the trust of ${count(one.demoted, 'rule')}` : null,
    gone ? `forgot ${count(gone, 'experience')}` : null,
    one.staged ? `moved ${count(one.staged, 'episode')}` : null,
    one.failed ? `found no words for ${one.failed}` : null,
  ].filter(Boolean);
  return h(
    'li',
    { class: 'night' },
    h('p', {}, h('b', {}, ago(one.at)), ' ', did.join(', '), h('span', { class: 'muted' }, ` in ${one.elapsed_ms} ms`)),
    named(page, one.promoted_rules, one.promoted, '+', 'made', choose),
    named(page, one.demoted_rules, one.demoted, '−', 'distrusted', choose),
  );
}

function named(page, rules, number, sign, word, choose) {
  if (!number) return null;
  const rows = rules.map((rule) => h('li', {}, h('span', { class: 'sign', 'aria-hidden': 'true' }, sign), h('span', { class: 'visually-hidden' }, `${word}: `), way(page, { rule: rule.id }, () => choose(rule.id), {}, text(plain(rule.content, 140)))));
  const left = number - rules.length;
  return h('ul', { class: 'night-rules' }, rows, left > 0 ? h('li', { class: 'muted' }, `${sign} ${count(left, 'rule')} that ${left === 1 ? 'is' : 'are'} no longer kept`) : null);
}
