"""Document search: nodes of strategy documents that a question is about, as rows beside code. Reads a graph only."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.graph import Node
from hindbrain.engines.ranking import coverage
from hindbrain.engines.scopes import Scope
from hindbrain.engines.text import query_terms, terms
from hindbrain.policy.recall import QUERY_TERMS
from hindbrain.stores.graph import LocalGraph

__all__ = ["LIGHT_OWNER", "DocumentSearch"]

LIGHT_OWNER = "light:"  # how the names of the owners of strategy documents begin

_KEPT = 8  # graphs whose documents are kept in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    node: Node
    label: frozenset[str]
    body: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Documents:
    """The document nodes of one generation of a graph, and in how many of them each word occurs."""

    generation: int
    found: tuple[_Document, ...]
    frequencies: Counter[str]


class DocumentSearch:
    """One for all graphs of a process. Safe for several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[LocalGraph, _Documents]] = OrderedDict()
        self._lock = threading.Lock()

    def rows(
        self, graph: LocalGraph, text: str, *, limit: int, min_score: float, scope: Scope, node_types: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return document nodes that have words of the question, best first."""
        words = query_terms(text)[:QUERY_TERMS]
        if not words or scope.outside is not None:
            return []
        held = self._documents(graph)
        total, scored = len(held.found), []
        for one in held.found:
            if node_types and one.node.kind not in node_types:
                continue
            if not (scope.memory or scope.covers_path(one.node.path)):
                continue
            score = coverage(words, one.label, one.body, held.frequencies, total)
            if score >= max(min_score, 1e-9):
                scored.append((round(score, 4), one.node))
        scored.sort(key=lambda one: (-one[0], one[1].id))
        return [_row(node, score) for score, node in scored[:limit]]

    def _documents(self, graph: LocalGraph) -> _Documents:
        generation = graph.counts()[2]
        with self._lock:
            held = self._known.get(id(graph))
            if held is not None and held[0] is graph and held[1].generation == generation:
                return held[1]
        nodes = graph.nodes([node for name in graph.owners(LIGHT_OWNER) for node in graph.owned(name)])
        found = tuple(
            _Document(
                node=node,
                label=frozenset(terms(node.label)),
                body=frozenset(terms(f"{node.label} {node.excerpt} {' '.join(node.tags)}")),
            )
            for node in nodes.values()
        )
        made = _Documents(
            generation=generation, found=found, frequencies=Counter(word for one in found for word in one.label | one.body)
        )
        with self._lock:
            self._known[id(graph)] = (graph, made)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return made


def _row(node: Node, score: float) -> dict[str, Any]:
    return {
        "node_id": node.id,
        "label": node.label,
        "type": node.kind,
        "score": score,
        "score_breakdown": {"keyword": score},
        "intent_summary": (node.excerpt or node.label)[:220],
        "file_path": node.path,
        "line_start": node.line_start,
        "line_end": node.line_end,
        "excerpt": node.excerpt,
        "connections": [],
        "source": "document",
    }
