// Picking: which node a pointer means. Pure.

import { toPlane } from './camera.js';

const NEAR_PX = 12; // how near to a node a pointer means it
const LEAST_PX = 1.3;

/** The node under a point of the screen, or null; where something is lit, the rest must be hit exactly. */
export function nearest({ model, at, radius }, camera, lit, px, py) {
  const [x, y] = toPlane(camera, px, py);
  let best = null;
  let least = NEAR_PX;
  for (let row = 0; row < model.size; row += 1) {
    const far = Math.hypot(at[row * 2] - x, at[row * 2 + 1] - y) * camera.scale - Math.max(radius[row] * camera.scale, LEAST_PX);
    if (far < least && (lit === null || lit.has(row) || far < 2)) {
      best = row;
      least = far;
    }
  }
  return best;
}
