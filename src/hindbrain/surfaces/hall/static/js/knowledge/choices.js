// Choices of the review queue: what a person may do about an item, with what is still to be asked, carried out as the terminal does it.

import { confirmAct, toast } from '../dialog.js';
import { h, plain, text } from '../dom.js';
import { governed, unchanged, witness } from './acts.js';

/** Letters of the choices. The terminal has k for keep; here j and k walk. */
export const KEYS = { promote: 'p', demote: 'd', retire: 'r', link: 'l', unlink: 'u', reject: 'x', keep: 'e' };

const LABELS = { promote: 'Promote', demote: 'Demote', retire: 'Retire', link: 'Link evidence', unlink: 'Unlink', reject: 'Reject', keep: 'Keep as it is' };
const HARD = new Set(['demote', 'retire', 'unlink', 'reject']);
const WORDS = { why: 'Why', 'what kind of reason': 'Kind of reason', 'what it shows': 'What it shows' };

const SHOWN = 240; // characters of a statement that the queue tells

/** What a choice is called on its button. */
export const labelOf = (choice) => LABELS[choice.name] ?? choice.name;

/** Whether a choice takes something away. */
export const isHard = (choice) => HARD.has(choice.name);

/** The card that a choice is about, if it is about one. A reject names it in `about`, every other has it among its arguments. */
export const cardOf = (choice) => choice.arguments.card_id ?? (choice.name === 'reject' ? choice.about : null);

/** Ask what a choice still needs, have it confirmed, and carry it out. */
export function decide(choice, item, { brain, done }) {
  const find = witness(brain);
  const meant = item.statements.find((one) => one.card_id === cardOf(choice) && choice.name !== 'keep');
  const what = [
    (meant ? [meant] : item.statements).map((one) => h('blockquote', { class: 'says' }, text(one.statement))),
    h('p', {}, `${labelOf(choice)}: `, text(plain(choice.about, 200))),
    choice.name === 'keep' ? h('p', {}, 'It does not come up again until what it was found by changes.') : null,
  ];
  confirmAct({
    title: labelOf(choice),
    what,
    fields: choice.asks.map(fieldOf),
    typed: choice.confirm ? choice.name : undefined,
    verb: labelOf(choice),
    kind: isHard(choice) ? 'danger' : 'primary',
    run: async (given) => {
      if (choice.name === 'promote') await unchanged(meant.card_id, (now) => [...(now.statement || now.content)].slice(0, SHOWN).join('') === meant.statement, { brain });
      return governed(choice.operation, { ...choice.arguments, ...(await answers(choice.asks, given, find)) }, { brain });
    },
    done: (answer) => (toast(text(plain(answer.rendered, 200)), 'good'), done(answer)),
  });
}

function fieldOf(ask) {
  const label = WORDS[ask.prompt] ?? `${ask.prompt[0].toUpperCase()}${ask.prompt.slice(1)}`;
  const base = { name: ask.argument, label, required: true };
  if (ask.kind === 'choice') return { ...base, kind: 'select', options: ask.options.map((one) => [one, one.replaceAll('_', ' ')]) };
  if (ask.kind.startsWith('evidence')) return { ...base, kind: 'text', hint: 'A sentence is kept as evidence first.' };
  return { ...base, kind: 'area' };
}

async function answers(asks, given, find) {
  const told = {};
  for (const ask of asks) {
    const said = given[ask.argument];
    if (ask.kind === 'evidence') told[ask.argument] = await find(said);
    else told[ask.argument] = ask.kind === 'evidence_list' ? [await find(said)] : said;
  }
  return told;
}
