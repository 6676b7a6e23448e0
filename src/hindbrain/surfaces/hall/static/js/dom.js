// Elements: the only way text and markup come together here. Text becomes text nodes and nothing else.

const SVG = 'http://www.w3.org/2000/svg';
const HARMLESS = /^(#|\/hall\/|https?:\/\/)/;

// What has no shape of its own, or changes the order of what follows: shown as a mark that says what it is. Tabs and new lines
// are read as such; the signs that Arabic and Syriac numbers are written with have a shape.
const UNSEEN = /(?![\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const BREAKS = /[\r\u000b\u000c\u0085\u2028\u2029]/gu;
// Emoji, and the scripts that are written with joiners.
const JOINED = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{sc=Arab}\p{sc=Syrc}\p{sc=Nkoo}\p{sc=Mong}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Tibt}\p{sc=Mymr}\p{sc=Khmr}]/u;
const STYLED = /[\p{Emoji}\p{Lo}\p{So}\p{Sm}\p{Po}]/u; // what a variation selector may follow
const MARKS = 200; // of unseen characters in one text; a text of nothing else would fill the memory with marks

/** An element with properties and children. Strings are text; null, undefined and false are left out. */
export function h(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for a drawing. */
export function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === 'on') {
    for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
  } else if (name === 'value' || name === 'checked' || name === 'indeterminate') {
    element[name] = value;
  } else if (/^on|^style$|^srcdoc$/i.test(name)) {
    throw new Error(`${name} is not set from here`);
  } else if ((name === 'href' || name === 'src') && !HARMLESS.test(value)) {
    throw new Error('an address that leads nowhere safe');
  } else {
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Put these children in the place of all there were. */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Words that somebody stored: read in their own direction, with what is unseen in them made visible. */
export function text(value, { tag = 'span', mono = false, class: more = '' } = {}) {
  const whole = String(value ?? '');
  const kind = ['stored', mono && 'mono', more].filter(Boolean).join(' ');
  const element = h(tag, { class: kind, dir: 'auto' });
  let from = 0;
  let marks = 0;
  for (const found of whole.matchAll(UNSEEN)) {
    if (joins(whole, found.index)) continue;
    if (found.index > from) element.append(whole.slice(from, found.index));
    if (marks === MARKS) {
      element.append(shaped(whole.slice(found.index)));
      return element;
    }
    marks += 1;
    element.append(unseen(found[0]));
    from = found.index + found[0].length;
  }
  element.append(whole.slice(from));
  return element;
}

// A joiner between two emoji or two letters of a script that needs it is part of a word, and so is the one selector after a sign.
function joins(whole, at) {
  const code = whole.charCodeAt(at);
  const before = [...whole.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
  if (code === 0xfe0e || code === 0xfe0f) return STYLED.test(before);
  if (code !== 0x200c && code !== 0x200d) return false;
  const after = [...whole.slice(at + 1, at + 3)][0] ?? '';
  return JOINED.test(before) && JOINED.test(after);
}

// The same words with one sign for every unseen character: two names that differ by one never look the same.
const shaped = (words) => words.replace(UNSEEN, (character, at) => (joins(words, at) ? character : '\ufffd'));

function unseen(character) {
  const name = `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return h('span', { class: 'unseen', title: `an unseen character, ${name}` }, name);
}

/** Stored words as one line of plain text, for titles and labels. */
export function plain(value, most = 200) {
  const line = shaped(String(value ?? '').replace(BREAKS, ' ')).replace(/\s+/gu, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
