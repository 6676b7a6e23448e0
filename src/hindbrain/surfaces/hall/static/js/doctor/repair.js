// Repairs: what doctor may put right by itself. The plan first; it is carried out after a yes.

import { act } from '../api.js';
import { confirmAct, dialog, toast } from '../dialog.js';
import { h, plain, text } from '../dom.js';
import { count } from '../ui.js';

/** Show what would be repaired, and have it done after a yes. */
export async function repair(page, named, done) {
  let plan;
  try {
    plan = await act('doctor.fix', {}, { signal: page.signal });
  } catch (error) {
    if (!error.code) throw error;
    toast(error.message, 'bad');
    return;
  }
  if (!plan.repairs.length) {
    dialog('Nothing to repair', h('p', {}, 'Nothing needs a repair that is safe to make. What else there is stands in the findings.'));
    return;
  }
  confirmAct({
    title: 'Put it right',
    what: [h('p', {}, 'Each of these touches only what can be made again, and loses nothing:'), h('ul', { class: 'plan' }, plan.repairs.map((one) => planned(one, named)))],
    verb: `Make ${count(plan.repairs.length, 'repair')}`,
    run: () => act('doctor.fix', { yes: true }),
    done: (answer) => {
      toast(`${count(answer.repairs.filter((one) => one.done).length, 'repair')} made.`, 'good');
      done();
    },
  });
}

const planned = (one, named) => h('li', {}, one.action, ' in ', text(plain(named(one.target), 80)), h('span', { class: 'muted' }, ': ', text(plain(one.problem, 200))));
