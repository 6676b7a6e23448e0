"""Experience at a million megrams: the sums of a pair, what keeping and forgetting cost, bytes and memory.

    .venv/bin/python benchmarks/experience.py                        # a million megrams over 50,000 pairs, some minutes, 1 GB
    .venv/bin/python benchmarks/experience.py --megrams 100000       # the same, smaller
    .venv/bin/python benchmarks/experience.py --plot docs/experience-growth.svg   # and what passes over new ones cost

One brain on disk. Most pairs have about twenty megrams; some have exactly 10, 100 or 1,000, and these are asked in turn.
Times are medians and 95th percentiles over warm calls in one process, in milliseconds, `cpu` of the calling thread and `wall`.
"""

import argparse
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from _dreaming import grown, passed
from hindbrain.domain.brain import BrainId
from hindbrain.domain.caller import Channel
from hindbrain.domain.experience import Megram, MegramId, Pair, Writer
from hindbrain.domain.ledger import Act
from hindbrain.policy.experience import QUANTA
from hindbrain.stores.sqlite import SqliteStore

BATCH = 10_000
ROUNDS = 300
DAY_MS = 86_400_000
NOW = 1_800_000_000_000
SPAN_DAYS = 40  # over which the megrams came
SIZES = {10: 200, 100: 100, 1_000: 30}  # how many pairs have exactly so many megrams
POTENTIALS_MS = 5.0  # the limit for the sums of a pair, whatever its size


@dataclass(frozen=True, kw_only=True)
class Built:
    """A brain full of experience, and the pairs in it that are asked."""

    store: SqliteStore
    directory: Path
    sized: dict[int, list[Pair]]
    megrams: int
    pairs: int


def named(number: int) -> Pair:
    return Pair(space=f"tool:t{number % 200}", entity=f"path:src/module{number}/file.py")


def spread(megrams: int, pairs: int) -> Iterator[Pair]:
    """The pair of each megram: some pairs of exact sizes, the rest even, in an order in which pairs are mixed."""
    order = [named(number) for number in range(pairs)]
    place, made = 0, []
    for size, count in SIZES.items():
        for pair in order[place : place + count]:
            made += [pair] * size
        place += count
    rest = order[place:]
    made += [rest[number % len(rest)] for number in range(megrams - len(made))]
    random.Random(7).shuffle(made)
    yield from made


