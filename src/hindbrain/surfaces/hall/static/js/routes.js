// Routes: which view shows which address, and what the palette and the keyboard call them.

/** Views of the whole house: first path piece, name, icon, key after `g`. */
export const HOUSE_VIEWS = [
  { path: '', name: 'Hall', icon: 'hall', key: 'h', load: () => import('./views/hall.js') },
  { path: 'mail', name: 'Mail', icon: 'mail', key: 'l', load: () => import('./views/mail.js') },
  { path: 'doctor', name: 'Doctor', icon: 'doctor', key: 'd', load: () => import('./views/doctor.js') },
];

/** Views of one brain; those with `projects` are not offered for the medulla. */
export const BRAIN_VIEWS = [
  { path: 'memory', name: 'Memory', icon: 'memory', key: 'm', load: () => import('./views/memory.js') },
  { path: 'evidence', name: 'Evidence', icon: 'evidence', key: 'e', load: () => import('./views/evidence.js') },
  { path: 'recall', name: 'Recall tester', icon: 'recall', key: 'r', load: () => import('./views/recall.js') },
  { path: 'knowledge', name: 'Knowledge', icon: 'knowledge', key: 'k', load: () => import('./views/knowledge.js') },
  { path: 'review', name: 'Review', icon: 'review', key: 'v', load: () => import('./views/review.js') },
  { path: 'missions', name: 'Missions', icon: 'missions', key: 'i', projects: true, load: () => import('./views/missions.js') },
  { path: 'experience', name: 'Experience', icon: 'experience', key: 'x', projects: true, load: () => import('./views/experience.js') },
  { path: 'graph', name: 'Graph', icon: 'graph', key: 'g', projects: true, load: () => import('./views/graph.js') },
  { path: 'cowork', name: 'Cowork', icon: 'cowork', key: 'c', projects: true, load: () => import('./views/cowork.js') },
  { path: 'ledger', name: 'Ledger', icon: 'ledger', key: 't', load: () => import('./views/ledger.js') },
];

/** The view of path pieces: {view, brain id, rest}; view is undefined where nothing is. */
export function viewOf(parts) {
  if (parts[0] === 'b') {
    const view = BRAIN_VIEWS.find((one) => one.path === (parts[2] ?? 'memory'));
    return { view, brainId: parts[1], rest: parts.slice(3) };
  }
  return { view: HOUSE_VIEWS.find((one) => one.path === (parts[0] ?? '')), brainId: null, rest: parts.slice(1) };
}
