// The camera: which part of the plane is on the screen. Pure; a change is a new camera.

const NEAREST = 8;
const FURTHEST = 0.002;

/** A camera that shows a box {left, top, right, bottom} in a screen of this size, with a margin. */
export function fitting(box, width, height, { most = 2.5, margin = 32 } = {}) {
  const wide = Math.max(box.right - box.left, 1);
  const high = Math.max(box.bottom - box.top, 1);
  const room = (length) => Math.max(length - 2 * margin, 20);
  const scale = clamp(Math.min(room(width) / wide, room(height) / high), FURTHEST, most);
  return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, scale, width, height };
}

/** The box around some positions; all of them when no rows are named. */
export function boxOf(at, rows = null) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  const take = (row) => {
    box.left = Math.min(box.left, at[row * 2]);
    box.right = Math.max(box.right, at[row * 2]);
    box.top = Math.min(box.top, at[row * 2 + 1]);
    box.bottom = Math.max(box.bottom, at[row * 2 + 1]);
  };
  if (rows) for (const row of rows) take(row);
  else for (let row = 0; row < at.length / 2; row += 1) take(row);
  return box.left <= box.right ? box : { left: -1, top: -1, right: 1, bottom: 1 };
}

/** The camera after a drag of so many pixels. */
export function panned(camera, dx, dy) {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

/** The camera after a zoom by a factor; the point of the plane under (px, py) stays there. */
export function zoomed(camera, factor, px = camera.width / 2, py = camera.height / 2) {
  const scale = clamp(camera.scale * factor, FURTHEST, NEAREST);
  const [x, y] = toPlane(camera, px, py);
  return { ...camera, scale, x: x - (px - camera.width / 2) / scale, y: y - (py - camera.height / 2) / scale };
}

/** The camera with another screen. */
export function resized(camera, width, height) {
  return { ...camera, width, height };
}

/** The camera on its way from one to another; `part` from 0 to 1. */
export function between(from, to, part) {
  const soft = part * part * (3 - 2 * part);
  const scale = from.scale * (to.scale / from.scale) ** soft;
  return { ...to, scale, x: from.x + (to.x - from.x) * soft, y: from.y + (to.y - from.y) * soft };
}

/** A point of the screen on the plane. */
export function toPlane(camera, px, py) {
  return [(px - camera.width / 2) / camera.scale + camera.x, (py - camera.height / 2) / camera.scale + camera.y];
}

/** A point of the plane on the screen. */
export function toScreen(camera, x, y) {
  return [(x - camera.x) * camera.scale + camera.width / 2, (y - camera.y) * camera.scale + camera.height / 2];
}

function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}
