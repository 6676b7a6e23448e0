"""The bell: every act that a brain records is told to whoever listens, from one place, once it is durable.

What a call does is told when the call has answered, so that whoever hears of it finds it done; a long call tells meanwhile. Names
and numbers only: subjects of the ledger are opaque, and no text is among them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.ledger import Entry
from hindbrain.services.events import Events

__all__ = ["Bell"]

TOLD_MOST = 20  # subjects and slugs of one event: enough to refresh what is shown; who needs all reads the ledger
LONG_CALL_S = 0.5  # after so long a call tells what it has done so far


@dataclass(slots=True)
class _Ring:
    """What is told of one act in one brain."""

    seq: int = 0
    count: int = 0
    subjects: dict[str, None] = field(default_factory=dict)
    slugs: dict[str, None] = field(default_factory=dict)

    def add(self, entry: Entry, slugs: Sequence[str]) -> None:
        self.seq, self.count = max(self.seq, entry.seq), self.count + 1
        if len(self.subjects) < TOLD_MOST:
            self.subjects[entry.subject] = None
        if entry.act.startswith("claim."):
            self.slugs |= dict.fromkeys(slugs[: TOLD_MOST - len(self.slugs)])

    def told(self, brain: str, act: str) -> dict[str, Any]:
        event: dict[str, Any] = {"brain": brain, "act": act, "subjects": [*self.subjects], "count": self.count, "seq": self.seq}
        if len(self.slugs) == 1:
            event["slug"] = next(iter(self.slugs))
        return event | ({"slugs": [*self.slugs]} if self.slugs else {})


_Rings = dict[tuple[str, str], _Ring]


@dataclass(slots=True)
class _Call:
    """What a call has done and not told yet."""

    bell: "Bell"
    session: str | None
    rings: _Rings = field(default_factory=dict)
    began: float = 0.0


_CALL: ContextVar[_Call | None] = ContextVar("call", default=None)


class Bell:
    """Rings for the acts of all brains of a process."""

    def __init__(self, events: Events, ticks: Callable[[], float] = time.monotonic) -> None:
        self._events = events
        self._ticks = ticks
        self._lock = threading.Lock()
        self._reached: dict[str, int] = {}

    def reached(self, brain: str) -> int:
        """The last entry of a brain that this process recorded."""
        with self._lock:
            return self._reached.get(brain, 0)

    def reach(self, name: str, place: int) -> None:
        """Note how far this process wrote something itself."""
        with self._lock:
            self._reached[name] = max(self._reached.get(name, 0), place)

    def ring(self, brain: str, act: str, **told: Any) -> None:
        """Tell of something that no ledger records: ids and numbers, never text."""
        call = _CALL.get()
        session = call.session if call is not None and call.bell is self else None
        self._events.publish({"brain": brain, "act": act, **told}, session=session)

    @contextmanager
    def call(self, session: str | None) -> Iterator[None]:
        """What is recorded in this block is told at its end, as done by this session: who did it need not hear of it."""
        call = _Call(bell=self, session=session)
        before = _CALL.set(call)
        try:
            yield
        finally:
            _CALL.reset(before)
            self._tell(call.rings, session)

    def committed(self, brain: str, entries: Sequence[Entry], slugs: Sequence[str]) -> None:
        """A brain recorded acts, and that is durable."""
        self.reach(brain, entries[-1].seq)
        call = _CALL.get()
        mine = call is not None and call.bell is self
        rings: _Rings = call.rings if call is not None and mine else {}
        if call is not None and mine and not rings:
            call.began = self._ticks()
        for entry in entries:
            rings.setdefault((brain, entry.act), _Ring()).add(entry, slugs)
        if call is None or not mine:
            self._tell(rings, None)
        elif self._ticks() - call.began > LONG_CALL_S:
            call.rings = {}
            self._tell(rings, call.session)

    def _tell(self, rings: _Rings, session: str | None) -> None:
        for (brain, act), ring in rings.items():
            self._events.publish(ring.told(brain, act), session=session)
