"""Which files a block of a test touches, as the interpreter's audit events and the open descriptors tell it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["open_files", "touched"]

_EVENTS = ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove")
_watching: list[set[str]] = []


def _note(event: str, details: tuple[object, ...]) -> None:
    if not _watching or event not in _EVENTS:
        return
    path = os.readlink(f"/proc/self/fd/{details[0]}") if isinstance(details[0], int) and details[0] > 0 else details[0]
    if isinstance(path, str | bytes | os.PathLike):
        for seen in _watching:
            seen.add(os.fsdecode(path))


sys.addaudithook(_note)  # an audit hook cannot be taken away again: it looks only while a test asks


@contextmanager
def touched() -> Iterator[set[str]]:
    """The paths that were opened, listed or changed inside the block."""
    seen: set[str] = set()
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)


def open_files() -> set[str]:
    """The files this process has open now; a database library opens them without an audit event."""
    found = set()
    for one in Path("/proc/self/fd").iterdir():
        try:
            found.add(os.readlink(one))
        except FileNotFoundError:
            continue
    return found
