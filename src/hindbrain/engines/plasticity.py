"""Plasticity: how edges grow when their ends wake together, how feedback moves them, and what keeps them in bounds.

Works on a network and on what is known of single edges, and returns what changed. Keeps nothing itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.network import Floats, Ints, Network
from hindbrain.policy.activation import LEARNING

__all__ = ["Change", "History", "balanced", "given_feedback", "grown", "with_children"]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What happened to one edge so far."""

    up: int = 0
    down: int = 0
    lasting_up: bool = False
    lasting_down: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one act of learning did: edges with their weights before and after, and their histories since."""

    edges: Ints
    before: Floats
    after: Floats
    histories: tuple[History, ...]
    strengthened: int
    weakened: int
    lasting_up: int
    lasting_down: int
    rebalanced: int  # nodes whose incoming weights were scaled


def grown(net: Network, nodes: Ints, activation: Floats, histories: Mapping[int, History]) -> Change:
    """Every edge between two woken nodes grows by rate x activation x activation."""
    value = np.zeros(net.nodes)
    value[nodes] = activation
    edges = _between(net, nodes, nodes)
    step = LEARNING.rate * value[net.source[edges]] * value[net.target[edges]]
    return _moved(net, edges[step > 0], step[step > 0], histories)


def given_feedback(
    net: Network, groups: Sequence[Ints], feedback: str, strength: float, histories: Mapping[int, History]
) -> Change:
    """`correct` strengthens what lies between the nodes, `wrong` weakens it; `partial` strengthens among the first half of them
    and weakens between the halves. `groups` are the two halves, each with its children."""
    everything = np.unique(np.concatenate([*groups, np.zeros(0, dtype=np.int64)]))
    if feedback != "partial":
        edges = _between(net, everything, everything)
        return _moved(net, edges, np.full(len(edges), strength if feedback == "correct" else -strength), histories)
    first, second = groups[0], np.setdiff1d(groups[1], groups[0])
    good, bad = _between(net, first, first), np.union1d(_between(net, first, second), _between(net, second, first))
    step = np.concatenate([np.full(len(good), strength), np.full(len(bad), -strength)])
    return _moved(net, np.concatenate([good, bad]), step, histories)


def with_children(net: Network, nodes: Ints) -> Ints:
    """Nodes and what they contain."""
    _, arc = net.out.of(nodes)
    edge = net.out.edge[arc]
    inside = net.contains[edge] & _members(net, nodes)[net.source[edge]]
    return np.union1d(nodes, net.target[edge[inside]]).astype(np.int64)


def _between(net: Network, sources: Ints, targets: Ints) -> Ints:
    """The exciting edges from some nodes to others, in order."""
    here, there = _members(net, sources), _members(net, targets)
    _, arc = net.out.of(np.flatnonzero(here))
    edge = net.out.edge[arc].astype(np.int64)
    inside = here[net.source[edge]] & there[net.target[edge]] & ~net.inhibitory[edge]
    return np.unique(edge[inside])


def _members(net: Network, nodes: Ints) -> NDArray[np.bool_]:
    found = np.zeros(net.nodes, dtype=bool)
    found[nodes] = True
    return found


def _moved(net: Network, edges: Ints, steps: Floats, histories: Mapping[int, History]) -> Change:
    before = net.strength(edges.astype(np.int32))
    after = np.clip(before + steps, LEARNING.floor, LEARNING.cap)
    told, ups, downs = [], 0, 0
    for at, edge in enumerate(edges.tolist()):
        history, bonus = _counted(histories.get(edge, History()), float(steps[at]))
        told.append(history)
        ups += bonus > 0
        downs += bonus < 0
        after[at] = min(max(after[at] + bonus, LEARNING.floor), LEARNING.cap)
    net.set_weights(edges, after)
    strengthened, weakened = int((steps > 0).sum()), int((steps < 0).sum())
    scaled, old, new, nodes = balanced(net, np.unique(net.target[edges[steps > 0]]).astype(np.int64))
    beside = ~np.isin(scaled, edges)
    return Change(
        edges=np.concatenate([edges, scaled[beside]]),
        before=np.concatenate([before, old[beside]]),
        after=np.concatenate([net.strength(edges.astype(np.int32)), new[beside]]),
        histories=(*told, *(histories.get(int(edge), History()) for edge in scaled[beside])),
        strengthened=strengthened,
        weakened=weakened,
        lasting_up=ups,
        lasting_down=downs,
        rebalanced=nodes,
    )


def _counted(history: History, step: float) -> tuple[History, float]:
    """One more strengthening or weakening; the fifth of a kind leaves a lasting mark, once."""
    if step > 0:
        history = replace(history, up=history.up + 1)
        if history.up >= LEARNING.lasting_after and not history.lasting_up:
            return replace(history, lasting_up=True), LEARNING.lasting
    elif step < 0:
        history = replace(history, down=history.down + 1)
        if history.down >= LEARNING.lasting_after and not history.lasting_down:
            return replace(history, lasting_down=True), -LEARNING.lasting
    return history, 0.0


def balanced(net: Network, nodes: Ints) -> tuple[Ints, Floats, Floats, int]:
    """Scale the incoming edges of nodes that hear too much; the edges, their weights before and after, and how many nodes.

    What the code itself says of a node counts towards the ceiling: a file that everybody imports has done nothing wrong.
    """
    owner, arc = net.back.of(nodes)
    edge = net.back.edge[arc].astype(np.int64)
    mine = (net.target[edge] == nodes[owner]) & ~net.inhibitory[edge]
    owner, edge = owner[mine], edge[mine]
    weight = net.strength(edge.astype(np.int32))
    total = np.bincount(owner, weights=weight, minlength=len(nodes))
    structure = np.bincount(owner, weights=np.minimum(net.derived[edge], LEARNING.structure), minlength=len(nodes))
    ceiling = np.maximum(structure, LEARNING.incoming)
    loud = total > ceiling * (1.0 + 1e-12)
    touched = loud[owner]
    edge, before = edge[touched], weight[touched]
    after = np.maximum(before * (ceiling / np.maximum(total, 1e-12))[owner[touched]], LEARNING.floor)
    net.set_weights(edge, after)
    return edge, before, after, int(loud.sum())
