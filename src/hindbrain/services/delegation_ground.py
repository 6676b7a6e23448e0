"""The ground of a packet: what the code graph of a brain says about a task. Reads only; claims and their words stay out of it."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hindbrain.domain.delegation import Anchor, Dependents, Proof, Seeds
from hindbrain.engines.delegation import inside
from hindbrain.policy.activation import DIMENSIONS, SEEDS, SHOWN
from hindbrain.policy.delegation import ACTIVATED, ANCHORS, COHERENT, DEPENDENTS, NEAR
from hindbrain.services.brains import OpenBrain
from hindbrain.services.graphs import Graphs
from hindbrain.stores.checkout import head_of
from hindbrain.stores.repository import repository_of

if TYPE_CHECKING:
    from hindbrain.services.graph_access import Held
    from hindbrain.services.graph_room import GraphRoom

__all__ = ["Ground", "Grounding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is known of the code for one task. `files` are in the order of their scores."""

    nodes: int
    generation: int = 0
    head: str = "unknown"
    behind: int = 0
    files: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    seeds: Seeds = field(default_factory=Seeds)
    nearest: tuple[str, ...] = ()
    proof_state: str = "blocked"


class Grounding:
    """Asks the graph of an open brain."""

    def __init__(self, graphs: Graphs, room: "Callable[[], GraphRoom]", clock: Callable[[], int]) -> None:
        self._graphs = graphs
        self._room = room  # it loads arrays, so it is asked for late
        self._clock = clock

    def look(self, opened: OpenBrain, task: str, *, seeds: Sequence[str], max_nodes: int, checkout: str) -> Ground:
        """Wake the code by a task, or follow the names that were given instead."""
        graph = opened.graph if opened.graph_path.exists() else None
        nodes, _, generation = graph.counts() if graph is not None else (0, 0, 0)
        if not nodes:
            return Ground(nodes=0, generation=generation)
        held = self._held(opened)
        if not len(held.graph.files):
            return Ground(nodes=0, generation=generation)
        places = tuple(place.prefix for place in self._graphs.places(opened) if place.prefix)
        resolved, unresolved, nearest = self._named(held, seeds)
        scored = dict.fromkeys(resolved, 1.0) if seeds else self._woken(held, task)
        rows = [row for row in scored if held.graph.net.paths[row] and not held.graph.net.paths[row].startswith(places or "\x00")]
        files = self._files(held, rows, scored, max_nodes)
        best = {path: rank for rank, path in enumerate(files)}
        near = sorted((row for row in rows if held.graph.net.paths[row] in best), key=lambda row: (-scored[row], row))
        return Ground(
            nodes=nodes,
            generation=generation,
            head=head_of(checkout) or "unknown",
            behind=len(self._graphs.behind(opened, checkout=checkout)),
            files=tuple(files),
            anchors=tuple(self._anchor(held, row, scored[row]) for row in near[:ANCHORS]),
            seeds=Seeds(resolved=tuple(held.graph.net.ids[row] for row in resolved), unresolved=unresolved),
            nearest=nearest,
            proof_state=self._state([scored[row] for row in near], held.graph.net.kinds[near[0]] if near else ""),
        )

    def dependents(self, opened: OpenBrain, files: Sequence[str], *, expected: Sequence[str]) -> Dependents:
        """What hangs on some files by static edges, nearest first."""
        import numpy as np

        from hindbrain.engines.impact import blast

        held = self._held(opened)
        graph = held.graph
        rows = sorted({row for path in files for row in graph.by_path.get(path, ())})
        if not rows:
            return Dependents(expected_change=tuple(expected))
        with graph.lock:
            reached = blast(graph.net, np.array(rows, dtype=np.int64), "reverse", graph.claims, graph.directories)
        paths = [graph.net.paths[row] for row in reached.nodes[~reached.citation].tolist()]
        found = [path for path in dict.fromkeys(paths) if path and path not in expected]
        return Dependents(
            expected_change=tuple(expected), dependents=tuple(found[:DEPENDENTS]), truncated=len(found) > DEPENDENTS
        )

    def files_within(self, opened: OpenBrain, scopes: Sequence[str], among: Sequence[str]) -> tuple[str, ...]:
        """Files of the graph that a scope names itself, and of `among` those that lie in it."""
        graph = self._held(opened).graph
        files = (one for one in scopes if any(not graph.directories[row] for row in graph.by_path.get(one, ())))
        return tuple(dict.fromkeys([*files, *(one for one in among if inside(one, scopes))]))

    # -- parts -------------------------------------------------------------------------------------------------------

    def _held(self, opened: OpenBrain) -> "Held":
        from hindbrain.services.graph_access import Held

        return Held(opened=opened, graph=self._room().access.warm.of(opened, claims=False), own=False)

    def _named(self, held: "Held", seeds: Sequence[str]) -> tuple[list[int], tuple[str, ...], tuple[str, ...]]:
        names = held.graph.names
        found = {seed: names.resolve(seed) for seed in seeds}
        known = {seed: row for seed, row in found.items() if row is not None and not held.graph.claims[row]}
        unknown = tuple(seed for seed in found if seed not in known)
        nearest = tuple(one for seed in unknown[:3] for one in names.nearest(seed, SHOWN.suggestions))
        return list(dict.fromkeys(known.values())), unknown, tuple(dict.fromkeys(nearest)) if not known else ()

    def _woken(self, held: "Held", task: str) -> dict[int, float]:
        from hindbrain.engines.activation import activate

        graph = held.graph
        with graph.lock:
            found = activate(
                graph.net,
                graph.names,
                task,
                most_seeds=SEEDS.most,
                dimensions=tuple(DIMENSIONS),
                xlr=True,
                now=self._clock() / 1000,
            )
        pairs = zip(found.nodes[:ACTIVATED].tolist(), found.activation[:ACTIVATED].tolist(), strict=True)
        closed = graph.claims | graph.directories
        return {row: float(score) for row, score in pairs if not closed[row]}

    @staticmethod
    def _files(held: "Held", rows: Sequence[int], scored: dict[int, float], most: int) -> list[str]:
        """Files by their best node; none when the best of them says too little."""
        best: dict[str, float] = {}
        for row in rows:
            path = held.graph.net.paths[row]
            best[path] = max(best.get(path, 0.0), scored[row])
        top = max(best.values(), default=0.0)
        if top < COHERENT:
            return []
        near = [path for path, score in best.items() if score >= top * NEAR]
        return sorted(near, key=lambda path: (-best[path], path))[:most]

    @staticmethod
    def _anchor(held: "Held", row: int, score: float) -> Anchor:
        (node,) = held.nodes([row])
        return Anchor(node_id=node.id, path=node.path or "", line=node.line_start or None, score=round(score, 4))

    @staticmethod
    def _state(scores: Sequence[float], kind: str) -> str:
        from hindbrain.services.graph_access import proof_state

        return proof_state(scores, kind)


def checkout_of(root: str, caller_root: str | None) -> str:
    """The checkout of a brain's repository in which a caller stands; the brain's own root for any other place."""
    if caller_root is None:
        return root
    repository = repository_of(caller_root)
    return repository.worktree if repository.root == root else root


def ways_to_check(ground: Ground, near: Dependents) -> Proof:
    """Calls and commands that would show whether the work holds. Proposed, not run."""
    calls: list[dict[str, Any]] = [{"tool": "impact", "arguments": {"node_id": f"file::{path}"}} for path in ground.files[:3]]
    tests = [path for path in (*near.expected_change, *near.dependents) if _is_python_test(path)]
    shell = (shlex.join(["python", "-m", "pytest", *tests[:5]]),) if tests else ()
    return Proof(suggested_calls=tuple(calls), suggested_shell=shell)


def _is_python_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
