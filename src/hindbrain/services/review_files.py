"""Cited files: whether the files that evidence was taken from still say what they said. Compares digests; keeps nothing."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.errors import PathRefused
from hindbrain.domain.evidence import Evidence, EvidenceId, SourceType
from hindbrain.domain.stored import stored_json
from hindbrain.policy.review import FILES_MOST
from hindbrain.services.brains import OpenBrain
from hindbrain.stores.evidence_files import digest_of, opened_file
from hindbrain.stores.port import Source
from hindbrain.stores.repository import worktrees_of

__all__ = ["Compared", "changed_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Rows whose file is another one now, with how, and how many files could not be looked at."""

    changed: dict[EvidenceId, str]
    unread: int


def changed_files(opened: OpenBrain, rows: Iterable[Evidence]) -> Compared:
    """Hold the files behind these rows against the digest they were taken in with. A row from elsewhere is left alone."""
    wanted = [row for row in rows if row.source_type is SourceType.PROJECT and row.anchor.kind is not AnchorKind.GLOBAL]
    if not wanted:
        return Compared(changed={}, unread=0)
    taken = _taken(opened.store.sources())
    found: dict[EvidenceId, str] = {}
    seen: dict[tuple[str, str], str | None] = {}
    unread = 0
    for row in wanted:
        note = taken.get(_place(row))
        root = row.anchor.id.removeprefix("worktree://") if row.anchor.kind is AnchorKind.WORKTREE else opened.brain.root
        if note is None or root is None or os.path.isabs(row.source) or not os.path.isdir(root):
            continue
        key = (root, row.source)
        if key not in seen:
            if len(seen) >= FILES_MOST:
                unread += 1
                continue
            try:
                seen[key] = _told(root, row, note)
            except (OSError, ValueError, PathRefused):
                seen[key] = None
                unread += 1
        if (how := seen[key]) is not None:
            found[row.id] = how
    return Compared(changed=found, unread=unread)


def _place(row: Evidence) -> tuple[object, ...]:
    return (row.source, row.anchor.id, row.wing, row.room, row.field)


def _taken(sources: Iterable[Source]) -> dict[tuple[object, ...], Source]:
    """The last time each file was taken in. What was typed is no file."""
    made: dict[tuple[object, ...], Source] = {}
    for one in sorted(sources, key=lambda source: source.at):
        scope = stored_json(one.scope, "source")
        if not scope.get("typed"):
            made[one.source, scope.get("anchor"), scope.get("wing"), scope.get("room"), scope.get("field")] = one
    return made


def _told(root: str, row: Evidence, note: Source) -> str | None:
    now = _digest(root, row.source)
    if now == note.digest:
        return None
    # The repository's own evidence holds as long as one of its checkouts has the file as it was.
    if row.anchor.kind is AnchorKind.REPO and any(_digest(place, row.source) == note.digest for place in worktrees_of(root)):
        return None
    return f"came from {row.source}, which changed since" if now else f"came from {row.source}, and there is no such file now"


def _digest(root: str, name: str) -> str | None:
    path, base = os.path.realpath(os.path.join(root, name)), os.path.realpath(root)
    if not path.startswith(base.rstrip("/") + "/"):
        raise PathRefused("a cited file leads out of its checkout", fix="take it in again from inside")
    try:
        with opened_file(path) as file:
            return digest_of(file)
    except FileNotFoundError:
        return None
