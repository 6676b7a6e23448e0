"""Embedding: gives the rows of a brain their vectors, beside the calls. A row is found by words at once, and by meaning soon.

The owner has a thread for it, which a write wakes. Without an owner nothing is embedded by a write: the next search lends a
little time, and `hindbrain model embed` does the rest. One brain is looked at at a time, and its vectors go into its own store
only.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.errors import ModelUnavailable
from hindbrain.policy.embedding import BATCH, LENT_BATCH, LENT_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.embedder import Embedder, ModelState
from hindbrain.services.embedding_rows import Batch, Neighbours, Stopped, embedded_claims, embedded_evidence
from hindbrain.services.events import Event, Events
from hindbrain.stores.vector_port import Shelf

__all__ = ["Embedding", "IndexState", "told"]

LOG = logging.getLogger("hindbrain.embedding")

Progress = Callable[[int, int, str], None]

_RETRY_S = 30.0  # after a defect of the disk or the database, before the thread looks at a brain again


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the vectors of a brain are, and with which model they can be asked."""

    state: ModelState
    stamp: str | None  # of the model in force
    serving_stamp: str | None  # of the vectors that answer now: another one while everything is embedded anew
    pending: int  # rows that are found by words only
    total: int
    reason: str | None = None
    fix: str | None = None

    @property
    def whole(self) -> bool:
        return self.serving_stamp is not None and self.pending == 0


