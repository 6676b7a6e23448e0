"""Spreading: a signal goes out from some nodes, loses strength with every hop, and the strongest arrival counts. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.network import Arcs, Floats, Ints, Network
from hindbrain.policy.activation import Spread

__all__ = ["Reached", "causal", "reach", "spread", "within"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Where a signal came to."""

    value: Floats  # of every node, 0 where nothing came
    hop: NDArray[np.int8]  # of the strongest arrival, 0 at a seed, -1 where nothing came
    via: NDArray[np.int32]  # the edge of the strongest arrival, -1 at a seed
    nodes: Ints  # the rows above 0, in the order of their ids


def reach(
    net: Network,
    arcs: Arcs,
    seeds: Ints,
    strengths: Floats,
    rule: Spread,
    *,
    gain: Floats | None = None,
    factor: float = 1.0,
    closed: NDArray[np.bool_] | None = None,
) -> Reached:
    """The strongest signal that comes to each node over at most `rule.depth` arcs, each factor x gain x weight x decay.

    Nodes that are `closed` hear a signal but do not pass it on. Inhibitory edges carry nothing here.
    """
    value = np.zeros(net.nodes)
    hop, via = np.full(net.nodes, -1, dtype=np.int8), np.full(net.nodes, -1, dtype=np.int32)
    np.maximum.at(value, seeds, np.minimum(strengths, rule.saturation))
    touched = [np.unique(seeds)]
    hop[touched[0]] = 0
    front = touched[0]
    for depth in range(1, rule.depth + 1):
        if closed is not None and depth > 1:
            front = front[~closed[front]]
        owner, arc = arcs.of(front)
        if not len(arc):
            break
        edge, other = arcs.edge[arc], arcs.other[arc]
        signal = value[front][owner] * net.strength(edge) * (rule.decay * factor)
        if gain is not None:
            signal *= gain[edge]
        better = (signal > rule.threshold) & (signal > value[other]) & ~net.inhibitory[edge]
        signal, other, edge = signal[better], other[better], edge[better]
        np.maximum.at(value, other, signal)
        won = np.flatnonzero(signal == value[other])[::-1]  # the last write stays: of equal arrivals that of the first edge
        via[other[won]], hop[other] = edge[won], depth
        front = np.unique(other[won]).astype(np.int64)
        touched.append(front)
    nodes = np.unique(np.concatenate(touched))
    return Reached(value=value, hop=hop, via=via, nodes=nodes[value[nodes] > 0])


def spread(net: Network, seeds: Ints, strengths: Floats, rule: Spread) -> Reached:
    """Along the edges; then every inhibitory edge of a node that was reached takes its share away, never below nothing."""
    found = reach(net, net.out, seeds, strengths, rule)
    if not net.inhibitory.any():
        return found
    owner, arc = net.out.of(found.nodes)
    edge, other = net.out.edge[arc], net.out.other[arc]
    cut = net.inhibitory[edge]
    loss = found.value[found.nodes][owner][cut] * net.strength(edge[cut]) * (rule.decay * rule.inhibition)
    value = found.value.copy()
    np.subtract.at(value, other[cut], loss)
    np.maximum(value, 0.0, out=value)
    return Reached(value=value, hop=found.hop, via=found.via, nodes=found.nodes[value[found.nodes] > 0])


def causal(net: Network, seeds: Ints, strengths: Floats, rule: Spread) -> Reached:
    """From causes to effects, and back with less; only edges that have a causal strength carry anything."""
    ahead = reach(net, net.out, seeds, strengths, rule, gain=net.causal)
    behind = reach(net, net.back, seeds, strengths, rule, gain=net.causal, factor=rule.backward)
    nearer = ahead.value >= behind.value
    return Reached(
        value=np.maximum(ahead.value, behind.value),
        hop=np.where(nearer, ahead.hop, behind.hop),
        via=np.where(nearer, ahead.via, behind.via),
        nodes=np.union1d(ahead.nodes, behind.nodes),
    )


def within(net: Network, nodes: Ints, hops: int) -> NDArray[np.bool_]:
    """Which nodes lie at most so many hops from these, along the edges."""
    found = np.zeros(net.nodes, dtype=bool)
    found[nodes] = True
    front = np.unique(nodes)
    for _ in range(hops):
        _, arc = net.out.of(front)
        other = np.unique(net.out.other[arc])
        front = other[~found[other]].astype(np.int64)
        found[front] = True
    return found
