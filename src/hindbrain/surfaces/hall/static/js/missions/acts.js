// Acts of a person on a mission: close it with its proof, hand it over, give it up. A refusal is told in the dialog, in words.

import { act } from '../api.js';
import { confirmAct, toast } from '../dialog.js';
import { h, replace } from '../dom.js';
import { button } from '../ui.js';

const OPEN = ['active', 'handed_off'];
const lines = (words) => words.split('\n').map((one) => one.trim()).filter(Boolean);

/** The buttons of a mission; draw(state) shows those that it can still take. */
export function missionActs({ missionId, brain, done }) {
  const element = h('div', { class: 'actions' });
  let shown = null;
  const tell = (answer) => {
    toast(answer.rendered.split('\n')[0], 'good');
    done();
  };
  const run = (operation, args) => act(operation, { mission_id: missionId, ...args }, { brain });
  const close = () =>
    confirmAct({
      title: 'Close the mission',
      what: 'It ends with a proof packet that lists what is proven and what is not. While something it requires is open, this is refused.',
      fields: [
        { name: 'summary', label: 'What came of it', kind: 'area' },
        { name: 'gaps', label: 'What stays open, one a line', kind: 'area', hint: 'A claim by its id (clm_…), or a sentence.' },
        { name: 'reason', label: 'Close though something is open, because', kind: 'text', hint: 'Leave it empty to close only what is complete. The packet says that it was closed by force.' },
      ],
      verb: 'Close',
      run: ({ summary, gaps, reason }) => run('mission.close', { summary: summary || null, gaps: lines(gaps), ...(reason ? { force: true, reason } : {}) }),
      done: tell,
    });
  const handOver = () =>
    confirmAct({
      title: 'Hand the mission over',
      what: 'Another agent goes on from a page of what is shown, ruled out and open.',
      fields: [
        { name: 'summary', label: 'How it stands', kind: 'area' },
        { name: 'recipient', label: 'Who is to go on', kind: 'text', hint: 'An agent such as codex:maker; anybody when it is empty.' },
      ],
      verb: 'Hand over',
      run: ({ summary, recipient }) => run('mission.handoff', { summary: summary || null, recipient: recipient || null }),
      done: tell,
    });
  const abandon = () =>
    confirmAct({
      title: 'Give the mission up',
      what: 'It ends unfinished. What it learned stays.',
      fields: [{ name: 'reason', label: 'Why', kind: 'area', required: true }],
      verb: 'Give up',
      kind: 'danger',
      run: ({ reason }) => run('mission.abandon', { reason }),
      done: tell,
    });

  function draw({ status }) {
    if (status === shown) return;
    shown = status;
    const handing = status === 'active' ? button('Hand over…', { onclick: handOver }) : null;
    replace(element, OPEN.includes(status) ? [button('Close…', { onclick: close }), handing, button('Give up…', { kind: 'danger', onclick: abandon })] : null);
  }

  return { element, draw };
}
