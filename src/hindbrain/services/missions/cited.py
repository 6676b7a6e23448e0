"""Cited texts: what the lines behind an event say now. A file that is no longer the one that was read says nothing."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hindbrain.domain.mission import EventType, MissionEvent
from hindbrain.engines.claim_support import Source
from hindbrain.engines.mission_evidence import place_of
from hindbrain.policy.missions import SWEEPS
from hindbrain.policy.proof import HITS_MOST
from hindbrain.stores.git import asked
from hindbrain.stores.source_file import SeenFile, seen_file

__all__ = ["CHANGED", "cited", "of_file"]

CHANGED = "it is not what it was when it was read: read it again"
_GIT_S = 10.0
_DIFF_MOST = 400_000  # characters of a diff that are read

_E = EventType
_Events = Callable[[Sequence[int]], list[MissionEvent]]


def of_file(seen: SeenFile, lines: tuple[int, int] | None) -> Source:
    """A file, and which lines of it are meant."""
    return Source(name=seen.path, path=seen.path, lines=tuple(seen.lines), cited=lines)


def cited(event: MissionEvent, roots: tuple[str, ...], events: _Events) -> tuple[Source, ...]:
    """The texts that an event stands for, read now. `events` finds those that a sweep links."""
    payload = event.payload
    if event.event_type is _E.FILE_READ:
        return _same(roots, event.target or "", event.target_digest, _span(payload))
    if event.event_type is _E.WEB_FETCH:
        return _same(roots, str(payload.get("copy") or ""), str(payload.get("copy_digest") or ""), None)
    if event.event_type is _E.LITERAL_SEARCH:
        return _hits(payload, roots)
    if event.event_type is _E.DIFF_READ:
        return _diff(payload, roots)
    if event.event_type in SWEEPS:
        linked = payload.get("linked_seqs")
        inside = events([one for one in linked if isinstance(one, int)]) if isinstance(linked, list | tuple) else []
        return tuple(source for one in inside if one.event_type not in SWEEPS for source in cited(one, roots, events))
    return ()


def _same(roots: tuple[str, ...], path: str, digest: str | None, lines: tuple[int, int] | None) -> tuple[Source, ...]:
    seen = seen_file(roots, path)
    return (of_file(seen, lines),) if isinstance(seen, SeenFile) and seen.digest == digest else ()


def _span(payload: dict[str, Any]) -> tuple[int, int] | None:
    told = payload.get("range")
    if isinstance(told, list | tuple) and len(told) == 2 and all(isinstance(one, int) for one in told):
        return int(told[0]), int(told[1])
    return None


def _hits(payload: dict[str, Any], roots: tuple[str, ...]) -> tuple[Source, ...]:
    """Every hit with the lines around it, as far as its file is the one that was searched."""
    told = payload.get("hits")
    digests = payload.get("digests")
    known = digests if isinstance(digests, dict) else {}
    places = []
    for one in (told if isinstance(told, list | tuple) else ())[:HITS_MOST]:
        if isinstance(one, str):
            path, line, _ = place_of(one)
        else:
            path, line = (str(one.get("path") or ""), one.get("line")) if isinstance(one, dict) else ("", None)
        if path and isinstance(line, int):
            places.append((path, line))
    files = {path: seen_file(roots, path) for path in dict.fromkeys(path for path, _ in places)}
    return tuple(
        of_file(seen, (line, line))
        for path, line in places
        if isinstance(seen := files[path], SeenFile) and known.get(seen.path, seen.digest) == seen.digest
    )


def _diff(payload: dict[str, Any], roots: tuple[str, ...]) -> tuple[Source, ...]:
    commits = payload.get("commits")
    names = [one for one in commits if isinstance(one, str)] if isinstance(commits, list | tuple) else []
    asks = [names] if len(names) == 2 else [[one] for one in names]
    sources = []
    for one in asks if roots else ():
        said = asked(roots[0], "diff-tree", "-r", "-p", "--root", "--no-commit-id", "--no-renames", *one, seconds=_GIT_S)
        text = (said or b"").decode("utf-8", "replace")[:_DIFF_MOST]
        name = f"the diff of {' '.join(commit[:12] for commit in one)}"
        sources += [Source(name=f"{name}: {path}", path=path, lines=lines) for path, lines in _written(text)]
    return tuple(sources)


def _written(diff: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each file of a diff with the lines that the change leaves, to be read as code. Removed lines show nothing."""
    path, lines = "", []  # type: str, list[str]
    inside = False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            if lines:
                yield path, tuple(lines)
            path, lines, inside = "", [], False
        elif not inside and line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
        elif line.startswith("@@ "):
            inside = True
        elif inside and line[:1] in ("+", " "):
            lines.append(line[1:])
    if lines:
        yield path, tuple(lines)
