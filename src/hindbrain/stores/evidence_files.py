"""Files to take in: which a tree has by its ignore rules, and how one is opened without waiting for a pipe or a device."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import IO, TYPE_CHECKING

from hindbrain.policy.evidence import IGNORE_FILE, LINE_MAX_BYTES, SKIPPED_DIRECTORIES
from hindbrain.stores.ignoring import spec_of
from hindbrain.stores.ordinary_file import open_ordinary

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["Ignoring", "digest_of", "lines_of", "looks_binary", "opened_file", "text_files"]

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignoring:
    """Which rules keep a file of a tree out."""

    gitignore: bool = True
    ignorefile: bool = True
    more: tuple[str, ...] = ()  # further files with rules, absolute

    @property
    def names(self) -> tuple[str, ...]:
        return (*((".gitignore",) if self.gitignore else ()), *((IGNORE_FILE,) if self.ignorefile else ()))


def text_files(root: str, top: str, ignoring: Ignoring) -> Iterator[str]:
    """The regular files of a tree, in a fixed order, as real paths inside it. `top` is the checkout whose rules hold too."""
    fixed = [(root, spec) for path in ignoring.more if (spec := _rules(path)) is not None]
    waiting = [(root, [*fixed, *_above(root, top, ignoring)])]
    while waiting:
        directory, rules = waiting.pop()
        rules = [*rules, *_own(directory, ignoring)]
        inner = []
        for entry in _entries(directory):
            # A link is not followed: it may lead out of the tree, or round in it.
            if entry.is_dir(follow_symlinks=False):
                if not _by_product(entry) and not _ignored(entry.path + "/", rules):
                    inner.append((entry.path, rules))
            elif entry.is_file(follow_symlinks=False) and not _ignored(entry.path, rules):
                yield entry.path
        waiting += reversed(inner)


def _entries(directory: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as found:
            return sorted(found, key=lambda entry: entry.name)
    except PermissionError:
        return []


def _by_product(entry: "os.DirEntry[str]") -> bool:
    return entry.name in SKIPPED_DIRECTORIES or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def _above(root: str, top: str, ignoring: Ignoring) -> "list[tuple[str, GitIgnoreSpec]]":
    """The rules of the directories from the checkout down to the tree, and those of the clone itself."""
    found: list[tuple[str, GitIgnoreSpec]] = []
    if ignoring.gitignore and (spec := _rules(os.path.join(top, ".git", "info", "exclude"))) is not None:
        found.append((top, spec))
    inner = os.path.relpath(root, top)
    if inner != "." and not inner.startswith(".."):
        directory = top
        for name in inner.split(os.sep):
            found += _own(directory, ignoring)
            directory = os.path.join(directory, name)
    return found


def _own(directory: str, ignoring: Ignoring) -> "list[tuple[str, GitIgnoreSpec]]":
    specs = (_rules(os.path.join(directory, name)) for name in ignoring.names)
    return [(directory, spec) for spec in specs if spec is not None]


def _rules(path: str) -> "GitIgnoreSpec | None":
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return _spec(tuple(file.read(1 << 20).splitlines()))


@cache
def _spec(lines: tuple[str, ...]) -> "GitIgnoreSpec":
    return spec_of(lines)


def _ignored(path: str, rules: "Sequence[tuple[str, GitIgnoreSpec]]") -> bool:
    """Whether the nearest rule that speaks of a path keeps it out."""
    for base, spec in reversed(rules):
        said = spec.check_file(path[len(base) :].lstrip("/")).include
        if said is not None:
            return said
    return False


@contextmanager
def opened_file(path: str) -> Iterator[IO[bytes]]:
    """A regular file for reading; anything else is refused without waiting for it."""
    with open_ordinary(path, buffering=_BLOCK) as file:
        yield file


def digest_of(file: IO[bytes]) -> str:
    """The sha256 of a file from where it stands; it stands at its beginning afterwards."""
    made = hashlib.sha256()
    file.seek(0)
    while block := file.read(_BLOCK):
        made.update(block)
    file.seek(0)
    return made.hexdigest()


def looks_binary(file: IO[bytes]) -> bool:
    """Whether the beginning of a file is no text."""
    file.seek(0)
    start = file.read(8192)
    file.seek(0)
    return b"\x00" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff"))


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file one by one. One that is longer than any message is given cut, which no reader will understand."""
    while line := file.readline(LINE_MAX_BYTES):
        yield line
        while not line.endswith(b"\n") and len(line) == LINE_MAX_BYTES:
            line = file.readline(LINE_MAX_BYTES)
