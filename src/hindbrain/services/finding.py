"""Finding: code by words, texts in files, files by name, for one caller. Decides which graph and which roots are asked."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hindbrain.domain.brain import TierAsked, contains
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, InvalidParams
from hindbrain.engines.scopes import Scope, scope_of
from hindbrain.policy.text_search import GLOB_TOP_K
from hindbrain.services.authority import Authority
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.code_rows import CodeFound
from hindbrain.services.document_search import DocumentSearch
from hindbrain.services.graphs import Graphs
from hindbrain.services.ingests import Request
from hindbrain.services.projects import Projects
from hindbrain.services.recall import tier_asked
from hindbrain.services.routing import Gap, Route, Router, gap
from hindbrain.services.text_search import Asked, Root, TextSearch
from hindbrain.stores.sqlite_files import copies_set_aside

if TYPE_CHECKING:
    from hindbrain.services.code_search import CodeSearch

__all__ = ["GRAPH_CORRUPT", "GRAPH_LOST", "Finding"]

# Kinds of gaps: the graph file is not there, or it was damaged and begun again empty.
GRAPH_LOST = "graph_lost"
GRAPH_CORRUPT = "snapshot_corrupt_recovered"

Progress = Callable[[int, int, str], None]


class Finding:
    """What callers ask of code. Reads; only `auto_ingest` writes, through the projects."""

    def __init__(self, brains: Brains, router: Router, graphs: Graphs, projects: Projects, authority: Authority) -> None:
        self._brains = brains
        self._router = router
        self._graphs = graphs
        self._projects = projects
        self._authority = authority
        self._text = TextSearch()
        self._documents = DocumentSearch()

    @cached_property
    def _code(self) -> "CodeSearch":
        from hindbrain.services.code_search import CodeSearch  # it loads arrays, which a brain without code never needs

        return CodeSearch()

    # -- code by words -----------------------------------------------------------------------------------------------

    def code(
        self,
        route: Route,
        query: str,
        *,
        limit: int,
        tier: str | None = None,
        scope: str | None = None,
        node_types: Sequence[str] = (),
        min_score: float = 0.0,
        related: bool = True,
    ) -> CodeFound:
        """Files and symbols for a text. The medulla has no code, and who asks for it alone gets none."""
        if tier_asked(tier)[0] is TierAsked.MEDULLA:
            return CodeFound()
        try:
            with self._opened(route) as opened:
                graph = opened.graph if opened is not None else None
                if opened is None or graph is None:
                    return CodeFound()
                if not graph.counts()[0]:
                    return CodeFound(gaps=[_lost(opened)]) if opened.graph_lost else CodeFound()
                wanted: dict[str, Any] = {"limit": limit, "node_types": node_types, "min_score": min_score}
                where = self._scope(opened, scope)
                documents = self._documents.rows(graph, query, scope=where, **wanted)
                found = self._code.rows(graph, query, root=opened.brain.root, scope=where, related=related, **wanted)
                if documents:
                    found.rows = sorted([*found.rows, *documents], key=lambda row: -row["score"])[:limit]
                    found.found += len(documents)
                return found
        except (HindbrainError, OSError) as failure:
            # A part of an answer that fails is a named gap, never a failed answer: memory is served without it.
            return CodeFound(gaps=[gap("code_unreachable", f"the code graph did not answer: {failure}", "hindbrain doctor")])

    @contextmanager
    def _opened(self, route: Route) -> Iterator[OpenBrain | None]:
        """The brain whose graph is asked: the caller's, else the one that is lent."""
        brain = route.brain or route.lent
        if brain is None:
            yield None
            return
        with self._brains.use(brain) as opened:
            yield opened

    def _roots(self, opened: OpenBrain) -> list[Root]:
        places = [(one.root, one.prefix) for one in self._graphs.places(opened)]
        return places or [(root, "") for root in [opened.brain.root] if root is not None]

    def _scope(self, opened: OpenBrain, scope: str | None) -> Scope:
        return scope_of(scope, self._roots(opened))

    # -- texts and names ---------------------------------------------------------------------------------------------

    def search(self, caller: Caller, asked: Asked, scope: str | None, *, auto_ingest: bool, progress: Progress) -> dict[str, Any]:
        """Where a text stands."""
        taken = self._take_in(caller, scope, progress) if auto_ingest else []
        with self._opened(self._router.route(caller)) as opened:
            if opened is None:
                return _nowhere() | _ingested(taken)
            where = _with_scope(asked, self._scope(opened, scope))
            return self._text.search(self._roots(opened), opened.graph, where) | _ingested(taken)

    def glob(self, caller: Caller, pattern: str, scope: str | None, *, top_k: int = GLOB_TOP_K) -> dict[str, Any]:
        """Files by name."""
        if not pattern.strip():
            raise InvalidParams("pattern is empty", fix="give a path pattern, e.g. **/*_test.py; seek finds files by words")
        with self._opened(self._router.route(caller)) as opened:
            if opened is None:
                return {"results": [], "total_matches": 0, "truncated": False}
            return self._text.glob(
                self._roots(opened), opened.graph, pattern=pattern, scope=self._scope(opened, scope), top_k=top_k
            )

    def _take_in(self, caller: Caller, scope: str | None, progress: Progress) -> list[str]:
        """Ingest the one directory outside the roots that a scope can mean."""
        if not scope:
            return []
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            roots = [root for root, _ in self._roots(opened)]
        named = [path for path in _directories(scope, caller.root, roots) if not any(contains(root, path) for root in roots)]
        meant = [path for path in named if self._authority.reaches(caller, path)]
        if os.path.isabs(scope) and not meant and not any(contains(root, os.path.realpath(scope)) for root in roots):
            self._authority.source(caller, scope)  # refused with the reason, whether or not the directory exists
        if not meant:
            return []
        if len(meant) > 1:
            raise InvalidParams(
                f"scope {scope[:120]!r} can mean several directories: {', '.join(meant)}", fix="give one of them as scope"
            )
        request = Request(path=meant[0], mode="merge")
        # Whoever names a directory and asks to have it taken in has said that it is meant, too.
        self._projects.ingest(caller, request, project_root=None, tier=None, progress=progress, federation_intent=True)
        return meant


