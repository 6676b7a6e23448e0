"""claude-mem: the observations, summaries and prompts of its database, read from a copy."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, Unread
from hindbrain.engines.claude_mem import from_observation, from_prompt, from_summary, project_of
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_file import ForeignFile, opened_foreign

__all__ = ["KIND", "ClaudeMemFile"]

NAME = "claude-mem.db"
_TABLES = ("observations", "session_summaries", "user_prompts")
_SESSIONS = ("content_session_id", "claude_session_id", "project")
_LEFT = ("pending_messages", "tool_uses")


def _database(path: Path) -> Path:
    return path / NAME if path.is_dir() else path


def _looks_like(path: Path) -> bool:
    return _database(path).name == NAME and _database(path).is_file()


class ClaudeMemFile:
    """One database. Older versions lack columns and tables; what is there is read."""

    kind = "claude-mem"

    def __init__(self, file: ForeignFile) -> None:
        if "project" not in file.tables.get("sdk_sessions", ()) or "observations" not in file.tables:
            raise InvalidParams(f"{file.path.name} is not a database of claude-mem", fix=f"give its {NAME}")
        self._file = file
        self.id = hashlib.sha256(str(file.path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        versions = [one for row in file.rows("schema_versions", ("version",)) if isinstance(one := row["version"], int)]
        self.version: str | int | None = max(versions, default=None)

    def total(self) -> int:
        return sum(self._file.count(table) for table in _TABLES)

    def items(self) -> Iterator[Item | Unread]:
        yield from (from_observation(row) for row in self._file.rows("observations", tail="order by rowid"))
        yield from (from_summary(row) for row in self._file.rows("session_summaries", tail="order by rowid"))
        projects: dict[object, str] = {}
        for row in self._file.rows("sdk_sessions", _SESSIONS):
            projects[row.get("content_session_id") or row.get("claude_session_id")] = project_of(row)
        for row in self._file.rows("user_prompts", tail="order by rowid"):
            yield from_prompt(row, projects.get(row.get("content_session_id") or row.get("claude_session_id")))

    def left_out(self) -> Mapping[str, int]:
        return {name: number for name in _LEFT if (number := self._file.count(name))}


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    path = _database(place.path)
    if not path.is_file():
        raise InvalidParams(
            f"there is no {NAME} in {place.path.name[:120]!r}", fix="give the directory .claude-mem, or the database"
        )
    with opened_foreign(path, place.room) as file:
        yield ClaudeMemFile(file)


KIND = Kind(name="claude-mem", looks_like=_looks_like, opened=_opened)
