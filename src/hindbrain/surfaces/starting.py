"""Starting an owner on demand: one, however many clients ask at once, and free of everything the client held."""

import os
import threading
import time
from pathlib import Path

from hindbrain.launcher import Child, python_words, start
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.surfaces.client import HOST_ROOTS, OwnerAddress, OwnerGone, find_owner

__all__ = ["ensure_owner", "start_owner"]

_PAUSE_S = 0.02
_GRACE_S = 2.0  # an owner that lost the race for the home ends at once; the winner needs this long at most to answer

# What belongs to the client that happened to come first. The owner serves everybody and is nobody's in particular.
_NOT_INHERITED = ("HINDBRAIN_WORKSPACE_ROOT", "HINDBRAIN_AGENT_ID", "HINDBRAIN_HOST", "HINDBRAIN_DELEGATION", *HOST_ROOTS)


def start_owner(home: str) -> Child[bytes] | None:
    """Start an owner in the background; None when another client is already starting one. Returns at once."""
    place = Home(Path(home))
    place.ensure()
    # The new owner inherits the lock and keeps it for as long as it lives, so no moment is left in which a second
    # client could start a second one. The kernel gives it back when the process ends, however it ends.
    lock = try_lock(place.start_lock)
    if lock is None:
        return None
    try:
        return _spawn(place, lock)
    finally:
        os.close(lock)


def _spawn(place: Home, lock: int) -> Child[bytes]:
    log = os.open(place.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        child = start(
            python_words("hindbrain", "serve", "--on-demand", "--home", str(place.path)),
            stdout=log,
            stderr=log,
            cwd=place.path,
            without=_NOT_INHERITED,
            pass_fds=(lock,),
        )
    finally:
        os.close(log)
    # A client that lives longer than the owner it started must not keep a zombie of it.
    threading.Thread(target=child.wait, name="hindbrain-owner-reaper", daemon=True).start()
    return child


def ensure_owner(home: str, timeout_s: float) -> OwnerAddress:
    """The owner of a home once it answers, started by us or by somebody else; OwnerGone when none does in time."""
    deadline = time.monotonic() + timeout_s
    child: Child[bytes] | None = None
    ended = False
    while time.monotonic() < deadline:
        if found := find_owner(home):
            return found
        if child is None:
            child = start_owner(home)
        elif child.poll() is not None and not ended:
            ended = True
            deadline = min(deadline, time.monotonic() + _GRACE_S)
        time.sleep(_PAUSE_S)
    log = Home(Path(home)).log_file
    if child is not None and ended:
        raise OwnerGone(f"the owner ended while it was starting (exit code {child.returncode}); {log} says why", sent=False)
    raise OwnerGone(f"no owner answered within {timeout_s:g} s; {log} may say why", sent=False)
