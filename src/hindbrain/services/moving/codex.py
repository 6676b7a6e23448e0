"""Codex: the sessions that it rolled out, its memories and its instruction files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, Unread
from hindbrain.services.moving.host_files import instructions_of, shared_text, transcripts
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_tree import files_under

__all__ = ["KIND", "CodexHome"]

_SESSIONS = ("sessions", "archived_sessions")
_START = "rollout-"
_MEMORIES, _INSTRUCTIONS = "memories", "AGENTS.md"


def _looks_like(path: Path) -> bool:
    return (
        path.is_dir() and path.name == ".codex" and any((path / name).exists() for name in (*_SESSIONS, _MEMORIES, _INSTRUCTIONS))
    )


class CodexHome:
    """`~/.codex`."""

    kind = id = "codex"
    version: str | int | None = None

    def __init__(self, path: Path, root: str | None) -> None:
        self._path = path
        self._root = root

    def total(self) -> int:
        return sum(1 for name in _SESSIONS for _ in files_under(self._path / name, ".jsonl"))

    def items(self) -> Iterator[Item | Unread]:
        for name in _SESSIONS:
            yield from transcripts(self._path / name, f"{name}/", start=_START)
        yield from instructions_of(self._root, (_INSTRUCTIONS,), self.kind)
        yield from shared_text(self._path / _INSTRUCTIONS, _INSTRUCTIONS, "instructions")
        for found in files_under(self._path / _MEMORIES, ".md"):
            yield from shared_text(Path(found.path), f"{_MEMORIES}/{found.name}", "memory")

    def left_out(self) -> Mapping[str, int]:
        compressed = sum(1 for name in _SESSIONS for _ in files_under(self._path / name, ".jsonl.zst"))
        return {"compressed sessions": compressed} if compressed else {}


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    if not place.path.is_dir():
        raise InvalidParams(f"{place.path.name[:120]!r} is not a directory", fix="give ~/.codex; one session: memory ingest")
    yield CodexHome(place.path, place.root)


KIND = Kind(name="codex", looks_like=_looks_like, opened=_opened)
