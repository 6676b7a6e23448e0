"""Counters: per brain, by ISO week, kept in memory and written in batches: a read never waits for the disk."""

import datetime
import json
import threading
from collections.abc import Callable
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import GateClosed, HindbrainError
from hindbrain.domain.ledger import Act
from hindbrain.engines.hygiene import scan
from hindbrain.policy.limits import DAY_MS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.routing import Router
from hindbrain.stores.glance import LAST_BEAT
from hindbrain.stores.home import Home
from hindbrain.stores.line_file import append_lines

__all__ = ["BEATS", "QUERIES", "Counters", "Refusals", "week_end", "week_of"]

QUERIES = "queries_processed"
BEATS = "memory_beats_served"


def week_of(ms: int) -> str:
    """The ISO week (UTC) of a time, as 2026-W27."""
    year, week, _ = datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).isocalendar()
    return f"{year}-W{week:02d}"


def week_end(ms: int) -> int:
    """The last millisecond (UTC) of the week of a time."""
    day = ms // DAY_MS
    return (day - (day + 3) % 7 + 7) * DAY_MS - 1  # 1970 began on a Thursday


class Counters:
    """Counts what each brain served; what no brain served is counted apart."""

    def __init__(self, brains: Brains, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[tuple[str, str], int]] = {}
        self._beats: dict[str, int] = {}  # brain -> when memory was last served from it
        self.unrouted: dict[str, int] = {QUERIES: 0}
        self.degraded: str | None = None  # the path that could not be written, until it can be again
        brains.before_close = self.flush_one

    def add(self, brain: Brain | None, name: str) -> None:
        if brain is None:
            with self._lock:
                self.unrouted[name] = self.unrouted.get(name, 0) + 1
            return
        now = self._clock()
        key = (name, week_of(now))
        with self._lock:
            if name == BEATS:
                self._beats[brain.name] = now
            waiting = self._waiting.setdefault(brain.name, {})
            waiting[key] = waiting.get(key, 0) + 1

    def totals(self, opened: OpenBrain) -> dict[str, int]:
        """All weeks together, with what is not written yet."""
        found: dict[str, int] = {QUERIES: 0, BEATS: 0}
        for (name, _), count in (*opened.store.counters().items(), *self._pending(opened.brain.name).items()):
            found[name] = found.get(name, 0) + count
        return found

    def weeks(self, opened: OpenBrain, name: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for (one, week), count in (*opened.store.counters().items(), *self._pending(opened.brain.name).items()):
            if one == name:
                found[week] = found.get(week, 0) + count
        return found

    def last_beat(self, brain: str) -> int | None:
        """When this process last served memory from a brain, if it did."""
        with self._lock:
            return self._beats.get(brain)

    def pending(self, brain: str) -> dict[str, int]:
        """What is counted and not written yet, all weeks together."""
        found: dict[str, int] = {}
        for (name, _), count in self._pending(brain).items():
            found[name] = found.get(name, 0) + count
        return found

    def _pending(self, brain: str) -> dict[tuple[str, str], int]:
        with self._lock:
            return dict(self._waiting.get(brain, {}))

    def flush_one(self, opened: OpenBrain) -> None:
        """Write what waits for one brain. A disk that refuses is remembered and named; nothing is lost from memory."""
        with self._lock:
            waiting = self._waiting.pop(opened.brain.name, None)
            beat = self._beats.get(opened.brain.name)
        if not waiting:
            return
        try:
            with opened.store.writing() as writer:
                writer.add_counts(waiting)
                if beat is not None:
                    writer.set_meta(LAST_BEAT, str(beat))
            self.degraded = None
        except (HindbrainError, OSError):
            self.degraded = str(opened.directory)
            with self._lock:
                back = self._waiting.setdefault(opened.brain.name, {})
                for key, count in waiting.items():
                    back[key] = back.get(key, 0) + count

    def flush(self) -> None:
        for opened in self._brains.each_warm():
            self.flush_one(opened)


class Refusals:
    """Every refusal is recorded: in the ledger of the brain that refused, else in a file of the home."""

    def __init__(self, brains: Brains, router: Router, home: Home, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._home = home
        self._clock = clock

    def record(self, caller: Caller, operation: str, refusal: HindbrainError) -> None:
        """The act and its code, never the text that was refused."""
        brain = self._router.route(caller).brain
        payload: dict[str, Any] = {"operation": operation, "code": refusal.code}
        if "pattern_class" in refusal.details:
            payload["pattern_class"] = str(refusal.details["pattern_class"])
        if isinstance(refusal, GateClosed) and "gate" in refusal.details:
            payload["card_id"] = str(refusal.details["gate"]["card_id"])
        if brain is not None:
            with self._brains.use(brain) as opened, opened.store.writing() as writer:
                writer.append(
                    Act(
                        act="call.refused",
                        subject=operation,
                        actor=caller.agent,
                        channel=caller.channel,
                        at=self._clock(),
                        payload=payload,
                    )
                )
            return
        self._home.ensure()
        line = {
            "at": self._clock(),
            "actor": caller.agent,
            "channel": caller.channel.value,
            "caller_root": None if caller.root is None or scan(caller.root) else caller.root,
            **payload,
        }
        # Escaped: the name of a directory need not be text. No sync: every refusal would wait for the disk.
        append_lines(self._home.refusals_file, (json.dumps(line) + "\n").encode("ascii"), sync=False)
