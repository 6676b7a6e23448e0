// The graph: code, documents and the claims that cite them. The canvas shows it, search and lists say it in words.

import { ask } from '../api.js';
import { h, plain, replace, text } from '../dom.js';
import { finderOf } from '../graph/find.js';
import { beginnings, heat, nearby, reach, way } from '../graph/modes.js';
import { modelOf, rowOf } from '../graph/model.js';
import { searchBox } from '../graph/search.js';
import { failedPanel, nodePanel, resultPanel, waitingPanel } from '../graph/side.js';
import { stage } from '../graph/stage.js';
import { live } from '../live.js';
import { address, here } from '../router.js';
import { button, count, empty, heading, num } from '../ui.js';

const CHANGES = /^(graph|claim)\./;
const SOUGHT = 20;
let kept = null; // the graph that was looked at last: coming back to it costs nothing until it changes

live.on((event) => {
  if (kept && changes(event, kept.name)) kept = null;
});

function changes({ event, data }, name) {
  return event === 'reset' || (data?.brain === name && CHANGES.test(data.act ?? ''));
}

/** Show the graph of a brain, in the state that the address tells. */
export async function show(page) {
  const { brain, signal } = page;
  const graph = kept?.name === brain.root ? kept : await load(page);
  if (signal.aborted) return;
  const { model } = graph;
  if (model.kind.every((kind) => model.kinds[kind] === 'directory')) {
    replace(page.root, heading('Graph'), empty('There is no graph yet', 'Files become a graph when they are taken in. In the repository, run', { command: 'hindbrain ingest' }));
    page.onLive(() => show(page), { wants: (event) => changes(event, brain.root) });
    return;
  }
  kept = graph.old ? null : graph;
  await explore(page, graph);
}

async function load({ brain, signal, query }) {
  let old = false; // what changes while it is read may not be in it
  const stop = live.on((event) => (old ||= changes(event, brain.root)));
  const columns = await ask('graph.columns', { node: query.get('node') ?? undefined }, { brain, signal }).finally(stop);
  const model = modelOf(columns);
  return { name: brain.root, model, finder: finderOf(model), counts: columns, old };
}

