"""How fast memory is found as it grows: memory.search, seek and north through a running owner, with their memory and disk.

    .venv/bin/python benchmarks/recall.py                                  # 1,000 to 100,000 rows
    .venv/bin/python benchmarks/recall.py --sizes 100000 1000000 --check   # some minutes and 4 GB of disk
    .venv/bin/python benchmarks/recall.py --sizes 1000 10000 100000 1000000 --plot docs/recall-growth.svg

Rows are short turns of 15 English words, as uneven as prose; their vectors are drawn in clusters, because embedding a million
texts takes an hour, and are stored as the product stores its own. Questions are embedded by the real model. Limits:
15 ms with 100,000 rows, 60 ms with 1,000,000; medians over warm calls, every question asked for the first time. The calls take
turns in three rounds of a hundred questions each, after one that warms the owner; the median of the calmest round is held against
the limit, and that of the busiest stands beside it: on a shared machine they differ by a third.
"""

import argparse
import functools
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from _plot import line_chart
from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from memory import checked, median_ms, owned
from store import VOCABULARY, Space, embed, keep, uneven

LIMITS_MS = {100_000: 15.0, 1_000_000: 60.0}
CALLS = {"memory.search": "query", "seek": "query", "north": "task"}
QUESTIONS = 100
ROUNDS = 3  # after one that is not counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One size."""

    ms: dict[
        str, tuple[float, float, float]
    ]  # of each call: median and 95th percentile of its calmest round, median of the busiest
    first_s: float  # the first question of a new owner
    resident: float  # bytes a row that the owner holds more than before
    disk: float  # bytes a row


def fill(home: Home, root: str, count: int) -> None:
    """A brain with so many turns and their vectors."""
    app = App(home, Settings({"model_dir": os.environ["HINDBRAIN_MODEL_DIR"]}))
    caller = Caller(agent=AgentId("bench:filler"), root=root, root_source=RootSource.CALL, session=SessionId("fill"))
    checked(app.call("ingest", {"path": root, "project_root": root}, caller=caller))
    brain = app.house.brains.covering(root)
    stamp = app.house.embedder.stamp
    assert brain is not None
    if stamp is None:
        raise SystemExit("there is no model: run `make bench NAME=recall`, which installs it")
    with app.house.brains.use(brain) as opened:
        keep(opened.store, count, english())
        embed(opened.store, Space(count), stamp)
    app.close()


def resident(pid: int) -> int:
    """Bytes of memory that a process holds for itself."""
    told = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in told if line.startswith("RssAnon"))


@functools.cache
def english() -> tuple[str, ...]:
    """Words, the commonest first: those of the corpus, then the whole words that the model knows."""
    models = Path(os.environ["HINDBRAIN_MODEL_DIR"])
    known = (models / (models / "current").read_text(encoding="utf-8").strip() / "vocab.txt").read_text(encoding="utf-8").split()
    plain = [word for word in known if len(word) > 2 and word.isascii() and word.isalpha()]
    whole = set(plain)
    common = [word for word in VOCABULARY if word in whole]
    return tuple(dict.fromkeys([*common, *plain]))


def questions(seed: int) -> list[str]:
    rng, words = random.Random(seed), english()
    drawn = (rng.choices(words[20:], cum_weights=uneven(len(words))[20:], k=5) for _ in range(QUESTIONS))
    return ["What did we say about {} {} and {} when {} was {}?".format(*five) for five in drawn]


def measure(count: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="hb") as place:
        home, root = Home(Path(place, "home")), os.path.realpath(Path(place, "repo"))
        os.makedirs(root)
        began = time.perf_counter()
        fill(home, root, count)
        print(f"  {count:,} rows filled in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        disk = sum(path.stat().st_size for path in home.path.rglob("*.db")) / count
        with owned(home, root) as (session, owner):
            checked(session.call("health"))
            before, began = resident(owner), time.perf_counter()
            checked(session.call("memory.search", query="the first question"))
            first, rounds = time.perf_counter() - began, {name: [] for name in CALLS}
            for number in range(ROUNDS + 1):
                for seed, (name, argument) in enumerate(CALLS.items(), start=number * len(CALLS)):
                    asked = questions(seed)
                    rounds[name].append(median_ms(partial(put, session, name, argument, asked), len(asked)))
            ms = {name: (*min(taken[1:]), max(taken[1:])[0]) for name, taken in rounds.items()}
            return Measured(ms=ms, first_s=first, resident=(resident(owner) - before) / count, disk=disk)


def put(session: Any, name: str, argument: str, asked: list[str], number: int) -> None:
    checked(session.call(name, **{argument: asked[number]}))


def drawn(path: Path, found: dict[int, Measured]) -> None:
    lines = {name: [(float(size), one.ms[name][0]) for size, one in found.items()] for name in CALLS}
    line_chart(
        path,
        "Recall through a warm owner",
        lines,
        x_title="rows of evidence",
        y_title="median, ms",
        log_x=True,
        log_y=True,
        limits={f"{limit:.0f} ms at {size:,}": limit for size, limit in LIMITS_MS.items()},
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--check", action="store_true", help="fail when a limit is broken")
    parser.add_argument("--plot", type=Path, help="write the growth curve as an SVG")
    chosen = parser.parse_args()
    os.environ.setdefault("HINDBRAIN_MODEL_DIR", str(Path(sys.prefix, "models")))
    print(f"{'rows':>9}  {'call':14} {'median':>9} {'p95':>9} {'busiest':>9} {'limit':>8}")
    found, broken = {}, False
    for size in chosen.sizes:
        one = found[size] = measure(size)
        limit = LIMITS_MS.get(size)
        for name, (median, p95, busiest) in one.ms.items():
            broken |= limit is not None and median > limit
            told = f"{limit:5.0f} ms" if limit else ""
            print(f"{size:9,}  {name:14} {median:6.1f} ms {p95:6.1f} ms {busiest:6.1f} ms {told:>8}")
        print(
            f"{size:9,}  first answer {one.first_s:.1f} s; {one.resident:,.0f} bytes of memory and {one.disk:,.0f} of disk a row",
            flush=True,
        )
    if chosen.plot:
        drawn(chosen.plot, found)
    return 1 if broken and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
