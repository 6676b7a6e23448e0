"""The network: a graph as columns and index ranges, ready for arithmetic. Knows nothing of where it is stored or learned."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hindbrain.policy.activation import LEARNING

__all__ = ["Arcs", "Columns", "Network", "Outline"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Outline(Protocol):
    """What nodes are called and which are joined: one row per node, ordered by external id, and one per edge."""

    @property
    def ids(self) -> Sequence[str]: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def kinds(self) -> Sequence[str]: ...
    @property
    def paths(self) -> Sequence[str]: ...
    @property
    def source(self) -> NDArray[np.int32]: ...
    @property
    def target(self) -> NDArray[np.int32]: ...


class Columns(Outline, Protocol):
    """What a network is made from: the outline, and what is known of each node and edge."""

    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def last_modified(self) -> NDArray[np.float64]: ...
    @property
    def change_frequency(self) -> NDArray[np.float32]: ...
    @property
    def pagerank(self) -> NDArray[np.float32]: ...
    @property
    def relation(self) -> NDArray[np.int16]: ...
    @property
    def relations(self) -> Sequence[str]: ...
    @property
    def weight(self) -> NDArray[np.float32]: ...
    @property
    def causal(self) -> NDArray[np.float32]: ...
    @property
    def inhibitory(self) -> NDArray[np.bool_]: ...
    @property
    def bidirectional(self) -> NDArray[np.bool_]: ...


class Arcs:
    """Edges seen from one end: for each node the range of its arcs, each with the node at the other end and the edge."""

    __slots__ = ("edge", "other", "start")

    def __init__(self, here: NDArray[np.int32], there: NDArray[np.int32], edges: Ints, nodes: int) -> None:
        order = np.argsort(here, kind="stable")
        self.start = np.zeros(nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(here, minlength=nodes), out=self.start[1:])
        self.other = there[order]
        self.edge = edges[order].astype(np.int32)

    def of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """For some nodes: the position in `nodes` each arc belongs to, and the arc. Touches nothing else."""
        first = self.start[nodes]
        count = self.start[nodes + 1] - first
        total = int(count.sum())
        owner = np.repeat(np.arange(len(nodes)), count)
        before = np.cumsum(count) - count
        return owner, np.repeat(first - before, count) + np.arange(total)

    def degree(self) -> Ints:
        return np.diff(self.start)


class Network:
    """Nodes in the order of their external ids, so that an index breaks a tie as the id does; edges by source and target.

    Weights are what was learned, as of the last change; edges of nodes that nobody asked for lose some with every learning
    query, and that is worked out when an edge is used (`strength`), never for all edges.
    """

    def __init__(self, columns: Columns) -> None:
        self.ids, self.labels, self.kinds = columns.ids, columns.labels, columns.kinds
        self.paths, self.tags, self.relations = columns.paths, columns.tags, columns.relations
        self.last_modified = np.nan_to_num(np.asarray(columns.last_modified, dtype=np.float64))
        self.change_frequency = np.nan_to_num(np.asarray(columns.change_frequency, dtype=np.float64))
        self.pagerank = np.nan_to_num(np.asarray(columns.pagerank, dtype=np.float64))
        source, target = np.asarray(columns.source, dtype=np.int32), np.asarray(columns.target, dtype=np.int32)
        order = np.lexsort((columns.relation, target, source))
        self.source, self.target = source[order], target[order]
        self.relation = np.asarray(columns.relation, dtype=np.int16)[order]
        # A weight that is no finite number carries nothing.
        self.derived = np.nan_to_num(np.asarray(columns.weight, dtype=np.float64)[order], posinf=0.0, neginf=0.0)
        self.causal = np.nan_to_num(np.asarray(columns.causal, dtype=np.float64)[order], posinf=0.0, neginf=0.0)
        self.inhibitory = np.asarray(columns.inhibitory, dtype=bool)[order]
        self.bidirectional = np.asarray(columns.bidirectional, dtype=bool)[order]
        self._kept = np.maximum(LEARNING.floor, LEARNING.kept * np.minimum(self.derived, LEARNING.structure))
        self.weight = self.derived.copy()
        self.rest = np.minimum(self.weight, self._kept)  # what decay leaves of each weight
        self.queries = 0  # learning queries since the weights were set
        self.active = np.zeros(len(self.ids), dtype=np.int64)  # of those, the ones in which each node was active

    @property
    def nodes(self) -> int:
        return len(self.ids)

    @property
    def edges(self) -> int:
        return len(self.source)

    # -- arcs --------------------------------------------------------------------------------------------------------

    @cached_property
    def out(self) -> Arcs:
        """Arcs along the edges; a bidirectional edge goes both ways."""
        edges = np.arange(self.edges)
        back = edges[self.bidirectional]
        return Arcs(
            np.concatenate([self.source, self.target[back]]),
            np.concatenate([self.target, self.source[back]]),
            np.concatenate([edges, back]),
            self.nodes,
        )

    @cached_property
    def back(self) -> Arcs:
        """Arcs against the edges; a bidirectional edge goes both ways."""
        edges = np.arange(self.edges)
        both = edges[self.bidirectional]
        return Arcs(
            np.concatenate([self.target, self.source[both]]),
            np.concatenate([self.source, self.target[both]]),
            np.concatenate([edges, both]),
            self.nodes,
        )

    @cached_property
    def degree(self) -> Ints:
        return self.out.degree()

    @cached_property
    def by_degree(self) -> Ints:
        """Nodes by degree, then by id."""
        return np.argsort(self.degree, kind="stable")

    # -- weights -----------------------------------------------------------------------------------------------------

    def idle(self, nodes: NDArray[np.int32]) -> Ints:
        """For how many learning queries each of these nodes was not active."""
        return self.queries - self.active[nodes]

    def strength(self, edges: NDArray[np.int32]) -> Floats:
        """The weights of some edges as they are now."""
        weight = self.weight[edges]
        if not self.queries:
            return weight
        return np.maximum(self.rest[edges], weight * (1.0 - LEARNING.decay) ** self.idle(self.source[edges]))

    def set_weights(self, edges: Ints, weights: Floats) -> None:
        """Give edges a new weight as of now."""
        self.weight[edges] = weights / (1.0 - LEARNING.decay) ** self.idle(self.source[edges])
        self.rest[edges] = np.minimum(weights, self._kept[edges])

    def settle(self, idle: Ints, edges: Ints, weights: Floats, since: Ints) -> None:
        """Take over what was learned: per node the idle queries so far, and edges with their weight as of an idle count."""
        keep, most = 1.0 - LEARNING.decay, LEARNING.forgotten_after
        self.rest = np.minimum(self.derived, self._kept)
        self.weight = np.maximum(self.rest, self.derived * keep ** np.minimum(idle, most)[self.source])
        self.rest[edges] = np.minimum(weights, self._kept[edges])
        gone = np.clip(idle[self.source[edges]] - since, 0, most)
        self.weight[edges] = np.maximum(self.rest[edges], weights * keep**gone)
        self.queries, self.active = 0, np.zeros(self.nodes, dtype=np.int64)

    # -- names -------------------------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[str, int]:
        return {external: row for row, external in enumerate(self.ids)}

    def edge_between(self, source: int, target: int) -> Ints:
        """The edges from one node to another; they lie together."""
        lo, hi = np.searchsorted(self.source, [source, source + 1])
        inner = np.searchsorted(self.target[lo:hi], [target, target + 1])
        return np.arange(lo + inner[0], lo + inner[1])

    def edge_key(self, edge: int) -> tuple[str, str, str]:
        """How an edge is known outside: source id, target id, relation."""
        return self.ids[self.source[edge]], self.ids[self.target[edge]], self.relations[self.relation[edge]]

    def relation_number(self, relation: str) -> int:
        return list(self.relations).index(relation) if relation in self.relations else -1

    @cached_property
    def contains(self) -> NDArray[np.bool_]:
        """Which edges only say what lies in what."""
        inside = [number for number, name in enumerate(self.relations) if name.startswith("contains")]
        return np.isin(self.relation, inside)

    @cached_property
    def parent(self) -> Ints:
        """The node that contains each node, -1 for none; of several the first."""
        found = np.full(self.nodes, -1, dtype=np.int64)
        rows = np.flatnonzero(self.contains)[::-1]
        found[self.target[rows]] = self.source[rows]
        return found
