"""How fast evidence goes in: short turns of a conversation through memory.ingest, without embedding, on one core.

    .venv/bin/python benchmarks/ingest.py                     # 20,000 rows, prints a table
    .venv/bin/python benchmarks/ingest.py --rows 100000
    .venv/bin/python benchmarks/ingest.py --check             # and fails when the limit is broken

Limit: 2,000 short rows a second. Rows are told by wall time and by CPU time: on a busy machine only the second is a fair figure.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hindbrain.app import EmbeddedSession, embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

LIMIT = 2_000
WORDS = "ferry pier noon parser timetable harbour ticket delay storm captain crew map quay rope tide lamp coffee train plan"

SYLLABLES = [first + second for first in "bdfgklmnprst" for second in ("a", "e", "in", "or", "u", "al", "es")]


def turns(rows: int, seed: int = 7) -> str:
    """A conversation export of turns of 8 to 40 words, in sessions of 300."""
    rng = random.Random(seed)
    vocabulary = [*WORDS.split() * 50, *("".join(rng.choices(SYLLABLES, k=rng.randrange(1, 4))) for _ in range(10_000))]
    lines = []
    for number in range(rows):
        said = " ".join(rng.choices(vocabulary, k=rng.randrange(8, 40)))
        line = {"session": f"s{number // 300}", "id": f"m{number}", "role": ("user", "assistant")[number % 2], "text": said}
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"


def measured(session: EmbeddedSession, path: Path) -> dict[str, Any]:
    """One ingest: its answer, wall seconds and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = session.call("memory.ingest", path=str(path))
    if not answer["ok"]:
        raise SystemExit(str(answer))
    return {"answer": answer, "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=20_000)
    words.add_argument("--check", action="store_true")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = os.path.join(place, "app")
        os.mkdir(root)
        path = Path(root, "turns.jsonl")
        path.write_text(turns(given.rows), encoding="utf-8")
        home = Home(Path(place, "home"))
        caller = local_caller(root=root, agent="bench:maker", channel=Channel.AGENT, environ={})
        with embedded(home, Settings({}), caller) as session:
            session.call("ingest", path=root, project_root=root)
            first, again = measured(session, path), measured(session, path)
        size = sum(file.stat().st_size for file in home.path.rglob("*.db"))
    rows = first["answer"]["chunks"]
    by_cpu, by_wall = rows / first["cpu"], rows / first["wall"]
    print(f"{'rows':>9} {'rows/s wall':>12} {'rows/s CPU':>11} {'of limit':>9} {'again s':>8} {'bytes/row':>10}")
    print(f"{rows:>9} {by_wall:>12.0f} {by_cpu:>11.0f} {by_wall / LIMIT:>8.2f}x {again['wall']:>8.3f} {size / rows:>10.0f}")
    if again["answer"]["chunks"] or first["answer"]["refused"]:
        print("the second ingest was not empty, or rows were refused", file=sys.stderr)
        return 1
    return 1 if given.check and by_wall < LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
