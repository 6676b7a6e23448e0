"""Whole files or none: temporary file in the same directory, sync, rename, sync of the directory."""

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hindbrain.domain.errors import PathRefused

__all__ = [
    "held_directory",
    "place_new",
    "set_aside",
    "sync_directory",
    "write_below",
    "write_bytes",
    "write_locked",
    "write_new",
    "write_text",
    "write_whole",
]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


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


@contextmanager
def held_directory(path: Path, *, below: Path = Path("/"), make: int | None = None) -> Iterator[int]:
    """Open a directory, through no link below `below`. `make` is the mode of directories that are missing.

    A path that was checked, and has no links, may have one a moment later: whoever can write in a repository puts it there."""
    held = os.open(below, _DIRECTORY)
    try:
        for name in path.relative_to(below).parts:
            if make is not None:
                with suppress(FileExistsError):
                    os.mkdir(name, make, dir_fd=held)
            inner = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=held)
            os.close(held)
            held = inner
        yield held
    except OSError as wrong:
        if isinstance(wrong, NotADirectoryError) or wrong.errno == errno.ELOOP:
            raise PathRefused(f"{path} leads through a link", fix="remove the link, or choose another directory") from wrong
        raise
    finally:
        os.close(held)


def write_below(root: Path, name: str, data: bytes, *, mode: int = 0o600, directories: int = 0o755) -> None:
    """Replace a file by its name below a directory, through no link; directories that are missing are made."""
    path = root / name
    with held_directory(path.parent, below=root, make=directories) as held:
        with _written(data, held, mode) as temporary:
            os.replace(temporary, path.name, src_dir_fd=held, dst_dir_fd=held)
        os.fsync(held)


def write_new(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file under a name that is free, in a directory without links on its way.

    FileExistsError, and nothing changed, when another file took the name."""
    with held_directory(path.parent) as held, _written(data, held, mode) as temporary:
        place_new(temporary, path.name, held)


@contextmanager
def _written(data: bytes, directory: int, mode: int) -> Iterator[str]:
    """A synced file with this content, under a temporary name; what is left of it at the end is removed."""
    # A name nobody can guess: a link that waits under a known one would be written through.
    temporary = f".{secrets.token_hex(8)}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)


def place_new(temporary: str, name: str, directory: int) -> None:
    """Give a finished file its name in an open directory, unless another file has it."""
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: claim the name, then replace the claim
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory))
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)


def sync_directory(path: Path) -> None:
    """Make a rename or a removal in this directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
