// Where every node stands before any force acts: a directory is a disc of files, a file a disc of its symbols. Deterministic.

import { packed } from './pack.js';

const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // the angle under which a spiral never repeats itself
const ROOM = 1.1; // space around a disc, so that directories can be told apart
const STEP = 9; // distance between neighbours inside a file

/** Positions [x0, y0, x1, y1, …] of all nodes of a model. */
export function placed(model) {
  const at = new Float32Array(model.size * 2);
  const tree = treeOf(model);
  measure(tree);
  spread(tree, 0, 0, at);
  return at;
}

/** Directories with their files, files with their rows; claims stand beside the first thing they cite. */
function treeOf(model) {
  const root = disc('');
  const known = new Map([['', root]]);
  const claim = model.kinds.indexOf('claim');
  for (let row = 0; row < model.size; row += 1) {
    const cited = model.kind[row] === claim && model.start[row] < model.start[row + 1] ? model.other[model.start[row]] : row;
    const path = model.paths[model.path[cited]];
    within(known, root, path === '.' ? '' : path).rows.push(row);
  }
  return root;
}

function disc(name) {
  return { name, inner: [], rows: [], radius: 0, x: 0, y: 0, own: null };
}

/** The disc of a path, made with all the discs around it when it is new. */
function within(known, root, path) {
  const had = known.get(path);
  if (had) return had;
  const cut = path.lastIndexOf('/');
  const outer = cut < 0 ? root : within(known, root, path.slice(0, cut));
  const made = disc(path);
  known.set(path, made);
  outer.inner.push(made);
  return made;
}

/** The radius of every disc, from the inside out, and where each stands in the one around it; the largest are placed first. */
function measure(one) {
  one.inner.forEach(measure);
  one.inner.sort((a, b) => (a.name < b.name ? -1 : 1));
  const own = one.rows.length ? STEP * Math.sqrt(one.rows.length) : 0;
  if (!one.inner.length) {
    one.radius = own;
    return;
  }
  const parts = [...one.inner, ...(own ? [{ radius: own, one }] : [])].sort((a, b) => b.radius - a.radius);
  const spots = packed(parts.map((part) => part.radius * ROOM + STEP));
  parts.forEach((part, at) => Object.assign(part.one ? (one.own = {}) : part, { x: spots[at].x, y: spots[at].y }));
  one.radius = Math.max(...spots.map((spot, at) => Math.hypot(spot.x, spot.y) + parts[at].radius));
}

function spread(one, x, y, at) {
  const middle = one.own ?? { x: 0, y: 0 };
  one.rows.forEach((row, place) => {
    const far = STEP * Math.sqrt(place);
    at[row * 2] = x + middle.x + far * Math.cos(place * GOLDEN);
    at[row * 2 + 1] = y + middle.y + far * Math.sin(place * GOLDEN);
  });
  one.inner.forEach((part) => spread(part, x + part.x, y + part.y, at));
}
