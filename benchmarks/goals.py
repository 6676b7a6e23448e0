"""Ten goals without a model, twice: how many attempts and rounds each takes before and after experience.

    .venv/bin/python benchmarks/goals.py

The project, the goals and what must hold afterwards are those of `tests/control/test_goals.py`. Each run is a task of its own in
a copy of the project; between the two times the Dreamer dreams.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from tests.support.goals import GOALS, lay
from tests.support.world import World


def once(world: World, root: str) -> list[tuple[dict[str, Any], float]]:
    """Every goal to its end, with the seconds it took."""
    done = []
    for asked in GOALS:
        world.clock.catch_up()
        begun = time.perf_counter()
        shown = world.human(root).call("run", goal=asked.goal, wait_s=100)
        took = time.perf_counter() - begun
        if shown["directive"] != asked.ends or not (done or asked.holds(shown, Path(shown["workspace"]))):
            print(shown["rendered"])
        done.append((shown, took))
    return done


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        world = World(Path(place))
        root = world.repository("app")
        lay(Path(root))
        world.at(root).call("ingest", path=root, project_root=root)
        first = once(world, root)
        world.human(root).call("experience.dream")
        second = once(world, root)
        world.close()
    print(f"{'goal':64} {'ends':8} {'attempts':>9} {'rounds':>7} {'seconds':>12}")
    for asked, (before, was), (after, now) in zip(GOALS, first, second, strict=True):
        attempts = f"{before['attempts']} → {after['attempts']}"
        rounds = f"{len(before['rounds'])} → {len(after['rounds'])}"
        print(f"{asked.goal[:64]:64} {after['directive']:8} {attempts:>9} {rounds:>7} {was:5.2f} → {now:4.2f}")
    sums = [sum(shown["attempts"] for shown, _ in one) for one in (first, second)]
    print(f"attempts: {sums[0]} the first time, {sums[1]} after the Dreamer; {sums[0] - sums[1]} fewer")
    return 0 if sums[1] < sums[0] else 1


if __name__ == "__main__":
    sys.exit(main())
