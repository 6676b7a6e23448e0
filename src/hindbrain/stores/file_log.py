"""The file log: the commits of one file as git tells them. Reads only; starts no program of a repository."""

import os
import shutil
import subprocess
from dataclasses import dataclass

__all__ = ["FileCommit", "commits_of"]

_SECONDS = 20.0
_MOST = 500
_MARK = "\x01"


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
    program = shutil.which("git")
    if program is None or not os.path.isdir(root):
        return ()
    words = ["log", f"--max-count={_MOST}", f"--since={since}", "--no-renames", "--numstat", "-z", "--full-diff"]
    form = f"--format={_MARK}%H{_MARK}%ct{_MARK}%an{_MARK}%s{_MARK}"
    try:
        done = subprocess.run(
            [
                program,
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.quotepath=false",
                "-C",
                root,
                *words,
                form,
                "--relative",
                "--",
                path,
            ],
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return ()
    return _read(done.stdout.decode("utf-8", "replace"), path) if done.returncode == 0 else ()


def _read(text: str, path: str) -> tuple[FileCommit, ...]:
    parts = text.split(_MARK)[1:]
    found = []
    for commit, at, author, subject, counts in zip(*(parts[offset::5] for offset in range(5)), strict=False):
        changed = [line.split("\t") for line in counts.strip("\x00\n").split("\x00") if line.count("\t") >= 2]
        own = next((row for row in changed if row[2] == path), ["0", "0", path])
        found.append(
            FileCommit(
                commit=commit,
                at=int(at),
                author=author,
                subject=subject,
                added=int(own[0]) if own[0].strip().isdigit() else 0,
                removed=int(own[1]) if own[1].isdigit() else 0,
                with_paths=tuple(row[2] for row in changed if row[2] != path),
            )
        )
    return tuple(found)
