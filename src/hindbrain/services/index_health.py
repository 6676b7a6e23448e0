"""Index health: which derived files of a brain lag behind its memory or its checkout. Looks quickly and changes nothing."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.graph import FileFacts
from hindbrain.services import anchors
from hindbrain.services.brains import OpenBrain
from hindbrain.services.embedder import ModelState
from hindbrain.services.embedding import Embedding
from hindbrain.services.graphs import Graphs, Place
from hindbrain.stores.sqlite_files import copies_set_aside

__all__ = [
    "DERIVED",
    "Health",
    "damaged_index",
    "database_damage",
    "files_health",
    "graph_health",
    "kind_of_damage",
    "learned_health",
    "set_aside_health",
    "vectors_health",
]

FIX = "hindbrain doctor --fix"
# Derived files, with the name of what is wrong when one is damaged. Every other damage is one of the truth itself.
DERIVED = {"index.db": "index_lag", "vectors.db": "vectors_lag", "files.db": "files_damaged", "graph.db": "graph_stale"}
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
    return DERIVED.get(problem.partition(":")[0])


def database_damage(opened: OpenBrain) -> tuple[str, ...]:
    """What is wrong inside the databases of a brain, each with the name of its file. Reads every page of all of them."""
    graph = opened.graph if opened.graph_path.exists() else None
    return (*opened.store.check(), *opened.state.check(), *(graph.check() if graph is not None else ()))


def _damage(damage: Sequence[str], kind: str) -> str | None:
    return next((one for one in damage if kind_of_damage(one) == kind), None)


def damaged_index(damage: Sequence[str]) -> str | None:
    """What is wrong inside index.db, if anything."""
    return _damage(damage, "index_lag")


def files_health(damage: Sequence[str]) -> Health | None:
    """A damaged files.db: it is filled again by a look at every claim file."""
    problem = _damage(damage, "files_damaged")
    return Health(kind="files_damaged", text=problem, fix=FIX) if problem is not None else None


def set_aside_health(opened: OpenBrain) -> Iterator[Health]:
    """Damaged derived files that were replaced when somebody met them."""
    for path in copies_set_aside(opened.directory, *DERIVED):
        name = path.name.partition(".db")[0] + ".db"
        if path.name.startswith(f"{name}.corrupt."):  # its log goes with it
            yield Health(
                kind="set_aside", text=f"{name} was damaged and was replaced; the old file is {path}", fix=FIX, note=True
            )


def vectors_health(opened: OpenBrain, embedding: Embedding, damage: Sequence[str]) -> Health | None:
    """Rows that are found by words only, and why."""
    if problem := _damage(damage, "vectors_lag"):
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


def graph_health(opened: OpenBrain, graphs: Graphs, damage: Sequence[str]) -> Health | None:
    """A graph that is gone or damaged, or that shows files as they are no longer. The next ingest sees files that are new."""
    if problem := _damage(damage, "graph_stale"):
        return Health(kind="graph_stale", text=problem, fix=FIX)
    if opened.graph_lost:
        return Health(kind="graph_stale", text="graph.db, the graph of its code, is gone; memory is not touched", fix=FIX)
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
    """What use had taught, when it cannot be read, or could not be and a new file was begun."""
    if os.path.lexists(opened.learned_path) and (damage := opened.learned.check()):
        text = f"what use taught about the graph cannot be read: {damage[0]}"
        return Health(kind="learned_lost", text=text, fix="it is set aside when the brain is next opened")
    if aside := sorted(opened.directory.glob("learned.db.corrupt.*")):
        text = f"what use had taught about the graph could not be read and was put aside: {aside[-1]}"
        return Health(
            kind="learned_lost", text=text, fix="bring a saved copy back with hindbrain persist load, then remove that file"
        )
    return None
