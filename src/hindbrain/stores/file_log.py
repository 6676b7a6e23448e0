"""The file log: the commits of one file as git tells them. Reads only; starts no program of a repository."""

import os
import re
from dataclasses import dataclass

from hindbrain.stores.git import asked

__all__ = ["FileCommit", "commits_of"]

_SECONDS = 20.0
_MOST = 500
_MARK = "\x01"
_FORM = "%x01%H%x00%ct%x00%an%x00%s"
_HEAD = re.compile(rf"{_MARK}[0-9a-f]{{40,64}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCommit:
    """One commit of a file: when, by whom, what it said, the lines it added and removed, and what else it changed."""

    commit: str
    at: int  # seconds
    author: str
    subject: str
    added: int
    removed: int
    with_paths: tuple[str, ...]


def commits_of(root: str, path: str, *, since: int) -> tuple[FileCommit, ...]:
    """The commits of a file since a time in seconds, newest first; none outside git."""
    if not os.path.isdir(root):
        return ()
    words = ["log", f"--max-count={_MOST}", f"--since={since}", "--no-renames", "--numstat", "-z", "--full-diff", "--relative"]
    said = asked(root, *words, f"--format={_FORM}", "--", path, seconds=_SECONDS)
    return _read(said.decode("utf-8", "replace"), path) if said else ()


def _read(said: str, path: str) -> tuple[FileCommit, ...]:
    """Parts are told apart by NUL, the one character that no name, author or message can hold."""
    found: list[FileCommit] = []
    parts, at = said.split("\x00"), 0
    while at + 4 <= len(parts):
        commit, seconds, author, subject = parts[at : at + 4]
        end = next((place for place in range(at + 4, len(parts)) if _HEAD.fullmatch(parts[place])), len(parts))
        counts, at = parts[at + 4 : end], end
        changed = [line.strip("\n").split("\t", 2) for line in counts if line.count("\t") >= 2]
        own = next((row for row in changed if row[2] == path), ["0", "0", path])
        found.append(
            FileCommit(
                commit=commit.removeprefix(_MARK),
                at=int(seconds),
                author=author,
                subject=subject,
                added=int(own[0]) if own[0].isdigit() else 0,
                removed=int(own[1]) if own[1].isdigit() else 0,
                with_paths=tuple(row[2] for row in changed if row[2] != path),
            )
        )
    return tuple(found)
