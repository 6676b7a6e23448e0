"""Waiting for mail. Answers with counts and ids; the words of messages come by draining."""

import time
from collections.abc import Callable
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import checked_name
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.registry import known
from hindbrain.stores.bus_watch import BusWatch

__all__ = ["Waiting"]

Progress = Callable[[int, int, str], None]

_TOLD_MS = 1000  # how often who waits is told that it still waits, and may say that it has left


class Waiting:
    """Waits until an inbox has something."""

    def __init__(self, buses: Buses, clock: Callable[[], float] = time.monotonic) -> None:
        self._buses = buses
        self._clock = clock

    def wait(
        self,
        caller: Caller,
        agent_id: str,
        *,
        timeout_s: int,
        since: str | None,
        project_root: str | None,
        progress: Progress,
    ) -> dict[str, Any]:
        """At once when there is mail, else when the kernel tells of some, else when the time is over."""
        began = self._clock()
        found = self._looked(caller, agent_id, since, project_root)
        if found["arrived"] or timeout_s == 0:
            return _told(found, 0)
        watch = BusWatch(self._buses.of(caller, project_root).files.directory, below=False)
        try:
            found = self._looked(caller, agent_id, since, project_root)
            while not found["arrived"] and (waited := self._clock() - began) < timeout_s:
                progress(int(waited), timeout_s, "no mail yet")
                if watch.changed(within_ms=max(1, min(_TOLD_MS, round((timeout_s - waited) * 1000)))):
                    found = self._looked(caller, agent_id, since, project_root)
            return _told(found, round((self._clock() - began) * 1000))
        finally:
            watch.close()

    def _looked(self, caller: Caller, agent_id: str, since: str | None, project_root: str | None) -> dict[str, Any]:
        checked_name(agent_id, "agent_id")
        bus = self._buses.of(caller, project_root)
        with bus.look() as look:
            known(look.agents(), agent_id)
            messages, _ = look.inbox(agent_id)
        ids = [one.message_id for one in messages]
        if since in ids:  # else it was drained, and all that lies there came after it
            ids = ids[ids.index(since) + 1 :]
        return {
            "ok": True,
            "schema": "hindbrain-cowork-wait-v0",
            "project": bus.root,
            "agent_id": agent_id,
            "arrived": bool(ids),
            "count": len(ids),
            "message_ids": ids,
        }


def _told(found: dict[str, Any], waited_ms: int) -> dict[str, Any]:
    said = f"{found['count']} message(s) wait for {found['agent_id']}; hindbrain cowork drain takes them"
    return {**found, "waited_ms": waited_ms, "rendered": said if found["arrived"] else f"nothing came for {found['agent_id']}"}
