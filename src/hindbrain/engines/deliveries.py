"""Deliveries: what became of each message, by replay of the log. There is no other record of it."""

from collections import deque
from collections.abc import Iterable

import msgspec

from hindbrain.domain.cowork import ACKED, DELIVERED, DRAINED, FAILED, INBOX, PENDING, CoworkEvent, Delivery
from hindbrain.policy.cowork import PREVIEW_CHARACTERS

__all__ = ["ID_MARK", "preview", "replayed"]

ID_MARK = " "  # between the ids of messages in the details of a drain

_SENT = ("send", "broadcast")


def preview(text: str) -> str:
    """The beginning of a message."""
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "..."


def replayed(events: Iterable[CoworkEvent]) -> list[Delivery]:
    """Every delivery with its state, in the order of sending. One walk over the log."""
    found: dict[str, Delivery] = {}
    waiting: dict[str, deque[str]] = {}  # the inbox deliveries of each agent that no drain took, oldest first
    for event in events:
        if event.event_type in _SENT and event.target_agent_ids:
            delivery = _sent(event)
            if delivery.message_id not in found and delivery.status == PENDING and delivery.transport == INBOX:
                waiting.setdefault(delivery.target_agent_id, deque()).append(delivery.message_id)
            found.setdefault(delivery.message_id, delivery)
        elif event.event_type == "drain":
            for name in _taken(event, found, waiting.get(event.actor_agent_id or "", deque())):
                found[name] = msgspec.structs.replace(found[name], status=DRAINED, updated_at=event.occurred_at)
        elif event.event_type == "ack":
            held = found.get(event.details.get("message_id", ""))
            if held is not None and held.status in (PENDING, DRAINED) and held.target_agent_id == event.actor_agent_id:
                told = msgspec.structs.replace(held, status=ACKED, updated_at=event.occurred_at, acked_by=event.actor_agent_id)
                found[held.message_id] = told
    return list(found.values())


def _sent(event: CoworkEvent) -> Delivery:
    return Delivery(
        message_id=event.event_id,
        event_type=event.event_type,
        status=PENDING if event.status == DELIVERED else FAILED,
        source=event.actor_agent_id or "",
        target_agent_id=event.target_agent_ids[0],
        transport=event.transport or INBOX,
        message_preview=event.message_preview,
        thread_id=event.details.get("thread_id"),
        channel=event.details.get("channel"),
        delivered_at=event.occurred_at,
        updated_at=event.occurred_at,
    )


def _taken(event: CoworkEvent, found: dict[str, Delivery], waiting: deque[str]) -> list[str]:
    """The pending messages that a drain took: those it names, or, where an old one only counts, the oldest of the inbox."""
    if (named := event.details.get("message_ids")) is not None:
        return [name for name in named.split(ID_MARK) if _is_pending(found.get(name), event.actor_agent_id)]
    counted = event.details.get("drained_count", "")
    taken: list[str] = []
    while waiting and counted.isdecimal() and len(taken) < int(counted):
        if _is_pending(found[name := waiting.popleft()], event.actor_agent_id):
            taken.append(name)
    return taken


def _is_pending(delivery: Delivery | None, agent: str | None) -> bool:
    return delivery is not None and (delivery.status, delivery.transport, delivery.target_agent_id) == (PENDING, INBOX, agent)
