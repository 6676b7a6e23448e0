"""Archiving: what the files of an archive are called, what each may hold, and how a row is written. Reads no file."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.ledger import canonical
from hindbrain.domain.typed import decoded
from hindbrain.policy.carrying import CARRIED, NAME_MAX

__all__ = ["Kind", "Member", "carried", "is_history", "line_of", "member_name", "member_of", "row_of"]

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]{0,199}\Z")
_HISTORY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\.\d+\.light\.md\Z")
_MOST, _LEAST = 2**63 - 1, -(2**63)
_AGAIN = "make the export again; nothing was restored"


class Kind(StrEnum):
    """What a file of an archive is."""

    TABLE = "tables"
    LEARNED = "learned"
    HISTORY = "history"
    FILE = "files"
    REPOSITORY = "repository"
    SHOWN = "shown"  # for readers and for merging: claims, evidence, cards as they are told


class Member(NamedTuple):
    kind: Kind
    name: str  # the table, or the path below its room's parent


_SHOWN = frozenset(("boot_memory.json", "evidence.jsonl", "cards.jsonl", "outcomes.jsonl", "foreign_cards.jsonl", "export.json"))


def member_name(kind: Kind, name: str) -> str:
    """What a file is called in an archive."""
    return f"{kind.value}/{name}.jsonl" if kind in (Kind.TABLE, Kind.LEARNED) else f"{kind.value}/{name}"


def member_of(name: str) -> Member:
    """What a file of an archive is; InvalidParams for a name that no export gives."""
    room, _, rest = name.partition("/")
    if len(name) <= NAME_MAX:
        if room in (Kind.TABLE, Kind.LEARNED) and rest.endswith(".jsonl") and "/" not in rest:
            return Member(Kind(room), rest.removesuffix(".jsonl"))
        if room == Kind.HISTORY and is_history(rest):
            return Member(Kind.HISTORY, rest)
        if room in (Kind.FILE, Kind.REPOSITORY) and carried(rest, in_repository=room == Kind.REPOSITORY):
            return Member(Kind(room), rest)
        if name in _SHOWN or (room == "agent-memory" and rest.endswith(".light.md") and "/" not in rest):
            return Member(Kind.SHOWN, name)
    raise InvalidParams(f"{name[:120]!r} is no file of an export", fix="give a file that `export` wrote")


def is_history(name: str) -> bool:
    """Whether a file is named as an earlier version of a claim is. A checkout may hold others beside them."""
    return len(name) <= NAME_MAX and _HISTORY.match(name) is not None


def carried(path: str, *, in_repository: bool = False) -> bool:
    """Whether a file of a brain travels: it lies in a room of the table, and every part of its name is plain."""
    parts = path.split("/")
    if not all(map(_PART.match, parts)) or path.endswith((".lock", ".tmp")):
        return False
    for room in CARRIED:
        if room.in_repository == in_repository:
            below = len(parts) - len(room.name.split("/"))
            if path == room.name if room.depth == 0 else path.startswith(f"{room.name}/") and 1 <= below <= room.depth:
                return True
    return False


def line_of(columns: Sequence[str], row: Sequence[Any]) -> bytes:
    """One row as a line: sorted keys, no white space, numbers as Python writes them."""
    return canonical(dict(zip(columns, row, strict=True))).encode() + b"\n"


def row_of(columns: Sequence[str], line: bytes) -> tuple[Any, ...]:
    """A line as the row it was written from; InvalidParams when it has other columns or other values than a row can have."""
    try:
        told: Mapping[str, Any] = decoded(line, dict[str, str | int | float | None])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise InvalidParams(f"a line is no row: {wrong}", fix=_AGAIN) from wrong
    if set(told) != set(columns):
        odd = sorted(set(told) ^ set(columns))[:3]
        raise InvalidParams(f"a row has not the columns of this release: {', '.join(odd)[:200]}", fix=_AGAIN)
    if any(isinstance(value, int) and not _LEAST <= value <= _MOST for value in told.values()):
        raise InvalidParams("a row holds a number that no column can hold", fix=_AGAIN)
    return tuple(told[name] for name in columns)
