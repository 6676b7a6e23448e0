"""The graph of a mission, behind one small interface: how it is, what it finds, how it grows. The operating layer works without
one, too: the null graph holds nothing and finds nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, StoreBehind
from hindbrain.domain.stored import stored_number
from hindbrain.services.brains import Brains
from hindbrain.services.graphs import Graphs
from hindbrain.services.ingests import Request
from hindbrain.services.projects import Projects
from hindbrain.services.routing import Router

if TYPE_CHECKING:
    from hindbrain.services.finding import Finding
    from hindbrain.services.graph_room import GraphRoom

__all__ = ["GraphStatus", "HouseGraph", "MissionGraph", "NullGraph"]

_FOUND = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStatus:
    """How a graph is. What could not be found out is None, and `problem` says why."""

    nodes: int | None = 0
    edges: int = 0
    generation: int = 0
    roots: tuple[str, ...] = ()
    finalized: bool = True
    problem: str | None = None


class MissionGraph(Protocol):
    """All that the operating layer asks of a graph."""

    def status(self, caller: Caller) -> GraphStatus: ...

    def behind(self, caller: Caller, checkout: str) -> int | None:
        """How many files of a checkout are other than the graph has them; None when it cannot be found out."""
        ...

    def search(self, caller: Caller, query: str, *, kind: str | None = None, scope: str | None = None) -> list[str]: ...

    def ingest(self, caller: Caller, path: str, *, adapter: str = "code", mode: str | None = None) -> GraphStatus: ...

    def neighbors(self, caller: Caller, node: str) -> list[str]: ...

    def impact(self, caller: Caller, targets: Sequence[str]) -> list[str]: ...


class NullGraph:
    """No graph at all."""

    def status(self, caller: Caller) -> GraphStatus:
        return GraphStatus()

    def behind(self, caller: Caller, checkout: str) -> int | None:
        return 0

    def search(self, caller: Caller, query: str, *, kind: str | None = None, scope: str | None = None) -> list[str]:
        return []

    def ingest(self, caller: Caller, path: str, *, adapter: str = "code", mode: str | None = None) -> GraphStatus:
        return GraphStatus()

    def neighbors(self, caller: Caller, node: str) -> list[str]:
        return []

    def impact(self, caller: Caller, targets: Sequence[str]) -> list[str]:
        return []


class HouseGraph:
    """The code graph of the brain that serves a caller."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        graphs: Graphs,
        projects: Projects,
        room: "Callable[[], GraphRoom]",
        finding: "Callable[[], Finding]",
    ) -> None:
        self._brains = brains
        self._router = router
        self._graphs = graphs
        self._projects = projects
        self._room = room  # loads arrays, so it is asked for late
        self._finding = finding

    def status(self, caller: Caller) -> GraphStatus:
        """Counts of the code graph alone; claims do not count. Makes no graph to count it."""
        brain = self._router.route(caller).brain
        if brain is None:
            return GraphStatus()
        try:
            with self._brains.looking(), self._brains.use(brain) as opened:
                graph = opened.graph if opened.graph_path.exists() else None
                if graph is None:
                    return GraphStatus(generation=stored_number(opened.store.meta("graph.generation"), "meta"))
                nodes, edges, generation = graph.counts()
                roots = tuple(place.root for place in self._graphs.places(opened))
                return GraphStatus(nodes=nodes, edges=edges, generation=generation, roots=roots)
        except StoreBehind as behind:
            never = behind.details["found"] is None
            return GraphStatus(nodes=0 if never else None, problem=None if never else str(behind))
        except (HindbrainError, OSError) as failure:
            return GraphStatus(nodes=None, problem=str(failure))

    def behind(self, caller: Caller, checkout: str) -> int | None:
        brain = self._router.route(caller).brain
        if brain is None:
            return 0
        try:
            with self._brains.looking(), self._brains.use(brain) as opened:
                return len(self._graphs.behind(opened, checkout=checkout))
        except (HindbrainError, OSError):
            return None  # the status says why

    def search(self, caller: Caller, query: str, *, kind: str | None = None, scope: str | None = None) -> list[str]:
        """Node ids, the best first."""
        route, kinds = self._router.route(caller), (kind,) if kind else ()
        found = self._finding().code(route, query, limit=_FOUND, scope=scope, node_types=kinds, related=False)
        return [str(row["node_id"]) for row in found.rows]

    def ingest(self, caller: Caller, path: str, *, adapter: str = "code", mode: str | None = None) -> GraphStatus:
        request = Request(path=path, adapter=adapter, mode=mode)
        self._projects.ingest(caller, request, project_root=None, tier=None, progress=_silent)
        return self.status(caller)

    def neighbors(self, caller: Caller, node: str) -> list[str]:
        """Nodes that an edge leads to or comes from."""
        access = self._room().access
        with access.held(caller) as held:
            row = access.resolve(held, node)
            if row is None:
                return []
            net = held.graph.net
            there = {int(one) for one in net.target[net.source == row]} | {int(one) for one in net.source[net.target == row]}
            return sorted(net.ids[one] for one in there - {row})

    def impact(self, caller: Caller, targets: Sequence[str]) -> list[str]:
        """Nodes that a change of these may reach."""
        reached: dict[str, Any] = {}
        for target in targets:
            found = self._room().queries.impact(
                caller, node_id=target, direction="reverse", causal_chains=False, max_nodes=None, brain=None
            )
            reached |= dict.fromkeys(str(one["node_id"]) for one in found.answer["blast_radius"])
        return list(reached)


def _silent(done: int, total: int, text: str) -> None:
    """Nobody is watching."""
