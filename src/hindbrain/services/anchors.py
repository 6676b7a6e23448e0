"""Anchors: what a claim cites, read from the repository at that moment, and whether it changed since."""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping

from hindbrain.domain.errors import PathRefused
from hindbrain.engines.light_graph import evidence_path
from hindbrain.stores.repository import main_path, worktrees_of

__all__ = ["changed", "checked", "content", "digests", "file_digest"]

_MOST_BYTES = 16 * 1024 * 1024


def checked(values: Iterable[str], root: str | None) -> tuple[str, ...]:
    """Evidence values as they may be stored: relative to the root and inside it. Others are refused."""
    kept = []
    for value in values:
        text = " ".join(value.split("\n")).strip().replace("\\", "/")
        path = evidence_path(text)
        if "\x00" in text or not path:
            raise PathRefused(f"the evidence {value[:80]!r} is not a path", fix="give a path relative to the repository")
        if root is not None and os.path.isabs(path):
            real = main_path(os.path.realpath(path))
            if not real.startswith(root.rstrip("/") + "/"):
                raise PathRefused(
                    f"the evidence {path[:80]!r} lies outside {root}", fix="cite a file of this repository by its relative path"
                )
            text = text.replace(path, os.path.relpath(real, root), 1)
        elif root is not None and not _inside(path, root):
            raise PathRefused(
                f"the evidence {path[:80]!r} leaves {root}", fix="cite a file of this repository by its relative path"
            )
        while text.startswith("./"):
            text = text[2:]
        kept.append(text)
    return tuple(kept)


def _inside(path: str, root: str) -> bool:
    if ".." in path.split("/"):
        return False
    # A link inside the repository may point outside it: what is read must lie under the root.
    real = os.path.realpath(os.path.join(root, path))
    return real == root or real.startswith(root.rstrip("/") + "/")


def content(root: str, path: str) -> bytes | None:
    """A file of the repository, None when there is none that may be read."""
    if not _inside(path, root):
        return None
    try:
        # Not blocking: a pipe in the repository must not hold up the call until somebody writes into it.
        with open(os.path.join(root, path), "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        return None


def file_digest(root: str, path: str) -> str:
    """sha256 of a file of the repository, '' when there is none that may be read."""
    found = content(root, path)
    return "" if found is None else hashlib.sha256(found).hexdigest()


def digests(values: Iterable[str], root: str | None, checkout: str | None = None) -> dict[str, str]:
    """path -> digest of every cited file, as it is now: in the caller's own checkout first, then in the main one."""
    if root is None:
        return {}
    places = [place for place in (checkout, root) if place is not None]
    paths = [path for path in map(evidence_path, values) if path]
    return {path: next((found for place in places if (found := file_digest(place, path))), "") for path in paths}


def _in_a_worktree(root: str, path: str, digest: str) -> bool:
    """Whether a linked worktree has the file as it was cited: the claim was written there."""
    return any(file_digest(place, path) == digest for place in worktrees_of(root))


def changed(anchors: Mapping[str, str], root: str | None) -> dict[str, str]:
    """path -> reason for every cited file that is no longer what it was: evidence_changed or evidence_missing."""
    if root is None:
        return {}
    found = {}
    for path, digest in anchors.items():
        now = file_digest(root, path)
        if not digest or now == digest or _in_a_worktree(root, path, digest):
            continue
        found[path] = "evidence_changed" if now else "evidence_missing"
    return found
