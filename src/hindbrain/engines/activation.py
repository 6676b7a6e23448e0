"""Activation: what a question wakes in a graph, in four dimensions, with what is missing between the woken. Pure.

The time comes in as an argument; equal scores are ordered by external id, so the same question on the same graph has one answer.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.network import Floats, Ints, Network
from hindbrain.engines.seeds import Names, Seeds
from hindbrain.engines.spreading import Reached, causal, spread, within
from hindbrain.policy.activation import DIMENSIONS, GHOST_EDGES, HOLES, MERGE, NOISE, SEMANTIC, SPREAD, TEMPORAL

__all__ = ["Activation", "Ghost", "Hole", "activate", "ghosts", "holes", "merged", "temporal"]

ORDER = tuple(DIMENSIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """The woken nodes, strongest first."""

    seeds: Seeds
    nodes: Ints
    activation: Floats  # of each of `nodes`
    dimensions: Floats  # their four scores, one row each, in the order of DIMENSIONS
    anti_seeds: Ints
    fallback: bool  # noise cancelling would have removed everything it could


@dataclass(frozen=True, slots=True, kw_only=True)
class Ghost:
    """Two nodes that wake together though no edge binds them."""

    source: int
    target: int
    shared: tuple[str, ...]
    strength: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """A node that its woken siblings are not connected to."""

    node: int
    parent: int
    siblings: float  # their mean activation


def activate(
    net: Network, names: Names, query: str, *, most_seeds: int, dimensions: Collection[str], xlr: bool, now: float
) -> Activation:
    """Seeds, four dimensions, noise cancelling, and one sum."""
    seeds = names.seeds(query, most_seeds)
    if not len(seeds.nodes):
        nothing = np.zeros(0, dtype=np.int64)
        return Activation(
            seeds=seeds,
            nodes=nothing,
            activation=np.zeros(0),
            dimensions=np.zeros((0, len(ORDER))),
            anti_seeds=nothing,
            fallback=False,
        )
    scores: dict[str, Floats] = {}
    woken = [seeds.nodes]
    anti, fallback = np.zeros(0, dtype=np.int64), False
    if "structural" in dimensions:
        hot = spread(net, seeds.nodes, seeds.strengths, SPREAD)
        woken.append(hot.nodes)
        scores["structural"] = hot.value
        if xlr:
            scores["structural"], anti, fallback = _cancelled(net, seeds, hot)
    if "semantic" in dimensions:
        rows, cosine = _semantic(names, query)
        woken.append(rows)
        scores["semantic"] = np.zeros(net.nodes)
        scores["semantic"][rows] = cosine
    if "causal" in dimensions:
        moved = causal(net, seeds.nodes, seeds.strengths, SPREAD)
        woken.append(moved.nodes)
        scores["causal"] = moved.value
    nodes = np.unique(np.concatenate(woken))
    table = {name: score[nodes] for name, score in scores.items()}
    if any(name in table for name in ("structural", "semantic", "causal")):
        heard = sum(table.values()) > 0.0
        nodes, table = nodes[heard], {name: score[heard] for name, score in table.items()}
    if "temporal" in dimensions:
        table["temporal"] = temporal(net, nodes, now)
    activation, dimension_scores = merged(table, net.pagerank[nodes])
    order = np.argsort(-activation, kind="stable")
    return Activation(
        seeds=seeds,
        nodes=nodes[order],
        activation=activation[order],
        dimensions=dimension_scores[order],
        anti_seeds=anti,
        fallback=fallback,
    )


def temporal(net: Network, nodes: Ints, now: float) -> Floats:
    """How lately and how often nodes changed; one whose time is unknown is not recent."""
    age = np.maximum(now - net.last_modified[nodes], 0.0) / 3600.0
    recency = np.where(net.last_modified[nodes] > 0, 0.5 ** (age / TEMPORAL.half_life_hours), 0.0)
    return TEMPORAL.recency * recency + TEMPORAL.frequency * net.change_frequency[nodes]


def merged(scores: Mapping[str, Floats], pagerank: Floats) -> tuple[Floats, Floats]:
    """The sum and the table of scores: a dimension that says nothing at all gives its weight to the others in proportion."""
    table = np.zeros((len(pagerank), len(ORDER)))
    for column, name in enumerate(ORDER):
        if name in scores:
            table[:, column] = scores[name]
    weights = np.where(table.any(axis=0), np.array([DIMENSIONS[name] for name in ORDER]), 0.0)
    if weights.any():
        weights /= weights.sum()
    total = table @ weights
    agreeing = (table > MERGE.contributes).sum(axis=1)
    factor = np.ones(len(total))
    for least, bonus in reversed(MERGE.resonance):
        factor[agreeing >= least] = bonus
    return total * factor + MERGE.pagerank * pagerank, table


def _semantic(names: Names, query: str) -> tuple[Ints, Floats]:
    rows, score = names.trigrams.scores(query, SEMANTIC.least)
    best = np.sort(np.argsort(-score, kind="stable")[: SEMANTIC.most])
    return rows[best], score[best]


def _cancelled(net: Network, seeds: Seeds, hot: Reached) -> tuple[Floats, Ints, bool]:
    """The signal less what unrelated nodes would send to the same places; near the seeds nothing is taken away."""
    immune = within(net, seeds.nodes, NOISE.immune_hops)
    anti = _anti_seeds(net, seeds, immune)
    open_nodes = hot.nodes[~immune[hot.nodes]]
    if not len(anti) or not len(open_nodes):
        return hot.value, anti, False
    cold = spread(net, anti, np.ones(len(anti)), SPREAD).value[open_nodes]
    density = np.clip(net.degree[open_nodes] / max(float(net.degree.mean()), 1e-9), *NOISE.density)
    left = np.maximum(hot.value[open_nodes] - cold * density, 0.0)
    left[left <= MERGE.contributes] = 0.0
    if not left.any():
        return hot.value, anti, True
    value = hot.value.copy()
    value[open_nodes] = left
    return value, anti, False


def _anti_seeds(net: Network, seeds: Seeds, immune: NDArray[np.bool_]) -> Ints:
    """Nodes as connected as the seeds are, away from them, with other neighbours."""
    wanted = float(net.degree[seeds.nodes].mean())
    at = int(np.searchsorted(net.degree, wanted, sorter=net.by_degree))
    around = net.by_degree[max(at - NOISE.candidates, 0) : at + NOISE.candidates]
    rows = around[~immune[around] & (net.degree[around] >= max(NOISE.degree_ratio * wanted, 1.0))]
    rows = rows[np.lexsort((rows, np.abs(net.degree[rows] - wanted)))]
    near = within(net, seeds.nodes, 1)
    owner, arc = net.out.of(rows)
    shared = np.bincount(owner, weights=near[net.out.other[arc]], minlength=len(rows)) / np.maximum(net.degree[rows], 1)
    return rows[shared <= NOISE.overlap][: NOISE.anti_seeds]


def ghosts(net: Network, found: Activation) -> list[Ghost]:
    """Pairs of strong nodes that share dimensions and no edge, strongest first."""
    rows = found.nodes[: GHOST_EDGES.among]
    taking_part = found.dimensions[: len(rows)] > MERGE.contributes
    common = taking_part.astype(np.int64) @ taking_part.T.astype(np.int64)
    bound = _bound(net, rows)
    one, other = np.nonzero(np.triu((common >= GHOST_EDGES.dimensions) & ~bound, k=1))
    strength = np.minimum(np.sqrt(found.activation[one] * found.activation[other]), 1.0)
    best = np.lexsort((rows[other], rows[one], -strength))[: GHOST_EDGES.most]
    return [
        Ghost(
            source=int(rows[one[at]]),
            target=int(rows[other[at]]),
            shared=tuple(name for name, both in zip(ORDER, taking_part[one[at]] & taking_part[other[at]], strict=True) if both),
            strength=float(strength[at]),
        )
        for at in best
    ]


def _bound(net: Network, rows: Ints) -> NDArray[np.bool_]:
    """Which pairs of these nodes an edge binds, in either direction."""
    place = np.full(net.nodes, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    owner, arc = net.out.of(rows)
    other = place[net.out.other[arc]]
    bound = np.zeros((len(rows), len(rows)), dtype=bool)
    bound[owner[other >= 0], other[other >= 0]] = True
    return np.asarray(bound | bound.T)


def holes(net: Network, found: Activation, least: float) -> list[Hole]:
    """Children of a module that are bound to none of their woken siblings, where those are strong."""
    value = np.zeros(net.nodes)
    value[found.nodes] = found.activation
    strong = found.nodes[found.activation >= least]
    parents = np.unique(net.parent[strong])
    listed: list[Hole] = []
    for parent in parents[parents >= 0].tolist():
        _, arc = net.out.of(np.array([parent]))
        edges = net.out.edge[arc]
        children = np.unique(net.out.other[arc][net.contains[edges] & (net.source[edges] == parent)])
        if not 2 < len(children) <= HOLES.family:
            continue
        for child in children[value[children] < least].tolist():
            siblings = children[children != child]
            mean = float(value[siblings].mean())
            if mean >= least and not _touches(net, child, siblings[value[siblings] > 0]):
                listed.append(Hole(node=child, parent=parent, siblings=mean))
    return sorted(listed, key=lambda hole: (-hole.siblings, hole.node))[: HOLES.most]


def _touches(net: Network, node: int, others: NDArray[np.int32]) -> bool:
    """True when an edge other than containment binds a node to one of these."""
    for arcs in (net.out, net.back):
        _, arc = arcs.of(np.array([node]))
        near = arcs.other[arc][~net.contains[arcs.edge[arc]]]
        if np.isin(near, others).any():
            return True
    return False
