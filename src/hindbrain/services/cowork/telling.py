"""Telling: the log of a bus, and what became of each message by it. Reads only."""

from collections import Counter, deque
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import ACKED, DRAINED, FAILED, PENDING, CoworkEvent, Delivery, checked_name
from hindbrain.engines.deliveries import replayed
from hindbrain.engines.fence import fenced
from hindbrain.services.cowork.place import Buses

__all__ = ["Telling", "event_row"]


def event_row(event: CoworkEvent) -> dict[str, Any]:
    """An event as answers have it: every field, whether it has a value or not."""
    return msgspec.structs.asdict(event) | {"target_agent_ids": list(event.target_agent_ids)}


class Telling:
    """What happened on a bus."""

    def __init__(self, buses: Buses) -> None:
        self._buses = buses

    def events(self, caller: Caller, *, limit: int, project_root: str | None = None) -> dict[str, Any]:
        """The latest events, in the order in which they were written."""
        bus = self._buses.of(caller, project_root)
        with bus.look() as look:
            log = look.history()
        total, latest = 0, deque[CoworkEvent](maxlen=limit)
        for event in log:
            total += 1
            latest.append(event)
        return {
            "schema": "hindbrain-cowork-events-v0",
            "project": bus.root,
            "events": [event_row(one) for one in latest],
            "total": total,
            "skipped_lines": log.skipped,
            "rendered": fenced("\n".join(_event_line(one) for one in latest)) if latest else "nothing happened on this bus yet",
        }

    def deliveries(
        self, caller: Caller, *, agent_id: str | None = None, limit: int, project_root: str | None = None
    ) -> dict[str, Any]:
        """What became of each message, by replay of the log; the latest ones, and how many there are of each state."""
        if agent_id is not None:
            checked_name(agent_id, "agent_id")
        bus = self._buses.of(caller, project_root)
        with bus.look() as look:
            log = look.history()
        found = [one for one in replayed(log) if agent_id is None or one.target_agent_id == agent_id]
        counts = Counter(one.status for one in found)
        latest = found[-limit:]
        return {
            "schema": "hindbrain-cowork-deliveries-v0",
            "project": bus.root,
            "deliveries": [msgspec.to_builtins(one) for one in latest],
            "total": len(found),
            "counts": {status: counts[status] for status in (PENDING, DRAINED, ACKED, FAILED)},
            "skipped_lines": log.skipped,
            "rendered": fenced("\n".join(_delivery_line(one) for one in latest)) if latest else "no messages were sent",
        }


def _event_line(event: CoworkEvent) -> str:
    to = f" to {', '.join(event.target_agent_ids)}" if event.target_agent_ids else ""
    said = f": {_one_line(event.message_preview)}" if event.message_preview else ""
    labels = _labels(event.details.get("thread_id"), event.details.get("channel"))
    return f"{event.occurred_at} {event.event_type}/{event.status} {event.actor_agent_id or ''}{to}{labels}{said}"


def _delivery_line(one: Delivery) -> str:
    said = f": {_one_line(one.message_preview)}" if one.message_preview else ""
    labels = _labels(one.thread_id, one.channel)
    return f"{one.message_id} {one.status} {one.source} to {one.target_agent_id} by {one.transport}{labels}{said}"


def _labels(thread_id: str | None, channel: str | None) -> str:
    told = " ".join(f"{name}={value}" for name, value in (("thread", thread_id), ("channel", channel)) if value)
    return f" [{told}]" if told else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
