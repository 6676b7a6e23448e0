"""The Dreamer of one brain: when it dreams. After results have settled, every few minutes, at the end, and for one pair after a
write; always beside the calls, never in their way."""

import logging
import threading
import time
from collections.abc import Callable

from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.experience import Megram, Pair
from hindbrain.policy.experience import CLOSING_S, DREAM_EVERY_S, DREAM_SETTLE_S, Rules
from hindbrain.services.control.ports import Mind
from hindbrain.services.experience.cycle import Cycle, Dreamt
from hindbrain.services.experience.ports import Durable
from hindbrain.stores.port import BrainStore
from hindbrain.stores.port import Writer as Transaction

__all__ = ["Dreamer", "Schedule"]

LOG = logging.getLogger("hindbrain.dreamer")
_PAIR_WAIT_S = 5.0  # for a write to become durable before its pair is looked at; the next cycle sees it anyway


class Schedule:
    """When the next cycle is due: so long after the last result, and so long after the last cycle. By monotonic seconds."""

    def __init__(self, now: float, *, every_s: float, settle_s: float) -> None:
        self._every_s, self._settle_s = every_s, settle_s
        self._timer = now + every_s
        self._settled: float | None = None

    def arm(self, now: float) -> None:
        """A result came: wait until none has come for a while."""
        self._settled = now + self._settle_s

    @property
    def due(self) -> float:
        return self._timer if self._settled is None else min(self._timer, self._settled)

    def ran(self, now: float) -> None:
        self._settled, self._timer = None, now + self._every_s


class Dreamer:
    """Dreams on a thread of its own. Threads start with the first thing there is to dream of."""

    def __init__(
        self,
        store: BrainStore,
        deposit: Callable[[Transaction, Megram], bool],
        *,
        clock: Callable[[], int],
        rules: Rules | None = None,
        mind: Callable[[], Mind | None] = lambda: None,
        every_s: float = DREAM_EVERY_S,
        settle_s: float = DREAM_SETTLE_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._deposit = deposit
        self._clock = clock
        self._rules = rules or Rules()
        self._mind = mind  # asked for when it is needed: whoever has it may still be opening the brain
        self._monotonic = monotonic
        self._schedule = Schedule(monotonic(), every_s=every_s, settle_s=settle_s)
        self._changed = threading.Condition()
        self._pairs: dict[Pair, Durable | None] = {}
        self._thread: threading.Thread | None = None
        self._closing = False
        self.cycles = 0
        self.last: Dreamt | None = None

    def heard_result(self) -> None:
        """A task ended: dream once nothing more comes for a moment."""
        with self._changed:
            self._schedule.arm(self._monotonic())
            self._awake()

    def wrote(self, pair: Pair, durable: Durable | None = None) -> None:
        """Something was written: look at its pair as soon as it is durable."""
        with self._changed:
            self._pairs[pair] = durable
            self._awake()

    def watch(self) -> None:
        """Dream by the timer from now on, whether or not something is written here."""
        with self._changed:
            self._awake()

    def cycle(self, *, dry_run: bool = False, within_s: float | None = None) -> Dreamt:
        """A whole cycle now, where the caller stands."""
        ends = time.monotonic() + within_s if within_s is not None else None
        done = self._looking(ends=ends).run(dry_run=dry_run)
        if not dry_run:
            self.cycles, self.last = self.cycles + 1, done
        return done

    def check(self, *pairs: Pair) -> Dreamt:
        """Only these pairs, now."""
        return self._looking(ends=None).only(pairs)

    def close(self, within_s: float = CLOSING_S) -> None:
        """One last cycle, and the end; no longer than so many seconds. What a model still words is left to the next."""
        ends = time.monotonic() + within_s
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(within_s)  # it stops after the page it is at
        try:
            Cycle(self._store, self._deposit, clock=self._clock, rules=self._rules, ends=ends).run()
        except (HindbrainError, OSError) as failure:
            LOG.warning("the last cycle failed: %s", failure)

    def _looking(self, *, ends: float | None) -> Cycle:
        return Cycle(
            self._store,
            self._deposit,
            clock=self._clock,
            rules=self._rules,
            mind=self._mind(),
            ends=ends,
            given_up=lambda: self._closing,
        )

    def _awake(self) -> None:
        if self._closing:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="hindbrain-dreamer", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._called():  # each call may bring the next cycle nearer
                    self._changed.wait(max(self._schedule.due - self._monotonic(), 0.0))
                if self._closing:
                    return
                pairs, self._pairs = self._pairs, {}
                due = self._monotonic() >= self._schedule.due
                if due:
                    self._schedule.ran(self._monotonic())
            self._dream(pairs, whole=due)

    def _called(self) -> bool:
        return self._closing or bool(self._pairs) or self._monotonic() >= self._schedule.due

    def _dream(self, pairs: dict[Pair, Durable | None], *, whole: bool) -> None:
        try:
            ready = [pair for pair, durable in pairs.items() if durable is None or durable.wait(_PAIR_WAIT_S)]
            if ready:
                self.check(*ready)
            if whole:
                self.cycle()
        except (HindbrainError, OSError) as failure:
            LOG.warning("a cycle failed, the next one tries again: %s", failure)
        except Exception:  # a defect in one look must not end all dreaming
            LOG.exception("a cycle failed")
