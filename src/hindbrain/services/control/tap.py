"""The tap: everything that was published, in order, by a cursor of its own. It reads; it cannot speak, change or hold up."""

from typing import Any, Protocol

import msgspec

from hindbrain.engines.audit_facts import Seen
from hindbrain.stores.experience_port import StoredMessage

__all__ = ["Read", "Tap", "seen"]


class Read(Protocol):
    """The one thing a tap is given: the reading of messages."""

    def __call__(self, *, after: int = 0, limit: int = 1000) -> tuple[StoredMessage, ...]: ...


def seen(stored: StoredMessage) -> Seen:
    """A message as it stands, also when its body is none: what was put in by hand must be seen as well."""
    body = _body(stored.body)
    correlation = body.get("correlation_id")
    payload = body.get("payload")
    return Seen(
        id=stored.id,
        seq=stored.seq,
        at=stored.at,
        sender=stored.sender,
        recipient=stored.recipient,
        type=stored.type,
        task_id=stored.task_id,
        correlation_id=correlation if isinstance(correlation, str) else None,
        payload=payload if isinstance(payload, dict) and _agrees(body, stored) else None,
    )


def _body(text: str) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _agrees(body: dict[str, Any], stored: StoredMessage) -> bool:
    """Whether a body says of itself what its row says of it."""
    own = (body.get("id"), body.get("from"), body.get("to"), body.get("type"), body.get("task_id"))
    return own == (stored.id, stored.sender, stored.recipient, stored.type, stored.task_id)


class Tap:
    """One reader of all that was published. Several may read at once; each gets its own copies."""

    __slots__ = ("_read", "cursor")

    def __init__(self, read: Read, *, after: int = 0) -> None:
        self._read = read
        self.cursor = after

    @property
    def waiting(self) -> bool:
        """Whether something was published after the cursor."""
        return bool(self._read(after=self.cursor, limit=1))

    def next(self, limit: int) -> tuple[Seen, ...]:
        """The next messages; the cursor moves behind them."""
        found = tuple(seen(one) for one in self._read(after=self.cursor, limit=limit))
        if found:
            self.cursor = found[-1].seq
        return found
