"""What a document adapter gives: nodes and edges of its own namespace, and what it left out and why. Values only."""

import math
import re
from dataclasses import dataclass, field

from hindbrain.domain.graph import Edge, Node
from hindbrain.policy.graph import EXCERPT_CHARS

__all__ = ["DocumentGraph", "Skipped", "brief", "finite", "joined", "namespaced", "slug"]

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
Skipped = tuple[str, str]  # what, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentGraph:
    """What one document, or one descriptor, contributes. Edges may end at nodes that do not exist; the store leaves them out."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    shared: tuple[Node, ...] = ()  # nodes that other documents may name as well: they outlive this one while another does
    evidence: tuple[tuple[str, str], ...] = ()  # node id, path or `path::name` as written
    skipped: tuple[Skipped, ...] = ()
    provider_status: dict[str, str] = field(default_factory=dict)  # format -> `builtin` or `missing`
    text: str = ""  # what the words of the document are taken from


def namespaced(namespace: str | None, default: str) -> str:
    """A namespace as ids carry it."""
    return (namespace or "").strip().lower() or default


def slug(text: str) -> str:
    """A part of an id."""
    return _NOT_PLAIN.sub("-", text[:200].lower()).strip("-") or "x"


def brief(text: str) -> str:
    """An excerpt."""
    return " ".join(text[: 2 * EXCERPT_CHARS].split())[:EXCERPT_CHARS]


def finite(value: object) -> float:
    """A weight or score; what is no finite number counts nothing."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def joined(graphs: "list[DocumentGraph]") -> DocumentGraph:
    """Several documents as one; of two nodes with one id the first stays."""
    nodes = {node.id: node for graph in reversed(graphs) for node in reversed(graph.nodes)}
    return DocumentGraph(
        nodes=tuple(reversed(nodes.values())),
        edges=tuple(edge for graph in graphs for edge in graph.edges),
        shared=tuple({node.id: node for graph in reversed(graphs) for node in reversed(graph.shared)}.values()),
        evidence=tuple(one for graph in graphs for one in graph.evidence),
        skipped=tuple(one for graph in graphs for one in graph.skipped),
        provider_status={key: value for graph in graphs for key, value in graph.provider_status.items()},
        text="\n".join(graph.text for graph in graphs if graph.text),
    )
