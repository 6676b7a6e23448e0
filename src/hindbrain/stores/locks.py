"""Kernel locks on files: held by the process, not by the file's existence, so a dead holder never blocks."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import Busy

__all__ = ["held", "locked", "try_lock"]


def try_lock(path: Path, *, directory: int | None = None) -> int | None:
    """Take the lock and keep it until the returned handle is closed; None when somebody else has it.

    A relative path is looked up in an open `directory`, if one is given."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=directory)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as taken:
            os.close(handle)
            if taken.errno in (errno.EAGAIN, errno.EACCES):
                return None
            raise
        if _still_there(handle, path, directory):
            return handle
        os.close(handle)


def _still_there(handle: int, path: Path, directory: int | None) -> bool:
    """Whoever held the lock before may have taken the file away with it: a lock on what no name leads to guards nothing."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, dir_fd=directory))
    except FileNotFoundError:
        return False


def held(path: Path) -> bool:
    """Whether somebody holds a lock. One whose file is not there is held by nobody."""
    if not path.exists():
        return False
    handle = try_lock(path)
    if handle is None:
        return True
    os.close(handle)
    return False


@contextmanager
def locked(path: Path, *, wait_s: float, directory: int | None = None) -> Iterator[None]:
    """Hold an exclusive lock for the block; Busy when it cannot be had in time. `directory` as for `try_lock`."""
    deadline = time.monotonic() + wait_s
    pause = 0.0005
    while (handle := try_lock(path, directory=directory)) is None:
        if time.monotonic() > deadline:
            raise Busy(
                f"{path.name} is held by another process for more than {wait_s:g} s",
                fix="try again; if it stays, hindbrain doctor names the process",
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
    try:
        yield
    finally:
        os.close(handle)
