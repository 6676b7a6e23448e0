// One row of evidence: its words, its source, its place in a conversation, and what rests on it.

import { act, ask } from '../api.js';
import { confirmAct, toast } from '../dialog.js';
import { h, plain, replace, text } from '../dom.js';
import { keeping } from '../keyed.js';
import { link } from '../router.js';
import { badge, button, facts, heading, inTurn, panel, when } from '../ui.js';
import { place, speakerOf, turn } from './rows.js';

const AROUND = 4;
const ROLES = { supporting: 'good', verification: 'good', teaching: 'info', counterexample: 'bad' };

/** Show one row of evidence of a brain. */
export async function showRow(page, id) {
  let shown = await load(page, id);
  // Drawn anew only when something of it changed.
  const again = inTurn(async () => {
    try {
      const found = await load(page, id);
      if (JSON.stringify(found) === JSON.stringify(shown)) return;
      shown = found;
      keeping(page.root, () => draw(page, found, again));
    } catch (error) {
      if (error.name !== 'AbortError') toast(error.message, 'bad');
    }
  });
  draw(page, shown, again);
  page.onLive(again);
}

function load({ brain, signal }, id) {
  return ask('memory.get', { evidence_id: id, deleted: true, around: AROUND, citing: true }, { brain, signal });
}

function draw(page, row, again) {
  const { brain } = page;
  page.title(plain(row.content, 60));
  replace(
    page.root,
    heading('Evidence', { about: link(['b', brain.id, 'evidence'], {}, 'Evidence of ', text(plain(brain.display_name, 60))), actions: acts(row, brain, again) }),
    panel(null, { class: 'memory-said' }, row.deleted_at && h('div', { class: 'row' }, badge('deleted', 'bad'), h('span', { class: 'muted' }, 'It is in no answer any more, and can be brought back.')), text(row.content, { tag: 'p', class: 'evidence-text' })),
    panel('What rests on it', { id: 'cited-by' }, resting(row, brain)),
    row.thread !== null && panel('Conversation', { id: 'conversation', note: plain(row.thread, 80) }, talk(row, brain)),
    panel('Where it comes from', {}, origin(row, brain)),
  );
}

function origin(row, brain) {
  const filtered = (name, value) => value && link(['b', brain.id, 'evidence'], { query: { [name]: value } }, text(plain(value, 160)));
  return facts({
    source: filtered('source', row.source_file),
    'said by': speakerOf(row) ? text(speakerOf(row)) : null,
    'recorded by': row.recorded_by && row.recorded_by !== speakerOf(row) ? text(plain(row.recorded_by, 60)) : null,
    said: row.said_at && when(row.said_at),
    kept: when(row.added_at),
    deleted: row.deleted_at && when(row.deleted_at),
    'made by': text(row.provenance),
    place: place(row) && text(place(row)),
    tags: row.tags?.length ? h('span', { class: 'row' }, row.tags.map((tag) => filtered('tag', tag))) : null,
    field: text(plain(row.field, 60)),
    'anchored at': text(plain(row.anchor_id, 200), { mono: true }),
    id: text(row.evidence_id, { mono: true }),
  });
}

function resting(row, brain) {
  const cards = row.cited_by ?? [];
  if (!cards.length) return h('p', { class: 'muted' }, 'No card cites it.');
  return h('ul', { class: 'cited' }, cards.map((one) => h('li', { class: 'row' }, badge(one.role, ROLES[one.role] ?? 'plain'), link(['b', brain.id, 'knowledge', one.card_id], {}, text(plain(one.statement, 160))), badge(text(plain(one.status, 20))))));
}

function talk(row, brain) {
  const before = row.around.filter((one) => one.position < row.position);
  const after = row.around.filter((one) => one.position > row.position);
  const all = link(['b', brain.id, 'evidence'], { query: { thread: row.thread } }, 'All of this conversation');
  return [h('ol', { class: 'turns' }, before.map((one) => turn(one, brain)), turn(row, brain, { here: true }), after.map((one) => turn(one, brain))), all];
}

function acts(row, brain, again) {
  const done = (words) => () => {
    toast(words, 'good');
    again();
  };
  const remove = () =>
    confirmAct({
      title: 'Delete this row',
      what: 'It goes out of every answer, and reading its source again does not bring it back. You can restore it here.',
      fields: [{ name: 'reason', label: 'Reason', kind: 'area' }],
      verb: 'Delete it',
      kind: 'danger',
      run: ({ reason }) => act('memory.delete', { evidence_id: row.evidence_id, reason }, { brain }),
      done: done('Deleted. It can be restored.'),
    });
  const restore = () =>
    confirmAct({
      title: 'Bring this row back',
      what: 'It is found again, as it was.',
      verb: 'Restore it',
      run: () => act('memory.restore', { evidence_id: row.evidence_id }, { brain }),
      done: done('Restored.'),
    });
  return row.deleted_at ? button('Restore', { kind: 'primary', onclick: restore }) : button('Delete', { kind: 'danger', onclick: remove });
}
