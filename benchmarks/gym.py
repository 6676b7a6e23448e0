"""What each way of working finds: scripted agents over three repositories with planted defects, in lanes of their own.

    .venv/bin/python benchmarks/gym.py                     # three bug hunts, four lanes, once
    .venv/bin/python benchmarks/gym.py --repeats 5 --check

A round of the gym, run through its operation. Every lane has its own copy, its own home and the same budget; all scripted agents
use the same detectors and differ only in what they look at and in which order. `direct` reads and searches files, `graph` asks
the graph again and again, `trained` asks it once and then reads documents, sources and runs their examples, `mission` does what
its mission says next.

Goals: on each fixture the mission finds at least as much as the graph lane, the direct lane and the trained lane.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

# The benchmark beside this one that is called `code` would be taken for the module of that name, which a probe needs.
sys.path.remove(os.fspath(Path(__file__).resolve().parent))

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

LANES = {
    "direct": "direct",
    "graph": "hindbrain-basic",
    "trained": "hindbrain-trained",
    "mission": "hindbrain-mission-control",
}


def ran(place: Path, repeats: int) -> dict[str, Any]:
    """One round."""
    caller = local_caller(root=str(place), agent="bench", channel=Channel.AGENT, environ={})
    with embedded(Home(place / "home"), Settings({}), caller) as session:
        answer = session.call("gym.run", lanes=list(LANES), repeats=repeats)
    if not answer["ok"]:
        raise RuntimeError(str(answer["error"]))
    report: dict[str, Any] = answer["report"]
    return report


def table(report: dict[str, Any]) -> list[str]:
    """The rows, by fixture and lane."""
    lines = [
        "| fixture | lane | found | recall | first good finding | whole lane | tool calls | direct evidence | graph calls "
        "| repeated searches |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for fixture, arms in report["by_fixture"].items():
        by = {one["arm"]: one for one in arms}
        for lane, arm in LANES.items():
            one = by[arm]
            first, mean = one["first_good_finding_ms"]["median"], one["per_lane"]
            lines.append(
                f"| {fixture} | {lane} | {one['matched']} of {one['seeded']} | {one['seeded_recall']:.2f} "
                f"| {f'{first:.0f} ms' if first is not None else 'none'} | {one['duration_ms']['median']:.0f} ms "
                f"| {mean['tool_calls']:g} | {mean['direct_evidence_count']:g} | {mean['graph_call_count']:g} "
                f"| {mean['repeated_search_count']:g} |"
            )
    return lines


def missed(report: dict[str, Any]) -> list[str]:
    """Which goals were not reached."""
    found = [] if report["acceptance"]["met"] else [report["acceptance"]["says"]]
    for fixture, arms in report["by_fixture"].items():
        recall = {one["arm"]: one["seeded_recall"] or 0.0 for one in arms}
        found += [
            f"{fixture}: the mission found less than {lane}"
            for lane, arm in LANES.items()
            if recall[LANES["mission"]] < recall[arm]
        ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1, help="how often each lane runs")
    parser.add_argument("--check", action="store_true", help="end with 1 when a goal is missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        report = ran(Path(place), options.repeats)
    print("\n".join(table(report)))
    wrong = missed(report)
    for one in wrong:
        print(f"missed: {one}")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
