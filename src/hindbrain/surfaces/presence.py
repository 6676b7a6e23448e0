"""Presence: one owner per home, held by a kernel lock, and the file that says where it listens."""

import json
import os
from collections.abc import Mapping
from typing import Any

from hindbrain.domain.errors import OwnerRunning
from hindbrain.stores.atomic import write_text
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock

__all__ = ["Presence"]


class Presence:
    """The right to be the owner of a home. The lock dies with the process, so a crash never leaves a home locked."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._instance: str | None = None
        home.ensure()
        handle = try_lock(home.owner_lock)
        if handle is None:
            told = _told(home)
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
        write_text(self._home.owner_file, json.dumps(facts, indent=2) + "\n")

    def holds(self) -> bool:
        """False when the home was removed or replaced: then there is nothing left to own."""
        try:
            there = os.stat(self._home.owner_lock)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._handle))

    def leave(self) -> None:
        """Take the file away, if it is still ours, and let the next owner in."""
        if self._instance is not None and self.holds() and _told(self._home).get("instance") == self._instance:
            self._home.owner_file.unlink(missing_ok=True)
        os.close(self._handle)


def _told(home: Home) -> dict[str, Any]:
    try:
        found = json.loads(home.owner_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
