// Calls: every operation of the house, by name. Reads name their brain; acts say where they come from, as a terminal would.

const SESSION = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
/** Where the key of the visit is kept. */
export const KEPT = 'hall-key';
const RENEW_MS = 6 * 3600 * 1000; // half of what a key lasts
const LOOK_MS = 60_000; // a machine that slept, and a page that was loaded late, find out in time
const listeners = { signedOut: () => {} };

/** What a call failed with: a code, a sentence, and a safe way out. */
export class CallError extends Error {
  constructor(code, message, fix, answer) {
    super(message);
    this.code = code;
    this.fix = fix;
    this.answer = answer;
  }
}

/** That nobody answers. */
export const gone = () => new CallError('owner_gone', 'The owner does not answer.', 'It starts with: hindbrain hall');

/** Whether this browser holds a key at all. */
export const signedIn = () => Boolean(localStorage.getItem(KEPT));

/** Tell who wants to know when the key does not hold any more. */
export function onSignedOut(handler) {
  listeners.signedOut = handler;
}

/** The owner does not take the key any more. */
export const refused = () => listeners.signedOut();

/** The headers of every request. */
export function headers(more = {}) {
  return {
    Authorization: `Bearer ${localStorage.getItem(KEPT) ?? ''}`,
    'Hindbrain-Agent': 'hall:person',
    'Hindbrain-Session': SESSION,
    ...more,
  };
}

/** Read: the answer of an operation that changes nothing, about a brain if one is named. */
export function ask(operation, args = {}, { brain, signal } = {}) {
  const about = brain ? `?brain=${encodeURIComponent(brain.root ?? 'medulla')}` : '';
  return sent(`/api/op/${operation}${about}`, args, {}, signal);
}

/** Act: the answer of an operation that changes something, done as a person standing in that repository. */
export function act(operation, args = {}, { brain, signal } = {}) {
  // A session stays with the brain it began in: each brain has one of its own, or an act would go where the last one went.
  const session = { 'Hindbrain-Session': `${SESSION}.${brain?.id ?? 'house'}` };
  const from = brain?.root ? { 'Hindbrain-Caller-Root': headerWord(brain.root), ...session } : session;
  return sent(`/api/op/${operation}`, args, from, signal);
}

/** One of the plain reads under /api. */
export async function get(path, params = {}, { signal } = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
  return answered(await fetched(`/api/${path}?${query}`, { headers: headers(), signal }));
}

async function sent(path, args, more, signal) {
  const told = headers({ 'Content-Type': 'application/json', ...more });
  return answered(await fetched(path, { method: 'POST', headers: told, body: JSON.stringify(args), signal }));
}

async function fetched(path, options) {
  try {
    return await fetch(path, options);
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw gone();
  }
}

async function answered(response) {
  let answer;
  try {
    answer = await response.json();
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw new CallError('unreadable', `The owner answered ${response.status} without an answer.`, 'Look into owner.log in the home.');
  }
  if (response.status === 401) refused();
  if (answer.ok === false) throw failed(answer);
  return answer;
}

function failed(answer) {
  const error = typeof answer.error === 'object' && answer.error ? answer.error : {};
  const code = error.code ?? answer.error ?? answer.refused ?? 'failed';
  const message = error.message ?? answer.message ?? answer.reason ?? answer.rendered ?? 'The call was refused.';
  return new CallError(code, message, error.fix ?? answer.fix ?? null, answer);
}

// Headers carry plain letters only; the owner decodes the rest from percent signs.
const headerWord = (path) => encodeURIComponent(path).replaceAll('%2F', '/');

async function renew() {
  const answer = await answered(await fetched('/api/hall/key', { method: 'POST', headers: headers() }));
  localStorage.setItem(KEPT, answer.key);
}

// A key tells until when it holds.
const left = () => Number((localStorage.getItem(KEPT) ?? '').split('.')[1]) - Date.now();

/** Have the key renewed for as long as the page stays open. */
export function keepSignedIn(tell) {
  const look = () => left() < RENEW_MS && renew().catch((failure) => tell(failure));
  setInterval(look, LOOK_MS);
  look();
}
