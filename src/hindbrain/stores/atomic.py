"""Whole files or none: temporary file in the same directory, sync, rename, sync of the directory."""

import fcntl
import os
import secrets
import stat
import time
from pathlib import Path

__all__ = ["place_new", "set_aside", "sync_directory", "write_bytes", "write_locked", "write_new", "write_text", "write_whole"]


def write_text(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file so that a reader sees the old or the new one, and a power cut keeps one of them."""
    write_bytes(path, text.encode("utf-8"), mode=mode)


def write_bytes(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """The same for a file that is not text."""
    os.close(_replace(path, data, mode, locked=False))


def write_locked(path: Path, data: bytes) -> int:
    """Replace a file that is locked from its first moment on, and return the handle that holds the lock."""
    return _replace(path, data, 0o600, locked=True)


def _replace(path: Path, data: bytes, mode: int, *, locked: bool) -> int:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        if locked:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_directory(path.parent)
    except BaseException:
        os.close(handle)
        temporary.unlink(missing_ok=True)
        raise
    return handle


def write_whole(path: Path, text: str) -> None:
    """Replace a file, also where a directory or a link lies in its place: that is set aside."""
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        set_aside(path)
    write_text(path, text)


def set_aside(path: Path) -> None:
    """Keep what cannot be read under another name."""
    os.rename(path, path.with_name(f"{path.name}.corrupt.{time.time_ns() // 1_000_000}"))


def write_new(path: Path, data: bytes) -> None:
    """Write a file under a name that is free. FileExistsError, and nothing changed, when another file took the name."""
    # A name nobody can guess: a link that waits under a known one would be written through.
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        place_new(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def place_new(temporary: Path, path: Path) -> None:
    """Give a finished file its name, unless another file has it."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: claim the name, then replace the claim
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(temporary, path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a rename or a removal in this directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
