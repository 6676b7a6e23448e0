"""How fast a brain's files are: evidence kept a second, words and vectors found, and bytes per row.

    .venv/bin/python benchmarks/store.py                       # 10,000 and 100,000 rows
    .venv/bin/python benchmarks/store.py --sizes 1000000       # takes some minutes and 2 GB

Rows are short turns of 15 words from a vocabulary that is as uneven as prose, with the words of two neighbours; vectors are
clustered, 384 dimensions. Times are medians over warm calls in one process, `cpu` of the calling thread and `wall`.
"""

import argparse
import itertools
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hindbrain.domain.anchor import LEGACY
from hindbrain.domain.brain import BrainId
from hindbrain.domain.caller import Channel
from hindbrain.domain.evidence import Domain, Evidence, Provenance, SourceType, evidence_id
from hindbrain.domain.ledger import Act
from hindbrain.engines.text import terms
from hindbrain.stores.port import BrainStore, Where, Words
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.vector_port import Embedded, Shelf

BATCH = 1_000
DIMS = 384
STAMP = "bench"
LATE = 13 * 32  # token states of an ordinary short turn
THREAD = 40  # turns of one conversation
CORPUS = Path(__file__).resolve().parent.parent / "src" / "hindbrain" / "stores" / "model_corpus.txt"


def vocabulary(count: int) -> list[str]:
    """Words as prose has them, the commonest first, then compounds of two."""
    known = [word for word, _ in Counter(re.findall(r"[a-z]{3,}", CORPUS.read_text(encoding="utf-8").lower())).most_common()]
    rng, made = random.Random(5), dict.fromkeys(known)
    while len(made) < count:
        made[rng.choice(known) + rng.choice(known)] = None
    return list(made)


VOCABULARY = vocabulary(50_000)


def uneven(count: int) -> list[float]:
    """Weights, added up, of words as prose uses them."""
    return list(itertools.accumulate(1 / (number + 5) for number in range(count)))


def observations(rng: random.Random, count: int, words: Sequence[str]) -> Iterator[list[tuple[Evidence, Words]]]:
    """Batches of turns, of words of which the first are the commonest."""
    weights = uneven(len(words))
    for start in range(0, count, BATCH):
        drawn = (rng.choices(words, cum_weights=weights, k=15) for _ in range(min(BATCH, count - start)))
        texts = [" ".join(text) for text in drawn]
        found = [terms(text) for text in texts]
        rows = []
        for place, text in enumerate(texts):
            near = found[place - 1] + found[(place + 1) % len(found)]
            rows.append((turn_of(start + place, text), Words(text=found[place], near=near)))
        yield rows


def turn_of(number: int, content: str) -> Evidence:
    thread, position, wing = f"thread{number // THREAD}", number % THREAD, f"wing{number % 10}"
    id_ = evidence_id(
        *(content,),
        anchor=LEGACY,
        domain=Domain.PROJECT,
        field="general",
        provenance=Provenance.HUMAN,
        wing=wing,
        room=None,
        thread=thread,
        position=position,
    )
    return Evidence(
        id=id_,
        content=content,
        source=f"{thread}.jsonl",
        source_type=SourceType.CONVERSATION,
        provenance=Provenance.HUMAN,
        anchor=LEGACY,
        added_at=1,
        wing=wing,
        thread=thread,
        position=position,
        speaker="Ada",
        role="user",
    )


