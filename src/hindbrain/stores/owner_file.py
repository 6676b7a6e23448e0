"""The owner file: where the owner of a home listens. The kernel says whether the process that wrote it lives."""

from __future__ import annotations

import errno
import fcntl
import json
import os

# Hooks import this module on every prompt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

__all__ = ["announce", "read_last_owner", "read_living_owner"]

OWNER_FILE, OWNER_LOCK = "owner.json", "owner.lock"
_MOST_BYTES = 65536


def announce(path: Path, facts: Mapping[str, Any]) -> int:
    """Write the file and return the handle that keeps it locked. The lock ends with the process, however it ends."""
    from hindbrain.stores.atomic import write_locked

    # The lock is on this very file, not on its name: a file that a dead owner left never looks like the file of the next one.
    return write_locked(path, json.dumps({**facts, "locked": True}, indent=2).encode() + b"\n")


def read_living_owner(home: str) -> dict[str, Any] | None:
    """Return the facts of the owner that lives; None when there is no file, or the process that wrote it is dead."""
    handle = _open(os.path.join(home, OWNER_FILE))
    if handle is None:
        return None
    try:
        lives = _is_locked(handle)
        found = _facts(handle)
    finally:
        os.close(handle)
    if lives or found is None:
        return found
    # An owner of release 0.1 holds no lock on this file. It is named, so that a person can stop it, and it proves nothing.
    return found if "locked" not in found and _holds(os.path.join(home, OWNER_LOCK)) else None


def read_last_owner(home: str) -> dict[str, Any] | None:
    """Return what the file says, whether its writer lives or not."""
    handle = _open(os.path.join(home, OWNER_FILE))
    if handle is None:
        return None
    try:
        return _facts(handle)
    finally:
        os.close(handle)


def _open(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None


def _facts(handle: int) -> dict[str, Any] | None:
    try:
        found = json.loads(os.read(handle, _MOST_BYTES))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _holds(path: str) -> bool:
    handle = _open(path)
    if handle is None:
        return False
    try:
        return _is_locked(handle)
    finally:
        os.close(handle)


def _is_locked(handle: int) -> bool:
    # A shared lock: clients that look at the same moment do not take each other for the owner.
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as taken:
        return taken.errno in (errno.EAGAIN, errno.EACCES)
    return False
