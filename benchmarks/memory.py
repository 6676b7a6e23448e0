"""How fast memory answers: memorize and north through a running owner, with 10,000 and 100,000 claims in the brain.

    .venv/bin/python benchmarks/memory.py            # both sizes, prints a table
    .venv/bin/python benchmarks/memory.py --check    # and fails when a limit is broken

Limits: memorize 15 ms; north 25 ms with 10,000 claims; everything at most twice that with 100,000. Medians over warm calls.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.domain.claim import Block, Claim, render
from hindbrain.domain.ledger import Act
from hindbrain.services.gateway import claim_terms
from hindbrain.settings import Settings
from hindbrain.stores.files import digest_of
from hindbrain.stores.home import Home
from hindbrain.stores.port import Version
from hindbrain.surfaces.client import remote_session

LIMITS_MS = {10_000: {"memorize": 15.0, "north": 25.0, "seek": 25.0}, 100_000: {"memorize": 30.0, "north": 50.0, "seek": 50.0}}
STEMS = [
    "retry",
    "lock",
    "cache",
    "index",
    "token",
    "parser",
    "worker",
    "queue",
    "schema",
    "deploy",
    "socket",
    "timeout",
    "branch",
    "commit",
    "merge",
    "hook",
    "agent",
    "ledger",
]


def words(rng: random.Random) -> list[str]:
    """A vocabulary with few common and many rare words, as prose has."""
    return [*STEMS, *(f"{rng.choice(STEMS)}{rng.randrange(20_000)}" for _ in range(20_000))]


def text_of(rng: random.Random, vocabulary: list[str]) -> str:
    return " ".join(vocabulary[min(int(rng.paretovariate(0.6)) - 1, len(vocabulary) - 1)] for _ in range(30))


def fill(home: Home, root: str, count: int) -> None:
    """A home with one brain that has many claims."""
    app = App(home, Settings({}))
    learn(app, root, count)
    app.close()


def learn(app: App, root: str, count: int) -> None:
    """A brain with many claims, files and all, written in large transactions."""
    caller = Caller(agent=AgentId("bench:filler"), root=root, root_source=RootSource.CALL, session=SessionId("fill"))
    app.call("ingest", {"path": root, "project_root": root}, caller=caller)
    brain = app.house.brains.covering(root)
    assert brain is not None
    rng, now = random.Random(7), time.time_ns() // 1_000_000
    vocabulary = words(rng)
    with app.house.brains.use(brain) as opened:
        place = opened.place
        place.history_path.mkdir(parents=True, exist_ok=True)
        for start in range(0, count, 5_000):
            seen = []
            with opened.store.writing() as writer:
                for number in range(start, min(start + 5_000, count)):
                    label = f"Finding {number} {rng.choice(STEMS)}"
                    claim = Claim(
                        label=label,
                        created=now - rng.randrange(20 * 86_400_000),
                        source_agent="bench:filler",
                        origin_brain=root,
                        blocks=(Block(label=label, text=text_of(rng, vocabulary)),),
                    )
                    text = render(claim)
                    act = Act(
                        act="claim.import", subject=f"claim:{number:x}", actor="bench", channel=Channel.IMPORT, at=now, payload={}
                    )
                    entry = writer.append(act)
                    version = Version(
                        slug=claim.slug,
                        version=entry.seq,
                        claim_id=f"{number:x}",
                        digest=digest_of(text),
                        text=text,
                        active=True,
                        created=claim.created,
                        born_at=now,
                    )
                    writer.put_claim(version, expected=None, ended_act="", terms=claim_terms(claim))
                    place.file(claim.slug).write_text(text, encoding="utf-8")
                    seen.append((claim.slug, version.digest))
            rows = [(facts, digest) for slug, digest in seen if (facts := place.facts(slug)) is not None]
            opened.state.put_many(str(place.path), rows)
        opened.state.put_directory(str(place.path), place.mtime_ns())


def median_ms(call: Any, times: int) -> tuple[float, float]:
    taken = []
    for number in range(times):
        began = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken), sorted(taken)[int(len(taken) * 0.95)]


def measure(count: int) -> dict[str, tuple[float, float]]:
    with tempfile.TemporaryDirectory(prefix="hb") as place:
        home, root = Home(Path(place, "home")), os.path.realpath(Path(place, "repo"))
        os.makedirs(root)
        began = time.perf_counter()
        fill(home, root, count)
        print(f"  filled {count:,} claims in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        with owned(home, root) as (session, _):
            rng = random.Random(11)
            vocabulary = words(random.Random(7))
            tasks = [f"Please fix the {text_of(rng, vocabulary)[:80]} in the worker queue" for _ in range(400)]
            session.call("north", task="warm up the owner")
            return {
                "memorize": median_ms(lambda n: checked(session.call("memorize", node_label=f"Bench {n}", text=tasks[n])), 100),
                "north": median_ms(lambda n: checked(session.call("north", task=tasks[n])), 200),
                "seek": median_ms(lambda n: checked(session.call("seek", query=tasks[n])), 200),
            }


def checked(answer: dict[str, Any]) -> None:
    if not answer.get("ok"):
        raise SystemExit(json.dumps(answer)[:500])


@contextmanager
def owned(home: Home, root: str) -> Iterator[tuple[Any, int]]:
    """A session through an owner of its own, and the owner's process."""
    command = [sys.executable, "-m", "hindbrain", "serve", "--home", str(home.path), "--port", "0"]
    owner = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield connect(home, root), owner.pid
    finally:
        owner.terminate()
        owner.wait(60)


def connect(home: Home, root: str) -> Any:
    caller = Caller(agent=AgentId("bench:reader"), root=root, root_source=RootSource.CALL, session=SessionId("bench"))
    for _ in range(600):
        session = remote_session(home.path, caller, start=False)
        if session is not None:
            return session
        time.sleep(0.1)
    raise SystemExit("the owner did not start")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(LIMITS_MS))
    chosen = parser.parse_args()
    broken = False
    print(f"{'claims':>8}  {'call':10} {'median':>9} {'p95':>9} {'limit':>8}")
    for size in chosen.sizes:
        for name, (median, p95) in measure(size).items():
            limit = LIMITS_MS.get(size, {}).get(name)
            broken |= limit is not None and median > limit
            print(f"{size:8,}  {name:10} {median:6.1f} ms {p95:6.1f} ms {limit or 0:5.0f} ms")
    return 1 if broken and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
