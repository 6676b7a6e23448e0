"""The change log: what commits said and which files they changed, as git tells it. Starts no program of a repository."""

import os
from dataclasses import dataclass

from hindbrain.stores.git import asked

__all__ = ["Change", "changes_of", "head_of"]

_SECONDS = 20.0
_BEGIN, _END = "\x01", "\x02"


@dataclass(frozen=True, slots=True)
class Change:
    """One commit."""

    message: str
    paths: tuple[str, ...]


def head_of(root: str) -> str | None:
    """The commit a checkout stands on, from its files; None outside git. A few microseconds, so that it can be asked often."""
    try:
        directory = _git_directory(root)
        if directory is None:
            return None
        head = _text(os.path.join(directory, "HEAD"))
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        common = os.path.join(directory, "commondir")
        places = [directory] + ([os.path.join(directory, _text(common))] if os.path.exists(common) else [])
        for place in places:
            if os.path.isfile(os.path.join(place, name)):
                return _text(os.path.join(place, name))
        for place in places:
            packed = os.path.join(place, "packed-refs")
            if os.path.isfile(packed):
                with open(packed, encoding="utf-8", errors="replace") as file:
                    for line in file:
                        if line.rstrip().endswith(" " + name):
                            return line.split(" ", 1)[0]
    except OSError:
        return None
    return None


def _git_directory(root: str) -> str | None:
    place = root
    while True:
        dot = os.path.join(place, ".git")
        if os.path.isdir(dot):
            return dot
        if os.path.isfile(dot):
            line = _text(dot)
            return os.path.join(place, line.removeprefix("gitdir:").strip()) if line.startswith("gitdir:") else None
        if os.path.dirname(place) == place:
            return None
        place = os.path.dirname(place)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(8192).strip()


def changes_of(root: str, *, most: int) -> list[Change]:
    """The latest commits without merges, newest first, with paths below the root. Empty where git cannot say."""
    words = ["log", f"-{most}", "--no-merges", "--no-renames", "--name-only", "--relative", "--format=%x01%B%x02"]
    said = asked(root, *words, "HEAD", "--", ".", seconds=_SECONDS) or b""
    found = []
    for block in said.decode("utf-8", "replace").split(_BEGIN)[1:]:
        message, _, names = block.partition(_END)
        found.append(Change(message, tuple(name for name in names.split("\n") if name)))
    return found
