// Colours of the graph, read from the style sheet so that light, dark and a person's own contrast hold here as well.

const GROUPS = {
  directory: ['directory'],
  file: ['file'],
  class: ['class', 'struct', 'enum', 'type', 'interface', 'trait'],
  function: ['function', 'process'],
  section: ['module', 'reference'],
  claim: ['claim'],
};
const NAMES = { directory: 'Directory', file: 'File', class: 'Class or type', function: 'Function', section: 'Section or module', other: 'Constant or other', claim: 'Claim' };
const FULL = 235;
const DIM = 46;
const TONES = ['edge', 'lit', 'ring', 'warm', 'hot', 'label', 'paper', 'mark'];

/** The group a kind of node is coloured as. */
export function groupOf(kind) {
  return Object.keys(GROUPS).find((group) => GROUPS[group].includes(kind)) ?? 'other';
}

/** The groups that a model has, in the order of the legend: [[group, name, how many], …]. */
export function legendOf(model) {
  const counts = new Map();
  const groups = model.kinds.map(groupOf);
  for (const kind of model.kind) counts.set(groups[kind], (counts.get(groups[kind]) ?? 0) + 1);
  return Object.entries(NAMES).filter(([group]) => counts.has(group)).map(([group, name]) => [group, name, counts.get(group)]);
}

/** All colours as [red, green, blue], from the variables that hold where an element is. */
export function coloursOf(element) {
  const probe = document.createElement('span');
  element.after(probe);
  const read = (name) => {
    probe.style.color = `var(${name})`; // a variable is text; a property is a colour of the present theme
    return bytesOf(getComputedStyle(probe).color);
  };
  const groups = Object.fromEntries(Object.keys(NAMES).map((group) => [group, read(`--graph-${group}`)]));
  const tones = Object.fromEntries(TONES.map((tone) => [tone, read(`--graph-${tone}`)]));
  probe.remove();
  return { groups, ...tones };
}

/** A computed colour as bytes: rgb() has them, color(srgb …) has parts of one. */
function bytesOf(colour) {
  const parts = colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  return colour.startsWith('color(') ? parts.map((part) => Math.round(part * 255)) : parts;
}

/** The colour of every node as bytes, and how far its edges show: dim where something else is in the light. */
export function tinted({ model, groups, colours }, lit) {
  const tint = new Uint8Array(model.size * 4);
  for (let row = 0; row < model.size; row += 1) {
    tint.set(colours.groups[groups[model.kind[row]]], row * 4);
    tint[row * 4 + 3] = lit === null || lit.has(row) ? FULL : DIM;
  }
  return { tint, shown: new Float32Array(model.size).fill(lit === null ? 1 : 0.14) };
}

/** A colour for a canvas. */
export function css([red, green, blue], alpha = 1) {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

/** A colour between two others. */
export function mixed(from, to, part) {
  return from.map((value, at) => Math.round(value + (to[at] - value) * part));
}