async function explore(page, graph) {
  const { model } = graph;
  const { brain } = page;
  const own = new AbortController(); // a graph that is drawn anew ends before the page does
  const signal = AbortSignal.any([page.signal, own.signal]);
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const state = stateOf(page.query);
  const asked = (operation, args) => ask(operation, args, { brain, signal });
  const nodeArea = h('div', {});
  const resultArea = h('div', { 'aria-live': 'off' });
  const changed = h('div', { role: 'status' });
  const set = stage(model);
  let turn = 0;

  const search = searchBox({ model, finder: graph.finder, onpick: picked, ask: meant });
  const question = h('input', { type: 'text', id: 'graph-ask', placeholder: 'e.g. where are tokens checked', value: state.q, autocomplete: 'off' });
  const asking = h('form', { class: 'field', on: { submit: heated } }, h('label', { for: 'graph-ask' }, 'Ask what a question wakes'), h('div', { class: 'graph-ask' }, question, button('Show heat', { type: 'submit' })));
  const side = h('div', { class: 'graph-side' }, search.element, asking, nodeArea, resultArea);
  replace(page.root, heading('Graph', { about: about(model), actions: changed }), h('div', { class: 'graph-view' }, set.element, side));
  const map = set.show({ signal, still, kept: graph.places, onpick: (row) => (row === null ? null : picked(model.ids[row], row)), onfailure: lost });
  signal.addEventListener('abort', () => {
    graph.places = map.kept();
  });
  const offer = () => !signal.aborted && replace(changed, button('The graph may have changed: draw it anew', { onclick: redraw }));
  page.onLive(offer, { wants: (event) => changes(event, brain.root) });
  if (graph.old) offer();
  await Promise.all([map.ready, apply({ move: Boolean(state.node || state.q) })]);

  function redraw() {
    kept = null;
    own.abort();
    page.query = here().query;
    return show(page);
  }

  function lost(message) {
    replace(changed, h('p', { class: 'muted' }, text(`The picture cannot be drawn here: ${message ?? 'no reason was given'}. The lists work.`)));
  }

  /** A node was chosen: from a list, from the search, or on the canvas. */
  function picked(id) {
    if (state.mode === 'path' && state.node && !state.to && id !== state.node) go({ to: id });
    else go({ node: id, mode: 'near', to: '', q: '' });
  }

  function heated(event) {
    event.preventDefault();
    if (question.value.trim()) go({ node: '', to: '', mode: 'heat', q: question.value.trim() });
  }

  /** The next state, as a step of the history. */
  function go(next) {
    const had = document.activeElement;
    const inside = side.contains(had);
    Object.assign(state, next);
    history.pushState(null, '', address(here().parts, told(state)));
    apply({ move: true });
    if (inside && !had.isConnected) refocus(had.dataset.act);
  }

  /** The focus stays with what was pressed, goes to the node that was chosen, or back to the search. */
  function refocus(act) {
    const same = act && nodeArea.querySelector(`[data-act="${act}"]`);
    const next = same || nodeArea.querySelector('h2');
    if (next) next.focus();
    else search.focus();
  }

  async function meant(words) {
    const answer = await asked('seek', { query: words, top_k: SOUGHT });
    return answer.results.map((one) => one.node_id);
  }

  /** Draw the state: the panel of the node, the lists, and the light on the canvas. */
  async function apply({ move }) {
    turn += 1;
    const mine = turn;
    question.value = state.q;
    const row = state.node ? rowOf(model, state.node) : undefined;
    page.title(state.node ? `Graph: ${row === undefined ? state.node : model.labels[row]}` : 'Graph');
    search.named(state.mode === 'path' && !state.to ? 'Find the other end' : 'Find a node');
    drawNode(row);
    const plan = planOf(row);
    if (!plan) {
      replace(resultArea);
      map.light({ selected: row ?? null });
      return;
    }
    const tell = (found) => {
      replace(resultArea, resultPanel(model, plan.title, found, { onpick: picked, close: plan.close }));
      map.light(found.look);
      if (move && found.rows.length) map.frameOn(found.rows.slice(0, 400));
    };
    if (plan.now) {
      tell(plan.now());
      return;
    }
    const waiting = setTimeout(() => replace(resultArea, waitingPanel(plan.title)), 150);
    try {
      const found = await plan.ask();
      if (mine === turn && !signal.aborted) tell(found);
    } catch (error) {
      if (mine === turn && error.name !== 'AbortError') replace(resultArea, failedPanel(plan.title, error, () => apply({ move })));
    } finally {
      clearTimeout(waiting);
    }
  }

  function drawNode(row) {
    if (!state.node) {
      replace(nodeArea);
      return;
    }
    const acts = {
      near: (depth) => go({ mode: 'near', depth, to: '' }),
      impact: () => go({ mode: 'impact', to: '' }),
      path: () => {
        go({ mode: 'path', to: '' });
        search.focus();
      },
      close: () => go({ node: '', mode: 'near', to: '' }),
      draw: model.leftOut.nodes ? redraw : null,
    };
    const claim = row !== undefined && model.slugs.has(row);
    const loading = () => (claim ? Promise.resolve(null) : asked('graph.show', { node: state.node, depth: 1, each: 1 }));
    replace(nodeArea, nodePanel({ model, row, id: state.node, brain, state, acts, load: loading }));
  }

  /** What the state puts into the light. */
  function planOf(row) {
    const name = row === undefined ? state.node : model.labels[row];
    if (state.mode === 'heat' && state.q) return { title: `Heat of “${plain(state.q, 60)}”`, ask: () => heat(model, state.q, asked), close: () => go({ mode: 'near', q: '' }) };
    if (!state.node) return { title: 'Most bound', now: () => beginnings(model) };
    if (state.mode === 'impact') return { title: `Impact of ${plain(name, 60)}`, ask: () => reach(model, state.node, asked) };
    if (state.mode === 'path' && state.to) return { title: `Path to ${plain(nameOf(model, state.to), 60)}`, ask: () => way(model, state.node, state.to, asked), close: () => go({ mode: 'near', to: '' }) };
    if (state.mode === 'path') return { title: 'Path', now: () => ({ ...blank(row), words: 'Choose the other end: search for it, or click it.' }) };
    return row === undefined ? null : { title: 'Neighbours', now: () => nearby(model, row, state.depth) };
  }
}

function blank(row) {
  return { look: { selected: row ?? null }, groups: [], rows: row === undefined ? [] : [row] };
}

function nameOf(model, id) {
  const row = rowOf(model, id);
  return row === undefined ? id : model.labels[row];
}

function about(model) {
  const { nodes, edges, claims } = model.leftOut;
  const left = nodes || edges || claims ? ` Too many to draw: ${[nodes && count(nodes, 'node'), edges && count(edges, 'edge'), claims && count(claims, 'claim')].filter(Boolean).join(', ')}.` : '';
  return `${num(model.size)} nodes and ${num(model.source.length)} edges: code, documents, and the claims that cite them.${left}`;
}

/** The state of an address. */
function stateOf(query) {
  const depth = Number(query.get('depth'));
  return {
    node: query.get('node') ?? '',
    mode: ['near', 'impact', 'path', 'heat'].includes(query.get('mode')) ? query.get('mode') : query.get('q') ? 'heat' : 'near',
    depth: depth >= 1 && depth <= 3 ? Math.round(depth) : 1,
    to: query.get('to') ?? '',
    q: query.get('q') ?? '',
  };
}

/** The part of a state that an address needs to tell. */
function told({ node, mode, depth, to, q }) {
  return { node, mode: mode === 'near' ? '' : mode, depth: depth > 1 ? depth : '', to, q };
}
