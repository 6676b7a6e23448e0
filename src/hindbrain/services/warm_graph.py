"""The warm graph of a brain: its code and its claims in one network, with what was learned on top, until one of them changes."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hindbrain.engines.graph_columns import Citations, citations
from hindbrain.engines.impact import knowledge
from hindbrain.engines.network import Ints, Network
from hindbrain.engines.paths import communities
from hindbrain.engines.plasticity import Change, History
from hindbrain.engines.seeds import Names
from hindbrain.policy.activation import LIGHT_WEIGHTS
from hindbrain.stores.graph_port import GraphArrays
from hindbrain.stores.learned import LearnedEdge, LearnedStore

if TYPE_CHECKING:
    from hindbrain.services.brains import OpenBrain
    from hindbrain.stores.port import Edge as LightEdge
    from hindbrain.stores.port import Node as LightNode

__all__ = ["WarmGraph", "WarmGraphs", "joined"]

_KEPT = 8  # warm graphs; one of a large checkout is a few hundred MB

_NO_CODE = GraphArrays(
    generation=0,
    ids=[],
    labels=[],
    kinds=[],
    paths=[],
    tags=[],
    last_modified=np.zeros(0),
    change_frequency=np.zeros(0, dtype=np.float32),
    pagerank=np.zeros(0, dtype=np.float32),
    source=np.zeros(0, dtype=np.int32),
    target=np.zeros(0, dtype=np.int32),
    relation=np.zeros(0, dtype=np.int16),
    relations=[],
    weight=np.zeros(0, dtype=np.float32),
    causal=np.zeros(0, dtype=np.float32),
    inhibitory=np.zeros(0, dtype=bool),
    bidirectional=np.zeros(0, dtype=bool),
)


def joined(code: GraphArrays, nodes: "Sequence[LightNode]", edges: "Sequence[LightEdge]") -> GraphArrays:
    """Code and claims as one set of columns, by external id. Where both know a node, the code describes it.

    Header values of claims are left out: they bind a claim to nothing but itself.
    """
    known = set(code.ids)
    added = [node for node in nodes if node.id not in known and "::meta::" not in node.id]
    if not added and not edges:
        return code
    ids = [*code.ids, *(node.id for node in added)]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    place = np.empty(len(ids), dtype=np.int32)
    place[order] = np.arange(len(ids), dtype=np.int32)
    row = {external: int(place[at]) for at, external in enumerate(ids)}
    relations = list(dict.fromkeys([*code.relations, *sorted({edge.relation for edge in edges})]))
    number = {name: at for at, name in enumerate(relations)}
    known_ends = [edge for edge in edges if edge.source in row and edge.target in row]
    table = np.array(
        [(row[edge.source], row[edge.target], number[edge.relation]) for edge in known_ends], dtype=np.int64
    ).reshape(-1, 3)
    # Code and inventory may both say what lies in what: it counts once.
    told = (place[code.source].astype(np.int64) * len(ids) + place[code.target]) * len(relations) + code.relation
    table = table[~np.isin((table[:, 0] * len(ids) + table[:, 1]) * len(relations) + table[:, 2], told)]
    strengths = [LIGHT_WEIGHTS.get(relations[relation], LIGHT_WEIGHTS[""]) for relation in table[:, 2].tolist()]
    weights = np.array(strengths, dtype=np.float32).reshape(-1, 2)
    none = np.zeros(len(table), dtype=bool)

    def texts(had: Sequence[str], more: list[str]) -> list[str]:
        both = [*had, *more]
        return [both[at] for at in order]

    def numbers(had: np.ndarray) -> np.ndarray:
        return np.concatenate([had, np.zeros(len(added), dtype=had.dtype)])[order]

    return GraphArrays(
        generation=code.generation,
        ids=[ids[at] for at in order],
        labels=texts(code.labels, [node.label for node in added]),
        kinds=texts(code.kinds, [node.kind for node in added]),
        paths=texts(code.paths, [node.path for node in added]),
        tags=texts(code.tags, ["light" if node.id.startswith("light::") else "" for node in added]),
        last_modified=numbers(code.last_modified),
        change_frequency=numbers(code.change_frequency),
        pagerank=numbers(code.pagerank),
        source=np.concatenate([place[code.source], table[:, 0].astype(np.int32)]),
        target=np.concatenate([place[code.target], table[:, 1].astype(np.int32)]),
        relation=np.concatenate([code.relation, table[:, 2].astype(np.int16)]),
        relations=relations,
        weight=np.concatenate([code.weight, weights[:, 0]]),
        causal=np.concatenate([code.causal, weights[:, 1]]),
        inhibitory=np.concatenate([code.inhibitory, none]),
        bidirectional=np.concatenate([code.bidirectional, none]),
    )


class WarmGraph:
    """One brain's network with its names, and the store of what it learned."""

    def __init__(self, columns: GraphArrays, learned: LearnedStore) -> None:
        self.net = Network(columns)
        self.learned = learned
        self.lock = threading.RLock()
        self.histories: dict[int, History] = {}
        self._idle = np.zeros(self.net.nodes, dtype=np.int64)  # of each node when the weights were settled
        self._settled = -1

    @cached_property
    def names(self) -> Names:
        return Names(self.net)

    @cached_property
    def claims(self) -> np.ndarray:
        return knowledge(self.net)

    @cached_property
    def citations(self) -> Citations:
        """The claims as whole claims, with the code they cite."""
        return citations(self.net, self.claims)

    @cached_property
    def directories(self) -> np.ndarray:
        return np.fromiter((kind == "directory" for kind in self.net.kinds), dtype=bool, count=self.net.nodes)

    @cached_property
    def files(self) -> Ints:
        """The file nodes of code and documents."""
        net = self.net
        rows = (row for row, kind in enumerate(net.kinds) if kind == "file" and not net.ids[row].startswith("light::"))
        return np.fromiter(rows, dtype=np.int64)

    @cached_property
    def by_path(self) -> dict[str, list[int]]:
        """The nodes of each file."""
        found: dict[str, list[int]] = {}
        for row, path in enumerate(self.net.paths):
            if path:
                found.setdefault(path, []).append(row)
        return found

    @cached_property
    def communities(self) -> Ints:
        return communities(self.net)

    def settle(self) -> None:
        """Take over what was learned, by this process or by another."""
        generation = self.learned.generation
        if generation == self._settled:
            return
        net, index = self.net, self.net.index
        queries = self.learned.queries
        idle = np.full(net.nodes, queries, dtype=np.int64)
        for node, times in self.learned.active().items():
            if (row := index.get(node)) is not None:
                idle[row] = max(queries - times, 0)
        self.histories = {}
        rows, weights, since = [], [], []
        relation = {name: number for number, name in enumerate(net.relations)}
        for edge in self.learned.edges():
            if (row := self._row(edge, relation)) is None:
                continue  # the code has no such edge any more
            rows.append(row)
            weights.append(edge.weight)
            since.append(edge.idle)
            self.histories[row] = History(up=edge.up, down=edge.down, lasting_up=edge.lasting_up, lasting_down=edge.lasting_down)
        net.settle(idle, np.array(rows, dtype=np.int64), np.array(weights, dtype=np.float64), np.array(since, dtype=np.int64))
        self._idle = idle
        self._settled = generation

    def _row(self, edge: LearnedEdge, relation: dict[str, int]) -> int | None:
        source, target = self.net.index.get(edge.source), self.net.index.get(edge.target)
        if source is None or target is None or edge.relation not in relation:
            return None
        between = self.net.edge_between(source, target)
        same = between[self.net.relation[between] == relation[edge.relation]]
        return int(same[0]) if len(same) else None

    def counted(self, active: Ints) -> None:
        """One learning query passed; these nodes took part."""
        self.net.queries += 1
        self.net.active[active] += 1

    def taught(self, change: Change, generation: int) -> list[LearnedEdge]:
        """Take over a change that was made to the network; its edges as they are to be stored."""
        net = self.net
        self._settled = generation
        told = []
        for row, weight, history in zip(change.edges.tolist(), change.after.tolist(), change.histories, strict=True):
            self.histories[row] = history
            source, target, relation = net.edge_key(row)
            told.append(
                LearnedEdge(
                    source=source,
                    target=target,
                    relation=relation,
                    weight=weight,
                    idle=int(self._idle[net.source[row]] + net.idle(net.source[row : row + 1])[0]),
                    up=history.up,
                    down=history.down,
                    lasting_up=history.lasting_up,
                    lasting_down=history.lasting_down,
                )
            )
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stamp:
    code: int
    claims: int


class WarmGraphs:
    """The warm graphs of a process, one per brain, made anew when the code or the claims of the brain changed."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[tuple[str, bool], tuple[_Stamp, WarmGraph]] = OrderedDict()
        self._lock = threading.RLock()

    def of(self, opened: "OpenBrain", *, claims: bool = True) -> WarmGraph:
        """The graph of a brain as it is now, with everything that was learned; without its claims for who may not see them."""
        graph = opened.graph
        code = graph.counts()[2] if graph is not None else 0
        stamp = _Stamp(code=code, claims=opened.store.counts().generation if claims else 0)
        name = (str(opened.directory), claims)
        with self._lock:
            had = self._graphs.get(name)
        if had is None or had[0] != stamp:
            columns = graph.arrays() if graph is not None else _NO_CODE
            light = opened.store.whole_graph() if claims else ((), ())
            had = (stamp, WarmGraph(joined(columns, *light), opened.learned))
        with self._lock:
            self._graphs[name] = had
            self._graphs.move_to_end(name)
            while len(self._graphs) > _KEPT:
                self._graphs.popitem(last=False)
        with had[1].lock:
            had[1].learned = opened.learned  # a brain that slept in between has opened its file anew
            had[1].settle()
        return had[1]
