"""Events: what changed, told to whoever listens. Carries names and numbers, never the text of a memory."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Event", "Events"]

# A page that reloads or a laptop that sleeps for a moment resumes without a full reload; older listeners start afresh.
REPLAYED = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change: its number, what it says, the session that caused it, and which brain had the name that it gives."""

    id: int
    data: Mapping[str, Any]
    session: str | None
    owner: object = None  # None where nobody asked for it


Listener = Callable[[Event], None]


class Events:
    """The bell of one process. Any thread may publish; listeners are called in the order of the numbers."""

    def __init__(self, *, keep: int = REPLAYED) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Event] = deque(maxlen=keep)
        self._listeners: dict[int, Listener] = {}
        self._last = 0
        self._tickets = 0
        self.owner_of: Callable[[str], object] = lambda name: None

    @property
    def last_id(self) -> int:
        return self._last

    def publish(self, event: Mapping[str, Any], *, session: str | None = None) -> int:
        """Number an event, keep it for a while and tell every listener. A listener must not block or raise."""
        owner = self.owner_of(str(event.get("brain")))
        with self._lock:
            self._last += 1
            numbered = Event(id=self._last, data=dict(event), session=session, owner=owner)
            self._kept.append(numbered)
            for listener in self._listeners.values():
                listener(numbered)
            return numbered.id

    def reaches(self, after: int) -> bool:
        """True when everything since that number is still here, so that a listener can resume without a gap."""
        with self._lock:
            first_kept = self._kept[0].id if self._kept else self._last + 1
            return first_kept - 1 <= after <= self._last

    def subscribe(self, listener: Listener, *, after: int | None = None) -> Callable[[], None]:
        """Listen from now on, or from a number on. Returns the way to stop, which may be called twice."""
        with self._lock:
            # Replay and subscription are one step: an event between them would be lost or told twice.
            if after is not None:
                for event in self._kept:
                    if event.id > after:
                        listener(event)
            self._tickets += 1
            ticket = self._tickets
            self._listeners[ticket] = listener

        def stop() -> None:
            with self._lock:
                self._listeners.pop(ticket, None)

        return stop
