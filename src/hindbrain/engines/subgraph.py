"""Subgraphs: the part of a network that is shown or written out, and its neighbourhoods as a tree of text. Pure."""

from dataclasses import dataclass

import numpy as np

from hindbrain.engines.network import Ints, Network

__all__ = ["Part", "around", "tree", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some nodes of a network with the edges between them; `left_out` edges were too many."""

    nodes: Ints
    edges: Ints
    left_out: int = 0


def whole(net: Network, most_edges: int) -> Part:
    """Everything; when that is too much, what binds the most important nodes."""
    every = np.arange(net.edges)
    if net.edges <= most_edges:
        return Part(nodes=np.arange(net.nodes), edges=every)
    weight = net.pagerank + net.degree / max(float(net.degree.max(initial=1)), 1.0)
    rank = np.empty(net.nodes, dtype=np.int64)
    rank[np.lexsort((np.arange(net.nodes), -weight))] = np.arange(net.nodes)
    worst = np.maximum(rank[net.source], rank[net.target])
    kept = np.sort(np.argsort(worst, kind="stable")[:most_edges])
    return _of_edges(net, kept, net.edges - most_edges)


def around(net: Network, node: int, depth: int, most_edges: int) -> Part:
    """The nodes at most so many edges away, in either direction, nearest first until there are too many edges."""
    seen = np.zeros(net.nodes, dtype=bool)
    seen[node] = True
    front, edges, left_out = np.array([node]), np.zeros(0, dtype=np.int64), 0
    for _ in range(depth):
        found = np.unique(np.concatenate([arcs.edge[arcs.of(front)[1]] for arcs in (net.out, net.back)])).astype(np.int64)
        fresh = np.setdiff1d(found, edges)
        room = most_edges - len(edges)
        left_out += max(len(fresh) - room, 0)
        order = np.lexsort((fresh, -net.derived[fresh]))[: max(room, 0)]
        edges = np.union1d(edges, fresh[order])
        ends = np.unique(np.concatenate([net.source[fresh[order]], net.target[fresh[order]]])).astype(np.int64)
        front = ends[~seen[ends]]
        seen[front] = True
    part = _of_edges(net, edges, left_out)
    return Part(nodes=np.union1d(part.nodes, [node]), edges=part.edges, left_out=left_out)


def _of_edges(net: Network, edges: Ints, left_out: int) -> Part:
    nodes = np.unique(np.concatenate([net.source[edges], net.target[edges]])).astype(np.int64)
    return Part(nodes=nodes, edges=edges, left_out=left_out)


def tree(net: Network, node: int, depth: int, each: int) -> list[str]:
    """A neighbourhood for a terminal: below each node its relations, with the nodes at their ends."""
    lines = [f"{net.ids[node]}  ({net.kinds[node]})"]
    _branch(net, node, depth, each, "", {node}, lines)
    return lines


def _branch(net: Network, node: int, depth: int, each: int, margin: str, above: set[int], lines: list[str]) -> None:
    groups = _groups(net, node, above)
    for number, (title, others) in enumerate(groups):
        last_group = number == len(groups) - 1
        lines.append(f"{margin}{'└─' if last_group else '├─'} {title}")
        inner = margin + ("   " if last_group else "│  ")
        shown = others[:each]
        for place, other in enumerate(shown):
            last = place == len(shown) - 1 and len(others) == len(shown)
            lines.append(f"{inner}{'└─' if last else '├─'} {net.labels[other]}  {net.ids[other]}")
            if depth > 1 and net.kinds[other] != "directory":  # what else lies there is no neighbour
                _branch(net, other, depth - 1, each, inner + ("   " if last else "│  "), {*above, node, other}, lines)
        if len(others) > len(shown):
            lines.append(f"{inner}└─ and {len(others) - len(shown)} more")


def _groups(net: Network, node: int, above: set[int]) -> list[tuple[str, list[int]]]:
    """Relations of a node with the nodes at their ends: outgoing first, the strongest first within one."""
    found: dict[tuple[int, str], dict[int, float]] = {}
    for side, arcs in enumerate((net.out, net.back)):
        _, arc = arcs.of(np.array([node]))
        for edge, other in zip(arcs.edge[arc].tolist(), arcs.other[arc].tolist(), strict=True):
            if other in above or (net.bidirectional[edge] and side != (net.source[edge] != node)):
                continue
            relation = net.relations[net.relation[edge]]
            found.setdefault((side, relation), {})[other] = float(net.derived[edge])
    arrows = ("{} →", "← {}")
    return [
        (arrows[side].format(relation), sorted(ends, key=lambda one: (-ends[one], one)))
        for (side, relation), ends in sorted(found.items())
    ]
