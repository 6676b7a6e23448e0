"""mem0: exports as JSON, and the history that its library keeps. Its vectors lie in a database of its user's choice and are not
read; what they stand for is in both."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, Unread
from hindbrain.engines.mem0 import Export, exported, from_history, from_memory, from_relation, key_of
from hindbrain.policy.moving import LOOK_BYTES, STATE_MAX_BYTES
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_file import ForeignFile, opened_foreign
from hindbrain.stores.foreign_tree import read_within, start_of

__all__ = ["KIND", "Mem0Memories"]

_HISTORY, _TABLE, _MESSAGES = "history.db", "history", "messages"
_MEMORY = re.compile(rb'"memory"\s{0,8}:\s{0,8}"')
_LIST = re.compile(rb'\s{0,64}(?:\[|\{[^\[]{0,4096}"(?:results|memories)"\s{0,8}:\s{0,8}\[)')


def _is_export(path: Path) -> bool:
    if path.suffix != ".json" or path.is_symlink() or not path.is_file():
        return False
    start = start_of(path, LOOK_BYTES)
    return _LIST.match(start) is not None and _MEMORY.search(start) is not None


def _looks_like(path: Path) -> bool:
    if path.is_dir():
        return (path.name == ".mem0" and (path / _HISTORY).is_file()) or any(map(_is_export, path.glob("*.json")))
    return path.name == _HISTORY or _is_export(path)


class Mem0Memories:
    """Exports, a history, or both. A memory that an export tells is not told again by the history."""

    kind = "mem0"
    version: str | int | None = None

    def __init__(self, path: Path, exports: tuple[Export, ...], history: ForeignFile | None) -> None:
        if history is not None and "new_memory" not in history.tables.get(_TABLE, ()):
            raise InvalidParams(f"{history.path.name} is not a history of mem0", fix=f"give its {_HISTORY}, or an export")
        self.id = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._exports = exports
        self._history = history
        self._left: Counter[str] = Counter()

    def total(self) -> int:
        told = sum(len(one.memories) + len(one.relations) for one in self._exports)
        return told + (self._history.count(_TABLE) if self._history is not None else 0)

    def items(self) -> Iterator[Item | Unread]:
        told: set[str] = set()
        for export in self._exports:
            for number, row in enumerate(export.memories, 1):
                told.add(key_of(row) if isinstance(row, dict) else "")
                found = from_memory(number, row)
                if found is None:
                    self._left["deleted memories"] += 1
                else:
                    yield found
            yield from (from_relation(number, row) for number, row in enumerate(export.relations, 1))
        yield from self._remembered(told)

    def _remembered(self, told: set[str]) -> Iterator[Item | Unread]:
        """The memories of the history as their last event left them. Earlier versions and what was deleted are no memory."""
        if self._history is None:
            return
        last: dict[str, dict[str, Any]] = {}
        events: Counter[str] = Counter()
        for row in self._history.rows(_TABLE, tail="order by rowid"):
            key = key_of(row, "memory_id")
            events[key] += 1
            last[key] = row
        self._left["messages"] += self._history.count(_MESSAGES)
        for key, row in last.items():
            gone = bool(row.get("is_deleted")) or row.get("event") == "DELETE"
            self._left["deleted memories"] += gone
            self._left["earlier versions of memories"] += events[key] - 1
            if not gone and key not in told:
                yield from_history(row)

    def left_out(self) -> Mapping[str, int]:
        return self._left


def _files(path: Path) -> tuple[list[Path], Path | None]:
    """The exports and the history at a path."""
    if path.is_dir():
        history = path / _HISTORY
        return [one for one in sorted(path.glob("*.json")) if _is_export(one)], history if history.is_file() else None
    return ([path], None) if path.suffix == ".json" else ([], path)


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    exports, history = _files(place.path)
    if not exports and history is None:
        raise InvalidParams(
            f"there is neither an export nor a {_HISTORY} in {place.path.name[:120]!r}", fix="give an export as JSON, or ~/.mem0"
        )
    with ExitStack() as stack:
        read = tuple(exported(read_within(one, STATE_MAX_BYTES)) for one in exports)
        held = stack.enter_context(opened_foreign(history, place.room)) if history is not None else None
        yield Mem0Memories(place.path, read, held)


KIND = Kind(name="mem0", looks_like=_looks_like, opened=_opened, knows_projects=False)
