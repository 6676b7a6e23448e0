// Calls: every operation of the house, by name. Reads name their brain; acts say where they come from, as a terminal would.

import { NotTheOwner, VisitEnded, doubtOwner, meetOwner, renewVisit, signedFetch, visitEnds } from './visit.js';

const SESSION = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
const RENEW_MS = 6 * 3600 * 1000; // half of what a visit lasts
const LOOK_MS = 60_000; // a machine that slept, and a page that was loaded late, find out in time
const listeners = { signedOut: () => {}, passphrase: async () => null };

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

/** Tell who wants to know when the key does not hold any more. */
export function onSignedOut(handler) {
  listeners.signedOut = handler;
}

/** The headers of every request. */
const headers = (more = {}) => ({ 'Hindbrain-Agent': 'hall:person', 'Hindbrain-Session': SESSION, ...more });

/** The stream of what changes, as one signed request. */
export const events = (more, signal) => passed(signedFetch('/api/events', { headers: headers(more), signal }));

/** Make sure that the owner is there before something is loaded from it. */
export const reachable = () => passed(meetOwner());

async function passed(work) {
  try {
    return await work;
  } catch (failure) {
    if (failure instanceof VisitEnded) listeners.signedOut();
    if (failure instanceof VisitEnded || failure instanceof NotTheOwner) throw gone();
    throw failure;
  }
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
  return confirmed((more) => sent(`/api/op/${operation}`, args, { ...from, ...more }, signal));
}

// A home with a passphrase wants it for an act of a person: it is asked for, until it is right or the person gives up.
async function confirmed(send) {
  try {
    return await send({});
  } catch (failure) {
    if (failure.code !== 'passphrase_needed') throw failure;
    let trouble = null;
    for (;;) {
      const word = await listeners.passphrase(trouble);
      if (word === null) throw failure;
      doubtOwner(); // the owner proves itself once more before it gets this
      try {
        return await send({ 'Hindbrain-Passphrase': encodeURIComponent(word) });
      } catch (again) {
        if (again.code !== 'passphrase_wrong') throw again;
        trouble = again;
      }
    }
  }
}

/** Have a person asked for the passphrase: handler(what was wrong) gives it, or null. */
export function onPassphrase(handler) {
  listeners.passphrase = handler;
}

/** One of the plain reads under /api. */
export async function get(path, params = {}, { signal } = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
  return answered(await fetched(`/api/${path}${query.size ? `?${query}` : ''}`, { headers: headers(), signal }));
}

async function sent(path, args, more, signal) {
  const told = headers({ 'Content-Type': 'application/json', ...more });
  return answered(await fetched(path, { method: 'POST', headers: told, body: JSON.stringify(args), signal }));
}

const fetched = (path, options) => passed(signedFetch(path, options));

async function answered(response) {
  let answer;
  try {
    answer = await response.json();
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw new CallError('unreadable', `The owner answered ${response.status} without an answer.`, 'Look into owner.log in the home.');
  }
  if (answer.ok === false) throw failed(answer);
  return answer;
}

function failed(answer) {
  const error = typeof answer.error === 'object' && answer.error ? answer.error : {};
  const code = error.code ?? answer.refused ?? 'failed';
  const message = error.message ?? answer.reason ?? answer.rendered ?? 'The call was refused.';
  return new CallError(code, message, error.fix ?? answer.fix ?? null, answer);
}

// Headers carry plain letters only; the owner decodes the rest from percent signs.
const headerWord = (path) => encodeURIComponent(path).replaceAll('%2F', '/');

/** Have a new visit from the owner, while this one holds. */
export async function renew() {
  await renewVisit(await answered(await fetched('/api/hall/key', { method: 'POST', headers: headers() })));
}

/** Have the visit renewed for as long as the page stays open. */
export function keepSignedIn(tell) {
  const look = () => visitEnds() - Date.now() < RENEW_MS && renew().catch((failure) => tell(failure));
  setInterval(look, LOOK_MS);
  look();
}
