"""Random steps over nested, linked, moved, swapped, replaced, copied and forged repositories: leaks between brains.

    .venv/bin/python benchmarks/isolation.py --check                        # 1,000,000 steps, or as many as an hour has
    .venv/bin/python benchmarks/isolation.py --steps 20000 --seed 3

Each step writes something or changes the directories, and then somebody reads in a random directory through a random surface:
operations, hooks, packets, hand-overs, resources of MCP, and in some worlds a real owner over HTTP, as an agent and as the Hall.
Which repository a directory belongs to is known from the steps, not from the product (tests/support/isolation.py). Prints steps
and reads by kind, and every leak."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600.0, help="end then, whatever the count is")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--check", action="store_true", help="end with 1 when there is a leak")
    given = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        running = []
        for number in range(given.processes):
            steps = -(-given.steps // given.processes)
            words = [os.path.join(place, str(number)), str(steps), str(given.seconds), str(given.seed * 1000 + number)]
            command = [sys.executable, "-m", "tests.support.isolation", *words]
            running.append(subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE))
        said = [process.communicate(timeout=given.seconds + 600)[0] for process in running]
    told = [json.loads(one.splitlines()[-1]) for one in said if one.strip()]
    broken = len(running) - len(told)
    sums = {name: sum(one[name] for one in told) for name in ("steps", "reads", "writes", "worlds")}
    seconds = max((one["seconds"] for one in told), default=0.0)
    counts: Counter[str] = sum((Counter(one["counts"]) for one in told), Counter())
    surfaces: Counter[str] = sum((Counter(one["surfaces"]) for one in told), Counter())
    leaks: list[dict[str, Any]] = [leak for one in told for leak in one["leaks"]]
    defects = {kind: before for one in told for kind, before in one["defects"].items()}
    print(
        f"{sums['steps']} steps ({sums['writes']} writes) and {sums['reads']} reads in {sums['worlds']} worlds, {seconds:.0f} s"
    )
    changed = {name.removeprefix("step "): count for name, count in counts.items() if name.startswith("step ")}
    print("  changes of directories: " + ", ".join(f"{name} {count}" for name, count in sorted(changed.items())))
    print("  reads by surface: " + ", ".join(f"{name} {count}" for name, count in surfaces.most_common()))
    print(f"leaks: {counts['leaks']}", *(json.dumps(one, ensure_ascii=False, indent=1) for one in leaks[:10]), sep="\n")
    print(
        f"calls that ended in a defect: {len(defects)}",
        *(f"  {kind}: {before[-1:]}" for kind, before in defects.items()),
        sep="\n",
    )
    if broken:
        print(f"{broken} processes ended without a report")
    return 1 if broken or (given.check and (leaks or defects or sums["steps"] < given.steps)) else 0


if __name__ == "__main__":
    sys.exit(main())
