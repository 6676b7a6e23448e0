// Icons: strokes of our own, drawn on a square of 24.

import { svg } from './dom.js';

const PATHS = {
  hall: 'M3 21V10l9-6 9 6v11M8 21v-8M12 21v-8M16 21v-8',
  mail: 'M3 6h18v12H3zM3 7l9 7 9-7',
  doctor: 'M4 12h4l2-6 4 12 2-6h4',
  memory: 'M5 4h14v16H5zM9 8h6M9 12h6M9 16h3',
  evidence: 'M6 3h9l4 4v14H6zM14 3v5h5',
  recall: 'M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14M16 16l5 5',
  knowledge: 'M4 5h5v14H4zM10 5h5v9h-5zM16 5h4v12h-4z',
  review: 'M5 12l4 4L19 6',
  missions: 'M5 21V4h12l-2 4 2 4H5',
  experience: 'M3 18c4 0 4-12 9-12s5 12 9 12',
  graph: 'M6 6a2 2 0 1 0 0.1 0M18 8a2 2 0 1 0 0.1 0M9 18a2 2 0 1 0 0.1 0M8 8l1 8M8 8l8 1M16 11l-6 7',
  cowork: 'M8 11a3 3 0 1 0 0-6a3 3 0 1 0 0 6M17 12a2.5 2.5 0 1 0 0-5a2.5 2.5 0 1 0 0 5M3 20c0-4 10-4 10 0M14 20c0-3 7-3 7 0',
  ledger: 'M6 4h12v16H6zM6 8h12M10 4v16',
  menu: 'M4 7h16M4 12h16M4 17h16',
  sun: 'M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  moon: 'M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10',
  auto: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 1 1 0 16',
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14M16 16l5 5',
};

/** An icon beside words that say the same. */
export function icon(name) {
  return svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true', focusable: 'false' }, svg('path', { d: PATHS[name] }));
}
