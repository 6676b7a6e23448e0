"""Impact: what an edit of a node may reach, what falls when nodes are taken away, and where a project is fragile. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.network import Floats, Ints, Network
from hindbrain.engines.spreading import Reached, reach
from hindbrain.policy.activation import IMPACT, PANORAMA, SHOWN

__all__ = ["Blast", "Chain", "Fall", "Panorama", "blast", "chains", "knowledge", "panorama", "taken_away"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blast:
    """Where a change arrives, strongest first; the changed nodes themselves are not in it."""

    nodes: Ints
    signal: Floats
    hops: Ints
    citation: NDArray[np.bool_]  # knowledge that cites the node: told, but no code that depends on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A way along causal edges, with the product of their strengths."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    strength: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """What loses its connections when nodes are removed."""

    removed: Ints
    dependents: Ints
    lost: Ints  # edges each of those loses
    orphans: Ints  # nodes that are connected to nothing afterwards
    cascade: Blast | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Panorama:
    """Files by how much hangs on them."""

    nodes: Ints
    forward: Ints
    backward: Ints
    centrality: Floats
    churn: Floats
    risk: Floats
    left_out: int  # files beyond what is compared exactly


def knowledge(net: Network) -> NDArray[np.bool_]:
    """Which nodes are claims and parts of claims: they cite code, and no code depends on them."""
    return np.fromiter((one.startswith("light::") for one in net.ids), dtype=bool, count=net.nodes)


def blast(
    net: Network, nodes: Ints, direction: str, claims: NDArray[np.bool_], shelves: NDArray[np.bool_] | None = None
) -> Blast:
    """Spread from nodes forward, in reverse or both; a claim hears of it and passes nothing on. `shelves` are nodes that only
    hold others, as directories do: what lies in one does not depend on it, so they are left out."""
    closed = claims if shelves is None else claims | shelves
    found = []
    if direction in ("forward", "both"):
        found.append(reach(net, net.out, nodes, np.ones(len(nodes)), IMPACT, closed=closed))
    if direction in ("reverse", "both"):
        found.append(reach(net, net.back, nodes, np.ones(len(nodes)), IMPACT, closed=closed))
    rows = np.setdiff1d(np.concatenate([one.nodes for one in found]), nodes)
    if shelves is not None:
        rows = rows[~shelves[rows]]
    signal = np.max([one.value[rows] for one in found], axis=0)
    first = np.argmax([one.value[rows] for one in found], axis=0)
    hops = np.choose(first, [one.hop[rows] for one in found]).astype(np.int64)
    order = np.lexsort((rows, -signal))
    rows = rows[order]
    return Blast(nodes=rows, signal=signal[order], hops=hops[order], citation=claims[rows])


def chains(net: Network, node: int, direction: str) -> list[Chain]:
    """The strongest ways along causal edges from a node (in reverse: to it), each ending where no stronger one goes on."""
    arcs = net.back if direction == "reverse" else net.out
    found = reach(net, arcs, np.array([node]), np.ones(1), IMPACT, gain=net.causal)
    rows = found.nodes[found.nodes != node]
    if not len(rows):
        return []
    inner = np.zeros(net.nodes, dtype=bool)
    for end in (net.source, net.target):
        inner[end[found.via[rows]]] |= end[found.via[rows]] != rows
    leaves = rows[~inner[rows]]
    best = leaves[np.lexsort((leaves, -found.value[leaves]))][: SHOWN.chains]
    return [_chain(net, found, node, int(leaf)) for leaf in best]


def _chain(net: Network, found: Reached, start: int, end: int) -> Chain:
    nodes, edges, seen = [end], [], {end}
    while nodes[-1] != start:
        edge = int(found.via[nodes[-1]])
        before = int(net.source[edge] if net.target[edge] == nodes[-1] else net.target[edge])
        if before in seen:
            break
        edges.append(edge)
        nodes.append(before)
        seen.add(before)
    strength = float(np.prod(net.causal[edges])) if edges else 0.0
    return Chain(nodes=tuple(reversed(nodes)), edges=tuple(reversed(edges)), strength=strength)


def taken_away(
    net: Network, nodes: Ints, claims: NDArray[np.bool_], shelves: NDArray[np.bool_] | None = None, *, cascade: bool
) -> Fall:
    """What depends on nodes and on all they contain, and what would stand alone without them. Changes nothing."""
    gone = _with_contents(net, nodes)
    removed = np.zeros(net.nodes, dtype=bool)
    removed[gone] = True
    into = removed[net.target] & ~removed[net.source] & ~net.contains & ~claims[net.source]
    dependents, lost = np.unique(net.source[into], return_counts=True)
    touched = removed[net.source] | removed[net.target]
    after = np.bincount(net.source[~touched], minlength=net.nodes) + np.bincount(net.target[~touched], minlength=net.nodes)
    before = np.bincount(net.source, minlength=net.nodes) + np.bincount(net.target, minlength=net.nodes)
    orphans = np.flatnonzero((before > 0) & (after == 0) & ~removed)
    order = np.lexsort((dependents, -lost))
    return Fall(
        removed=gone,
        dependents=dependents[order].astype(np.int64),
        lost=lost[order],
        orphans=orphans,
        cascade=blast(net, gone, "reverse", claims, shelves) if cascade else None,
    )


def _with_contents(net: Network, nodes: Ints) -> Ints:
    """Nodes with everything that lies in them."""
    inside = np.unique(nodes)
    front = inside
    while len(front):
        _, arc = net.out.of(front)
        edge = net.out.edge[arc]
        down = net.contains[edge] & np.isin(net.source[edge], front)
        front = np.setdiff1d(net.target[edge[down]], inside).astype(np.int64)
        inside = np.union1d(inside, front)
    return inside


def panorama(net: Network, rows: Ints) -> Panorama:
    """Every file node of `rows` with what it reaches and what reaches it, over the edges of all symbols inside the files."""
    place = _file_of(net)
    pairs = np.stack([place[net.source], place[net.target]], axis=1)[~net.contains]
    pairs = np.unique(pairs[(pairs[:, 0] >= 0) & (pairs[:, 1] >= 0) & (pairs[:, 0] != pairs[:, 1])], axis=0)
    left_out = 0
    if len(rows) > PANORAMA.most:
        degree = np.bincount(pairs.ravel(), minlength=net.nodes)[rows]
        left_out = len(rows) - PANORAMA.most
        rows = np.sort(rows[np.lexsort((rows, -degree))[: PANORAMA.most]])
    files = np.unique(np.concatenate([rows, pairs.ravel()]))
    at = np.searchsorted(files, pairs)
    wanted = np.searchsorted(files, rows)
    forward = _within_hops(at[:, 0], at[:, 1], len(files), wanted)
    backward = _within_hops(at[:, 1], at[:, 0], len(files), wanted)
    hurt = (forward + backward).astype(np.float64)
    centrality = _normal(net.pagerank[rows])
    churn = np.clip(net.change_frequency[rows], 0.0, 1.0)
    risk = PANORAMA.blast * _normal(hurt) + PANORAMA.centrality * centrality + PANORAMA.churn * churn
    order = np.lexsort((rows, -risk))
    return Panorama(
        nodes=rows[order],
        forward=forward[order],
        backward=backward[order],
        centrality=centrality[order],
        churn=churn[order],
        risk=risk[order],
        left_out=left_out,
    )


def _normal(values: Floats) -> Floats:
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else np.zeros(len(values))


def _file_of(net: Network) -> Ints:
    """The file node each node lies in, -1 for none."""
    files: dict[str, int] = {
        path: row for row, (kind, path) in enumerate(zip(net.kinds, net.paths, strict=True)) if kind == "file" and path
    }
    return np.fromiter((files.get(path, -1) for path in net.paths), dtype=np.int64, count=net.nodes)


def _within_hops(source: Ints, target: Ints, count: int, rows: Ints) -> Ints:
    """How many others each row comes to within a few hops: sets of bits that flow along the edges, some columns at a time."""
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    starts = np.flatnonzero(np.append(True, source[1:] != source[:-1])[: len(source)])
    heads = source[starts]
    total = np.zeros(count, dtype=np.int64)
    for first in range(0, count, 1024):
        bits = np.zeros((count, 16), dtype=np.uint64)
        some = np.arange(first, min(first + 1024, count))
        bits[some, (some - first) // 64] = np.uint64(1) << ((some - first) % 64).astype(np.uint64)
        for _ in range(PANORAMA.hops if len(source) else 0):
            bits[heads] |= np.bitwise_or.reduceat(bits[target], starts, axis=0)
        total += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return total[rows] - 1
