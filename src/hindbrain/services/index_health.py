"""Index health: which derived files of a brain lag behind its memory or its checkout. Looks quickly and changes nothing."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.graph import FileFacts
from hindbrain.services import anchors
from hindbrain.services.brains import OpenBrain
from hindbrain.services.embedder import ModelState
from hindbrain.services.embedding import Embedding
from hindbrain.services.graphs import Graphs, Place

__all__ = ["Health", "damaged_index", "graph_health", "kind_of_damage", "learned_health", "vectors_health"]

FIX = "hindbrain doctor --fix"
_DERIVED = {"index.db": "index_lag", "vectors.db": "vectors_lag"}  # every other damage is one of the truth itself
_NAMED = 3  # changed files that a text names; all are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """One thing that is not as it should be. A note is no fault: the house works as it was set up."""

    kind: str
    text: str
    fix: str
    note: bool = False


def kind_of_damage(problem: str) -> str | None:
    """What a damage of a derived file is called; None for a damage of brain.db."""
    return _DERIVED.get(problem.partition(":")[0])


def damaged_index(opened: OpenBrain) -> str | None:
    """What is wrong inside index.db, if anything."""
    return next((one for one in opened.store.check() if kind_of_damage(one) == "index_lag"), None)


def vectors_health(opened: OpenBrain, embedding: Embedding) -> Health | None:
    """Rows that are found by words only, and why."""
    if problem := next((one for one in opened.store.check() if kind_of_damage(one) == "vectors_lag"), None):
        return Health(kind="vectors_lag", text=problem, fix=FIX)
    try:
        state = embedding.state(opened)
    except (HindbrainError, OSError) as failure:
        return Health(kind="vectors_lag", text=f"the vectors did not answer: {failure}", fix=FIX)
    if state.state is ModelState.DAMAGED:
        return Health(kind="model_damaged", text=f"searched by words only: {state.reason}", fix=state.fix or FIX)
    if state.stamp is None:
        text = f"searched by words only: {state.reason or 'there is no model'}"
        return Health(kind="no_model", text=text, fix=state.fix or "hindbrain model install", note=True)
    if state.pending:
        text = f"{state.pending} of {state.total} rows have no vectors yet and are found by words only"
        return Health(kind="vectors_lag", text=text, fix="hindbrain model embed", note=True)  # every row begins like this
    return None


def graph_health(opened: OpenBrain, graphs: Graphs) -> Health | None:
    """A graph that is gone, or that shows files as they are no longer. Files that are new are seen by the next ingest."""
    if opened.graph_lost:
        return Health(kind="graph_stale", text="the graph of its code is gone; memory is not touched", fix=FIX)
    graph = opened.graph if opened.graph_path.exists() else None
    if graph is None:
        return None
    changed = list(_changed(graphs.places(opened), graph.files()))
    if not changed:
        return None
    text = f"{len(changed)} files are not as they were taken in: {', '.join(changed[:_NAMED])}"
    return Health(kind="graph_stale", text=text, fix=FIX)


def _changed(places: list[Place], files: Mapping[str, FileFacts]) -> Iterator[str]:
    """Files that are gone or have other content. Only a file that looks changed is opened."""
    for path, facts in files.items():
        place = max((one for one in places if path.startswith(one.prefix)), key=lambda one: len(one.prefix), default=None)
        if place is None or not os.path.isdir(place.root):
            continue  # a root that is gone is told as such
        inside = path.removeprefix(place.prefix)
        try:
            seen = os.stat(os.path.join(place.root, inside))
        except OSError:
            yield path
            continue
        same = (seen.st_size, seen.st_mtime_ns) == (facts.size, facts.mtime_ns)
        if not same and anchors.file_digest(place.root, inside) != facts.sha256:
            yield path


def learned_health(opened: OpenBrain) -> Health | None:
    """What use had taught, when it could not be read and a new file was begun."""
    if aside := sorted(opened.directory.glob("learned.db.corrupt.*")):
        text = f"what use had taught about the graph could not be read and was put aside: {aside[-1]}"
        return Health(
            kind="learned_lost", text=text, fix="bring a saved copy back with hindbrain persist load, then remove that file"
        )
    return None