def _lost(opened: OpenBrain) -> Gap:
    """A graph that is gone, or that was damaged and set aside. Both are filled again by an ingest."""
    name, fix = opened.brain.display_name, {"tool": "ingest", "arguments": {"path": opened.brain.root}}
    if damaged := copies_set_aside(opened.directory, opened.graph_path.name):
        text = f"the graph of {name} was damaged and set aside as {damaged[-1].name}: no code was searched, memory is not touched"
        return gap(GRAPH_CORRUPT, text, fix)
    return gap(GRAPH_LOST, f"the graph of {name} is gone: no code was searched, memory is not touched", fix)


def _directories(scope: str, root: str | None, roots: Sequence[str]) -> list[str]:
    """Directories that a scope can name: itself, or below the caller's directory, a root, or beside a root."""
    told = scope.removeprefix("file::").partition("::")[0]
    bases = [""] if os.path.isabs(told) else [*([root] if root else []), *roots, *map(os.path.dirname, roots)]
    try:
        paths = (os.path.realpath(os.path.join(base, told)) for base in bases)
        return sorted({path for path in paths if os.path.isdir(path)})
    except (OSError, ValueError):
        return []


def _with_scope(asked: Asked, scope: Scope) -> Asked:
    from dataclasses import replace

    return replace(asked, scope=scope)


def _ingested(paths: list[str]) -> dict[str, Any]:
    return {"auto_ingested": bool(paths), "auto_ingested_paths": paths}


def _nowhere() -> dict[str, Any]:
    return {"results": [], "total_matches": 0, "truncated": False, "files_read": 0, "timed_out_files": []}
