"""Whole files or none: temporary file in the same directory, sync, rename, sync of the directory."""

import os
import secrets
from pathlib import Path

__all__ = ["sync_directory", "write_bytes", "write_text"]


def write_text(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file so that a reader sees the old or the new one, and a power cut keeps one of them."""
    write_bytes(path, text.encode("utf-8"), mode=mode)


def write_bytes(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """The same for a file that is not text."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a rename or a removal in this directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
