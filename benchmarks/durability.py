"""Sixteen writers on three brains under kills, stops, a full disk, read-only files and clock jumps: what is lost.

    .venv/bin/python benchmarks/durability.py --check                            # all phases, 1,000 kills: about half an hour
    .venv/bin/python benchmarks/durability.py --phase kill --kills 50 --seconds 60
    .venv/bin/python benchmarks/durability.py --phase full --phase clock --seconds 120

The writers are Python sessions (embedded, auto, owner), commands, MCP bridges, senders and a drainer of the bus, letters and
cards (tests/support/durability.py). Each notes every try and every acknowledgement with a sync, outside of the disturbed files.
Fresh processes then look for every acknowledged claim, evidence, card, mission event, message and letter: each is there once, and
nothing is there twice; ledgers and mission chains verify, doctor has no warning, and the owner starts.

A phase that this machine or user cannot run is named as skipped: `full` needs root (a small tmpfs), `clock` gcc (a preload)."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SUPPORT = REPOSITORY / "tests" / "support"
PHASES = ("kill", "stop", "full", "readonly", "clock")
OTHERS = 0.3  # a phase without counted kills lasts so much of the seconds
EVERY_S = {"stop": 1.0, "full": 6.0, "readonly": 6.0, "clock": 3.0}  # between two disturbances


def shifted_clock(place: Path) -> dict[str, str]:
    """The environment in which the wall clock can be moved; empty without a compiler."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        return {}
    library, offset = place / "shifted_clock.so", place / "offset"
    words = ["gcc", "-shared", "-fPIC", "-O2", "-o", str(library), str(SUPPORT / "shifted_clock.c"), "-ldl"]
    subprocess.run(words, check=True)
    offset.write_bytes(bytes(8))
    return {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(offset)}


def run(phase: str, *, seconds: float, count: int, seed: int) -> dict[str, Any]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        more = shifted_clock(Path(place)) if phase == "clock" else {}
        words = [os.path.join(place, "world"), os.path.join(place, "notes"), phase, str(seconds), str(count), str(seed)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.durability", *words],
            cwd=REPOSITORY,
            env={**os.environ, **more},
            stdout=subprocess.PIPE,
            timeout=4 * seconds + 900,
            check=False,
        )
        lines = done.stdout.splitlines()
        if not lines:
            return {"phase": phase, "faults": 1, "first_faults": [f"the run ended with {done.returncode} and said nothing"]}
        told: dict[str, Any] = json.loads(lines[-1])
        return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="in the phase kill")
    parser.add_argument("--phase", choices=PHASES, action="append", help="all when none is named")
    parser.add_argument("--seconds", type=float, default=1000.0, help=f"of the phase kill; the others last {OTHERS:g} of it")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--check", action="store_true", help="end with 1 when something is lost, doubled or broken")
    given = parser.parse_args()
    faults = 0
    for phase in given.phase or PHASES:
        seconds = given.seconds if phase == "kill" or given.phase else OTHERS * given.seconds
        count = given.kills if phase == "kill" else max(1, int(seconds / EVERY_S[phase]))
        told = run(phase, seconds=seconds, count=count, seed=given.seed)
        if "skipped" in told:
            print(f"{phase}: skipped: {told['skipped']}", flush=True)
            continue
        faults += told["faults"]
        if "acknowledged" in told:
            kills = ", ".join(f"{count} {name}" for name, count in sorted(told["kills"].items())) or "none"
            print(f"{phase}: {told['disturbed']} disturbances in {told['seconds']:.0f} s; killed: {kills}")
            kinds = ", ".join(f"{name} {count}" for name, count in sorted(told["by_kind"].items()))
            print(f"  {told['acknowledged']} of {told['tried']} writes acknowledged ({kinds})")
            print(f"  not acknowledged: {', '.join(f'{name} {count}' for name, count in told['refused'].items()) or 'none'}")
            print(f"  ledger entries: {told['ledger']}")
        print(
            f"  lost, doubled or broken: {told['faults']}", *(f"    {one}" for one in told["first_faults"]), sep="\n", flush=True
        )
    return 1 if given.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
