"""Eight agents on one bus, ten thousand messages, kill -9 of senders, receivers and the owner at random: speed and account.

    .venv/bin/python benchmarks/cowork.py                                    # 10,000 messages
    .venv/bin/python benchmarks/cowork.py --messages 2000 --seed 3 --check   # fewer; ends with 1 when there is a fault

Two parts. First one agent sends to another that drains, in one process and nobody else there: what a turn of the bus costs. Then
the fire of the test suite (tests/support/bus_fire.py), which prints how many messages were acknowledged, how many of them were
drained or are pending, how often a batch was handed out again, how many processes were killed, and every fault: a message that
is gone, came twice, came out of order, or of which the log says something else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

REPOSITORY = Path(__file__).resolve().parents[1]
ALONE = 1000


def alone(home: Path, root: Path) -> float:
    """Milliseconds for one message, sent and drained in batches of eight."""
    caller = local_caller(root=root, agent="bench:maker", channel=Channel.AGENT, environ={})
    with embedded(Home(home), Settings({}), caller) as session:
        for name in ("a", "b"):
            session.call("cowork.register", agent_id=name, tool="bench")
        began = time.perf_counter()
        for number in range(ALONE):
            session.call("cowork.send", **{"from": "a"}, to="b", message=f"message {number}")
            if number % 8 == 7:
                session.call("cowork.drain", agent_id="b", batch=f"b{number}")
        return (time.perf_counter() - began) / ALONE * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--check", action="store_true", help="end with 1 when there is a fault")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "repo")
        subprocess.run(["git", "init", "-q", os.fspath(root)], check=True)
        print(f"one agent to another, nobody else there: {alone(Path(place, 'quiet'), root):.2f} ms a message")
        words = [os.fspath(Path(place, "home")), os.fspath(root), str(given.messages), str(given.seed)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.bus_fire", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
    told = json.loads(done.stdout)
    faults = told.pop("faults")
    print(f"eight agents under fire: {told['acknowledged'] / told['seconds']:.0f} messages a second")
    print("\n".join(f"  {name}: {value}" for name, value in told.items()))
    print(f"  faults: {len(faults)}", *faults[:20], sep="\n    ")
    return 1 if given.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
