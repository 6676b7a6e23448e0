"""Sessions of agent hosts, as files: the newest log of a project, and its end. Reads, and follows no link."""

import datetime
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.brain import contains

__all__ = ["HostSession", "claude_session", "codex_session", "written_in"]

_HEAD = 1024 * 1024  # bytes in which the first line of a log must end
_PLAIN = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSession:
    """One log of a host."""

    path: Path
    mtime_ms: int

    def tail(self, most: int) -> tuple[list[bytes], bool]:
        """The last lines, within so many bytes, and whether there were more before."""
        with _opened(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - most))
            lines = file.read(most).split(b"\n")
        return (lines[1:], True) if size > most else (lines, False)


def claude_session(user: Path, root: str) -> tuple[HostSession | None, str]:
    """The newest log of Claude Code for a directory, and where it was looked for. A directory of logs may serve two projects
    whose names differ by a sign only: whoever reads the lines asks each where it was written."""
    projects = user / ".claude" / "projects"
    names = dict.fromkeys((root.replace("/", "-"), _PLAIN.sub("-", root)))
    found = [one for name in names for one in _logs(projects / name, "*.jsonl")]
    return _newest(found), str(projects)


def codex_session(user: Path, root: str, *, now_ms: int, days: tuple[int, int]) -> tuple[HostSession | None, str]:
    """The newest log of Codex that began in this directory, within some days around today (UTC)."""
    sessions = user / ".codex" / "sessions"
    today = datetime.datetime.fromtimestamp(now_ms / 1000, datetime.UTC).date()
    span = [today + datetime.timedelta(days=day) for day in range(-days[0], days[1] + 1)]
    found = [one for day in span for one in _logs(sessions / f"{day:%Y/%m/%d}", "rollout-*.jsonl") if _begun_in(one.path, root)]
    return _newest(found), str(sessions)


def written_in(line: Any, root: str) -> bool:
    """Whether a line of a log belongs to a directory. One that does not say where it was written belongs to its log."""
    told = line.get("cwd") if isinstance(line, dict) else None
    return not isinstance(told, str) or contains(root, os.path.realpath(told))


def _logs(directory: Path, pattern: str) -> Iterator[HostSession]:
    if not directory.is_dir():
        return
    for path in directory.glob(pattern):
        if path.is_file() and not path.is_symlink():
            yield HostSession(path=path, mtime_ms=path.stat().st_mtime_ns // 1_000_000)


def _newest(found: list[HostSession]) -> HostSession | None:
    return max(found, key=lambda one: (one.mtime_ms, one.path.name), default=None)


def _begun_in(path: Path, root: str) -> bool:
    with _opened(path) as file:
        first = file.read(_HEAD).split(b"\n", 1)[0]
    try:
        found = msgspec.json.decode(first)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    payload = found.get("payload") if isinstance(found, dict) and found.get("type") == "session_meta" else None
    cwd = payload.get("cwd") if isinstance(payload, dict) else None
    return isinstance(cwd, str) and os.path.realpath(cwd) == root


def _opened(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
