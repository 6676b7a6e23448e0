"""Presence: one owner per home, held by a kernel lock, and the file that says where it listens."""

import os
import time
from collections.abc import Mapping
from typing import Any

from hindbrain.domain.errors import OwnerRunning
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.stores.owner_file import announce, read_last_owner, read_living_owner

__all__ = ["Presence"]

_LOOK_S = 0.5  # how long a lock may be held by somebody who is no owner


class Presence:
    """The right to be the owner of a home. The lock dies with the process, so a crash never leaves a home locked."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._instance: str | None = None
        home.ensure()
        self._announced: int | None = None
        handle = _right(home)
        if handle is None:
            told = read_last_owner(str(home.path)) or {}
            raise OwnerRunning(
                f"the home {home.path} has an owner already" + (f" (process {told['pid']})" if "pid" in told else ""),
                fix="use it, or end it with: hindbrain stop",
                pid=told.get("pid"),
                port=told.get("port"),
            )
        self._handle = handle
        # Whoever wrote this file is dead: its port may belong to a stranger by now, who must not be sent the token.
        home.owner_file.unlink(missing_ok=True)

    def announce(self, facts: Mapping[str, Any]) -> None:
        """Tell clients where to connect. Written whole, when connections are accepted and not before."""
        self._instance = str(facts["instance"])
        self._announced = announce(self._home.owner_file, facts)

    def holds(self) -> bool:
        """False when the home was removed or replaced: then there is nothing left to own."""
        try:
            there = os.stat(self._home.owner_lock)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._handle))

    def leave(self) -> None:
        """Take the file away, if it is still ours, and let the next owner in."""
        told = read_last_owner(str(self._home.path)) or {}
        if self._instance is not None and self.holds() and told.get("instance") == self._instance:
            self._home.owner_file.unlink(missing_ok=True)
        if self._announced is not None:
            os.close(self._announced)
        os.close(self._handle)


def _right(home: Home) -> int | None:
    """Take the lock of the home; None when an owner has it. A client that looks at the lock holds it for a moment only."""
    until = time.monotonic() + _LOOK_S
    while (handle := try_lock(home.owner_lock)) is None:
        if read_living_owner(str(home.path)) is not None or time.monotonic() > until:
            return None
        time.sleep(0.005)
    return handle
