// What a person does with a claim: grade, share, reject, forget. Each says what will happen first.

import { CallError, act, ask } from '../api.js';
import { confirmAct, toast } from '../dialog.js';
import { h, plain, text } from '../dom.js';
import { button } from '../ui.js';

const REASON = { name: 'reason', label: 'Reason', kind: 'area', required: true };

/** The buttons of a claim. `done(gone)` is called after each act; gone when nothing of it is left. */
export function claimActs(row, brain, { slug, ended, done }) {
  const shared = brain.kind === 'medulla';
  const where = shared ? { tier: 'medulla' } : {};
  const label = text(plain(row?.claim ?? slug, 80), { tag: 'b' });
  const says = h('blockquote', { class: 'says' }, label, row ? [': ', text(plain(row.text, 240))] : null);
  const after = (words, gone = false) => () => {
    toast(words, 'good');
    done(gone);
  };
  // An agent may write another value under the same label meanwhile: a person decides about the words that they read.
  const asRead = async (operation, args) => {
    const { row: now } = await ask('history', { claim: slug }, { brain });
    if (now?.text !== row.text) throw new CallError('changed_meanwhile', 'This claim was changed while you decided.', 'Close this, read what it says now, and decide anew. Nothing was done.');
    return act(operation, args, { brain });
  };
  const graded = (feedback, what, kind) => () =>
    confirmAct({
      title: `Grade as ${feedback}`,
      what: [says, h('p', {}, what)],
      verb: `Grade as ${feedback}`,
      kind,
      run: () => asRead('learn', { feedback, node_ids: [slug], ...where }),
      done: after(`Graded ${feedback}.`),
    });
  const promote = () =>
    confirmAct({
      title: 'Share with all projects',
      what: [says, h('p', {}, 'A copy with its provenance goes to the medulla; the original stays here as its witness.')],
      fields: [{ ...REASON, label: 'Why it holds beyond this project' }],
      verb: 'Share it',
      run: ({ reason }) => asRead('promote', { claim: slug, reason }),
      done: after('Shared with all projects.'),
    });
  const reject = () =>
    confirmAct({
      title: 'Reject this value',
      what: [says, h('p', {}, 'It is taken out of every answer, and nobody brings it back by another label, case, spacing or look-alike letters. You can lift that later.')],
      fields: [{ ...REASON, label: 'Why it must not come back' }],
      typed: slug,
      verb: 'Reject it',
      kind: 'danger',
      run: ({ reason }) => asRead('reject', { claim: slug, reason, ...where }),
      done: after('Rejected.'),
    });
  const lift = () =>
    confirmAct({
      title: 'Lift the rejection',
      what: [says, h('p', {}, 'The value may be remembered again. It does not come back by itself.')],
      verb: 'Lift it',
      run: () => act('reject', { claim: slug, lift: true, ...where }, { brain }),
      done: after('The rejection is lifted.'),
    });
  const forget = () =>
    confirmAct({
      title: 'Forget for good',
      what: [says, h('p', {}, 'Its text, its history, its file, its copies and what rests on it alone are erased. Nobody can take that back; the ledger keeps the act, not the words.')],
      fields: [{ ...REASON, required: false }],
      typed: slug,
      verb: 'Forget it',
      kind: 'danger',
      run: ({ reason }) => act('forget', { claim: slug, reason, ...where }, { brain }),
      done: after('Forgotten.', true),
    });
  return [
    row && button('Grade as correct', { onclick: graded('correct', 'You checked it, and it holds.', 'primary') }),
    row && button('Grade as wrong', { onclick: graded('wrong', shared ? 'It goes out of every default beat at once.' : 'It is shown with this mark, and counts for less.', 'danger') }),
    row && !shared && row.witness !== true && button('Share', { label: 'Share with all projects', onclick: promote }),
    row && button('Reject', { kind: 'danger', onclick: reject }),
    ended === 'claim.reject' && button('Lift the rejection', { onclick: lift }),
    button('Forget', { kind: 'danger', onclick: forget }),
  ].filter(Boolean);
}