class Embedding:
    """The embedding of all brains of one process."""

    def __init__(self, brains: Brains, embedder: Embedder, events: Events, *, resident: bool) -> None:
        self._brains = brains
        self._embedder = embedder
        self._resident = resident
        self._neighbours = Neighbours()
        self._bell = threading.Event()
        self._fresh = False  # something was written since the last round
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._working = threading.Lock()  # one round at a time: two would embed the same rows twice
        self._resting: dict[str, float] = {}
        self._stop_listening = events.subscribe(self._heard) if resident else lambda: None

    # -- what others ask ---------------------------------------------------------------------------------------------

    def state(self, opened: OpenBrain) -> IndexState:
        """How far the vectors of this brain are."""
        standing = self._embedder.standing()
        stamp = standing.stamp if standing.state is ModelState.READY else None
        vectors = opened.store.vectors
        pending = sum(vectors.missing(stamp).values()) if stamp else 0
        counts = opened.store.counts()
        return IndexState(
            state=standing.state,
            stamp=stamp,
            serving_stamp=self._serving(opened, stamp, pending) if stamp else None,
            pending=pending,
            total=counts.active_claims + counts.evidence if stamp else 0,
            reason=standing.reason,
            fix=standing.fix,
        )

    def serving(self, opened: OpenBrain) -> str | None:
        """The stamp to search a brain's vectors with; None when it can only be searched by words."""
        return self.state(opened).serving_stamp

    def _serving(self, opened: OpenBrain, stamp: str, pending: int) -> str:
        """The model in force, unless vectors of an older one, whose model is still here, know more."""
        if not pending:
            return stamp
        known: dict[str, int] = {}
        for shelf in Shelf:
            for one, count in opened.store.vectors.stamps(shelf).items():
                known[one] = known.get(one, 0) + count
        best = max(known, key=lambda one: (known[one], one == stamp), default=stamp)
        return best if best == stamp or self._embedder.has(best) else stamp

    def wake(self, opened: OpenBrain | None = None) -> None:
        """Something may be waiting: let the thread look now."""
        if self._resident and not self._stopping.is_set():
            if opened is not None:
                self._resting.pop(opened.brain.name, None)
            self._fresh = True
            self._start()
            self._bell.set()

    def lend(self, opened: OpenBrain) -> IndexState | None:
        """What a search without an owner gives: a bounded time, so that small brains are whole and large ones answer."""
        if self._resident or not self._embedder.ready():
            return None
        self._drained(opened, LENT_S, LENT_BATCH, None, newest=True)
        return self.state(opened)

    def drain(self, opened: OpenBrain, seconds: float, progress: Progress | None = None) -> IndexState:
        """Embed what is waiting in this brain, until nothing is or the time is over."""
        self._drained(opened, seconds, BATCH, progress, newest=False)
        return self.state(opened)

    def _drained(self, opened: OpenBrain, seconds: float, limit: int, progress: Progress | None, *, newest: bool) -> None:
        deadline = time.monotonic() + seconds
        waiting = self.state(opened).pending if progress is not None else 0
        done = 0
        while time.monotonic() < deadline and (made := self.step(opened, limit, newest=newest)):
            done += made
            if progress is not None:
                progress(min(done, waiting), max(waiting, done), "embedding")

    def embed_all(self, opened: OpenBrain, progress: Progress) -> IndexState:
        """Embed everything that is waiting in this brain; what is done stays done when it is interrupted."""
        if not self._embedder.ready():
            standing = self._embedder.standing()
            raise ModelUnavailable(standing.reason or "there is no usable model", fix=standing.fix)
        return self.drain(opened, float("inf"), progress)

    def close(self) -> None:
        self._stop_listening()
        self._stopping.set()
        self._bell.set()
        if self._thread is not None:
            self._thread.join()

    # -- the thread --------------------------------------------------------------------------------------------------

    def _heard(self, _: Event) -> None:
        self.wake()

    def _start(self) -> None:
        if self._thread is not None or self._embedder.stamp is None:
            return
        with self._starting:
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._bell.wait()
            self._bell.clear()
            while not self._stopping.is_set() and self._look_at_all():
                continue

    def _look_at_all(self) -> int:
        """One round for each warm brain; how many rows got their vectors."""
        newest, self._fresh = self._fresh, False
        awake = [opened for opened in self._brains.each_warm() if not self._rests(opened.brain.name)]
        return sum(self._looked_at(opened, newest=newest) for opened in awake)

    def _rests(self, name: str) -> bool:
        return time.monotonic() < self._resting.get(name, 0.0)

    def _looked_at(self, opened: OpenBrain, *, newest: bool) -> int:
        if self._stopping.is_set():
            return 0
        try:
            with self._brains.use(opened.brain) as held:
                return self.step(held, BATCH, newest=newest)
        except Stopped:
            return 0
        except Exception as defect:  # noqa: BLE001 - the thread outlives a full disk; the rows stay pending, which every answer says
            LOG.error("embedding rests for %d s: %s", _RETRY_S, type(defect).__name__)
            self._resting[opened.brain.name] = time.monotonic() + _RETRY_S
            return 0

    # -- one step ----------------------------------------------------------------------------------------------------

    def step(self, opened: OpenBrain, limit: int, *, newest: bool) -> int:
        """Embed one batch of each shelf: of what was written last, or of what waits longest. How many rows it was."""
        with self._working:
            stamp = self._embedder.stamp
            if stamp is None or not self._embedder.ready():
                return 0
            vectors = opened.store.vectors
            # Counting costs nothing; looking for what is missing reads all rows that may lack a vector.
            lacking = [shelf for shelf, number in vectors.missing(stamp).items() if number]
            waiting = {shelf: vectors.pending(stamp, shelf, limit=limit, newest=newest) for shelf in lacking}
            if not lacking:
                self._drop_older(opened, stamp)
            done = 0
            for shelf, rows in waiting.items():
                if rows:
                    done += self._embedded(shelf, Batch(opened, self._embedder, stamp, rows, self._stopping.is_set))
            return done

    def _embedded(self, shelf: Shelf, batch: Batch) -> int:
        rows = embedded_claims(batch) if shelf is Shelf.CLAIM else embedded_evidence(batch, self._neighbours)
        batch.opened.store.vectors.put(batch.stamp, shelf, rows)
        return len({row.turn for row in rows} & {one.turn for one in batch.waiting})

    def _drop_older(self, opened: OpenBrain, stamp: str) -> None:
        """Everything is embedded with the model in force: what another one left behind is of no use any more."""
        older = {one for shelf in Shelf for one in opened.store.vectors.stamps(shelf) if one != stamp}
        for one in sorted(older):
            opened.store.vectors.drop(one)


def told(state: IndexState) -> dict[str, Any]:
    """The state of an index as an answer shows it."""
    shown = {
        "state": state.state.value,
        "stamp": state.stamp,
        "serving_stamp": state.serving_stamp,
        "pending": state.pending,
        "total": state.total,
    }
    return shown | ({"reason": state.reason, "fix": state.fix} if state.reason else {})