def megram(number: int, megrams: int, pair: Pair) -> Megram:
    state, quantum = list(QUANTA.items())[number % len(QUANTA)]
    return Megram(
        id=MegramId(f"mg_{number:012x}"),
        space=pair.space,
        entity=pair.entity,
        content=f"round {number % 5}: the command ended with status {number % 3}; the criterion was not shown by its output",
        state=state,
        f=quantum.f,
        sigma=quantum.sigma,
        k=quantum.k,
        created_at=NOW - SPAN_DAYS * DAY_MS + number * (SPAN_DAYS * DAY_MS // megrams),
        writer=Writer.SOLVER,
        task_id=f"task_{number // 10}",
        round=number % 5,
        source_event_id=f"msg_{number:026x}",
    )


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(calls: list[Callable[[], object]]) -> tuple[float, float, float]:
    """Median cpu, its 95th percentile, and median wall, in milliseconds."""
    for call in calls[:10]:
        call()
    cpu, wall = [], []
    for call in calls:
        started, ran = time.perf_counter(), time.thread_time()
        call()
        cpu.append((time.thread_time() - ran) * 1000)
        wall.append((time.perf_counter() - started) * 1000)
    return statistics.median(cpu), sorted(cpu)[int(len(cpu) * 0.95)], statistics.median(wall)


# --- writing -------------------------------------------------------------------------------------------------------------------


def built(directory: Path, megrams: int, pairs: int) -> Built:
    """Fill a brain as the journal does: many megrams in each transaction, one after the other."""
    store = SqliteStore(directory, BrainId("0195c1a0-0000-7000-8000-000000000001"))
    started, slowest = time.perf_counter(), 0.0
    batch: list[Megram] = []

    def keep() -> float:
        began = time.perf_counter()
        with store.writing() as writer:
            writer.append(
                Act(act="experience.write", subject="experience", actor="bench", channel=Channel.RUNTIME, at=NOW, payload={})
            )
            for one in batch:
                writer.put_megram(one)
        batch.clear()
        return time.perf_counter() - began

    for number, pair in enumerate(spread(megrams, pairs)):
        batch.append(megram(number, megrams, pair))
        if len(batch) == BATCH:
            slowest = max(slowest, keep())
    if batch:
        keep()
    took = time.perf_counter() - started
    disk = sum(path.stat().st_size for path in directory.iterdir())
    print(
        f"written: {megrams:,} megrams of {pairs:,} pairs in {took:.1f} s, {megrams / took:,.0f} a second; "
        f"the slowest {BATCH:,} took {slowest:.2f} s; {disk / megrams:.0f} bytes of disk each; "
        f"peak {peak_mb():.0f} MB"
    )
    firsts, sized = 0, {}
    for size, count in SIZES.items():
        sized[size] = [named(number) for number in range(firsts, firsts + count)]
        firsts += count
    return Built(store=store, directory=directory, sized=sized, megrams=megrams, pairs=pairs)


# --- the sums of a pair --------------------------------------------------------------------------------------------------------


def sums(brain: Built) -> list[str]:
    """Potentials of pairs of each size; what broke the limit."""
    print(f"\n{'potentials of a pair with':<28} {'cpu':>8} {'p95':>8} {'wall':>8} {'p95 of the limit':>18}")
    broken = []
    for size, pairs in brain.sized.items():
        assert brain.store.potentials(pairs[0], at=NOW).count == size
        cpu, late, wall = timed(
            [partial(brain.store.potentials, pairs[turn % len(pairs)], at=NOW + turn) for turn in range(ROUNDS)]
        )
        print(f"{size:>22,} megrams {cpu:>8.3f} {late:>8.3f} {wall:>8.3f} {late / POTENTIALS_MS:>17.1%}")
        if late > POTENTIALS_MS:
            broken.append(f"potentials of a pair with {size:,} megrams: {late:.2f} ms, limit {POTENTIALS_MS:g}")
    absent = [Pair(space="tool:none", entity=f"path:{turn}") for turn in range(ROUNDS)]
    cpu, late, wall = timed([partial(brain.store.potentials, pair, at=NOW) for pair in absent])
    print(f"{'no':>22} megrams {cpu:>8.3f} {late:>8.3f} {wall:>8.3f} {late / POTENTIALS_MS:>17.1%}")
    return broken


# --- what else the store is asked, and the changes that follow a task -----------------------------------------------------------


def others(brain: Built) -> list[str]:
    """Reads and writes of a few megrams among all of them."""
    store, turns = brain.store, range(ROUNDS // 3)
    some = [MegramId(f"mg_{(turn * 7919) % brain.megrams:012x}") for turn in turns]

    def recalled(one: MegramId) -> None:
        with store.writing() as writer:
            writer.recall_megrams([one], at=NOW)

    def forgotten(one: MegramId) -> None:
        with store.writing() as writer:
            writer.forget_megrams([one], at=NOW)

    asked: dict[str, list[Callable[[], object]]] = {
        "sums of a whole space": [partial(store.space_potentials, f"tool:t{turn % 200}", at=NOW) for turn in turns],
        "which have faded, first 500": [partial(store.faded, at=NOW, limit=500)] * len(turns),
        "pairs to look at, first 500": [partial(store.unsettled_pairs, limit=500)] * len(turns),
        "one recall, one transaction": [partial(recalled, one) for one in some],
        "forget one, logs cleaned": [partial(forgotten, one) for one in some[:30]],
    }
    print(f"\n{'':<30} {'cpu':>8} {'p95':>8} {'wall':>8}")
    for name, calls in asked.items():
        cpu, late, wall = timed(calls)
        print(f"{name:<30} {cpu:>8.2f} {late:>8.2f} {wall:>8.2f}")
    return []


# --- the Dreamer ----------------------------------------------------------------------------------------------------------------


def dreamt(brain: Built) -> list[str]:
    """The first pass over everything: it forgets what faded and makes rules of what recurs; then one with nothing to do."""
    done, cpu, wall = passed(brain.store, NOW)
    print(
        f"\nfirst pass over {brain.megrams:,} megrams: {wall / 1000:.1f} s ({cpu / 1000:.1f} s of the processor); "
        f"{done.forgotten:,} forgotten, {done.pairs:,} pairs, {len(done.promoted):,} rules; peak {peak_mb():.0f} MB"
    )
    _, cpu, wall = passed(brain.store, NOW)
    print(f"second pass, nothing new: {wall:.1f} ms ({cpu:.1f} ms of the processor)")
    return []


# What is measured of the brain that was built, in order. Each prints its lines and answers what broke a limit.
MEASURES: tuple[Callable[[Built], list[str]], ...] = (sums, others, dreamt)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megrams", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=0, help="as many pairs; without it one for each 20 megrams")
    parser.add_argument("--plot", type=Path, help="measure passes of the Dreamer as experience grows, and write the curve there")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 100_000, 1_000_000], help="for --plot")
    parser.add_argument("--check", action="store_true", help="fail when a limit is broken")
    options = parser.parse_args()
    needed = sum(size * count for size, count in SIZES.items())
    if options.megrams < needed:
        parser.error(f"at least {needed:,} megrams are needed for the pairs that are asked")
    with tempfile.TemporaryDirectory() as place:
        brain = built(Path(place) / "brain", options.megrams, options.pairs or options.megrams // 20)
        broken = [line for measure in MEASURES for line in measure(brain)]
        brain.store.close()
    if options.plot is not None:
        broken += grown(options.sizes, options.plot)
    for line in broken:
        print(f"over the limit: {line}", file=sys.stderr)
    return 1 if broken and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
