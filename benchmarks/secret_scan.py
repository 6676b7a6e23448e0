"""How many secrets the hygiene floor refuses, how many innocent texts it lets pass, and how fast it reads.

    .venv/bin/python benchmarks/secret_scan.py            # the table and the speed
    .venv/bin/python benchmarks/secret_scan.py --check    # ends with 1 when a goal is missed

The lists are made at run time (tests/support/secret_lists.py). The speed is measured on the source and the documentation of this
repository, beside a plain search for ten words over the same text, so that the ratio means the same on every machine.
"""

import argparse
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from tests.support.secret_lists import DISGUISES, INNOCENT, SECRETS

from hindbrain.engines.hygiene import scan

GOALS = {"secrets": 0.95, "disguises": 0.75, "innocent texts": 3 / 63}  # the share refused: at least, at least, at most
_PLAIN = re.compile(r"(?i)secret|token|password|passwd|api_key|apikey|private_key|access_key|credential|client_secret")
_ROUNDS = 3


def share(name: str, texts: dict[str, str]) -> float:
    """Print one row of the table, and return how many of the texts are refused."""
    refused = {label for label, text in texts.items() if scan(text)}
    print(f"{name:<16} {len(refused):>4} of {len(texts):<4} refused")
    unexpected = refused if name == "innocent texts" else set(texts) - refused
    for label in sorted(unexpected):
        print(f"    {'refused' if label in refused else 'stored'}: {label}")
    return len(refused) / len(texts)


def fastest(run: object, texts: list[str]) -> float:
    """Processor seconds of the fastest round."""
    assert callable(run)
    spent = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        for text in texts:
            run(text)
        spent.append(time.process_time() - begin)
    return min(spent)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    chosen = options.parse_args()
    found = {name: share(name, texts) for name, texts in zip(GOALS, (SECRETS, DISGUISES, INNOCENT), strict=True)}
    root = Path(__file__).resolve().parents[1]
    paths = [path for part, kind in (("src", "*.py"), ("docs", "*.md")) for path in (root / part).rglob(kind)]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    size = sum(len(text.encode()) for text in texts) / 1e6
    plain, full = fastest(_PLAIN.findall, texts), fastest(scan, texts)
    print(f"speed            {size / full:.1f} MB/s over {size:.1f} MB; {full / plain:.1f} times a plain search for ten words")
    flagged = sum(any(hit.pattern_class != "conflict_marker" for hit in scan(text)) for text in texts)
    print(f"this repository  {flagged} of {len(texts)} files refused")
    missed = [name for name, goal in GOALS.items() if (found[name] > goal if name == "innocent texts" else found[name] < goal)]
    print("goals: " + ("met" if not missed else "missed for " + ", ".join(missed)))
    return 1 if chosen.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
