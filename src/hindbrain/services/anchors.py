"""Anchors: what a claim cites, read from the repository at that moment, and whether it changed since."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping

from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.engines.light_graph import evidence_path
from hindbrain.stores.ordinary_file import open_ordinary
from hindbrain.stores.repository import main_path, worktrees_of

__all__ = ["changed", "checked", "content", "digests", "file_digest"]

_MOST_BYTES = 16 * 1024 * 1024
_CITED = re.compile(r":(\d+)(?:-(\d+))?$")


def checked(values: Iterable[str], root: str | None, checkout: str | None = None) -> tuple[str, ...]:
    """Evidence values as they may be stored: relative to the root, inside it, and with lines that the file has."""
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
        if root is not None:
            _check_lines(text, [place for place in (checkout, root) if place is not None])
        kept.append(text)
    return tuple(kept)


def _check_lines(text: str, places: Iterable[str]) -> None:
    """Refuse lines that the file does not have; a file that is not there yet may get them."""
    match, path = _CITED.search(text), evidence_path(text)
    found = next((found for place in places if (found := content(place, path)) is not None), None) if match else None
    if match is None or found is None or len(found) > _MOST_BYTES:
        return
    have = len(found.decode("utf-8", "replace").splitlines())
    first = int(match[1])
    if 1 <= first <= int(match[2] or first) <= have:
        return
    raise InvalidParams(
        f"the evidence {text[:80]!r} names lines that {path[-80:]} does not have: it has {have}",
        fix=f"cite lines from 1 to {have}, or the file without a line" if have else "cite the file without a line",
    )


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
        with open_ordinary(os.path.join(root, path)) as file:
            return file.read(_MOST_BYTES + 1)
    except (OSError, ValueError, PathRefused):
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
