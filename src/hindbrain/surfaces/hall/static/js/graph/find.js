// Finding nodes as one types: by label first, then by id. Pure; the lower-case texts are made once per model.

/** An index over the labels and ids of a model. */
export function finderOf(model) {
  return { model, labels: model.labels.map((label) => label.toLowerCase()), ids: model.ids.map((id) => id.toLowerCase()) };
}

/** The best rows for a text: every word must be in the label or the id. At most `most` rows, the best first. */
export function find({ model, labels, ids }, typed, most = 30) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const whole = words.join(' ');
  const found = [];
  for (let row = 0; row < model.size; row += 1) {
    if (!words.every((word) => ids[row].includes(word) || labels[row].includes(word))) continue;
    found.push([score(labels[row], ids[row], whole, words) + weight(model, row), row]);
  }
  found.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  return found.slice(0, most).map(([, row]) => row);
}

function score(label, id, whole, words) {
  if (label === whole || id === whole) return 8;
  if (label.startsWith(whole)) return 6;
  if (id.endsWith(whole)) return 5;
  if (words.every((word) => label.includes(word))) return 4;
  return words.some((word) => label.includes(word)) ? 2 : 0;
}

/** Among equals the better bound node comes first, and a file before its parts. */
function weight(model, row) {
  const bound = Math.log2(1 + model.start[row + 1] - model.start[row]) / 20;
  return bound + (model.kinds[model.kind[row]] === 'file' ? 0.5 : 0);
}
