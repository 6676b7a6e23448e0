// Visit: the secret that makes this page a person's. It is never sent: the page signs its calls with a key made of it, and believes
// only answers that the owner signed. Another program on the owner's port gets nothing that any owner would accept.

const KEPT = 'hall-visit'; // in the storage of this tab: other tabs of this address, which a stranger may have served, cannot read it
const ENTERED = 'hall-entered';
const CHALLENGE = 'Hindbrain-Challenge';
const encoder = new TextEncoder();

/** What the page knows of its visit. The secret is only ever in memory; a reload gets another one from the same owner. */
const visit = { id: null, secret: null, instance: null, key: null, home: null, proven: false };
const entrance = new BroadcastChannel(ENTERED);
let meeting = null;

/** The owner does not know this visit, or it has ended. */
export class VisitEnded extends Error {}

/** What answers is not the owner, or nothing answers. */
export class NotTheOwner extends Error {}

/** Begin with what the entrance gave, or with what this tab kept before a reload; false when there is neither. */
export async function beginVisit() {
  const told = Object.fromEntries(['visit', 'secret', 'instance'].map((name) => [name, taken(`hall-${name}`)]));
  if (told.visit) {
    visit.home = told.instance;
    await set(told.visit, told.secret, told.instance);
    entrance.postMessage('entered');
    return true;
  }
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
  if (!kept) return false;
  Object.assign(visit, { id: kept.id, instance: kept.instance, home: kept.instance, key: await imported(kept.key), proven: true });
  return true;
}

function taken(name) {
  const meta = document.querySelector(`meta[name="${name}"]`);
  meta?.remove();
  return meta?.content ?? null;
}

async function set(id, secret, instance) {
  const key = await mac(await imported(secret), `calls.${instance}`);
  Object.assign(visit, { id, secret: await imported(secret), instance, key: await imported(key), proven: true });
  // A key opens nothing at another owner. It is kept for a reload only at the owner whose entrance cleaned this address: later ones
  // may share it with what a stranger left in this browser meanwhile.
  if (instance === visit.home) sessionStorage.setItem(KEPT, JSON.stringify({ id, instance, key }));
  else sessionStorage.removeItem(KEPT);
}

/** Forget the visit: something here is not ours. */
export function forgetVisit() {
  Object.assign(visit, { id: null, secret: null, instance: null, key: null, proven: false });
  sessionStorage.removeItem(KEPT);
}

/** The connection broke: the next answer may come from anybody. */
export function doubtOwner() {
  visit.proven = false;
}

/** Until when the visit lasts, in milliseconds since 1970; 0 for a page that has to ask for a secret of its own. */
export const visitEnds = () => (visit.secret ? Number(visit.id.split('-')[0]) : 0);

/** Take a new visit that the owner gave in a signed answer. */
export const renewVisit = (answer) => set(answer.visit, answer.secret, answer.instance);

/** Hear that a person has opened the Hall again; the handler runs if this page may go on as well. */
export function onEntered(handler) {
  entrance.onmessage = async () => {
    if (!visit.secret) return;
    visit.proven = false;
    await meetOwner();
    if (visit.instance === visit.home) handler();
  };
}

/** Make sure that the owner is there before anything is sent to it or loaded from it. */
export async function meetOwner() {
  if (!visit.key) throw new VisitEnded();
  if (visit.proven || !visit.secret) return;
  meeting ??= met().finally(() => (meeting = null));
  await meeting;
}

async function met() {
  const challenge = nonce();
  const response = await reached(`/api/hall/owner?visit=${encodeURIComponent(visit.id)}`, { headers: { [CHALLENGE]: challenge } });
  if (response.status === 401) throw new VisitEnded();
  const answer = await response.json().catch(() => ({}));
  const expected = await mac(visit.secret, `owner.${challenge}.${answer.instance}.${location.host}`);
  if (answer.proof !== expected) throw new NotTheOwner();
  if (answer.instance === visit.instance) visit.proven = true;
  else await changed(answer.instance);
}

async function changed(instance) {
  const key = await imported(await mac(visit.secret, `calls.${instance}`));
  Object.assign(visit, { instance, key, proven: true });
  sessionStorage.removeItem(KEPT);
}

/** One signed request. Only an answer of the owner comes back; the request is made again when the owner is another one by now. */
export async function signedFetch(path, options = {}) {
  for (let tries = 0; tries < 2; tries += 1) {
    await meetOwner();
    const challenge = nonce();
    const { key, id } = visit;
    const { pathname, search } = new URL(path, location.href); // as the browser will send it
    const signature = await mac(key, `call.${challenge}.${options.method ?? 'GET'}.${pathname}${search}`);
    const headers = { ...options.headers, Authorization: `Hall ${id}.${challenge}.${signature}` };
    const response = await reached(path, { ...options, headers });
    if (response.headers.get('Hindbrain-Proof') === (await mac(key, `answer.${challenge}.${response.status}`))) return response;
    visit.proven = false;
    if (!visit.secret) throw response.status === 401 ? new VisitEnded() : new NotTheOwner();
  }
  throw new NotTheOwner();
}

async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    visit.proven = false;
    throw new NotTheOwner();
  }
}

const nonce = () => hex(crypto.getRandomValues(new Uint8Array(16)));
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const imported = (secret) => crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
const mac = async (key, text) => hex(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))));
