"""The journal: what waits to be written to a brain, in order. Putting never waits for the store; one thread writes all that waits
in one transaction. Knows nothing of what is written."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from hindbrain.domain.errors import Busy, HindbrainError, StoreUnavailable
from hindbrain.policy.control import JOURNAL_BATCH, JOURNAL_OVERFLOW, JOURNAL_QUEUE, JOURNAL_RETRY_S
from hindbrain.stores.port import BrainStore, Writer

__all__ = ["Journal", "Ticket", "Write"]

LOG = logging.getLogger("hindbrain.journal")
_PROBE_KEY, _PROBE = "journal_probe", "-" * 256 * 1024


class Write(Protocol):
    """One thing to write. It may run more than once: a transaction that fails is begun anew."""

    def __call__(self, writer: Writer, /) -> object: ...


class Ticket:
    """What became of one write."""

    def __init__(self) -> None:
        self._settled = threading.Event()
        self.value: object = None
        self.error: Exception | None = None
        self.dropped = False

    def wait(self, timeout_s: float | None = None) -> bool:
        """True once it is durable; False when it was refused, dropped, or is still waiting after that time."""
        return self._settled.wait(timeout_s) and self.durable

    @property
    def durable(self) -> bool:
        return self._settled.is_set() and self.error is None and not self.dropped

    def settle(self, *, value: object = None, error: Exception | None = None, dropped: bool = False) -> None:
        self.value, self.error, self.dropped = value, error, dropped
        self._settled.set()


class Journal:
    """The write-behind queue of one brain. Any thread may put; what was put first is written first."""

    def __init__(
        self,
        store: BrainStore,
        *,
        written: Callable[[], None] = lambda: None,
        queue: int = JOURNAL_QUEUE,
        overflow: int = JOURNAL_OVERFLOW,
        retry_s: float = JOURNAL_RETRY_S,
    ) -> None:
        self._store = store
        self._written = written  # told after each transaction, on the thread that wrote
        self._queue, self._overflow, self._retry_s = queue, overflow, retry_s
        self._waiting: deque[tuple[Write, Ticket, bool]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = self._busy = False
        self._droppable = 0
        self.overflowed = 0  # how many had to wait beyond the queue, ever
        self.dropped = 0

    @property
    def depth(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def put(self, write: Write, *, droppable: bool = False) -> Ticket:
        """Take a write and return at once. Only what is droppable may be dropped, beyond queue and overflow, and is counted."""
        ticket = Ticket()
        with self._changed:
            if self._closed:
                ticket.settle(error=StoreUnavailable("the brain is being closed", fix="open it again"))
                return ticket
            if droppable and self._droppable >= self._queue + self._overflow:
                self.dropped += 1
                ticket.settle(dropped=True)
                return ticket
            if droppable:
                self._droppable += 1
                self.overflowed += self._droppable > self._queue
            self._waiting.append((write, ticket, droppable))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="hindbrain-journal", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return ticket

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait until everything that was put is written or refused; False when that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout_s)

    def close(self, timeout_s: float = 30.0) -> bool:
        """Take nothing more, write what waits, end. False when something is left that the store would not take in time."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        done = self.drain(timeout_s)
        with self._changed:
            left = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for _, ticket, _ in left:
            ticket.settle(error=StoreUnavailable("the brain was closed before this was written", fix="free the store"))
        if self._thread is not None:
            self._thread.join(timeout_s)
        return done

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                batch = [self._waiting[place] for place in range(min(len(self._waiting), JOURNAL_BATCH))]
                self._busy = True
            done = self._batch_written(batch)
            with self._changed:
                for _ in range(min(done, len(self._waiting))):
                    self._droppable -= self._waiting.popleft()[2]
                self._busy = False
                self._changed.notify_all()
                if not done and not self._closed:
                    self._changed.wait(self._retry_s)
                elif not done:
                    self._changed.wait(min(self._retry_s, 0.05))

    def _batch_written(self, batch: list[tuple[Write, Ticket, bool]], *, again: bool = False) -> int:
        """How many of these, from the first on, are settled: none while the store takes nothing; a refused one by itself."""
        try:
            values = self._transaction([write for write, _, _ in batch])
        except Exception as failure:  # whatever one write raises is its own; the others must not be lost with it
            away = isinstance(failure, Busy | StoreUnavailable | OSError)
            if away and not self._takes_any():
                LOG.warning("the store takes nothing now, %d writes wait: %s", self.depth, failure)
                return 0
            if len(batch) > 1:
                return self._batch_written(batch[: len(batch) // 2])
            if away and not again:  # the store may have come back between the two
                return self._batch_written(batch, again=True)
            if not isinstance(failure, HindbrainError):
                LOG.exception("a write failed")
            batch[0][1].settle(error=failure)
            return 1
        for (_, ticket, _), value in zip(batch, values, strict=True):
            ticket.settle(value=value)
        self._written()
        return len(batch)

    def _takes_any(self) -> bool:
        """Whether the store takes anything: if so, what failed is at fault, and waiting would not help. A full disk takes what
        writes nothing, so this is as large as what is put here."""
        try:
            for text in (_PROBE, ""):
                self._transaction([lambda writer, text=text: writer.set_meta(_PROBE_KEY, text)])
        except (Busy, StoreUnavailable, OSError):
            return False
        return True

    def _transaction(self, writes: list[Write]) -> list[object]:
        with self._store.writing() as writer:
            return [write(writer) for write in writes]
