// What of a graph is put into the light: a neighbourhood, what an edit reaches, a way between two nodes, the heat of a question.
// Each mode is asked from its operation or from the model, and says the same for the canvas (`look`) and in words (`groups`).

import { count } from '../ui.js';
import { around, edgesWithin, neighbours, rowOf } from './model.js';

const FIRST = 12;
const REACHED = 400;
const WOKEN = 120;

/** The neighbourhood of a node up to a depth: first the neighbours with their relation, then the rest by distance. */
export function nearby(model, row, depth) {
  const hops = around(model, row, depth);
  const lit = new Map([...hops].map(([one, hop]) => [one, 1 - hop / (depth + 1)]));
  const groups = relationGroups(model, row);
  for (let hop = 2; hop <= depth; hop += 1) {
    const items = [...hops].filter(([, far]) => far === hop).map(([one]) => ({ row: one }));
    groups.push({ title: `${hop} edges away`, items });
  }
  return { look: { selected: row, lit, edges: edgesWithin(model, hops), tone: 'kind' }, groups, rows: [...hops.keys()] };
}

/** Neighbours by relation and direction, the best bound first. */
function relationGroups(model, row) {
  const named = new Map();
  for (const { row: other, relation, out } of neighbours(model, row)) {
    const title = out ? `${relation} →` : `← ${relation}`;
    if (!named.has(title)) named.set(title, new Set());
    named.get(title).add(other);
  }
  const bound = (one) => model.start[one + 1] - model.start[one];
  return [...named].map(([title, rows]) => ({ title, items: [...rows].sort((a, b) => bound(b) - bound(a) || a - b).map((one) => ({ row: one })) }));
}

/** Where to begin: the files and claims that most is bound to. */
export function beginnings(model) {
  const kinds = new Set(['file', 'claim'].map((kind) => model.kinds.indexOf(kind)));
  const rows = [...model.kind.keys()].filter((row) => kinds.has(model.kind[row]));
  const bound = (row) => model.start[row + 1] - model.start[row];
  const best = rows.sort((a, b) => bound(b) - bound(a) || a - b).slice(0, FIRST);
  return { look: {}, groups: [{ title: 'Files and claims', items: best.map((row) => ({ row, note: `${bound(row)} edges` })) }], rows: [] };
}

/** What a change of a node reaches, by hop. */
export async function reach(model, id, ask) {
  const answer = await ask('impact', { node_id: id, max_nodes: REACHED, include_causal_chains: false });
  const selected = rowOf(model, answer.node_id ?? id) ?? null;
  const found = drawnOnce(model, answer.blast_radius ?? [], (one) => one.signal_strength);
  const lit = litOf(selected, found);
  const hops = [...new Set(found.map((item) => item.from.hop_distance))].sort((a, b) => a - b);
  const groups = hops.map((hop) => ({
    title: hop === 1 ? '1 hop' : `${hop} hops`,
    items: found.filter((item) => item.from.hop_distance === hop).map((item) => ({ ...item, note: item.from.is_knowledge_citation ? 'cites it' : percent(item.value) })),
  }));
  const more = answer.truncated ? `the ${REACHED} strongest are listed` : '';
  const words = `A change of it reaches ${count(answer.dependents ?? 0, 'node')}${more && `; ${more}`}. Claims cite them ${count(answer.knowledge_citations ?? 0, 'time')}.`;
  return { look: { selected, lit, edges: edgesWithin(model, lit), tone: 'heat' }, groups, rows: [...lit.keys()], words, blocked: answer.reason };
}

/** The shortest way between two nodes. */
export async function way(model, from, to, ask) {
  const answer = await ask('why', { source: from, target: to, max_hops: 8 });
  const steps = answer.paths?.[0] ?? [];
  const ids = steps.length ? [steps[0].from, ...steps.map((step) => step.to)] : [from, to];
  const parts = ids.map((id, at) => ({ id, row: rowOf(model, id), note: at ? stepWords(steps[at - 1]) : 'start' }));
  const items = parts.filter(({ row }, at) => row === undefined || row !== parts[at - 1]?.row); // parts of a claim are one node here
  const rows = items.map(({ row }) => row).filter((row) => row !== undefined);
  const edges = rows.slice(1).map((row, at) => edgeBetween(model, rows[at], row)).filter((edge) => edge !== null);
  const words = steps.length ? `${count(items.length - 1, 'step')} from one to the other.` : null;
  const lit = new Map(rows.map((row) => [row, 1]));
  return { look: { selected: rows[0] ?? null, lit, edges, tone: 'kind', steps: true }, groups: steps.length ? [{ title: 'The way', items }] : [], rows, words, blocked: steps.length ? null : answer.reason ?? 'No way of at most 8 steps binds them.' };
}

function stepWords({ relation, direction }) {
  return direction === 'reverse' ? `← ${relation}` : `${relation} →`;
}

/** What a question wakes, hottest first. */
export async function heat(model, query, ask) {
  const answer = await ask('activate', { query, top_k: WOKEN, learn: false, include_ghost_edges: false });
  const found = drawnOnce(model, answer.activated ?? [], (one) => one.activation);
  const lit = litOf(null, found);
  const items = found.map((item) => ({ ...item, note: percent(item.value) }));
  const words = `${count(found.length, 'node')} woken, the hottest first.`;
  return { look: { selected: null, lit, edges: edgesWithin(model, lit), tone: 'heat' }, groups: items.length ? [{ title: 'Hottest first', items }] : [], rows: [...lit.keys()], words, blocked: answer.reason };
}

/** Answers name parts of claims; a claim is one node here, and counts once with its strongest part. Values go up to 1. */
function drawnOnce(model, listed, valueOf) {
  const most = Math.max(...listed.map(valueOf), 1e-9);
  const seen = new Set();
  const found = [];
  for (const one of listed) {
    const row = rowOf(model, one.node_id);
    const key = row ?? one.node_id;
    if (seen.has(key)) continue;
    seen.add(key);
    found.push({ row, id: one.node_id, value: valueOf(one) / most, from: one });
  }
  return found;
}

function litOf(selected, found) {
  const lit = new Map(found.filter((item) => item.row !== undefined).map((item) => [item.row, item.value]));
  if (selected !== null) lit.set(selected, 1);
  return lit;
}

function edgeBetween(model, a, b) {
  for (let at = model.start[a]; at < model.start[a + 1]; at += 1) if (model.other[at] === b) return model.edge[at];
  return null;
}

function percent(value) {
  return `${Math.max(1, Math.round(value * 100))} %`;
}
