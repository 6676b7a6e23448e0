"""Paths: the shortest connection of two nodes over edges in both directions, and which nodes belong together. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.network import Ints, Network

__all__ = ["Step", "communities", "shortest"]

_ROUNDS = 8  # of label propagation; groups of code settle within a few


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One edge on the way; `forward` when it is walked as it points."""

    edge: int
    before: int
    after: int
    forward: bool


def shortest(net: Network, source: int, target: int, max_hops: int, shut: NDArray[np.bool_]) -> list[Step] | None:
    """The fewest edges between two nodes, searched from both ends, not through nodes that are `shut`; None without a way."""
    if source == target:
        return []
    via = [np.full(net.nodes, -1, dtype=np.int64), np.full(net.nodes, -1, dtype=np.int64)]
    seen = [shut.copy(), shut.copy()]
    front = [np.array([source]), np.array([target])]
    seen[0][[source, target]] = True, False
    seen[1][[source, target]] = False, True
    for _ in range(max_hops):
        side = 0 if 0 < len(front[0]) <= len(front[1]) or not len(front[1]) else 1
        if not len(front[side]):
            return None
        front[side] = _widened(net, front[side], seen[side], via[side])
        met = front[side][seen[1 - side][front[side]]]
        if len(met):
            return _joined(net, via, source, target, int(met[0]))
    return None


def _widened(net: Network, front: Ints, seen: NDArray[np.bool_], via: Ints) -> Ints:
    """The nodes one edge further, whichever way it points; each remembers the first edge that led to it."""
    found = []
    for arcs in (net.out, net.back):
        _, arc = arcs.of(front)
        edge, other = arcs.edge[arc], arcs.other[arc]
        fresh = ~seen[other]
        edge, other = edge[fresh][::-1], other[fresh][::-1]
        via[other] = edge  # the first in order is written last
        found.append(np.unique(other))
        seen[found[-1]] = True
    return np.unique(np.concatenate(found)).astype(np.int64)


def _joined(net: Network, via: list[Ints], source: int, target: int, met: int) -> list[Step]:
    steps: list[Step] = []
    node = met
    while node != source:
        edge = int(via[0][node])
        before = _other(net, edge, node)
        steps.insert(0, Step(edge=edge, before=before, after=node, forward=int(net.source[edge]) == before))
        node = before
    node = met
    while node != target:
        edge = int(via[1][node])
        after = _other(net, edge, node)
        steps.append(Step(edge=edge, before=node, after=after, forward=int(net.source[edge]) == node))
        node = after
    return steps


def _other(net: Network, edge: int, node: int) -> int:
    return int(net.source[edge] if net.target[edge] == node else net.target[edge])


def communities(net: Network) -> Ints:
    """A number per node: those that are bound more to each other than to the rest share one. Every node starts alone and
    takes the number that most of its weight points to; the smallest of equal ones, so that the result is always the same."""
    label = np.arange(net.nodes)
    if not net.edges:
        return label
    here = np.concatenate([net.source, net.target]).astype(np.int64)
    there = np.concatenate([net.target, net.source]).astype(np.int64)
    weight = np.concatenate([net.derived, net.derived])
    for turn in range(_ROUNDS):
        keys = here * net.nodes + label[there]
        unique, where = np.unique(keys, return_inverse=True)
        sums = np.bincount(where, weights=weight)
        node, name = unique // net.nodes, unique % net.nodes
        sums[name == label[node]] *= 1.0 + 1e-9  # what it has stays among equals
        order = np.lexsort((-name, sums, node))
        last = np.append(node[order][1:] != node[order][:-1], True)
        best_node, best_name = node[order][last], name[order][last]
        moving = (best_node + turn) % 2 == 0  # half of them at a time: two that would swap for ever settle
        changed = label.copy()
        changed[best_node[moving]] = best_name[moving]
        if turn and np.array_equal(changed, label):
            break
        label = changed
    return label
