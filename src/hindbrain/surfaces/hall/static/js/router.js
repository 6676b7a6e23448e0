// Addresses: every view has one, after the #. Going there is following a link.

import { h } from './dom.js';

/** The parts of the present address: path pieces and query. */
export function here() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query ?? '') };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray percent sign is itself
  }
}

/** The address of path pieces, with a query if there is one. */
export function address(parts, query = {}) {
  const told = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== ''));
  const path = parts.map((part) => encodeURIComponent(part)).join('/');
  return `#/${path}${told.size ? `?${told}` : ''}`;
}

/** Go to an address. */
export function go(parts, query) {
  location.hash = address(parts, query);
}

/** Change the query of the present address without a step in the history and without showing the view anew. */
export function note(query) {
  const { parts, query: now } = here();
  const merged = { ...Object.fromEntries(now), ...query };
  history.replaceState(history.state, '', address(parts, merged));
}

/** A link to an address. */
export function link(parts, props, ...children) {
  const { query, ...rest } = props ?? {};
  return h('a', { href: address(parts, query), ...rest }, ...children);
}
