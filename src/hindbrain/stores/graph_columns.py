"""Columns: the whole graph as numpy arrays, and the rank of every node. Reads packed rows; knows no connection."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hindbrain.stores.graph_port import GraphArrays
from hindbrain.stores.graph_schema import edge_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DAMPING", "columns", "holders", "joined_edges", "pagerank"]

DAMPING, ITERATIONS, TOLERANCE = 0.85, 50, 1e-6


def joined_edges(blobs: Iterable[bytes]) -> Any:
    """All packed edges as one structured array."""
    import numpy as np

    return np.frombuffer(b"".join(blobs), dtype=edge_type())


def holders(rows: Iterable[tuple[int, bytes]], kind: Any, fields: Sequence[str], values: Collection[int]) -> set[int]:
    """Which owners have a packed row with one of the values in one of the fields. All at once: there may be thousands."""
    import numpy as np

    pairs = list(rows)
    kind = np.dtype(kind)
    found = np.frombuffer(b"".join(blob for _, blob in pairs), dtype=kind)
    wanted = np.fromiter(values, dtype=np.int32, count=len(values))
    hit = np.zeros(len(found), dtype=bool)
    for name in fields or ("",):
        hit |= np.isin(found[name] if name else found, wanted)
    lengths = [len(blob) // kind.itemsize for _, blob in pairs]
    return set(np.repeat(np.array([owner for owner, _ in pairs], dtype=np.int64), lengths)[hit].tolist())


def columns(
    *,
    generation: int,
    nodes: Sequence[tuple[Any, ...]],
    owners: Mapping[int, tuple[str, float, float]],
    words: Mapping[int, str],
    blobs: Iterable[bytes],
) -> GraphArrays:
    """nodes: (id, external id, label, kind, owner, tags, path, last_modified, change_frequency); owners: id -> path, modified,
    frequency. Edges to nodes that are gone are left out; of several equal ones the first stays."""
    import numpy as np

    nodes = sorted(nodes, key=itemgetter(1))
    count = len(nodes)
    keys = np.fromiter((row[0] for row in nodes), dtype=np.int64, count=count)
    place = np.full(int(keys.max()) + 2 if count else 1, -1, dtype=np.int32)
    place[keys] = np.arange(count, dtype=np.int32)
    found = joined_edges(blobs)
    inside = (found["source"] < len(place)) & (found["target"] < len(place))
    found = found[inside]
    source, target = place[found["source"]], place[found["target"]]
    both = (source >= 0) & (target >= 0)
    found, source, target = found[both], source[both], target[both]
    # By name, not by number: a graph that is built anew numbers its words in another order.
    known = np.unique(found["relation"])
    relations = sorted((words[int(key)], int(key)) for key in known)
    rank = np.zeros(int(known.max()) + 1 if len(known) else 1, dtype=np.int16)
    rank[[key for _, key in relations]] = np.arange(len(relations), dtype=np.int16)
    relation = rank[found["relation"]]
    kept = _distinct(source, target, relation, found["flags"])
    found, source, target, relation = found[kept], source[kept], target[kept], relation[kept]
    nobody = ("", 0.0, 0.0)
    of = [owners.get(row[4], nobody) for row in nodes]
    both_ways = (found["flags"] & 1).astype(bool)
    return GraphArrays(
        generation=generation,
        ids=[row[1] for row in nodes],
        labels=[row[2] for row in nodes],
        kinds=[words[row[3]] for row in nodes],
        paths=[one[0] if row[6] is None else row[6] for row, one in zip(nodes, of, strict=True)],
        tags=[words[row[5]] for row in nodes],
        last_modified=np.array(
            [one[1] if row[7] is None else row[7] for row, one in zip(nodes, of, strict=True)], dtype=np.float64
        ),
        change_frequency=np.array(
            [one[2] if row[8] is None else row[8] for row, one in zip(nodes, of, strict=True)], dtype=np.float32
        ),
        pagerank=pagerank(count, source, target, both_ways),
        source=source,
        target=target,
        relation=relation,
        relations=[word for word, _ in relations],
        weight=np.ascontiguousarray(found["weight"]),
        causal=np.ascontiguousarray(found["causal"]),
        inhibitory=(found["flags"] & 2).astype(bool),
        bidirectional=both_ways,
    )


def _distinct(source: Any, target: Any, relation: Any, flags: Any) -> Any:
    """Which rows stay when an edge that two owners know of counts once."""
    import numpy as np

    if not len(source):
        return np.zeros(0, dtype=np.int64)
    high = source.astype(np.int64) << 32 | target
    low = relation.astype(np.int64) << 8 | flags
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    return order[first]


def pagerank(
    count: int, source: "NDArray[np.int32]", target: "NDArray[np.int32]", both_ways: "NDArray[np.bool_]"
) -> "NDArray[np.float32]":
    """PageRank over the edges as they point, both ways where they hold both ways. The ranks sum to one."""
    import numpy as np

    if count == 0:
        return np.zeros(0, dtype=np.float32)
    begins = np.concatenate((source, target[both_ways]))
    ends = np.concatenate((target, source[both_ways]))
    degree = np.bincount(begins, minlength=count)
    share = 1.0 / np.maximum(degree, 1)
    dangling = np.flatnonzero(degree == 0)
    # Sorted by where they end, edges are summed in runs: half the time of adding each to its place.
    order = np.argsort(ends, kind="stable")
    begins = begins[order].astype(np.intp)
    reached, starts = np.unique(ends[order], return_index=True)
    rank = np.full(count, 1.0 / count)
    for _ in range(ITERATIONS):
        fresh = np.full(count, (1.0 - DAMPING) / count + DAMPING * rank[dangling].sum() / count)
        if len(reached):
            fresh[reached] += DAMPING * np.add.reduceat((rank * share)[begins], starts)
        moved = float(np.abs(fresh - rank).sum())
        rank = fresh
        if moved < TOLERANCE:
            break
    return rank.astype(np.float32)
