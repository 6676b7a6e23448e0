"""What a question to all brains costs: `seek` and `north` with tier all-brains, in homes with several project brains.

    .venv/bin/python benchmarks/fanout.py                         # 5 and 20 stores
    .venv/bin/python benchmarks/fanout.py --stores 5 --check

Each store has claims and evidence, found by words; one of the stores is the medulla. `dormant` is the first question of a new
process, which opens every store; `warm` is the median of the questions after it. Nothing is promised, so there is no goal:
`--check` only fails if a store did not answer.
"""

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

WORDS = ["harbour", "crane", "retry", "worker", "queue", "ledger", "lantern", "budget", "kettle", "anchor", "timeout", "release"]
CALLS = {"seek": "query", "north": "task"}
SETTINGS = {"embedder": "off", "warm_brain_cap": 64}


def caller(root: str) -> Caller:
    return Caller(
        agent=AgentId("bench:asker"), root=root, root_source=RootSource.CALL, session=SessionId("fanout"), channel=Channel.AGENT
    )


def call(app: App, root: str, operation: str, **arguments: Any) -> dict[str, Any]:
    answer = app.call(operation, arguments, caller=caller(root))
    if not answer.get("ok"):
        raise SystemExit(f"{operation} failed: {answer}")
    return answer


def fill(home: Home, place: Path, stores: int, rows: int) -> list[str]:
    """Make the brains: all but one are projects, and the medulla is the last store."""
    app = App(home, Settings(SETTINGS))
    roots = []
    for number in range(stores - 1):
        root = os.path.realpath(place / f"project-{number}")
        os.makedirs(root)
        Path(root, "main.py").write_text(f"def worker_{number}() -> None: ...\n", encoding="utf-8")
        call(app, root, "ingest", path=root, project_root=root)
        for row in range(rows):
            first, second = WORDS[row % len(WORDS)], WORDS[(row * 5 + number) % len(WORDS)]
            call(
                app,
                root,
                "memorize",
                node_label=f"{first} {second} {row}",
                text=f"The {first} of {number} waits for the {second}.",
            )
            call(app, root, "record", text=f"in run {row} of {number} the {second} met the {first}")
        roots.append(root)
    call(app, roots[0], "memorize", node_label="Harbour doctrine", text="A harbour is asked, not guessed.", tier="medulla")
    app.close()
    return roots


def measured(home: Home, root: str, stores: int, operation: str) -> tuple[float, float]:
    """Milliseconds of the first question of a process, and the median of the questions after it."""
    app = App(home, Settings(SETTINGS))
    times = []
    for first, second in itertools.pairwise(WORDS):
        began = time.perf_counter()
        answer = call(app, root, operation, **{CALLS[operation]: f"{first} {second}", "tier": "all-brains"})
        times.append((time.perf_counter() - began) * 1000)
        if answer["fanout"]["stores"] != stores or answer["unreachable"]:
            raise SystemExit(f"{answer['fanout']} of {stores} stores, unreachable: {answer['unreachable']}")
    app.close()
    return times[0], statistics.median(times[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--stores", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--rows", type=int, default=100, help="claims, and as many rows of evidence, of each project")
    parser.add_argument("--check", action="store_true", help="fail if a store did not answer")
    options = parser.parse_args()
    for stores in options.stores:
        with tempfile.TemporaryDirectory() as place:
            home = Home(Path(place, "home"))
            roots = fill(home, Path(place), stores, options.rows)
            for operation in CALLS:
                cold, warm = measured(home, roots[0], stores, operation)
                print(f"{stores:>3} stores  {operation:<6} dormant {cold:8.1f} ms   warm {warm:8.1f} ms", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
