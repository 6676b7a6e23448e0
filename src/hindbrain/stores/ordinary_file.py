"""Ordinary files: the one way to open a file that a caller or a repository names.

Pipes, sockets, devices and files of the kernel (`/proc/kmsg` looks regular) are refused by their type, before a byte is read."""

import os
import stat
from pathlib import Path
from typing import IO

from hindbrain.domain.errors import PathRefused

__all__ = ["is_ordinary", "open_ordinary"]

_KERNEL = ("/proc", "/sys")
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY  # neither waits for a writer nor becomes a terminal's process


def is_ordinary(facts: os.stat_result) -> bool:
    """Whether a file is a regular one that a disk or memory keeps, not the kernel."""
    return stat.S_ISREG(facts.st_mode) and facts.st_dev not in _kernel_devices()


def open_ordinary(path: str | Path, *, follow: bool = True, buffering: int = -1) -> IO[bytes]:
    """An ordinary file, open for reading; anything else is PathRefused. What the system refuses is its OSError."""
    handle = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        if not is_ordinary(os.fstat(handle)) or _in_kernel(os.path.realpath(path)):
            name = os.path.basename(path)[:120]
            raise PathRefused(f"{name!r} is not a regular file", fix="give a plain file")
        return os.fdopen(handle, "rb", buffering=buffering)
    except BaseException:
        os.close(handle)
        raise


def _in_kernel(path: str) -> bool:
    return any(path == place or path.startswith(place + "/") for place in _KERNEL)


def _kernel_devices() -> set[int]:
    found = set()
    for place in _KERNEL:
        try:
            found.add(os.stat(place).st_dev)
        except OSError:
            continue  # this system has none
    return found
