"""An agent of one repository calls every operation with names of other places: no effect, no byte of theirs. The long run is
benchmarks/reach.py."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CALLS = 1500


def test_no_call_of_an_agent_reaches_beyond_its_repository(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = [str(tmp_path / "world"), str(CALLS), "120", "18", str(report)]

    done = subprocess.run(
        [sys.executable, "-m", "tests.support.reach", *words], cwd=REPOSITORY, capture_output=True, timeout=900, check=False
    )

    assert done.returncode in (0, 1), done.stderr[-2000:].decode()
    told = json.loads(report.read_text(encoding="utf-8"))
    assert told["findings"] == {}, json.dumps(told["findings"], indent=1)[:4000]
    assert told["calls"] >= CALLS // 5, "the machine was too slow for a meaningful run"
