"""Line files: the one way to add lines to a file of ours. All of what is added gets there, or nothing of it.

A full disk takes a part of a write: the part is cut off again, so that no torn line stays behind."""

import errno
import fcntl
import os
import stat
from pathlib import Path

from hindbrain.stores.atomic import sync_directory

__all__ = ["add_whole", "append_lines", "ends_whole"]

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe is not waited for


def append_lines(path: Path, data: bytes, *, sync: bool = True) -> int:
    """Add whole lines, each with its end, and return the number of bytes that the file grew by.

    A last line without an end, which a dead process left, is ended first. Writers wait for each other.
    """
    handle = os.open(path, _FLAGS, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        fcntl.flock(handle, fcntl.LOCK_EX)
        fresh = os.fstat(handle).st_size == 0
        whole = data if ends_whole(handle) else b"\n" + data
        add_whole(handle, whole)
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)
    if fresh and sync:
        sync_directory(path.parent)
    return len(whole)


def add_whole(handle: int, data: bytes) -> None:
    """Write to the end of a file that is open to append: all of it or nothing, unless somebody else wrote behind a part."""
    before = os.fstat(handle).st_size
    written = 0
    try:
        while written < len(data):
            written += os.write(handle, data[written:])
    except OSError:
        if os.fstat(handle).st_size == before + written:
            os.ftruncate(handle, before)
        raise


def ends_whole(handle: int) -> bool:
    """Return whether the next line can begin where a file ends."""
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"
