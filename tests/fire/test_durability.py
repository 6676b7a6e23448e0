"""Sixteen writers of every kind, some kills: what was acknowledged is there once. The long run is benchmarks/durability.py."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_what_sixteen_writers_were_told_survives_kills_of_owner_and_writers(tmp_path: Path) -> None:
    words = [str(tmp_path / "world"), str(tmp_path / "notes"), "kill", "8", "8", "7"]

    done = subprocess.run(
        [sys.executable, "-m", "tests.support.durability", *words],
        cwd=REPOSITORY,
        capture_output=True,
        timeout=600,
        check=False,
    )

    assert done.stdout, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["faults"] == 0, told["first_faults"]
    assert told["acknowledged"] > 100
    assert sum(told["kills"].values()) == 8
    assert {"claim", "shared", "evidence", "event", "message", "letter"} <= set(told["by_kind"])
