"""Graph columns: a network as a page draws it, numbers instead of names, and each claim as one node. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.network import Ints, Network
from hindbrain.policy.activation import COLUMNS, Drawn

__all__ = ["CITES", "CLAIM", "Citations", "citations", "columns"]

CLAIM = "claim"  # the kind of a node that stands for a whole claim
CITES = "cites"
_FIRST = ("directory", "file")  # what a map is read by stays when there is too much
_FILE = "-light-md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """Which claims cite which nodes: one row of each per pair."""

    slugs: tuple[str, ...]
    labels: tuple[str, ...]
    claim: Ints  # number of the slug
    node: Ints
    memory: NDArray[np.bool_]  # nodes that are parts of claims


def citations(net: Network, light: NDArray[np.bool_]) -> Citations:
    """The claims that are bound to code. Documents in the same grammar have a path: they are no claims."""
    memory = light.copy()
    memory[[row for row in np.flatnonzero(light).tolist() if net.paths[row]]] = False
    crossing = np.flatnonzero(memory[net.source] != memory[net.target])
    source, target = net.source[crossing], net.target[crossing]
    inner = np.where(memory[source], source, target)
    outer = np.where(memory[source], target, source)
    named = [_slug(net.ids[row]) for row in inner.tolist()]
    slugs = sorted({slug for slug in named if slug})
    number = {slug: at for at, slug in enumerate(slugs)}
    pairs = {(number[slug], node) for slug, node in zip(named, outer.tolist(), strict=True) if slug}
    table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    labels = tuple(_label(net, slug) for slug in slugs)
    return Citations(slugs=tuple(slugs), labels=labels, claim=table[:, 0], node=table[:, 1], memory=memory)


def _slug(external: str) -> str:
    parts = external.split("::")
    return parts[3].removesuffix(_FILE) if len(parts) >= 4 and parts[3].endswith(_FILE) else ""


def _label(net: Network, slug: str) -> str:
    row = net.index.get(_claim_id(slug))
    return net.labels[row] if row is not None else slug


def _claim_id(slug: str) -> str:
    return f"light::light::file::{slug}{_FILE}"


def columns(net: Network, cited: Citations, near: Sequence[int] = (), most: Drawn = COLUMNS) -> dict[str, Any]:
    """Nodes, edges and claims as lists of equal length; `near` nodes are in it however unimportant they are."""
    kept = _kept(net, cited, np.array(near, dtype=np.int64), most.nodes)
    place = np.full(net.nodes, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    shown = (place[net.source] >= 0) & (place[net.target] >= 0)
    edges = np.flatnonzero(shown)
    dropped = max(len(edges) - most.edges, 0)
    if dropped:
        edges = np.sort(edges[np.lexsort((edges, -net.derived[edges]))[: most.edges]])
    told, left_claims = _claims(cited, place, most.claims)
    paths, path = _numbered([net.paths[row] for row in kept.tolist()])
    kinds, kind = _numbered([net.kinds[row] for row in kept.tolist()])
    relations, relation = _numbered([net.relations[number] for number in net.relation[edges].tolist()])
    claims = list(dict.fromkeys(claim for claim, _ in told))
    row_of = {claim: len(kept) + at for at, claim in enumerate(claims)}
    cites = _number_of(relations, CITES) if told else 0
    a_claim, nowhere = (_number_of(kinds, CLAIM), _number_of(paths, "")) if claims else (0, 0)
    counted = np.bincount(cited.node, minlength=net.nodes)[kept] if len(cited.node) else np.zeros(len(kept), dtype=np.int64)
    ringed = np.flatnonzero(counted)
    return {
        "kinds": kinds,
        "paths": paths,
        "relations": relations,
        "nodes": {
            "id": [net.ids[row] for row in kept.tolist()] + [_claim_id(cited.slugs[claim]) for claim in claims],
            "label": [net.labels[row] for row in kept.tolist()] + [cited.labels[claim] for claim in claims],
            "kind": kind + [a_claim] * len(claims),
            "path": path + [nowhere] * len(claims),
        },
        "edges": {
            "source": place[net.source[edges]].tolist() + [row_of[claim] for claim, _ in told],
            "target": place[net.target[edges]].tolist() + [int(place[node]) for _, node in told],
            "relation": relation + [cites] * len(told),
        },
        "claims": {"node": [row_of[claim] for claim in claims], "slug": [cited.slugs[claim] for claim in claims]},
        "cited": {"node": ringed.tolist(), "claims": counted[ringed].tolist()},
        "left_out": {
            "nodes": int(net.nodes - cited.memory.sum() - len(kept)),
            "edges": dropped,
            "claims": left_claims,
        },
    }


def _kept(net: Network, cited: Citations, near: Ints, most: int) -> Ints:
    """The rows that are drawn: all code, or what was asked for, then directories and files, then what is bound best."""
    code = np.flatnonzero(~cited.memory)
    if len(code) <= most:
        return code
    weight = net.pagerank + net.degree / max(float(net.degree.max(initial=1)), 1.0)
    later = np.fromiter((net.kinds[row] not in _FIRST for row in code.tolist()), dtype=bool, count=len(code))
    order = np.lexsort((code, -weight[code], later, ~np.isin(code, near)))
    return np.sort(code[order][:most])


def _claims(cited: Citations, place: Ints, limit: int) -> tuple[list[tuple[int, int]], int]:
    """The claims that are drawn with what they cite, and how many were too many."""
    pairs = [(int(claim), int(node)) for claim, node in zip(cited.claim, cited.node, strict=True) if place[node] >= 0]
    found = list(dict.fromkeys(claim for claim, _ in pairs))
    drawn = set(found[:limit])
    return [pair for pair in pairs if pair[0] in drawn], len(cited.slugs) - len(drawn)


def _numbered(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Each text once, and for every place the number of its text."""
    number: dict[str, int] = {}
    numbers = [number.setdefault(one, len(number)) for one in texts]
    return list(number), numbers


def _number_of(names: list[str], name: str) -> int:
    """The number of a name that is added when it is not there."""
    if name not in names:
        names.append(name)
    return names.index(name)
