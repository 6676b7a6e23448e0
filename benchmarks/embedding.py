"""How fast texts get their vectors: the bare model on one and two threads, and the product's embedding in the same run.

    .venv/bin/python benchmarks/embedding.py                 # prints a table
    .venv/bin/python benchmarks/embedding.py --rows 2000     # more rows

Needs the model that `make test` and `make bench` install beside the tests. CPU seconds stand beside wall seconds, because a busy
machine stretches only the latter.
"""

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.caller import AgentId, Caller, RootSource, SessionId
from hindbrain.domain.evidence import Domain, Evidence, Provenance, SourceType, evidence_id
from hindbrain.engines.text import terms
from hindbrain.services.embedder import Embedder
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.stores.port import Words

MODELS = Path(sys.prefix, "models")
SENTENCES = Path(__file__).resolve().parent.parent / "src" / "hindbrain" / "stores" / "model_corpus.txt"
ANCHOR = Anchor(kind=AnchorKind.REPO, id="repo://bench")


def texts(count: int, *, words: int = 0) -> list[str]:
    """Turns of about a sentence and a half, or of a number of words."""
    rng, known = random.Random(3), SENTENCES.read_text(encoding="utf-8").splitlines()
    if words:
        return [" ".join(" ".join(rng.choices(known, k=words // 8)).split()[:words]) for _ in range(count)]
    return [" ".join(rng.choices(known, k=rng.choice((1, 2)))) for _ in range(count)]


@contextmanager
def timed(row: dict[str, float]) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    row["wall"], row["cpu"] = time.perf_counter() - wall, time.process_time() - cpu


def rate(name: str, count: int, work: Callable[[], object]) -> None:
    row: dict[str, float] = {}
    with timed(row):
        work()
    print(f"{name:52} {count / row['wall']:8.0f} texts/s  {row['cpu'] / count * 1000:7.2f} ms CPU a text")


def latency(name: str, work: Callable[[int], object], times: int) -> None:
    walls, cpus = [], []
    for number in range(times):
        row: dict[str, float] = {}
        with timed(row):
            work(number)
        walls.append(row["wall"] * 1000)
        cpus.append(row["cpu"] * 1000)
    p95 = sorted(walls)[int(times * 0.95)]
    print(f"{name:52} {statistics.median(walls):8.2f} ms median, {p95:.2f} ms p95, {statistics.median(cpus):.2f} ms CPU")


LOAD = """
import sys, time
from pathlib import Path
from hindbrain.services.embedder import Embedder
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
before = resident()
wall, cpu = time.perf_counter(), time.process_time()
embedder = Embedder(Home(Path(sys.argv[1])), Settings({"model_dir": sys.argv[2]}))
embedder.query("warm")
print(time.perf_counter() - wall, time.process_time() - cpu, before, resident())
"""


def loading(home: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOAD, home, str(MODELS)], capture_output=True, text=True, check=True)
    wall, cpu, before, after = map(float, done.stdout.split())
    print(f"{'load: numpy, runtime, model, first question':52} {wall * 1000:8.0f} ms, {cpu * 1000:.0f} ms CPU")
    print(f"{'resident memory before and after loading':52} {before / 1024:8.0f} MB, {after / 1024:.0f} MB")


def evidence(text: str, position: int) -> tuple[Evidence, Words]:
    thread = f"t{position // 50}"
    identity = evidence_id(
        text,
        anchor=ANCHOR,
        domain=Domain.PROJECT,
        field="general",
        provenance=Provenance.HUMAN,
        wing="",
        room=None,
        thread=thread,
        position=position,
    )
    row = Evidence(
        id=identity,
        content=text,
        source="bench",
        source_type=SourceType.CONVERSATION,
        provenance=Provenance.HUMAN,
        anchor=ANCHOR,
        added_at=position,
        thread=thread,
        position=position,
    )
    return row, Words(text=terms(text))


def product(place: str, rows: list[str]) -> None:
    """Write rows into a brain without vectors, then let the product give them theirs, and say what is kept."""
    root = os.path.join(place, "repo")
    os.makedirs(root)
    app = App(Home(Path(place, "home")), Settings({"model_dir": str(MODELS)}))
    caller = Caller(agent=AgentId("bench:reader"), root=root, root_source=RootSource.CALL, session=SessionId("bench"))
    app.call("ingest", {"path": root, "project_root": root}, caller=caller)
    brain = app.house.brains.covering(root)
    assert brain is not None
    with app.house.brains.use(brain) as opened:

        def write() -> None:
            with opened.store.writing() as writer:
                writer.put_evidence([evidence(text, number) for number, text in enumerate(rows)])

        rate("product: rows written, without vectors", len(rows), write)
        rate("product: vectors, neighbours, store (two threads)", len(rows), lambda: app.house.embedding.drain(opened, 1e9))
        latency("product: one more row until it has its vectors", lambda n: one_more(app, opened, n), 50)
        directory = opened.directory
    app.close()  # so that the log is in the file
    kept = sum(one.stat().st_size for one in directory.glob("vectors*") if one.is_file())
    print(f"{'product: bytes of vectors a row':52} {kept / (len(rows) + 50):8.0f}")


def one_more(app: App, opened: Any, number: int) -> None:
    with opened.store.writing() as writer:
        writer.put_evidence([evidence(f"The deployment of service {number} waits for a review.", 10_000_000 + number)])
    app.house.embedding.drain(opened, 60)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=600)
    count = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="hb") as place:
        embedder = Embedder(Home(Path(place, "none")), Settings({"model_dir": str(MODELS)}))
        if not embedder.ready():
            standing = embedder.standing()
            print(f"{standing.reason}; {standing.fix}", file=sys.stderr)
            return 1
        turns, chunks = texts(count), texts(max(20, count // 10), words=160)
        words = statistics.mean(len(text.split()) for text in turns)
        print(f"{embedder.stamp}, {count} turns of {words:.0f} words, load of the machine {os.getloadavg()[0]:.1f}")
        loading(place)
        rate("model alone: turns, one thread", count, lambda: list(embedder.embed_all(turns, threads=1)))
        rate("model alone: turns, two threads", count, lambda: list(embedder.embed_all(turns, threads=2)))
        rate("model alone: chunks of 160 words, one thread", len(chunks), lambda: list(embedder.embed_all(chunks, threads=1)))
        latency("model alone: one question", lambda n: embedder.query(f"how does the worker retry {n}"), 100)
        product(place, turns)
        print(f"{'resident memory at the end':52} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
