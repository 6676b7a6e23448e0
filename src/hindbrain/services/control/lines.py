"""Lines: the journal and the bus of each open brain, made when they are first needed and closed before their brain is."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.bus import Bus, Deposit
from hindbrain.services.control.journal import Journal
from hindbrain.services.gateway import Gateway

__all__ = ["Line", "Lines"]

SETTLE_S = 30.0  # a store that takes nothing for so long is left to the close


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What waits to be written to a brain, and the bus that writes through it."""

    journal: Journal
    bus: Bus


class Lines:
    """The lines of one process."""

    def __init__(self, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[OpenBrain, Line] = {}
        self.depositing: Callable[[OpenBrain, Journal], Deposit] | None = None  # what a megram that is said becomes

    def now(self) -> int:
        """Milliseconds since 1970, as the messages of this process have them."""
        return self._clock()

    def of(self, opened: OpenBrain) -> Line:
        """The line of a brain."""
        with self._lock:
            if opened not in self._open:
                salt = self._gateway.salt(opened)
                journal = Journal(opened.store, written=lambda: bus.wake())
                deposit = self.depositing(opened, journal) if self.depositing is not None else None
                bus = Bus(opened.store, journal, clock=self._clock, salt=salt, deposit=deposit)
                self._open[opened] = Line(journal=journal, bus=bus)
            return self._open[opened]

    def dropped(self, opened: OpenBrain) -> int:
        """How many experiences of a brain were dropped by this process."""
        line = self._open.get(opened)
        return line.journal.dropped if line is not None else 0

    def settle(self, opened: OpenBrain) -> None:
        """Write what waits, and go on."""
        line = self._open.get(opened)
        if line is not None:
            line.journal.drain(SETTLE_S)

    def settle_all(self) -> None:
        """Write what waits in every open brain, and go on."""
        with self._lock:
            brains = list(self._open)
        for opened in brains:
            self.settle(opened)

    def close(self, opened: OpenBrain) -> None:
        """Write what waits, then no more."""
        with self._lock:
            line = self._open.pop(opened, None)
        if line is not None:
            line.journal.close()
