"""Text search: where a text stands, in ids first and then in the files themselves. Says what it did not read."""

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.graph import Node
from hindbrain.engines.scopes import Scope
from hindbrain.policy.text_search import (
    CALL_SECONDS,
    FILE_MAX_BYTES,
    FILE_SECONDS,
    LAST,
    LINE_SHOWN,
    NAMED_FILES,
    PATTERN_MAX,
    SKIPPED_DIRECTORIES,
)
from hindbrain.stores.graph_port import GraphArrays, GraphStore
from hindbrain.stores.tree import listed, read

if TYPE_CHECKING:
    from hindbrain.engines.matching import Matcher

__all__ = ["Asked", "Root", "TextSearch", "ids_of"]

Root = tuple[str, str]  # an ingest root, and what its paths begin with in the graph

_HINT = "glob lists files by name; seek finds code and memory by words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One search."""

    query: str
    literal: bool
    scope: Scope
    top_k: int
    case_sensitive: bool
    context_lines: int
    invert: bool
    count_only: bool
    multiline: bool
    filename_pattern: str | None


@dataclass(slots=True)
class _Run:
    """What a search found and what it could not look at."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    files_read: int = 0
    timed_out: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


class TextSearch:
    """Literal and regular-expression search, and lists of files, over the roots of one brain."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def search(self, roots: Sequence[Root], graph: GraphStore | None, asked: Asked) -> dict[str, Any]:
        """Hits in order: exact label, symbols, files, then lines; fixtures and generated files last."""
        matcher = _matcher(asked)
        named = _named(asked.filename_pattern)
        arrays = graph.arrays() if graph is not None else None
        run = _Run()
        if arrays is not None and not asked.invert:
            self._ids(arrays, asked, matcher, named, run)
        known = set(graph.files()) if graph is not None else set()
        self._contents(roots, known, asked, matcher, named, run)
        rows = run.rows[: asked.top_k]
        if graph is not None and arrays is not None:
            _place(rows, graph, arrays)
        return {
            "results": [] if asked.count_only else rows,
            "total_matches": run.total,
            **({"match_count": run.total} if asked.count_only else {}),
            "truncated": not asked.count_only and run.total > len(rows),
            "files_read": run.files_read,
            "files_not_read": run.unread[:NAMED_FILES],
            "files_not_read_count": len(run.unread),
            "timed_out_files": run.timed_out[:NAMED_FILES],
            **({} if run.total else _absence(run)),
        }

    def _ids(self, arrays: GraphArrays, asked: Asked, matcher: "Matcher", named: Callable[[str], bool], run: _Run) -> None:
        """Nodes whose own part of the id fits; a directory in the query is not a hit of everything below it."""
        from hindbrain.engines.matching import TooSlow

        whole = "::" in asked.query
        wanted = asked.query if asked.case_sensitive else asked.query.lower()
        found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        until = self._clock() + FILE_SECONDS * 4
        try:
            for at, node_id in enumerate(arrays.ids):
                span = matcher.matches(node_id, clock=self._clock, seconds=until - self._clock())
                if span is None:
                    continue
                path, kind, label = arrays.paths[at], arrays.kinds[at], arrays.labels[at]
                if not asked.scope.covers_id(node_id, path) or not named(path):
                    continue
                own = 0 if whole or kind in ("file", "directory", "document") else len(f"file::{path}")
                if span[1] <= own:
                    continue
                exact = (label if asked.case_sensitive else label.lower()) == wanted
                rank = 0 if exact else 2 if kind in ("file", "directory", "document") else 1
                row = _row(node_id=node_id, label=label, kind=kind, path=path, linked=True)
                found.append(((_last(path), rank, path, node_id), row))
        except TooSlow:
            run.timed_out.append("(ids)")
        found.sort(key=lambda one: one[0])
        run.total += len(found)
        run.rows += [row for _, row in found]

    def _contents(
        self,
        roots: Sequence[Root],
        known: set[str],
        asked: Asked,
        matcher: "Matcher",
        named: Callable[[str], bool],
        run: _Run,
    ) -> None:
        until = self._clock() + CALL_SECONDS
        for root, path, shown in self.files(roots, asked.scope, named):
            if self._clock() > until:
                run.unread.append(shown)
                continue
            content = read(root, path, most=FILE_MAX_BYTES)
            if content.why_not is not None:
                if content.why_not not in ("gone", "binary", "link", "special"):
                    run.unread.append(shown)
                continue
            run.files_read += 1
            if not asked.invert and not matcher.possible(content.raw):
                continue
            self._lines(content.raw.decode("utf-8", "replace"), shown, shown in known, asked, matcher, run)

    def _lines(self, text: str, path: str, linked: bool, asked: Asked, matcher: "Matcher", run: _Run) -> None:
        from hindbrain.engines.matching import TooSlow, lines_of

        lines: list[str] | None = None
        try:
            found = [(hit.first, hit.last) for hit in matcher.hits(text, clock=self._clock, seconds=FILE_SECONDS)]
        except TooSlow:
            run.timed_out.append(path)
            return
        if asked.invert:
            lines = lines_of(text)
            taken = {number for first, last in found for number in range(first, last + 1)}
            found = [(number, number) for number in range(1, len(lines) + 1) if number not in taken]
        run.total += len(found)
        if asked.count_only:
            return
        for first, last in found[: max(0, asked.top_k - len(run.rows))]:
            lines = lines_of(text) if lines is None else lines
            row = _row(
                node_id=f"file::{path}" if linked else None, label=os.path.basename(path), kind="file", path=path, linked=linked
            )
            row["line_number"] = first
            row["matched_line"] = _shown(lines[first - 1])
            row["context_before"] = [_shown(one) for one in lines[max(0, first - 1 - asked.context_lines) : first - 1]]
            row["context_after"] = [_shown(one) for one in lines[last : last + asked.context_lines]]
            if last > first:
                row["line_end"] = last
            run.rows.append(row)

    def files(self, roots: Sequence[Root], scope: Scope, named: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
        """(root, path below it, path as the brain tells it) of every file in scope, fixtures and generated ones last."""
        found = []
        for root, prefix in roots:
            for path in listed(root, skipped=SKIPPED_DIRECTORIES):
                found.append((_last(path), prefix + path, root, path))
        inside = scope.within(one[1] for one in found)
        for _, shown, root, path in sorted(found):
            if inside.covers_path(shown) and named(shown):
                yield root, path, shown

    def glob(self, roots: Sequence[Root], graph: GraphStore | None, *, pattern: str, scope: Scope, top_k: int) -> dict[str, Any]:
        """Files by pattern, from graph and disk, each with whether the graph knows it and whether it is there."""
        fits = _named(pattern)
        disk = {shown for _, _, shown in self.files(roots, scope, fits)}
        known = set(graph.files()) if graph is not None else set()
        inside = scope.within(known | disk)
        paths = sorted(disk | {path for path in known if inside.covers_path(path) and fits(path)})
        rows = [
            {
                "node_id": f"file::{path}" if path in known else None,
                "file_path": path,
                "graph_linked": path in known,
                "on_disk": path in disk,
            }
            for path in paths[:top_k]
        ]
        return {"results": rows, "total_matches": len(paths), "truncated": len(paths) > top_k}


def _matcher(asked: Asked) -> "Matcher":
    from hindbrain.engines.matching import Matcher, PatternWrong, example_for

    if not asked.query.strip():
        raise InvalidParams("query is empty", fix=f"give the text to look for; {_HINT}")
    if len(asked.query) > PATTERN_MAX:
        raise InvalidParams(f"query has {len(asked.query)} characters", fix=f"give at most {PATTERN_MAX}; {_HINT}")
    try:
        return Matcher(asked.query, literal=asked.literal, case_sensitive=asked.case_sensitive, multiline=asked.multiline)
    except PatternWrong as wrong:
        raise InvalidParams(
            f"the regular expression cannot be read: {wrong}",
            fix=f"write what is meant as it stands, e.g. '{example_for(asked.query)}', or use mode literal",
        ) from wrong


def _named(pattern: str | None) -> Callable[[str], bool]:
    if not pattern:
        return lambda _: True
    if len(pattern) > PATTERN_MAX:
        raise InvalidParams("the pattern is too long", fix=f"give at most {PATTERN_MAX} characters, e.g. **/*.py")
    from hindbrain.engines.matching import globbed

    return globbed(pattern)


def _absence(run: _Run) -> dict[str, Any]:
    """How far an empty answer says that there is nothing. Where nothing was read, nothing is known."""
    if run.timed_out or run.unread:
        state, told = "inconclusive", "some files were not read: see files_not_read and timed_out_files"
    elif not run.files_read:
        state, told = "inconclusive", "no file was read: none here has this scope and name"
    else:
        state, told = "conclusive", "every file in scope was read"
    return {"absence": {"state": state, "why": told, "never_read": sorted(SKIPPED_DIRECTORIES)}}


def _last(path: str) -> bool:
    return any(part in LAST for part in path.lower().split("/")) or ".min." in path or path.endswith((".lock", ".snap"))


def _shown(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= LINE_SHOWN else line[:LINE_SHOWN] + "…"


def _row(*, node_id: str | None, label: str, kind: str, path: str, linked: bool) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "label": label,
        "type": kind,
        "file_path": path,
        "line_number": None,
        "matched_line": None,
        "context_before": [],
        "context_after": [],
        "graph_linked": linked,
    }


def _place(rows: Iterable[dict[str, Any]], graph: GraphStore, arrays: GraphArrays) -> None:
    """Give hits by id their lines, and lines the innermost symbol they stand in."""
    by_path: dict[str, list[Node]] = {}
    for row in rows:
        if not row["graph_linked"]:
            continue
        if row["line_number"] is None:
            node = graph.nodes([row["node_id"]]).get(row["node_id"])
            if node is not None:
                row["line_number"], row["matched_line"] = node.line_start or None, node.excerpt or None
            continue
        path = row["file_path"]
        if path not in by_path:
            nodes = graph.nodes(ids_of(arrays, path)).values()
            by_path[path] = sorted(nodes, key=lambda one: (one.line_start, -one.line_end, one.id))
        around = [one for one in by_path[path] if one.line_start <= row["line_number"] <= one.line_end]
        if around:
            row["node_id"], row["label"], row["type"] = around[-1].id, around[-1].label, around[-1].kind


def ids_of(arrays: GraphArrays, path: str) -> list[str]:
    """External ids of a file and what is in it. They are sorted, so they stand together."""
    own = f"file::{path}"
    found = []
    for at in range(bisect_left(arrays.ids, own), len(arrays.ids)):
        node_id = arrays.ids[at]
        if not node_id.startswith(own):
            break
        if node_id == own or node_id.startswith(own + "::"):
            found.append(node_id)
    return found
