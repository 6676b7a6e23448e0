// The Hall begins here: shell, stream, and the view of the present address.

import { CallError, gone, keepSignedIn, onPassphrase, onSignedOut, reachable, renew } from './api.js';
import { brainOf, house, looked, readable, refresh } from './brains.js';
import { h, plain, replace, text } from './dom.js';
import { passphrase, toast } from './dialog.js';
import { listenForKeys } from './keys.js';
import { live } from './live.js';
import { palette } from './palette.js';
import { arrive, leave } from './places.js';
import { here } from './router.js';
import { viewOf } from './routes.js';
import { shell } from './shell.js';
import { aged, empty, failure, inTurn, loading, steady } from './ui.js';
import { beginVisit, forgetVisit, onEntered } from './visit.js';

const AGE_MS = 20_000;
let leaving = new AbortController();
let around = null;
let failed = false; // whether the view could not be shown
let lacking = false; // a module could not be loaded: a browser does not ask for it again, only for a page
let out = false;

// A dialog stays: whoever wrote something in it can send it once the next visit has begun.
function signedOut() {
  if (out) return;
  out = true;
  leaving.abort();
  document.title = 'Hindbrain: signed out';
  const words = 'This visit has ended, or it never began. A person at a terminal opens the next one.';
  for (const child of [...document.body.children]) if (!child.matches('dialog[open]')) child.remove();
  document.body.prepend(h('main', { class: 'alone' }, h('h1', {}, 'The Hall is closed'), empty('You are not signed in', words, { command: 'hindbrain hall' })));
  onEntered(() => renew().then(signedInAgain));
}

// A person has opened the Hall again in this browser; a page that was left open goes on as well.
function signedInAgain() {
  const open = document.querySelector('dialog[open]');
  if (open) open.addEventListener('close', () => location.reload());
  else location.reload();
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { parts, query } = here();
  const { view, brainId, rest } = viewOf(parts);
  failed = false;
  leave();
  for (const open of document.querySelectorAll('dialog[open]')) open.close();
  around.draw();
  window.scrollTo(0, 0);
  const root = h('div', { class: 'view' });
  replace(around.main, root);
  around.main.setAttribute('aria-busy', 'true');
  const waiting = setTimeout(() => root.childNodes.length || replace(root, loading()), 120);
  const missed = []; // what changes while the view reads may not be in what it reads
  const stop = live.on((event) => missed.push(event));
  try {
    if (lacking) {
      await refresh({ signal });
      location.reload();
      return;
    }
    if (!house.brains.length || (brainId && !brainOf(brainId))) await refresh({ signal });
    const brain = brainId === null ? null : brainOf(brainId);
    if (!view || (brainId !== null && !brain)) {
      replace(root, h('h1', {}, 'Nothing is here'), empty('This address leads nowhere', 'The brain may be gone from this home, or the address was cut.', { action: h('a', { class: 'button', href: '#/' }, 'To the Hall') }));
      return;
    }
    const nothing = brain && unshown(view, brain);
    if (nothing) {
      replace(root, h('h1', {}, view.name), nothing);
      return;
    }
    if (brain) looked(brain);
    await reachable(); // a script of another program on this port would have all that this page has
    const module = await view.load();
    if (signal.aborted) return;
    await module.show(pageOf(root, signal, view, brain, query, missed), rest);
    around.draw();
    if (!signal.aborted) arrive(around.main);
  } catch (error) {
    if (signal.aborted || error.name === 'AbortError') return;
    failed = true;
    lacking ||= error instanceof TypeError && /import/i.test(error.message) && /module/i.test(error.message);
    if (!lacking && !(error instanceof CallError)) console.error(error);
    replace(root, h('h1', {}, view?.name ?? 'Hindbrain'), failure(lacking ? gone() : error, show));
  } finally {
    clearTimeout(waiting);
    stop();
    if (!signal.aborted) around.main.setAttribute('aria-busy', 'false');
  }
}

/** Why a brain has nothing to show in a view, or null. */
function unshown(view, brain) {
  const hall = h('a', { class: 'button', href: '#/' }, 'To the Hall');
  if (!readable(brain)) {
    const why = brain.health.why[0];
    return empty('This brain cannot be read', text(why?.text ?? 'Nobody can say whose it is.'), { command: 'hindbrain doctor', action: hall });
  }
  const elsewhere = view.projects && brain.kind !== 'project';
  return elsewhere ? empty('The medulla has none of this', 'It holds what belongs to no project; this is told of the work in a repository. Choose a project’s brain.', { action: hall }) : null;
}

/** What a view gets: where to draw, until when, and how to hear of changes. */
function pageOf(root, signal, view, brain, query, missed) {
  const titled = (words) => (document.title = [plain(words, 80), brain && plain(brain.display_name, 40), 'Hindbrain'].filter(Boolean).join(' · '));
  titled(view.name);
  return {
    root,
    signal,
    brain,
    query,
    title: titled,
    /** A reading that may be done at any time, one at a time: what fails is told, and a page that was left reads nothing. */
    redone: (reading) => inTurn(() => heard(signal, reading)),
    /** Hear of what changes in this brain (or in the house), one call at a time; `reset` means that all may have changed. */
    onLive(handler, { wait = 250, wants = () => true } = {}) {
      const calm = steady(wait, (event) => heard(signal, () => handler(event)));
      const hear = (event) => {
        const name = event.data?.brain;
        if ((!brain || !name || name === (brain.root ?? 'medulla')) && wants(event)) calm(event);
      };
      signal.addEventListener('abort', live.on(hear));
      missed.splice(0).forEach(hear);
    },
  };
}

// That the owner is away is told by the frame, and all is read anew when it is back.
async function heard(signal, handler) {
  try {
    if (!signal.aborted) await handler();
  } catch (error) {
    if (signal.aborted || error.name === 'AbortError' || error.code === 'owner_gone') return;
    if (!(error instanceof CallError)) throw error;
    toast(error.message, 'bad');
  }
}

// What could not be shown while the owner was away is shown when it is back.
function back(event) {
  if (failed && event.event === 'reset') show();
}

// The Hall has no worker of this kind. One that takes over this page was left by another program that had this port.
function refuseWorkers() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  const stranger = () => {
    forgetVisit();
    signedOut();
  };
  workers.addEventListener('controllerchange', stranger);
  workers.getRegistrations().then((found) => found.forEach((one) => one.unregister()));
  if (workers.controller) stranger();
}

// A tab that a page opens gets a copy of its storage, and so its visit; one that the browser opens by itself does not.
function openBeside(event) {
  const link = event.target.closest?.('a[href^="#"]');
  if (!link || !(event.ctrlKey || event.metaKey || event.button === 1)) return;
  event.preventDefault();
  window.open(`/${link.getAttribute('href')}`);
}

async function begin() {
  if (location.search) history.replaceState(null, '', `/${location.hash}`);
  const entered = await beginVisit();
  refuseWorkers();
  if (!entered || out) {
    signedOut();
    return;
  }
  onSignedOut(signedOut);
  onPassphrase(passphrase);
  document.addEventListener('click', openBeside);
  document.addEventListener('auxclick', openBeside);
  around = shell({ onsearch: palette });
  listenForKeys();
  window.addEventListener('hashchange', show);
  live.on(steady(400, () => refresh().catch((error) => error.code === 'owner_gone' || toast(error.message, 'bad'))));
  live.on(back);
  const begun = live.start();
  keepSignedIn((error) => error.code === 'owner_gone' || toast(error.message, 'warn'));
  setInterval(aged, AGE_MS);
  begun.then(show);
}

begin();
