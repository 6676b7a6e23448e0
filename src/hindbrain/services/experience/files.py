"""Files that somebody asked for: written whole or not at all, never over another one, never into the home."""

import os
import secrets
from pathlib import Path

from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.stores.home import Home

__all__ = ["put_new"]


def put_new(home: Home, target: str, data: bytes) -> str:
    """Write a new file; its path."""
    path = Path(target).expanduser()
    if not path.is_absolute() or "\x00" in target:
        raise PathRefused(f"{target[:120]!r} is not an absolute path", fix="give an absolute file name")
    if os.path.lexists(path):
        raise InvalidParams(f"{path} exists already", fix="choose a name that is free; nothing is overwritten")
    if not path.parent.is_dir():
        raise InvalidParams(f"{path.parent} is not a directory", fix="choose a directory that exists")
    home.refuse_target(path)
    # A name nobody can guess: a link that waits under a known one would be written through.
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return str(path)
