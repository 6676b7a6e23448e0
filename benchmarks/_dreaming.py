"""What a Dreamer's pass costs: over everything at first, then over what is new, among few megrams and among many."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from _plot import line_chart
from hindbrain.domain.brain import BrainId
from hindbrain.domain.experience import Megram, MegramId, Pair, Writer
from hindbrain.policy.experience import QUANTA
from hindbrain.policy.fading import DAY_MS
from hindbrain.services.experience.cycle import Dreamt
from hindbrain.services.experience.dreamer import Dreamer
from hindbrain.services.experience.experience import Experience
from hindbrain.services.experience.ports import Direct
from hindbrain.stores.sqlite import SqliteStore

__all__ = ["CYCLE_MS", "grown", "passed"]

CYCLE_MS = 2_000.0  # the limit for a pass over a thousand new megrams among a hundred thousand
_FEW = 1_000  # new megrams in the passes among ever more old ones
_BATCH = 10_000
_NOW = 1_800_000_000_000
_STATES = ("accept", "abandon", "change_approach", "success", "break_symmetry")


def passed(store: SqliteStore, now: int) -> tuple[Dreamt, float, float]:
    """One pass, its milliseconds of the processor and of the clock."""
    experience = Experience(store, Direct(store), clock=lambda: now, salt="salt")
    dreamer = Dreamer(store, experience.deposit, clock=lambda: now)
    began, ran = time.perf_counter(), time.process_time()
    done = dreamer.cycle()
    return done, (time.process_time() - ran) * 1000, (time.perf_counter() - began) * 1000


def _new(number: int, pairs: int) -> Megram:
    """Outcomes of all signs, about as many for as against, three weeks of them, spread over pairs."""
    state = _STATES[(number + number // pairs) % len(_STATES)]  # a pair gets one after the other
    quantum = QUANTA[state]
    place = number % pairs
    pair = Pair(space=f"tool:t{place % 200}", entity=f"path:src/module{place}/file.py")
    return Megram(
        id=MegramId(f"mg_{number:012x}"),
        space=pair.space,
        entity=pair.entity,
        content=f"round {number % 5}: the command ended with status {number % 3}; the criterion was not shown by its output",
        state=state,
        f=quantum.f,
        sigma=quantum.sigma,
        k=quantum.k,
        created_at=_NOW - number * 2_654_435_761 % (21 * DAY_MS),  # even, however many there are
        writer=Writer.SOLVER,
        task_id=f"task_{number // 10}",
    )


def _fill(store: SqliteStore, first: int, count: int, pairs: int) -> None:
    for start in range(first, first + count, _BATCH):
        with store.writing() as writer:
            for number in range(start, min(start + _BATCH, first + count)):
                writer.put_megram(_new(number, pairs))


def grown(sizes: Sequence[int], plot: Path | None) -> list[str]:
    """Passes over a thousand new megrams among ever more, and over ever more new ones among the most; what broke the limit."""
    among: list[tuple[float, float]] = []
    news: list[tuple[float, float]] = []
    broken = []
    print(f"\n{'a pass over':<34} {'cpu ms':>10} {'wall ms':>10} {'pairs':>8} {'rules':>6}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            store = SqliteStore(Path(place) / "brain", BrainId("0195c1a0-0000-7000-8000-000000000002"))
            pairs, made = max(size // 20, 1), size
            _fill(store, 0, size, pairs)
            _told(f"all of {size:,}", passed(store, _NOW))
            _fill(store, made, _FEW, pairs)
            made += _FEW
            found = passed(store, _NOW)
            _told(f"{_FEW:,} new among {size:,}", found)
            among.append((size, found[1]))
            if size <= 100_000 and found[1] > CYCLE_MS:
                broken.append(f"a pass over {_FEW:,} new among {size:,}: {found[1]:.0f} ms, limit {CYCLE_MS:g}")
            for count in (100, 1_000, 10_000, 100_000) if size == max(sizes) else ():
                _fill(store, made, count, pairs)
                made += count
                found = passed(store, _NOW)
                _told(f"{count:,} new among {size:,}", found)
                news.append((count, found[1]))
            store.close()
    if plot is not None:
        most = f"{max(sizes):,}"
        line_chart(
            plot,
            "A Dreamer's pass costs what is new, not what there is",
            {f"{_FEW:,} new among x old": among, f"x new among {most} old": news},
            x_title="megrams",
            y_title="milliseconds of the processor",
            log_x=True,
            log_y=True,
        )
    return broken


def _told(what: str, found: tuple[Dreamt, float, float]) -> None:
    done, cpu, wall = found
    print(f"{what:<34} {cpu:>10,.1f} {wall:>10,.1f} {done.pairs:>8,} {len(done.promoted):>6,}")
