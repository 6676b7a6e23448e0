"""An agent of one repository calls every operation with names of other places: effects and sentinels outside of it.

    .venv/bin/python benchmarks/reach.py --calls 100000 --processes 2 --check    # the long run, about a quarter of an hour
    .venv/bin/python benchmarks/reach.py --calls 5000 --seed 7                   # a short one
    .venv/bin/python benchmarks/reach.py --report reach.json --calls 200000      # continues the run of that report

Each process has a machine of its own in a temporary directory (tests/support/reach_world.py): a fake home of a user, repositories
A and B, the home of Hindbrain, and a real owner. tests/support/reach.py makes the calls over a real bridge, MCP over HTTP, the
routes of HTTP and the hook program. As root each process runs in a namespace in which it can write only to its directory and has
only loopback; elsewhere values that name `/` and the homes of other users are left out, and the output says so.

Prints the calls by surface, operation and outcome, and every effect or leak with the call that made it."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]


def merged(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """The reports of all processes as one."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    surfaces: Counter[str] = Counter()
    findings: dict[str, dict[str, Any]] = {}
    for report in reports:
        for name, counted in report["outcomes"].items():
            outcomes[name].update(counted)
        surfaces.update(report["surfaces"])
        for kind, one in report["findings"].items():
            known = findings.setdefault(kind, {**one, "count": 0})
            known["count"] += one["count"]
    return {
        "calls": sum(report["calls"] for report in reports),
        "seconds": max(report["seconds"] for report in reports),
        "confined": all(report["confined"] for report in reports),
        "uncalled": sorted(set.intersection(*(set(report["uncalled"]) for report in reports))),
        "outcomes": outcomes,
        "surfaces": surfaces,
        "findings": findings,
    }


def show(told: dict[str, Any], *, wide: bool) -> None:
    print(f"{told['calls']} calls in {told['seconds']:.0f} s, {len(told['outcomes'])} operations and routes")
    print("  by surface: " + ", ".join(f"{name} {count}" for name, count in told["surfaces"].most_common()))
    codes = sum(told["outcomes"].values(), Counter())
    print("  by outcome: " + ", ".join(f"{name} {count}" for name, count in codes.most_common(20)))
    if not told["confined"]:
        print("  not in a namespace: values that name / and homes of other users were left out")
    if told["uncalled"]:
        print(f"  never called: {', '.join(told['uncalled'])}")
    if wide:
        for name, counted in sorted(told["outcomes"].items()):
            print(f"  {name:28} " + ", ".join(f"{code} {count}" for code, count in counted.most_common()))
    print(f"effects and leaks: {len(told['findings'])}")
    for kind, one in sorted(told["findings"].items()):
        print(f"  {kind} ({one['count']}): {one['what']}")
        print("".join(f"    {call}\n" for call in one["calls"][:2]), end="")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600.0, help="end then, whatever the count is")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--report", type=Path, help="kept after the run; an earlier one is continued")
    parser.add_argument("--operations", action="store_true", help="also show the outcomes of each operation")
    parser.add_argument("--check", action="store_true", help="end with 1 when something outside was changed or shown")
    given = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        kept = given.report.absolute() if given.report else Path(place, "report")
        kept.parent.mkdir(parents=True, exist_ok=True)
        running, reports = [], []
        each = -(-given.calls // given.processes)
        for number in range(given.processes):
            report = kept.with_name(f"{kept.name}.{number}")
            words = [
                os.path.join(place, str(number)),
                str(each),
                str(given.seconds),
                str(given.seed * 1000 + number),
                str(report),
            ]
            running.append(subprocess.Popen([sys.executable, "-m", "tests.support.reach", *words], cwd=REPOSITORY))
            reports.append(report)
        limit = time.monotonic() + given.seconds + 300
        ended = [process.wait(max(1.0, limit - time.monotonic())) for process in running]
        told = merged([json.loads(report.read_text(encoding="utf-8")) for report in reports])
    show(told, wide=given.operations)
    broken = [code for code in ended if code not in (0, 1)]
    if broken:
        print(f"{len(broken)} processes ended with {broken}")
    return 1 if broken or (given.check and (told["findings"] or told["calls"] < given.calls)) else 0


if __name__ == "__main__":
    sys.exit(main())
