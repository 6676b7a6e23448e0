"""Source files: one file below given roots, read and digested now. Links are followed only as far as they stay inside."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.policy.proof import READ_MOST
from hindbrain.stores.ordinary_file import is_ordinary

__all__ = ["SeenFile", "Unseen", "file_digest", "named_within", "seen_file"]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is not waited for
_PATH_MOST = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
    """What a file holds at this moment. `path` is its name as seen from the first root."""

    path: str
    digest: str
    content: bytes

    @property
    def lines(self) -> list[str]:
        """Its lines, counted as editors and searches do; bytes that are no UTF-8 are replaced."""
        found = self.content.decode("utf-8", "replace").split("\n")
        return found[:-1] if found[-1] == "" else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """Why a file could not be read."""

    why: str


def named_within(roots: Sequence[str], path: str) -> str | None:
    """A path as the first root names it, or None when it lies outside of all roots. Nothing needs to be there."""
    if not path or "\x00" in path or len(path) > _PATH_MOST or not roots:
        return None
    first = os.path.realpath(roots[0])
    full = _full(first, path)
    if any(_inside(os.path.realpath(root), full) for root in roots):
        return os.path.relpath(full, first)
    return None


def seen_file(roots: Sequence[str], path: str) -> SeenFile | Unseen:
    """Read a file below one of the roots; a relative path is looked for in each of them, in order."""
    if not path or "\x00" in path or len(path) > _PATH_MOST:
        return Unseen(why="this cannot be a path")
    found: SeenFile | Unseen = Unseen(why="no directory was named to look in")
    first = os.path.realpath(roots[0]) if roots else ""
    for root in roots:
        place = os.path.realpath(root)
        found = _read(place, _full(place, path), first)
        if isinstance(found, SeenFile):
            return found
    return found


def file_digest(root: str, path: str) -> str | None:
    """The digest of a file of a directory as it is now; None when it cannot be read."""
    found = seen_file((root,), path)
    return found.digest if isinstance(found, SeenFile) else None


def _full(root: str, path: str) -> str:
    """An absolute path with the links of its directories followed, so that both ways to a file give it one name."""
    full = os.path.normpath(os.path.join(root, path))
    return os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))


def _inside(root: str, full: str) -> bool:
    """By parts of the path, not by its text: `repo2` does not lie in `repo`."""
    return full == root or os.path.commonpath((root, full)) == root


def _read(root: str, full: str, first: str) -> SeenFile | Unseen:
    real = os.path.realpath(full)
    if not _inside(root, real) or real == root:
        return Unseen(why="it lies outside of the repository" if real != root else "it is a directory")
    parts = os.path.relpath(real, root).split(os.sep)
    held = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if os.path.isdir(root) else -1
    if held < 0:
        return Unseen(why="the repository is not there")
    try:
        for part in parts[:-1]:
            inner = os.open(part, _DIRECTORY, dir_fd=held)
            os.close(held)
            held = inner
        handle = os.open(parts[-1], _FILE, dir_fd=held)
    except OSError as wrong:
        return Unseen(why=f"it cannot be read: {wrong.strerror or wrong}" if not _gone(wrong) else "there is no such file")
    finally:
        os.close(held)
    try:
        with open(handle, "rb") as file:
            facts = os.fstat(file.fileno())
            if not is_ordinary(facts):
                return Unseen(why="it is a directory" if stat.S_ISDIR(facts.st_mode) else "it is no ordinary file")
            content = file.read(READ_MOST + 1)
    except OSError as wrong:
        return Unseen(why=f"it cannot be read: {wrong.strerror or wrong}")
    if len(content) > READ_MOST:
        return Unseen(why=f"it is larger than {READ_MOST} bytes")
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    return SeenFile(path=os.path.relpath(full, first), digest=digest, content=content)


def _gone(wrong: OSError) -> bool:
    return isinstance(wrong, FileNotFoundError | NotADirectoryError)
