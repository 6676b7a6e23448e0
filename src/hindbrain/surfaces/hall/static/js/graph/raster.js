// A picture of the graph as plain pixels: edges as a density of fine lines, nodes as discs over them. Pure arithmetic, so
// that it runs in a worker and draws the same everywhere, with or without a graphics card.

const SHORT = 1.5; // an edge shorter than this lies under its nodes
const GROWTH = 0.45; // how fast many lines on one spot become solid
const NEAR = 70; // longer edges are fainter: what lies near is read first
const FAINTEST = 0.04;

/** Where a picture is painted: made once for a size and used again. */
export function sheet(width, height) {
  return { width, height, ink: new Float32Array(width * height), pixels: new Uint8ClampedArray(width * height * 4) };
}

/**
 * Paint a scene {at, source, target, radius, tint, shown, ring} on a sheet. `view` = {x, y, scale} in pixels of the sheet,
 * `tone` = {edge: [r, g, b, a], ring: [r, g, b], least}. `tint` has four bytes a node, `shown` is 0 for edges left out.
 */
export function paint(on, scene, view, tone) {
  on.ink.fill(0);
  lines(on, scene, view);
  wash(on, tone.edge);
  discs(on, scene, view, tone);
}

function lines(on, { at, source, target, shown }, view) {
  const { width, height, ink } = on;
  const { scale } = view;
  const left = width / 2 - view.x * scale;
  const top = height / 2 - view.y * scale;
  for (let e = 0; e < source.length; e += 1) {
    const a = source[e];
    const b = target[e];
    const weight = Math.min(shown[a], shown[b]);
    if (weight === 0) continue;
    let x0 = at[a * 2] * scale + left;
    let y0 = at[a * 2 + 1] * scale + top;
    let x1 = at[b * 2] * scale + left;
    let y1 = at[b * 2 + 1] * scale + top;
    const dx = x1 - x0;
    const dy = y1 - y0;
    const long = Math.max(Math.abs(dx), Math.abs(dy));
    if (long < SHORT) continue;
    // What lies outside is cut off first: at a high zoom nearly everything does.
    let from = 0;
    let to = 1;
    if (dx !== 0) {
      const one = (1 - x0) / dx;
      const two = (width - 3 - x0) / dx;
      from = Math.max(from, Math.min(one, two));
      to = Math.min(to, Math.max(one, two));
    } else if (x0 < 1 || x0 > width - 3) continue;
    if (dy !== 0) {
      const one = (1 - y0) / dy;
      const two = (height - 3 - y0) / dy;
      from = Math.max(from, Math.min(one, two));
      to = Math.min(to, Math.max(one, two));
    } else if (y0 < 1 || y0 > height - 3) continue;
    if (from >= to) continue;
    x1 = x0 + dx * to;
    y1 = y0 + dy * to;
    x0 += dx * from;
    y0 += dy * from;
    const strength = weight * (long > NEAR ? Math.max(NEAR / long, FAINTEST) : 1);
    if (Math.abs(dx) >= Math.abs(dy)) flat(ink, width, x0, y0, x1, y1, strength);
    else steep(ink, width, x0, y0, x1, y1, strength);
  }
}

/** A line that is wider than high: one step a column, its weight shared by the two pixels it runs between. */
function flat(ink, width, x0, y0, x1, y1, weight) {
  const slope = (y1 - y0) / (x1 - x0);
  const first = Math.round(Math.min(x0, x1));
  const last = Math.round(Math.max(x0, x1));
  let y = y0 + (first - x0) * slope;
  for (let x = first; x <= last; x += 1) {
    const line = y | 0;
    const part = (y - line) * weight;
    const place = line * width + x;
    ink[place] += weight - part;
    ink[place + width] += part;
    y += slope;
  }
}

function steep(ink, width, x0, y0, x1, y1, weight) {
  const slope = (x1 - x0) / (y1 - y0);
  const first = Math.round(Math.min(y0, y1));
  const last = Math.round(Math.max(y0, y1));
  let x = x0 + (first - y0) * slope;
  for (let y = first; y <= last; y += 1) {
    const column = x | 0;
    const part = (x - column) * weight;
    const place = y * width + column;
    ink[place] += weight - part;
    ink[place + 1] += part;
    x += slope;
  }
}

/** Ink becomes colour: few lines stay faint, many never more than solid. */
function wash({ ink, pixels }, [red, green, blue, alpha]) {
  const words = new Uint32Array(pixels.buffer);
  const colour = (blue << 16) | (green << 8) | red;
  const deep = new Uint8Array(1025);
  for (let at = 0; at <= 1024; at += 1) deep[at] = 255 * (1 - Math.exp((-at / 64) * GROWTH * alpha));
  for (let at = 0; at < ink.length; at += 1) {
    const had = ink[at];
    words[at] = had === 0 ? 0 : (deep[had > 16 ? 1024 : (had * 64) | 0] << 24) | colour;
  }
}

function discs(on, { at, radius, tint, ring, order }, view, tone) {
  const left = on.width / 2 - view.x * view.scale;
  const top = on.height / 2 - view.y * view.scale;
  for (let i = 0; i < order.length; i += 1) {
    const row = order[i];
    const x = at[row * 2] * view.scale + left;
    const y = at[row * 2 + 1] * view.scale + top;
    const size = Math.max(radius[row] * view.scale, tone.least);
    if (x < -size - 8 || y < -size - 8 || x > on.width + size + 8 || y > on.height + size + 8) continue;
    const alpha = tint[row * 4 + 3];
    if (ring[row]) circle(on, x, y, size + tone.least * 1.6, size + tone.least * 0.6, tone.ring, alpha);
    circle(on, x, y, size, 0, [tint[row * 4], tint[row * 4 + 1], tint[row * 4 + 2]], alpha);
  }
}

/** A disc, or a ring when there is a hole, with soft edges. */
function circle({ width, height, pixels }, x, y, radius, hole, [red, green, blue], alpha) {
  const top = Math.max(0, Math.floor(y - radius));
  const bottom = Math.min(height - 1, Math.ceil(y + radius));
  const left = Math.max(0, Math.floor(x - radius));
  const right = Math.min(width - 1, Math.ceil(x + radius));
  for (let py = top; py <= bottom; py += 1) {
    for (let px = left; px <= right; px += 1) {
      const far = Math.sqrt((px - x) * (px - x) + (py - y) * (py - y));
      let cover = radius + 0.5 - far;
      if (hole) cover = Math.min(cover, far - hole + 0.5);
      if (cover <= 0) continue;
      const over = ((cover < 1 ? cover : 1) * alpha) / 255;
      const place = (py * width + px) * 4;
      const under = (pixels[place + 3] / 255) * (1 - over);
      const whole = over + under;
      pixels[place] = (red * over + pixels[place] * under) / whole;
      pixels[place + 1] = (green * over + pixels[place + 1] * under) / whole;
      pixels[place + 2] = (blue * over + pixels[place + 2] * under) / whole;
      pixels[place + 3] = whole * 255;
    }
  }
}
