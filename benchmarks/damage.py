"""Damage to the files of a home: how many harms end in a traceback, go unnamed, or are not repaired.

    .venv/bin/python benchmarks/damage.py --harms 2000 --seed 1

Each harm begins from the same full home and harms one file: random bytes over pages, flipped bits, a cut, another header. Then it
makes some calls, asks the doctor, repairs, and compares the answers with those of an undamaged home.
"""

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from tests.support.damage import DERIVED, RANDOM, TRUTH, DamagedHome


def main() -> int:
    """Damage files as often as asked, and print the outcome by kind of file."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--harms", type=int, default=200)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--only", default="", help="files whose path holds this text")
    asked = given.parse_args()
    logging.disable(logging.CRITICAL)  # the home tells its log about each harm
    rng, told, bad, began = random.Random(asked.seed), Counter(), [], time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        home = DamagedHome(Path(place, "world"))
        files = [file for file in home.files if asked.only in str(file)]
        for number in range(asked.harms):
            file, way = rng.choice(files), rng.choice(RANDOM)
            found = home.harm(file, way, asked.seed * 1_000_000 + number)
            kind = "derived" if file.name in DERIVED else "truth" if file.name in TRUTH else "other"
            told[kind, "harms"] += 1
            told[kind, "tracebacks"] += bool(found.faults)
            told[kind, "unnamed"] += not found.named
            told[kind, "other answers"] += kind == "derived" and not found.same
            told[kind, "written over"] += kind == "truth" and not found.untouched
            bad += [f"{file} {way} {number}: {one}" for one in found.faults]
    for kind in ("derived", "truth", "other"):
        columns = ("harms", "tracebacks", "unnamed", "other answers", "written over")
        print(f"{kind:8}", *(f"{column} {told[kind, column]}" for column in columns), sep="  ")
    print(f"{asked.harms} harms in {time.monotonic() - began:.0f} s, seed {asked.seed}")
    print(*bad, sep="\n")
    return int(bool(bad) or told["derived", "other answers"] or told["truth", "written over"])


if __name__ == "__main__":
    sys.exit(main())