class Space:
    """Vectors in clusters of about fifty, as texts about few subjects have them."""

    def __init__(self, count: int) -> None:
        self.rng = np.random.default_rng(3)
        self.centres = self._unit(self.rng.standard_normal((max(count // 50, 20), DIMS)))

    @staticmethod
    def _unit(rows: "NDArray[np.float64]") -> "NDArray[np.float32]":
        scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return scaled

    def drawn(self, number: int, spread: float = 0.8) -> "NDArray[np.float32]":
        chosen = self.centres[self.rng.integers(0, len(self.centres), number)]
        return self._unit(chosen + self.rng.standard_normal((number, DIMS)) * (spread / DIMS**0.5))

    @staticmethod
    def codes(rows: "NDArray[np.float32]") -> "NDArray[np.int8]":
        rounded: NDArray[np.int8] = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
        return rounded


def medians(call: Callable[[int], object], times: int) -> str:
    wall, cpu = [], []
    for number in range(times):
        began, used = time.perf_counter(), time.thread_time()
        call(number)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.thread_time() - used) * 1000)
    return f"{statistics.median(cpu):8.2f} ms cpu {statistics.median(wall):8.2f} ms wall"


def keep(store: BrainStore, count: int, words: Sequence[str] = VOCABULARY) -> float:
    """Rows kept in a second of processor time, full text and all."""
    used = 0.0
    for batch in observations(random.Random(7), count, words):
        began = time.process_time()
        with store.writing() as writer:
            writer.append(
                Act(act="evidence.ingest", subject="evidence:b", actor="bench", channel=Channel.AGENT, at=1, payload={})
            )
            writer.put_evidence(batch)
        used += time.process_time() - began
    return count / used


def embed(store: BrainStore, space: Space, stamp: str = STAMP) -> tuple[float, "NDArray[np.int8]"]:
    """Vectors kept in a second of processor time, and all of them."""
    used, late = 0.0, os.urandom(LATE)
    kept: list[NDArray[np.int8]] = []
    while True:
        began = time.process_time()
        pending = store.vectors.pending(stamp, Shelf.EVIDENCE, limit=2 * BATCH)
        used += time.process_time() - began
        if not pending:
            return sum(len(codes) for codes in kept) / used, np.concatenate(kept)
        codes = space.codes(space.drawn(len(pending)))
        kept.append(codes)
        rows = [
            Embedded(turn=one.turn, raw=row.tobytes(), searched=row.tobytes(), late=late)
            for one, row in zip(pending, codes, strict=True)
        ]
        began = time.process_time()
        store.vectors.put(stamp, Shelf.EVIDENCE, rows)
        used += time.process_time() - began


def recall(store: SqliteStore, codes: "NDArray[np.int8]", questions: "NDArray[np.float32]") -> float:
    """The share of the ten nearest, compared with everything, that is found."""
    lengths = np.concatenate([np.linalg.norm(part.astype(np.float32), axis=1) for part in np.array_split(codes, 64)])
    first = store.vectors.pending("nobody", Shelf.EVIDENCE, limit=1)[0].turn
    hits = 0
    for question in questions:
        exact = np.concatenate([part.astype(np.float32) @ question for part in np.array_split(codes, 64)]) / lengths
        best = {first + int(place) for place in np.argpartition(-exact, 10)[:10]}
        hits += len(best & set(store.vectors.nearest(STAMP, Shelf.EVIDENCE, question.tolist(), limit=10).turns))
    return hits / (10 * len(questions))


def find(store: SqliteStore, asked: list[list[str]], where: Where | None, number: int) -> object:
    return store.find(asked[number], limit=50, within=3_000, shelf=Shelf.EVIDENCE, where=where)


def measure(count: int, directory: Path) -> None:
    store, rng, space = SqliteStore(directory, BrainId("bench")), random.Random(11), Space(count)
    asked = [terms(" ".join(rng.choices(VOCABULARY[20:], cum_weights=uneven(len(VOCABULARY))[20:], k=6))) for _ in range(100)]
    print(f"{count:,} rows")
    print(f"  kept              {keep(store, count):10,.0f} rows a second of processor time")
    store.find(asked[0], limit=50, within=3_000, shelf=Shelf.EVIDENCE)
    for name, where in (("find", None), ("find in a wing", Where(wing="wing3"))):
        print(f"  {name:17} {medians(partial(find, store, asked, where), len(asked))}")
    rate, codes = embed(store, space)
    print(f"  vectors kept      {rate:10,.0f} rows a second of processor time")
    questions = space.drawn(50, spread=1.0)
    began = time.perf_counter()
    store.vectors.nearest(STAMP, Shelf.EVIDENCE, questions[0].tolist(), limit=50)
    print(f"  first nearest     {(time.perf_counter() - began) * 1000:8.0f} ms wall, everything read into memory")
    listed = [question.tolist() for question in questions]
    print(
        f"  nearest           {medians(lambda n: store.vectors.nearest(STAMP, Shelf.EVIDENCE, listed[n], limit=50), len(listed))}"
    )
    print(f"  missing           {medians(lambda n: store.vectors.missing(STAMP, Shelf.EVIDENCE), 50)}")
    print(f"  recall at ten     {recall(store, codes, questions[:20]):10.3f}")
    store.close()
    sizes = {path.name: path.stat().st_size / count for path in sorted(directory.iterdir()) if path.suffix == ".db"}
    print(f"  bytes per row     {', '.join(f'{name} {size:,.0f}' for name, size in sizes.items())}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory(prefix="hb") as place:
            measure(size, Path(place, "brain"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
