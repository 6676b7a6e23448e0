// The graph as columns: numbers in typed arrays, texts beside them, and who is bound to whom. Knows nothing of drawing.

/** A model from the columns of `graph.columns`. */
export function modelOf(columns) {
  const { nodes, edges } = columns;
  const size = nodes.id.length;
  const source = Uint32Array.from(edges.source);
  const target = Uint32Array.from(edges.target);
  const arcs = arcsOf(size, source, target);
  const kind = Uint16Array.from(nodes.kind);
  const slugs = new Map(columns.claims.node.map((row, at) => [row, columns.claims.slug[at]]));
  return {
    size,
    ids: nodes.id,
    labels: nodes.label,
    kinds: columns.kinds,
    kind,
    paths: columns.paths,
    path: Uint32Array.from(nodes.path),
    relations: columns.relations,
    source,
    target,
    relation: Uint16Array.from(edges.relation),
    ...arcs,
    slugs,
    cited: spread(size, columns.cited),
    leftOut: columns.left_out,
    index: new Map(nodes.id.map((id, row) => [id, row])),
    bySlug: new Map([...slugs].map(([row, slug]) => [slug, row])),
  };
}

/** Edges seen from their nodes: for each row the range `start[row]` to `start[row + 1]` of `other` and `edge`. */
function arcsOf(size, source, target) {
  const start = new Uint32Array(size + 1);
  for (let at = 0; at < source.length; at += 1) {
    start[source[at] + 1] += 1;
    start[target[at] + 1] += 1;
  }
  for (let row = 0; row < size; row += 1) start[row + 1] += start[row];
  const next = start.slice(0, size);
  const other = new Uint32Array(source.length * 2);
  const edge = new Uint32Array(source.length * 2);
  const put = (row, end, at) => {
    other[next[row]] = end;
    edge[next[row]] = at;
    next[row] += 1;
  };
  for (let at = 0; at < source.length; at += 1) {
    put(source[at], target[at], at);
    put(target[at], source[at], at);
  }
  return { start, other, edge };
}

/** How many claims cite each node. */
function spread(size, { node, claims }) {
  const cited = new Uint16Array(size);
  node.forEach((row, at) => {
    cited[row] = claims[at];
  });
  return cited;
}

/** How many edges a node has. */
export function degree(model, row) {
  return model.start[row + 1] - model.start[row];
}

/** The neighbours of a node: [{row, relation, out}], strongest ties first as the edges come. */
export function neighbours(model, row) {
  const found = [];
  for (let at = model.start[row]; at < model.start[row + 1]; at += 1) {
    const edge = model.edge[at];
    found.push({ row: model.other[at], relation: model.relations[model.relation[edge]], out: model.source[edge] === row });
  }
  return found;
}

/** The rows at most `depth` edges away, each with its distance: Map(row -> hops). Directories are not passed through. */
export function around(model, row, depth) {
  const directory = model.kinds.indexOf('directory');
  const hops = new Map([[row, 0]]);
  let front = [row];
  for (let hop = 1; hop <= depth; hop += 1) {
    const next = [];
    for (const here of front) {
      if (hop > 1 && model.kind[here] === directory) continue; // what else lies there is no neighbour
      for (let at = model.start[here]; at < model.start[here + 1]; at += 1) {
        const there = model.other[at];
        if (!hops.has(there)) {
          hops.set(there, hop);
          next.push(there);
        }
      }
    }
    front = next;
  }
  return hops;
}

/** The slug of the claim that a node of the graph belongs to, or null. */
function slugOf(id) {
  const parts = id.split('::');
  return parts[0] === 'light' && parts.length >= 4 && parts[3].endsWith('-light-md') ? parts[3].slice(0, -'-light-md'.length) : null;
}

/** The row that an id of an answer stands for: the node itself, or the claim it is a part of. */
export function rowOf(model, id) {
  const row = model.index.get(id);
  if (row !== undefined) return row;
  const slug = slugOf(id);
  return slug === null ? undefined : model.bySlug.get(slug);
}

/** The edges whose both ends are among the keys of a set or map of rows. */
export function edgesWithin(model, rows) {
  const found = [];
  for (const row of rows.keys()) {
    for (let at = model.start[row]; at < model.start[row + 1]; at += 1) {
      const edge = model.edge[at];
      if (model.source[edge] === row && rows.has(model.target[edge])) found.push(edge);
    }
  }
  return found;
}
