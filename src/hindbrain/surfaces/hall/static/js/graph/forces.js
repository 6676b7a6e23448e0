// Forces between placed nodes: ties pull, neighbours push, and each node is held near the place it began at. Pure arithmetic.

const REACH = 22; // nodes nearer than this push each other away
const PUSH = 2.2;
const HOLD = 0.05; // towards the first place: the map of directories stays readable
const NEAR = 14; // length of a tie inside one file
const ROUNDS = 140;
const FURTHEST = 12; // no node jumps further in one round

/** What a layout is made of: a copy of the positions, where they began, and the ties. `same[e]` is 1 inside one file. */
export function begin(at, source, target, same) {
  const size = at.length / 2;
  const ties = new Uint32Array(size);
  for (let e = 0; e < source.length; e += 1) {
    ties[source[e]] += 1;
    ties[target[e]] += 1;
  }
  return { at: at.slice(), first: at.slice(), force: new Float32Array(at.length), source, target, same, ties, round: 0 };
}

/** One round; false when the layout has cooled down. */
export function step(state) {
  if (state.round >= ROUNDS) return false;
  const heat = 1 - state.round / ROUNDS;
  state.force.fill(0);
  pull(state);
  push(state);
  move(state, heat);
  state.round += 1;
  return state.round < ROUNDS;
}

/** How far the layout is, 0 to 1. */
export function progress(state) {
  return state.round / ROUNDS;
}

function pull({ at, force, source, target, same, ties }) {
  for (let e = 0; e < source.length; e += 1) {
    const a = source[e] * 2;
    const b = target[e] * 2;
    const dx = at[b] - at[a];
    const dy = at[b + 1] - at[a + 1];
    const apart = Math.sqrt(dx * dx + dy * dy) || 1;
    // A node with hundreds of ties would swallow its friends: each tie counts by the less bound of its ends.
    const least = Math.min(ties[source[e]], ties[target[e]]);
    const strength = same[e] ? (0.22 * (apart - NEAR)) / apart : 0.025 / least;
    const share = ties[target[e]] / (ties[source[e]] + ties[target[e]]);
    force[a] += dx * strength * share;
    force[a + 1] += dy * strength * share;
    force[b] -= dx * strength * (1 - share);
    force[b + 1] -= dy * strength * (1 - share);
  }
}

/** Pushing is between near nodes only, found by a grid of cells as wide as the reach. */
function push(state) {
  const { at, force } = state;
  const size = at.length / 2;
  const grid = cells(at, REACH);
  for (let row = 0; row < size; row += 1) {
    const x = at[row * 2];
    const y = at[row * 2 + 1];
    for (let down = -1; down <= 1; down += 1) {
      for (let right = -1; right <= 1; right += 1) {
        const cell = cellOf(grid, x + right * REACH, y + down * REACH);
        for (let other = grid.head[cell]; other >= 0; other = grid.next[other]) {
          if (other <= row) continue;
          const dx = at[other * 2] - x;
          const dy = at[other * 2 + 1] - y;
          const square = dx * dx + dy * dy;
          if (square >= REACH * REACH) continue;
          const apart = Math.sqrt(square);
          const by = (PUSH * (1 - apart / REACH)) / (apart || 1);
          // Two nodes on one spot part along a direction that their numbers decide.
          const px = apart ? dx * by : Math.cos(row) * PUSH;
          const py = apart ? dy * by : Math.sin(row) * PUSH;
          force[row * 2] -= px;
          force[row * 2 + 1] -= py;
          force[other * 2] += px;
          force[other * 2 + 1] += py;
        }
      }
    }
  }
}

function move({ at, first, force }, heat) {
  for (let i = 0; i < at.length; i += 2) {
    const fx = force[i] + (first[i] - at[i]) * HOLD;
    const fy = force[i + 1] + (first[i + 1] - at[i + 1]) * HOLD;
    const far = Math.sqrt(fx * fx + fy * fy);
    const by = far > FURTHEST ? (FURTHEST / far) * heat : heat;
    at[i] += fx * by;
    at[i + 1] += fy * by;
  }
}

/** Rows by cell, as linked lists over a hashed grid. */
function cells(at, wide) {
  const size = at.length / 2;
  const bits = Math.max(10, Math.ceil(Math.log2(size + 1)) + 1);
  const grid = { wide, mask: (1 << bits) - 1, head: new Int32Array(1 << bits).fill(-1), next: new Int32Array(size) };
  for (let row = size - 1; row >= 0; row -= 1) {
    const cell = cellOf(grid, at[row * 2], at[row * 2 + 1]);
    grid.next[row] = grid.head[cell];
    grid.head[cell] = row;
  }
  return grid;
}

/** The cell of a place; far cells may share one, so distances are always checked. */
function cellOf(grid, x, y) {
  const column = Math.floor(x / grid.wide);
  const line = Math.floor(y / grid.wide);
  return ((column * 73856093) ^ (line * 19349663)) & grid.mask;
}
