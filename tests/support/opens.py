"""Watching a directory tree: which of its files anybody opened or read, by whatever library. Linux only (inotify)."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Opened", "watching"]

_ACCESS, _MODIFY, _OPEN, _CREATE, _DELETE, _ISDIR = 0x1, 0x2, 0x20, 0x100, 0x200, 0x40000000
_HEAD = struct.Struct("iIII")


class Opened:
    """What was touched so far, as paths."""

    def __init__(self, handle: int, watched: dict[int, Path]) -> None:
        self._handle = handle
        self._watched = watched

    def paths(self) -> set[str]:
        """Files opened, read, written, made or removed since the last look; directories that were only listed are left out."""
        found = set()
        try:
            raw = os.read(self._handle, 1 << 20)
        except BlockingIOError:
            return set()
        at = 0
        while at < len(raw):
            watch, mask, _, length = _HEAD.unpack_from(raw, at)
            name = raw[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0").decode()
            at += _HEAD.size + length
            if name and not mask & _ISDIR:
                found.add(str(self._watched[watch] / name))
        return found


@contextmanager
def watching(*places: Path) -> Iterator[Opened]:
    """Watch these directories and all below them for the length of a block."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if handle < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    watched: dict[int, Path] = {}
    try:
        for place in places:
            for directory in [place, *(path for path in place.rglob("*") if path.is_dir())]:
                mask = _ACCESS | _MODIFY | _OPEN | _CREATE | _DELETE
                number = libc.inotify_add_watch(handle, os.fsencode(directory), mask)
                if number < 0:
                    raise OSError(ctypes.get_errno(), str(directory))
                watched[number] = directory
        yield Opened(handle, watched)
    finally:
        os.close(handle)
