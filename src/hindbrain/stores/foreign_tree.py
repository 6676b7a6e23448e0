"""Foreign trees: plain files of another program, read where they lie. No link is followed, nothing outside of the tree is opened,
and nothing is read beyond what was asked for."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hindbrain.domain.errors import PathRefused
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["Found", "files_under", "lines_within", "read_within", "start_of", "text_within"]

_NO_TEXT = re.compile("[\\x00-\\x08\\x0e-\\x1a\\x1c-\\x1f\\ufffd]")  # colour codes of terminals (\\x1b) are in many notes
_STRANGE = 10  # a text has fewer than one in so many characters that are none; a database has far more
_DEPTH = 12  # directories below the top; deeper is no memory of any program we know


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One regular file of a tree, or a link that was not followed."""

    path: str
    name: str  # relative to the top, with slashes
    size: int
    at: int  # last change, milliseconds
    link: bool = False


def files_under(top: Path, *suffixes: str) -> Iterator[Found]:
    """The files of a tree whose names end in one of these, in a fixed order. Links are named, never followed."""
    if top.is_symlink():
        yield Found(path=str(top), name=top.name, size=0, at=0, link=True)
        return
    waiting = [(str(top), "", 0)]
    while waiting:
        directory, prefix, depth = waiting.pop()
        inner = []
        for entry in _entries(directory):
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH:
                    inner.append((entry.path, name + "/", depth + 1))
            elif not suffixes or entry.name.endswith(suffixes):
                status = entry.stat(follow_symlinks=False)
                link = stat.S_ISLNK(status.st_mode)
                if link or stat.S_ISREG(status.st_mode):
                    yield Found(path=entry.path, name=name, size=status.st_size, at=status.st_mtime_ns // 1_000_000, link=link)
        waiting += reversed(inner)


def _entries(directory: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as found:
            return sorted(found, key=lambda entry: entry.name)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return []


def read_within(path: str | Path, most: int) -> bytes:
    """The bytes of a regular file. PathRefused for a link, a pipe, a device, and for more bytes than asked for."""
    with _plain(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise PathRefused(f"{_named(path)} has more than {most} bytes", fix="split it; what is longer is no note")
    return data


def text_within(path: str | Path, most: int) -> str:
    """The text of a regular file, odd bytes replaced. Also PathRefused for what is no text, such as a picture or a database."""
    text = read_within(path, most).decode("utf-8", "replace")
    if len(_NO_TEXT.findall(text)) * _STRANGE > len(text):
        raise PathRefused(f"{_named(path)} is binary, not text", fix="give text files in UTF-8")
    return text


def start_of(path: str | Path, most: int) -> bytes:
    """The first bytes of a regular file, for a look at what it is; nothing when it cannot be read."""
    try:
        with _plain(path) as file:
            return file.read(most)
    except PathRefused:
        return b""


def lines_within(path: str | Path, most: int) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a regular file with their numbers from 1; None for one that has more bytes than asked for. Empty lines have a
    number and are not given."""
    with _plain(path) as file:
        number = 0
        while line := file.readline(most + 1):
            number += 1
            whole = line.endswith(b"\n") or len(line) <= most
            while not whole and (rest := file.readline(most)):
                if rest.endswith(b"\n"):
                    break
            if not whole:
                yield number, None
            elif line.strip():
                yield number, line


@contextmanager
def _plain(path: str | Path) -> Iterator[IO[bytes]]:
    try:
        file = open_ordinary(path, follow=False)
    except OSError as wrong:
        raise PathRefused(
            f"{_named(path)} cannot be read: {wrong.strerror}", fix="give a plain file that you may read"
        ) from wrong
    with file:
        yield file


def _named(path: str | Path) -> str:
    return repr(os.path.basename(path)[:120])
