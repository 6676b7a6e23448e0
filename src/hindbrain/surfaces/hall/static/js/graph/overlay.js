// The overlay: what stands out from the picture. Lit edges and nodes, the selected node, names.

import { toScreen } from './camera.js';
import { css, mixed } from './colours.js';
import { chosen } from './labels.js';

const MOST_EDGES = 3000; // lit edges beyond this are a cloud; the list beside has them all
const MOST_NODES = 2500;

/** Draw everything that is lit, and the names. */
export function overlay(context, world, camera, look) {
  litEdges(context, world, camera, look);
  litNodes(context, world, camera, look);
  for (const row of [look.selected, look.hovered]) if (row !== null) marked(context, world, camera, row, row === look.selected);
  names(context, world, camera, look);
}

function litEdges(context, { model, at, colours }, camera, { edges, steps }) {
  if (!edges.length) return;
  context.beginPath();
  for (const edge of edges.slice(0, MOST_EDGES)) {
    context.moveTo(...spot(camera, at, model.source[edge]));
    context.lineTo(...spot(camera, at, model.target[edge]));
  }
  context.strokeStyle = css(colours.lit, steps ? 0.95 : 0.45);
  context.lineWidth = steps ? 3 : 1;
  context.stroke();
}

function litNodes(context, world, camera, { lit, tone }) {
  if (!lit) return;
  const rows = [...lit].slice(0, MOST_NODES);
  for (const [row, value] of rows.reverse()) {
    const [x, y] = spot(camera, world.at, row);
    const size = sizeOf(world, camera, row) + 1;
    if (outside(camera, x, y, size)) continue;
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fillStyle = css(colourOf(world, row, value, tone));
    context.fill();
  }
}

/** In the tone of heat a node is as hot as its value; else it keeps its colour. */
function colourOf({ model, groups, colours }, row, value, tone) {
  return tone === 'heat' ? mixed(colours.warm, colours.hot, value) : colours.groups[groups[model.kind[row]]];
}

function marked(context, world, camera, row, strong) {
  const [x, y] = spot(camera, world.at, row);
  context.beginPath();
  context.arc(x, y, sizeOf(world, camera, row) + (strong ? 5 : 3), 0, 2 * Math.PI);
  context.strokeStyle = css(world.colours.mark);
  context.lineWidth = strong ? 3 : 1.5;
  context.stroke();
}

function names(context, world, camera, look) {
  const first = [look.selected, look.hovered, ...(look.lit?.keys() ?? [])].filter((row) => row !== null);
  const dimmed = look.lit !== null;
  const order = dimmed ? [] : world.naming;
  const found = chosen({ ...world, order, camera, first });
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = css(world.colours.paper, 0.85);
  context.fillStyle = css(world.colours.label);
  for (const { x, y, words } of found) {
    context.strokeText(words, x, y);
    context.fillText(words, x, y);
  }
}

function spot(camera, at, row) {
  return toScreen(camera, at[row * 2], at[row * 2 + 1]);
}

function sizeOf({ radius }, camera, row) {
  return Math.max(radius[row] * camera.scale, 1.6);
}

function outside({ width, height }, x, y, size) {
  return x < -size || y < -size || x > width + size || y > height + size;
}
