// Circles side by side: each goes where it touches two circles of the rim, as near to the middle as there is room. Pure.

/** The middles {x, y, radius} of circles of these radii, around 0, in the given order. */
export function packed(radii) {
  const spots = radii.map((radius) => ({ x: 0, y: 0, radius, next: null, before: null }));
  const [first, second, third] = spots;
  if (second) {
    first.x = -second.radius;
    second.x = first.radius;
  }
  if (third) {
    touch(third, second, first);
    fill(spots);
  }
  return centred(spots);
}

/** The rim is a ring of circles; a new one goes beside the pair of it that is nearest to the middle. */
function fill(spots) {
  const [first, second, third] = spots;
  let a = first;
  let b = second;
  link(a, b);
  link(b, third);
  link(third, a);
  for (let at = 3; at < spots.length; at += 1) {
    const spot = spots[at];
    let hit = null;
    do {
      touch(spot, a, b);
      hit = collision(spot, a, b);
      if (hit?.ahead) b = hit.ahead;
      if (hit?.behind) a = hit.behind;
      if (hit) link(a, b); // what lay between them is inside now
    } while (hit);
    link(a, spot);
    link(spot, b);
    a = innermost(spot);
    b = a.next;
  }
}

function link(before, next) {
  before.next = next;
  next.before = before;
}

/** Put a circle where it touches two others. */
function touch(spot, b, a) {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const square = dx * dx + dy * dy;
  if (square === 0) {
    spot.x = a.x + a.radius + spot.radius;
    spot.y = a.y;
    return;
  }
  const toA = (a.radius + spot.radius) ** 2;
  const toB = (b.radius + spot.radius) ** 2;
  const along = (square + toA - toB) / (2 * square);
  const high = Math.sqrt(Math.max(toA / square - along * along, 0));
  spot.x = a.x + along * dx + high * dy;
  spot.y = a.y + along * dy - high * dx;
}

/** The circle of the rim that a new one would overlap, looking from its pair outwards on both sides. */
function collision(spot, a, b) {
  let ahead = b.next;
  let behind = a.before;
  let gone = b.radius;
  let back = a.radius;
  do {
    if (gone <= back) {
      if (overlap(ahead, spot)) return { ahead };
      gone += ahead.radius;
      ahead = ahead.next;
    } else {
      if (overlap(behind, spot)) return { behind };
      back += behind.radius;
      behind = behind.before;
    }
  } while (ahead !== behind.next);
  return null;
}

function overlap(a, b) {
  const room = a.radius + b.radius - 1e-6;
  return room > 0 && (a.x - b.x) ** 2 + (a.y - b.y) ** 2 < room * room;
}

/** The circle of the rim whose gap to the next is nearest to the middle. */
function innermost(from) {
  let best = from;
  let least = gap(from);
  for (let one = from.next; one !== from; one = one.next) {
    const far = gap(one);
    if (far < least) {
      best = one;
      least = far;
    }
  }
  return best;
}

function gap(one) {
  const both = one.radius + one.next.radius;
  const x = (one.x * one.next.radius + one.next.x * one.radius) / both;
  const y = (one.y * one.next.radius + one.next.y * one.radius) / both;
  return x * x + y * y;
}

/** The same circles, moved so that the smallest circle around them has its middle at 0. */
function centred(spots) {
  let x = 0;
  let y = 0;
  // Each step goes a shrinking part of the way to the furthest circle: this closes in on the middle quickly.
  for (let turn = 1; turn <= 60 && spots.length; turn += 1) {
    const far = (one) => Math.hypot(one.x - x, one.y - y) + one.radius;
    const furthest = spots.reduce((most, one) => (far(one) > far(most) ? one : most));
    x += (furthest.x - x) / (turn + 1);
    y += (furthest.y - y) / (turn + 1);
  }
  return spots.map((one) => ({ x: one.x - x, y: one.y - y, radius: one.radius }));
}
