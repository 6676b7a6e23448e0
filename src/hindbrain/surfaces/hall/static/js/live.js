// Live: what changes, as it changes. Comes back by itself after the owner was away, and says so.

import { events } from './api.js';
import { doubtOwner } from './visit.js';

const FIRST_MS = 500;
const LONGEST_MS = 8000;
const BEGUN_MS = 1000; // a page that is shown without the stream is better than none
const SILENT_MS = 40_000; // the owner beats every 15 s
const SHARED = 'hall-stream'; // of all pages of one browser: it gives a place six connections, and each stream would keep one

/** What this page hears. One page of a browser has the stream and passes on what it hears. `state` is connecting, live or lost. */
export const live = {
  state: 'connecting',
  last: null,
  instance: null,
  early: false, // whether the page was read before it heard anything
  others: new BroadcastChannel(SHARED),
  handlers: new Set(),
  watchers: new Set(),

  /** Hear every change; returns the way to stop. */
  on(handler) {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  },

  /** Hear of the stream itself: handler(state, before). */
  watch(handler) {
    this.watchers.add(handler);
    return () => this.watchers.delete(handler);
  },

  /** Begin to hear. Kept as soon as it is known how the stream stands: what is read then misses nothing. */
  start() {
    let first = false;
    const begun = new Promise((known) => {
      this.watch(known);
      setTimeout(known, BEGUN_MS);
    }).then(() => (this.early = this.state !== 'live'));
    this.others.onmessage = ({ data }) => {
      if (data.asked) return first && this.others.postMessage({ state: this.state, instance: this.instance, last: this.last });
      if (data.state) tell(this, data.state);
      if (data.state === 'lost') doubtOwner();
      if (data.instance) this.instance = data.instance;
      this.last ??= data.last ?? null;
      return data.frame && hear(this, data.frame);
    };
    this.others.postMessage({ asked: true });
    navigator.locks.request(SHARED, () => ((first = true), follow(this, (heard) => this.others.postMessage(heard))));
    return begun;
  },
};

function tell(stream, state) {
  const before = stream.state;
  stream.state = state;
  if (state !== before) for (const handler of stream.watchers) handler(state, before);
}

// A greeting by the owner one knows brings nothing new; by another one, or when the page was read before it, all may have changed.
function hear(stream, event) {
  stream.last = event.id ?? stream.last;
  if (event.event === 'hello' || event.event === 'reset') {
    const known = stream.instance === null ? !stream.early : event.data.instance === stream.instance;
    stream.instance = event.data.instance;
    tell(stream, 'live');
    if (event.event === 'hello' && known) return;
    event.event = 'reset';
  }
  for (const handler of stream.handlers) handler(event);
}

async function follow(stream, pass) {
  let wait = FIRST_MS;
  for (;;) {
    const silence = new AbortController();
    try {
      const resumed = stream.last ? { 'Last-Event-ID': stream.last } : {};
      const response = await events(resumed, silence.signal);
      if (!response.ok) throw new Error(`events: ${response.status}`);
      for await (const frame of frames(response.body, silence)) {
        wait = FIRST_MS;
        pass({ frame });
        hear(stream, frame);
      }
    } catch (failure) {
      if (failure instanceof SyntaxError) throw failure; // a frame that is no JSON is a defect of ours
    }
    doubtOwner();
    tell(stream, 'lost');
    pass({ state: 'lost' });
    await new Promise((resume) => setTimeout(resume, wait));
    wait = Math.min(LONGEST_MS, wait * 1.6);
  }
}

// Frames of a stream of events. An end without a word would look like calm: silence ends the reading.
async function* frames(body, silence) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENT_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const frame = parsed(part);
      if (frame) yield frame;
    }
  }
}

function parsed(part) {
  const frame = { id: null, event: 'message', data: null };
  for (const line of part.split('\n')) {
    const [name, ...rest] = line.split(': ');
    if (name === 'id') frame.id = rest.join(': ');
    if (name === 'event') frame.event = rest.join(': ');
    if (name === 'data') frame.data = JSON.parse(rest.join(': '));
  }
  return frame.data === null ? null : frame;
}
