// The studio: the page's side of the worker that settles nodes and paints pictures. One picture is on its way at a time.

const WORKER = new URL('./worker.js', import.meta.url).href;

/** The page lets no address become a script but this one. */
const policy = globalThis.trustedTypes?.createPolicy('hall', {
  createScriptURL(address) {
    if (address !== WORKER) throw new TypeError('this address is no worker of the Hall');
    return address;
  },
});

/** A studio. `onplaces(at, {progress, done})` and `onpicture(picture)` hear of its work, `onfailure()` of its end. */
export function studio({ onplaces, onpicture, onfailure }) {
  const worker = new Worker(policy ? policy.createScriptURL(WORKER) : WORKER, { type: 'module', name: 'graph' });
  let busy = false;
  let wanted = null;
  let spare = null;
  const next = () => {
    if (busy || !wanted) return;
    busy = true;
    const order = { kind: 'picture', ...wanted, spare };
    worker.postMessage(order, spare ? [spare] : []);
    wanted = null;
    spare = null;
  };
  const heard = {
    places: ({ at, progress, done }) => onplaces(at, { progress, done }),
    picture(picture) {
      busy = false;
      onpicture(picture);
      spare = picture.pixels.buffer;
      next();
    },
  };
  worker.onmessage = ({ data }) => heard[data.kind](data);
  worker.onerror = (event) => {
    event.preventDefault();
    onfailure(event.message);
  };
  return {
    /** Begin with a model whose nodes stand at `at`. */
    begin(model, at, { still, settled, radius, order }) {
      const scene = { source: model.source, target: model.target, radius, order, ring: model.cited, ...blank(model.size) };
      worker.postMessage({ kind: 'graph', scene, at, same: sameFile(model), still, settled });
    },
    look(tint, shown) {
      worker.postMessage({ kind: 'look', tint, shown });
    },
    /** Ask for a picture {width, height, view, tone}; only the newest wish counts. */
    want(picture) {
      wanted = picture;
      next();
    },
    end: () => worker.terminate(),
  };
}

function blank(size) {
  return { tint: new Uint8Array(size * 4), shown: new Float32Array(size).fill(1) };
}

/** Which edges stay inside one file, or bind a claim to what it cites. */
function sameFile(model) {
  const claim = model.kinds.indexOf('claim');
  return Uint8Array.from(model.source, (row, edge) => {
    const end = model.target[edge];
    return model.path[row] === model.path[end] || model.kind[row] === claim || model.kind[end] === claim ? 1 : 0;
  });
}
