"""How long the controller takes to decide, and that it waits for nothing: with the store free, and with the store locked by
another process for ten seconds.

    .venv/bin/python benchmarks/control.py                 # 2,000 decisions each
    .venv/bin/python benchmarks/control.py --locked 2 --decisions 200 --check

A decision is R7 hearing a report of the gate: loss, gradient, directive, what it blocks, the megrams it writes and the message it
says, handed over to the journal. Limit: 5 ms, for the slowest of a hundred. Publishing is measured the same way, with a
reader that never reads. Afterwards every message and every megram must be in the store, and the chain must hold.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from tests.support.decider import opened
from tests.support.rounds import a_call, a_fail, a_request, an_outcome

from hindbrain.domain.ledger import breaks
from hindbrain.domain.message import BusMessage, MessageType, Role
from hindbrain.domain.notes import MemoryQuery
from hindbrain.policy.control import DEFAULTS
from hindbrain.services.control.ports import Heard
from hindbrain.services.control.solver import Solver
from hindbrain.stores.port import MegramFilter

LIMIT_MS = 5.0
HOLDER = (
    "import apsw, sys, time\n"
    "c = apsw.Connection(sys.argv[1]); c.set_busy_timeout(5000); c.execute('begin immediate'); print('held', flush=True)\n"
    "time.sleep(float(sys.argv[2])); c.execute('rollback')\n"
)


class Numbers:
    def of(self, task_class: str) -> object:
        return DEFAULTS


def decide(solver: Solver, number: int, *, until: float | None) -> list[float]:
    """So many decisions, each the first round of a task of its own; the milliseconds of each."""
    took = []
    for turn in range(number):
        if until is not None and time.monotonic() > until:
            break
        task = f"tsk_{turn}_{time.monotonic_ns()}"
        verdict = a_fail("the file is there")
        outcome = an_outcome(verdict, tool_calls=(a_call("read", f"a/{turn}.txt"),))
        record = a_request(outcome, task=task, ms=30_000)
        message = BusMessage(
            id=f"msg_{task}",
            seq=1,
            timestamp="2026-07-04T23:57:11.408Z",
            sender=Role.META_VALIDATOR,
            recipient=Role.SOLVER,
            type=MessageType.REPLAN_REQUEST,
            payload={},
            task_id=task,
        )
        begun = time.perf_counter()
        solver.hear(Heard(message=message, record=record))
        took.append((time.perf_counter() - begun) * 1000)
    return took


def told(name: str, took: list[float]) -> float:
    ordered = sorted(took)
    slow = ordered[int(len(ordered) * 0.99)]
    print(f"{name:34} {len(took):6,} x  median {median(took):6.3f} ms  p99 {slow:6.3f} ms  = {slow / LIMIT_MS:4.2f} x limit")
    return slow


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=2_000)
    parser.add_argument("--locked", type=float, default=10.0, help="seconds for which another process holds the store")
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is passed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "brain"
        store, journal, bus = opened(directory)
        solver = Solver(bus.voice(Role.SOLVER), Numbers())
        slow = [told("decisions, store free", decide(solver, options.decisions, until=None))]
        begun = []
        for number in range(10_000):
            start = time.perf_counter()
            bus.publish(Role.PLANNER, Role.MEMORY, MemoryQuery(query_id=str(number), kind="C"), task_id="tsk_p")
            begun.append((time.perf_counter() - start) * 1000)
        slow.append(told("publishing, nobody reads", begun))
        journal.drain(120)
        before = len(store.messages(limit=1_000_000))
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, os.fspath(directory / "brain.db"), str(options.locked)], stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            ends = time.monotonic() + options.locked * 0.9
            locked = decide(solver, options.decisions, until=ends)
            written = len(store.messages(limit=1_000_000)) - before
            held = holder.poll() is None
        slow.append(told(f"decisions, store locked {options.locked:g} s", locked))
        journal.drain(120)
        after = len(store.messages(limit=1_000_000)) - before
        megrams = len(list(store.effective(MegramFilter(levels=("M",)))))
        whole = breaks(store.entries(limit=10_000_000), head=store.head()) == []
        print(f"while it was locked {written} messages were written; after it {after:,}, of {2 * len(locked):,} that were said")
        print(f"{megrams:,} megrams of {options.decisions + len(locked):,}; the chain {'holds' if whole else 'is broken'}")
        right = held and written == 0 and after == 2 * len(locked) and megrams == options.decisions + len(locked) and whole
        journal.close()
        store.close()
    if not right:
        print("something was lost, or the lock was not held")
        return 1
    return 1 if options.check and max(slow) > LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main())
