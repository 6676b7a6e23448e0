// The explorer: a canvas on which a graph is looked at. Pictures come from the worker; between two of them the last one is
// moved and stretched with the camera, so that a hand never waits for a picture.

import { between, boxOf, fitting, panned, resized, zoomed } from './camera.js';
import { coloursOf, groupOf, tinted } from './colours.js';
import { listen } from './input.js';
import { namingOrder, widthsIn } from './labels.js';
import { overlay } from './overlay.js';
import { nearest } from './pick.js';
import { placed } from './place.js';
import { studio } from './studio.js';

const MARGIN = 140; // a picture reaches this far over the screen's edge, for drags
const DENSEST = 2;
const TRAVEL_MS = 380;
const LEAST = 1.3; // radius of the smallest node on the screen
const FONT = '12px system-ui, sans-serif';
const NOTHING = { selected: null, hovered: null, lit: null, edges: [], tone: 'kind', steps: false };

/**
 * Explore a model on a canvas until the signal. Options: {still, kept: {at, camera}, onpick(row), onhover(row), onfailure()}.
 * The canvas tells `graph-frame` for each frame it draws, and `performance` has marks of the first paint and the layout.
 */
export function explorer(canvas, model, { signal, still, kept, onpick, onhover, onfailure }) {
  const context = canvas.getContext('2d');
  const sheet = new OffscreenCanvas(1, 1);
  const groups = model.kinds.map(groupOf);
  const radius = Float32Array.from({ length: model.size }, (_, row) => 2.2 + 1.1 * Math.log2(1 + model.start[row + 1] - model.start[row]));
  const world = { model, groups, radius, at: kept?.at ?? placed(model), naming: namingOrder(model, groups), colours: coloursOf(canvas), widths: null };
  let camera = { x: 0, y: 0, scale: 1, width: 1, height: 1 };
  let look = NOTHING;
  let picture = null;
  let travel = null;
  let asked = false;
  let touched = Boolean(kept?.camera); // by hand: then the camera follows nothing else
  let aim = null; // the rows the camera is on; all of them when null
  let density = 1;
  let painted = false;
  let settled = Boolean(kept?.at);

  const ready = Promise.withResolvers();
  const work = studio({
    onplaces,
    onpicture,
    onfailure(message) {
      ready.resolve();
      onfailure(message);
    },
  });

  function onplaces(at, { done }) {
    world.at = at;
    if (!touched && travel) travel.to = aimed();
    else if (!touched) camera = aimed();
    settled = done;
    if (done) performance.measure('hall.graph.layout', 'hall.graph.begin');
    canvas.dataset.settled = String(done);
    wish();
    frame();
  }

  function onpicture(found) {
    const { width, height, view, pixels } = found;
    if (sheet.width !== width || sheet.height !== height) Object.assign(sheet, { width, height });
    sheet.getContext('2d').putImageData(new ImageData(pixels, width, height), 0, 0);
    picture = { ...view, width: width / density, height: height / density, scale: view.scale / density };
    if (!painted) performance.measure('hall.graph.first-paint', 'hall.graph.begin');
    painted = true;
    ready.resolve();
    canvas.dataset.painted = 'true';
    frame();
  }

  /** Ask for a picture of what the camera sees now. */
  function wish() {
    if (camera.width < 2) return;
    const tone = { edge: [...world.colours.edge, strength(model.source.length)], ring: world.colours.ring, least: LEAST * density };
    const size = (length) => Math.round((length + 2 * MARGIN) * density);
    work.want({ width: size(camera.width), height: size(camera.height), view: { x: camera.x, y: camera.y, scale: camera.scale * density }, tone });
  }

  function frame() {
    if (asked || signal.aborted) return;
    asked = true;
    requestAnimationFrame(drawn);
  }

  function drawn(now) {
    asked = false;
    if (signal.aborted) return;
    if (travel) onTheWay(now);
    const began = performance.now();
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    if (picture) {
      const by = camera.scale / picture.scale;
      const left = (picture.x - camera.x) * camera.scale + (camera.width - picture.width * by) / 2;
      const top = (picture.y - camera.y) * camera.scale + (camera.height - picture.height * by) / 2;
      context.drawImage(sheet, left, top, picture.width * by, picture.height * by);
    }
    overlay(context, world, camera, look);
    canvas.dispatchEvent(new CustomEvent('graph-frame', { detail: { ms: performance.now() - began } }));
  }

  function onTheWay(now) {
    travel.began ??= now;
    const part = Math.min(1, (now - travel.began) / TRAVEL_MS);
    camera = { ...between(travel.from, travel.to, part), width: camera.width, height: camera.height };
    if (part === 1) travel = null;
    wish();
    if (travel) frame();
  }

  /** The camera on what it is aimed at. */
  function aimed(width = camera.width, height = camera.height) {
    return fitting(boxOf(world.at, aim), width, height, aim ? { margin: 90, most: 1.6 } : {});
  }

  function moved(next) {
    camera = next;
    travel = null;
    wish();
    frame();
  }

  function goTo(next) {
    if (still) moved(next);
    else {
      travel = { from: camera, to: next, began: null };
      frame();
    }
  }

  function coloured() {
    const { tint, shown } = tinted(world, look.lit);
    work.look(tint, shown);
    wish();
    frame();
  }

  const nodeAt = (px, py) => nearest(world, camera, look.lit, px, py);

  function hovered(row) {
    if (row === look.hovered) return;
    look = { ...look, hovered: row };
    canvas.classList.toggle('over', row !== null);
    onhover(row);
    frame();
  }

  function sized() {
    const box = canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    density = Math.min(globalThis.devicePixelRatio || 1, DENSEST);
    canvas.width = Math.round(box.width * density);
    canvas.height = Math.round(box.height * density);
    context.font = FONT;
    context.textBaseline = 'middle';
    world.widths ??= widthsIn(context);
    camera = touched ? resized(camera, box.width, box.height) : aimed(box.width, box.height);
    wish();
    drawn(performance.now());
  }

  function recoloured() {
    world.colours = coloursOf(canvas);
    coloured();
  }

  canvas.dataset.settled = String(settled);
  performance.mark('hall.graph.begin');
  if (kept?.camera) camera = kept.camera;
  work.begin(model, world.at, { still, settled, radius, order: bySize(radius) });
  coloured();
  sized();
  const byHand = (next, go = moved) => {
    touched = true;
    go(next);
  };
  listen(canvas, {
    pan: (dx, dy) => byHand(panned(camera, dx, dy)),
    zoom: (factor, x, y) => byHand(zoomed(camera, factor, x, y)),
    click: (x, y) => onpick(nodeAt(x, y)),
    twice: (x, y) => byHand(zoomed(camera, 2.2, x, y), goTo),
    hover: (x, y) => hovered(nodeAt(x, y)),
    leave: () => hovered(null),
    begun: () => canvas.classList.add('held'),
    ended: () => canvas.classList.remove('held'),
  }, signal);
  const watching = new ResizeObserver(sized);
  watching.observe(canvas);
  const themed = new MutationObserver(recoloured);
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class'] });
  for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', recoloured, { signal });
  }
  signal.addEventListener('abort', () => {
    watching.disconnect();
    themed.disconnect();
    work.end();
    ready.resolve();
  });

  return {
    /** When the first picture is on the screen. */
    ready: ready.promise,
    /** Put something into the light: {selected, lit: Map(row -> 0..1) or null, edges, tone: kind | heat, steps}. */
    light(next) {
      look = { ...NOTHING, hovered: look.hovered, ...next };
      coloured();
    },
    /** Show some rows, or all. */
    frameOn(rows = null) {
      aim = rows;
      touched = false;
      goTo(aimed());
    },
    zoom: (factor) => byHand(zoomed(camera, factor), goTo),
    /** What a later explorer of the same model may begin with. */
    kept: () => ({ at: settled ? world.at : null, camera: touched ? camera : null }),
  };
}

/** Many edges are each drawn fainter, so that a picture never turns into one spot. */
function strength(edges) {
  return Math.max(0.1, Math.min(0.9, 30 / Math.sqrt(edges + 1)));
}

function bySize(radius) {
  return Uint32Array.from(radius.keys()).sort((a, b) => radius[a] - radius[b] || a - b);
}
