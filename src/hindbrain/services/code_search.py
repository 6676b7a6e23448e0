"""Code search: the files and symbols of a checkout that a text is about, as rows. Reads a graph; knows no brain and no memory."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.graph import Node
from hindbrain.engines.change_memory import ChangeMemory
from hindbrain.engines.code_question import CodeQuestion
from hindbrain.engines.code_search import (
    Hit,
    Ranked,
    Signs,
    best_chunks,
    by_file,
    confidence,
    fused,
    lies_in,
    name_share,
    part_weights,
    shares_of,
    signs_in_text,
)
from hindbrain.engines.code_view import CodeView
from hindbrain.engines.scopes import Scope
from hindbrain.policy.code_search import (
    CHANGES,
    CHANGES_WAIT_S,
    CHUNK_HITS,
    CONNECTIONS,
    FILE_HITS,
    SYMBOL_FILES,
    SYMBOLS_PER_FILE,
    TITLE_HITS,
)
from hindbrain.services.code_rows import CodeFound
from hindbrain.services.text_search import ids_of
from hindbrain.stores.change_log import changes_of, head_of
from hindbrain.stores.graph_port import GraphArrays, GraphStore

__all__ = ["CodeSearch"]

_KEPT = 8  # graphs whose view is kept; one of a large checkout is some 30 MB
_NO_CHANGES = ChangeMemory(())


@dataclass(slots=True)
class _Order:
    """Files in order, how sure all of it is, what each sign counted, and the stretches that were found."""

    ranked: list[Ranked]
    sure: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)
    stretches: dict[str, list[Hit]] = field(default_factory=dict)


class _View(CodeView):
    """A view with the columns it was made from."""

    def __init__(self, arrays: GraphArrays, commits: Mapping[str, int]) -> None:
        super().__init__(arrays, commits)
        self.arrays = arrays


class _Changes:
    """The messages of one checkout at one commit, being read or there."""

    def __init__(self, root: str, head: str, before: ChangeMemory) -> None:
        self._root = root
        self.head = head
        self.memory = before
        self.there = threading.Event()

    def read(self) -> None:
        try:
            self.memory = ChangeMemory((one.message, one.paths) for one in changes_of(self._root, most=CHANGES))
        finally:
            self.there.set()


class CodeSearch:
    """One for all graphs of a process. Safe for several threads."""

    def __init__(self) -> None:
        self._views: OrderedDict[int, _View] = OrderedDict()
        self._changes: OrderedDict[str, _Changes] = OrderedDict()
        self._lock = threading.Lock()

    def files(
        self, graph: GraphStore, text: str, *, limit: int, root: str | None = None, scope: Scope | None = None
    ) -> list[Ranked]:
        """Files that a text is about, best first."""
        question = CodeQuestion(text)
        view = self._view(graph)
        order = self._ranked(graph, view, question, (scope or Scope()).within(view.paths), self.changes(root))
        return [one.scaled(order.sure) for one in order.ranked[:limit]]

    def rows(
        self,
        graph: GraphStore,
        text: str,
        *,
        limit: int,
        root: str | None = None,
        scope: Scope | None = None,
        node_types: Sequence[str] = (),
        min_score: float = 0.0,
        related: bool = True,
    ) -> CodeFound:
        """Files and the symbols in them, as rows of an answer; `related` also weighs what changed lately and along with what."""
        question = CodeQuestion(text)
        view = self._view(graph)
        inside = (scope or Scope()).within(view.paths)
        order = self._ranked(graph, view, question, inside, self.changes(root) if related else _NO_CHANGES)
        ranked = [one.scaled(order.sure) for one in order.ranked if one.score * order.sure >= max(min_score, 1e-9)]
        found: list[tuple[float, str, Ranked]] = []
        for at, one in enumerate(ranked):
            own = f"file::{one.path}"
            if inside.covers_id(own, one.path) and _is(view, own, node_types):
                found.append((one.score, own, one))
            if at < SYMBOL_FILES:
                ids = [node for node in ids_of(view.arrays, one.path) if node != own and inside.covers_id(node, one.path)]
                wanted = [node for node in ids if _is(view, node, node_types)]
                for share, node_id in self._symbols(graph, view, question, wanted, order.stretches.get(one.path, ())):
                    found.append((one.score * share, node_id, one.scaled(share)))
        found = sorted((one for one in found if one[0] >= min_score), key=lambda one: (-one[0], one[1]))
        nodes = graph.nodes([node_id for _, node_id, _ in found[:limit]])
        rows = [self._row(view, nodes[node_id], part, order.shares) for _, node_id, part in found[:limit] if node_id in nodes]
        return CodeFound(rows=rows, found=len(found), weights=part_weights(order.shares))

    # -- looking up --------------------------------------------------------------------------------------------------

    def _view(self, graph: GraphStore) -> _View:
        arrays = graph.arrays()
        with self._lock:
            known = self._views.get(id(graph))
            if known is not None and known.arrays is arrays:
                return known
        view = _View(arrays, {path: facts.commits for path, facts in graph.files().items()})
        with self._lock:
            _kept(self._views, id(graph), view)
        return view

    def changes(self, root: str | None) -> ChangeMemory:
        """What commits said, read again beside the call when the checkout stands on another one.

        A call waits a little for it; where git takes longer, what was known before serves until it is there.
        """
        head = head_of(root) if root is not None else None
        if root is None or head is None:
            return _NO_CHANGES
        with self._lock:
            known = self._changes.get(root)
            if known is None or known.head != head:
                known = _Changes(root, head, known.memory if known is not None else _NO_CHANGES)
                _kept(self._changes, root, known)
                threading.Thread(target=known.read, daemon=True, name="hindbrain-changes").start()
        known.there.wait(CHANGES_WAIT_S)
        return known.memory

    def signs(
        self, graph: GraphStore, view: _View, question: CodeQuestion, changes: ChangeMemory
    ) -> tuple[Signs, float, dict[str, list[Hit]]]:
        """Everything that speaks for a file, how well the best stretch fits the title, and the stretches found in each."""
        chunks = graph.find(question.terms, limit=CHUNK_HITS, field="chunks")
        titles = graph.find(question.title_terms, limit=TITLE_HITS, field="chunks")
        names = {hit.path: hit.score for hit in graph.find(question.terms, limit=FILE_HITS, field="names")}
        headed = {hit.path: hit.score for hit in graph.find(question.title_terms, limit=FILE_HITS, field="names")}
        whole = {hit.path: hit.score for hit in graph.find(question.terms, limit=FILE_HITS, field="whole")}
        signs = {
            "chunks": best_chunks(chunks),
            "title": best_chunks(titles),
            "names": names,
            "headed": headed,
            "whole": whole,
            **signs_in_text(question, view, view.arrays.paths.__getitem__),
            "changed": changes.lately,
            "told": changes.files(question.title_terms, view.sources),
        }
        return signs, titles[0].score if titles else 0.0, by_file((*titles, *chunks))

    def _ranked(self, graph: GraphStore, view: _View, question: CodeQuestion, scope: Scope, changes: ChangeMemory) -> _Order:
        if not question.terms or not view.paths:
            return _Order([])
        signs, best, stretches = self.signs(graph, view, question, changes)
        frequencies, rows = graph.frequencies(question.title_terms)
        shares = shares_of(question, signs)
        ranked = [one for one in fused(signs, view, shares, tests_meant=question.about_tests) if scope.covers_path(one.path)]
        return _Order(ranked, confidence(question, signs, best, frequencies, rows), shares, stretches)

    @staticmethod
    def _symbols(
        graph: GraphStore, view: _View, question: CodeQuestion, ids: Sequence[str], stretches: Sequence[Hit]
    ) -> list[tuple[float, str]]:
        """The symbols of a file that show most of the question, with their share of its score, best first.

        Those whose names share nothing with the question are looked at only if they are few: their lines are not in the columns.
        """
        labels = {node_id: view.arrays.labels[at] for node_id in ids if (at := view.place(node_id)) is not None}
        called = sorted(labels, key=lambda node_id: (-name_share(question, labels[node_id]), node_id))[: 3 * SYMBOLS_PER_FILE]
        scored = []
        for node_id, node in graph.nodes(called).items():
            lying = lies_in(node.line_start, node.line_end, stretches)
            scored.append((min(0.98, name_share(question, node.label) + lying), node_id))
        return sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))[:SYMBOLS_PER_FILE]

    # -- rows --------------------------------------------------------------------------------------------------------

    def _row(self, view: _View, node: Node, ranked: Ranked, shares: Mapping[str, float]) -> dict[str, Any]:
        return {
            "node_id": node.id,
            "label": node.label,
            "type": node.kind,
            "score": ranked.score,
            "score_breakdown": ranked.breakdown(shares),
            "intent_summary": _intent(node),
            "file_path": node.path,
            "line_start": node.line_start,
            "line_end": node.line_end,
            "excerpt": node.excerpt,
            "connections": self._connections(view, node.id),
            "source": "code",
        }

    @staticmethod
    def _connections(view: _View, node_id: str) -> list[dict[str, str]]:
        """The strongest edges from and to a node."""
        import numpy as np

        arrays = view.arrays
        at = view.place(node_id)
        if at is None:
            return []
        edges = view.edges_at(at)
        if not len(edges):
            return []
        order = np.lexsort((arrays.target[edges], arrays.source[edges], -arrays.weight[edges]))
        found: dict[str, dict[str, str]] = {}
        for edge in edges[order]:
            other = int(arrays.target[edge] if arrays.source[edge] == at else arrays.source[edge])
            relation = arrays.relations[int(arrays.relation[edge])]
            found.setdefault(
                arrays.ids[other], {"node_id": arrays.ids[other], "label": arrays.labels[other], "relation": relation}
            )
            if len(found) == CONNECTIONS:
                break
        return list(found.values())


def _is(view: _View, node_id: str, node_types: Collection[str]) -> bool:
    at = view.place(node_id)
    return at is not None and (not node_types or view.arrays.kinds[at] in node_types)


def _kept(shelf: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    shelf[key] = value
    shelf.move_to_end(key)
    while len(shelf) > _KEPT:
        shelf.popitem(last=False)


def _intent(node: Node) -> str:
    """What a node is, in a line."""
    place = f" in {node.path}" if node.path and node.kind != "file" else ""
    return f"{node.kind} {node.label}{place}" + (f": {node.excerpt}" if node.excerpt and node.excerpt != node.label else "")
