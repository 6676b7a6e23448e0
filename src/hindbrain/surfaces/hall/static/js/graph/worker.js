// The worker of the graph: settles the nodes and paints pictures of them, so that the page's own thread stays free.

import { begin, progress, step } from './forces.js';
import { paint, sheet } from './raster.js';

const SLICE_MS = 24; // a picture that is asked for waits no longer than this
const TELL_MS = 80;

let scene = null;
let layout = null;
let still = false;
let told = 0;
let page = null;

const handlers = {
  /** A new graph: where the nodes begin, and what binds them. */
  graph(data) {
    scene = { ...data.scene, at: data.at };
    still = data.still;
    layout = data.settled ? null : begin(data.at, scene.source, scene.target, data.same);
    if (layout) settle();
  },

  /** Other colours, or another part in the light. */
  look({ tint, shown }) {
    Object.assign(scene, { tint, shown });
  },

  picture({ width, height, view, tone, spare }) {
    if (page?.width !== width || page.height !== height) page = sheet(width, height);
    const began = performance.now();
    paint(page, scene, view, tone);
    // The pixels travel; those of the picture before come back and are used again.
    const pixels = page.pixels;
    page.pixels = spare?.byteLength === pixels.byteLength ? new Uint8ClampedArray(spare) : new Uint8ClampedArray(pixels.length);
    self.postMessage({ kind: 'picture', pixels, width, height, view, ms: performance.now() - began }, [pixels.buffer]);
  },
};

self.onmessage = ({ data }) => handlers[data.kind](data);

/** Some rounds, then room for a message. Without motion only the end is told. */
function settle() {
  const until = performance.now() + SLICE_MS;
  let more = true;
  while (more && performance.now() < until) more = step(layout);
  if (!still || !more) scene.at = layout.at;
  if (!more || (!still && performance.now() - told > TELL_MS)) {
    told = performance.now();
    self.postMessage({ kind: 'places', at: layout.at.slice(), progress: progress(layout), done: !more });
  }
  if (more) setTimeout(settle, 0);
}
