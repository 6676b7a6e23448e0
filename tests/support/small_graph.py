"""Small graphs for tests: nodes and edges by hand, as the columns the engines take, and a plain way to spread a signal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hindbrain.engines.network import Network
from hindbrain.stores.graph_port import GraphArrays

__all__ = ["columns", "network", "spread_plainly"]


def columns(nodes: Mapping[str, Mapping[str, Any]] | Iterable[str], edges: Sequence[Mapping[str, Any]] = ()) -> GraphArrays:
    """Nodes by id with what differs from the usual; edges as dictionaries with `s`, `t` and what differs."""
    given: dict[str, Mapping[str, Any]] = dict(nodes) if isinstance(nodes, Mapping) else {one: {} for one in nodes}
    ids = sorted(given)
    row = {external: number for number, external in enumerate(ids)}
    relations = sorted({edge.get("relation", "calls") for edge in edges}) or ["calls"]

    def column(name: str, usual: Any) -> list[Any]:
        return [given[one].get(name, usual) for one in ids]

    return GraphArrays(
        generation=1,
        ids=ids,
        labels=[given[one].get("label", one.rsplit("::", 1)[-1]) for one in ids],
        kinds=column("kind", "function"),
        paths=column("path", ""),
        tags=column("tags", ""),
        last_modified=np.array(column("last_modified", 0.0), dtype=np.float64),
        change_frequency=np.array(column("change_frequency", 0.0), dtype=np.float32),
        pagerank=np.array(column("pagerank", 0.0), dtype=np.float32),
        source=np.array([row[edge["s"]] for edge in edges], dtype=np.int32),
        target=np.array([row[edge["t"]] for edge in edges], dtype=np.int32),
        relation=np.array([relations.index(edge.get("relation", "calls")) for edge in edges], dtype=np.int16),
        relations=relations,
        weight=np.array([edge.get("weight", 1.0) for edge in edges], dtype=np.float32),
        causal=np.array([edge.get("causal", 0.0) for edge in edges], dtype=np.float32),
        inhibitory=np.array([edge.get("inhibitory", False) for edge in edges], dtype=bool),
        bidirectional=np.array([edge.get("bidirectional", False) for edge in edges], dtype=bool),
    )


def network(nodes: Mapping[str, Mapping[str, Any]] | Iterable[str], edges: Sequence[Mapping[str, Any]] = ()) -> Network:
    return Network(columns(nodes, edges))


def spread_plainly(
    edges: Sequence[tuple[int, int, float]], seeds: Mapping[int, float], *, decay: float, threshold: float, depth: int
) -> dict[int, float]:
    """Every path of at most `depth` edges whose signal stays above the threshold; the best at each node. A queue, no arrays."""
    best = dict(seeds)
    waiting = [(node, strength, 0) for node, strength in seeds.items()]
    while waiting:
        node, strength, hops = waiting.pop()
        if hops == depth:
            continue
        for source, target, weight in edges:
            signal = strength * weight * decay
            if source == node and signal > threshold:
                waiting.append((target, signal, hops + 1))
                best[target] = max(best.get(target, 0.0), signal)
    return best
