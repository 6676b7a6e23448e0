"""The birth of a directory: inode and creation time. Together they name one directory, whatever path leads to it."""

import os
import struct
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

__all__ = ["birth_of"]

_STATX_BTIME = 0x800
_AT_FDCWD = -100
_BUFFER = 256
_MASK_AT, _BIRTH_AT = 0, 80  # offsets in `struct statx`, the same on every architecture


def birth_of(path: str) -> tuple[int, int] | None:
    """Inode and creation time in nanoseconds; the time is 0 where the system does not say it, None when nothing is there."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    born = getattr(state, "st_birthtime", None)  # macOS and BSD
    if born is not None:
        return state.st_ino, int(born * 1_000_000_000)
    return state.st_ino, _linux(path) if sys.platform == "linux" else 0


def _linux(path: str) -> int:
    import ctypes  # takes milliseconds to load, and most processes never ask

    if (statx := _statx()) is None:
        return 0
    buffer = ctypes.create_string_buffer(_BUFFER)
    if statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, buffer) != 0:
        return 0
    (mask,) = struct.unpack_from("I", buffer, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("qI", buffer, _BIRTH_AT)
    return int(seconds * 1_000_000_000 + nanoseconds) if mask & _STATX_BTIME else 0


@lru_cache(maxsize=1)
def _statx() -> Callable[..., int] | None:
    import ctypes

    found: Any = getattr(ctypes.CDLL(None), "statx", None)
    return found  # type: ignore[no-any-return]
