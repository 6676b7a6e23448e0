// Hands on the canvas: drag, wheel, pinch, click. Tells what was meant, and knows nothing of the graph.

const STILL = 5; // pixels that a click may wander

/** Listen to a canvas. Handlers: pan(dx, dy), zoom(factor, x, y), click(x, y), twice(x, y), hover(x, y), leave(), begun(), ended(). */
export function listen(canvas, handlers, signal) {
  const held = new Map();
  let travelled = 0;
  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const on = (name, handler, options = {}) => canvas.addEventListener(name, handler, { signal, ...options });

  on('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (!held.size) {
      travelled = 0;
      handlers.begun();
    }
    held.set(event.pointerId, spot(event));
  });
  on('pointermove', (event) => {
    const now = spot(event);
    const before = held.get(event.pointerId);
    if (!before) {
      handlers.hover(...now);
      return;
    }
    held.set(event.pointerId, now);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    travelled += Math.abs(dx) + Math.abs(dy);
    if (held.size === 1) handlers.pan(dx, dy);
    else pinched(before, now, event.pointerId);
  });
  const pinched = (before, now, moved) => {
    const [, other] = [...held].find(([id]) => id !== moved);
    const apart = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
    handlers.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  };
  const released = (event, meant) => {
    if (!held.delete(event.pointerId) || held.size) return;
    handlers.ended();
    if (meant && travelled < STILL) handlers.click(...spot(event));
  };
  on('pointerup', (event) => released(event, true));
  on('pointercancel', (event) => released(event, false));
  on('pointerleave', () => held.size || handlers.leave());
  on('dblclick', (event) => handlers.twice(...spot(event)));
  on('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    handlers.zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) / 420), ...spot(event));
  }, { passive: false });
}
