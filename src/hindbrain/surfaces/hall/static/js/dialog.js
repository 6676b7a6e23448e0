// Dialogs: what needs a decision. Native ones: they hold the focus and close with Escape.

import { h, replace, text } from './dom.js';
import { refocus } from './keyed.js';
import { button, failure } from './ui.js';

/** Show a dialog with a title and children. Returns {element, close}; `onclose` when it is over. */
export function dialog(title, children, { onclose, class: more = '' } = {}) {
  const from = document.activeElement;
  const close = () => element.close();
  const element = h(
    'dialog',
    { class: `dialog ${more}`, 'aria-label': title, on: { close: () => (element.remove(), returned(from), onclose?.()) } },
    h('header', { class: 'dialog-head' }, h('h2', {}, title), button('×', { kind: 'quiet', label: 'Close', onclick: close })),
    children,
  );
  element.addEventListener('click', (event) => event.target === element && close());
  document.body.append(element);
  element.showModal();
  return { element, close };
}

// The browser gives the focus back to what opened a dialog, unless that was drawn anew meanwhile.
function returned(from) {
  if (!from.isConnected && document.activeElement === document.body) refocus(document.body, from);
}

/**
 * A person's act: says what will happen, asks for what it needs, has it confirmed, does it and tells.
 * fields: [{name, label, kind: 'text' | 'area' | 'select' | 'check', options, value, required, hint}];
 * typed: a word that must be typed before the act can be done; run(values) does it.
 */
export function confirmAct({ title, what, fields = [], typed, verb, kind = 'primary', run, done }) {
  const controls = fields.map((one) => [one, control(one)]);
  const word = typed ? h('input', { type: 'text', autocomplete: 'off', required: true, id: 'confirm-word' }) : null;
  const trouble = h('div', {});
  const go = button(verb, { kind, type: 'submit' });
  const form = h(
    'form',
    { class: 'form', on: { submit: submitted } },
    what && h('div', { class: 'what' }, what),
    controls.map(([one, element]) => labelled(one, element)),
    word && h('div', { class: 'field' }, h('label', { for: 'confirm-word' }, 'To confirm, type ', text(typed, { tag: 'b' })), word),
    trouble,
    h('div', { class: 'actions end' }, button('Cancel', { onclick: () => shown.close() }), go),
  );
  const ready = () => (go.disabled = Boolean(word) && word.value.trim() !== typed);
  word?.addEventListener('input', ready);
  ready();
  const shown = dialog(title, form);
  (controls[0]?.[1] ?? word ?? go).focus();

  async function submitted(event) {
    event.preventDefault();
    const values = Object.fromEntries(controls.map(([one, element]) => [one.name, one.kind === 'check' ? element.checked : element.value.trim()]));
    go.disabled = true;
    replace(trouble);
    try {
      const answer = await run(values);
      shown.close();
      done?.(answer);
    } catch (error) {
      if (!error.code) console.error(error);
      replace(trouble, failure(error));
      go.disabled = false;
    }
  }
}

/** Ask for the passphrase of this home; `trouble` says what was wrong with the last one. Gives null when the person gives up. */
export function passphrase(trouble) {
  return new Promise((given) => {
    let word = null;
    const input = h('input', { type: 'password', id: 'passphrase', autocomplete: 'off', required: true });
    const submitted = (event) => {
      event.preventDefault();
      word = input.value;
      shown.close();
    };
    const form = h(
      'form',
      { class: 'form', on: { submit: submitted } },
      h('div', { class: 'field' }, h('label', { for: 'passphrase' }, 'Passphrase of this home'), input),
      trouble && failure(trouble),
      h('div', { class: 'actions end' }, button('Cancel', { onclick: () => shown.close() }), button('Confirm', { kind: 'primary', type: 'submit' })),
    );
    const shown = dialog('Confirm as a person', form, { onclose: () => given(word) });
    input.focus();
  });
}

function control(one) {
  const props = { id: `act-${one.name}`, required: one.required, 'aria-describedby': one.hint && `act-${one.name}-hint` };
  if (one.kind === 'area') return h('textarea', { ...props, rows: 4, value: one.value ?? '' });
  if (one.kind === 'select') return h('select', props, one.options.map(([value, words]) => h('option', { value, selected: value === one.value }, words)));
  if (one.kind === 'check') return h('input', { ...props, type: 'checkbox', checked: one.value });
  return h('input', { ...props, type: 'text', value: one.value ?? '' });
}

function labelled(one, element) {
  const hint = one.hint && h('p', { class: 'hint muted', id: `act-${one.name}-hint` }, one.hint);
  const label = h('label', { for: element.id }, one.label);
  return h('div', { class: `field ${one.kind === 'check' ? 'check' : ''}` }, one.kind === 'check' ? [element, label] : [label, element], hint);
}

const spoken = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });

/** Say something in passing. Kinds: info, good, warn, bad. */
export function toast(words, kind = 'info', { keep = 5000 } = {}) {
  if (!spoken.isConnected) document.body.append(spoken);
  const note = h('div', { class: `toast ${kind}` }, typeof words === 'string' ? text(words) : words);
  spoken.append(note);
  if (keep) setTimeout(() => note.remove(), keep);
  return () => note.remove();
}
