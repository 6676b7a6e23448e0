"""How well memory is found: public sets of conversations through memory.ingest and memory.search, beside plain FTS5 and MiniLM.

    .venv/bin/python benchmarks/quality.py                       # every set, prints a table
    .venv/bin/python benchmarks/quality.py --set locomo --limit 2  # the first two conversations of one set
    .venv/bin/python benchmarks/quality.py --check --report out.json

One configuration for all sets. A message is taken in once, is embedded by the product, and is asked for by the question as it
stands in the set; a long message counts as found by its best chunk, a session by its best message. `--keep DIRECTORY` keeps the
home, so that a second run embeds nothing. Latency is wall time of a warm memory.search with ten rows, in this process.
"""

import argparse
import json
import os
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _datasets import SETS, DataSet, Message, Question, Store
from hindbrain.app import EmbeddedSession
from hindbrain.app import open as open_session
from hindbrain.policy.recall import STOP_WORDS
from hindbrain.stores.vector_port import Shelf

DEPTH = 200  # rows asked for where sessions are ranked
TAGS = 30  # a row may have a few more; questions whose haystacks share a session beyond that get a brain of their own
Ranking = Callable[[Question, str | None], Sequence[Message]]


class Figures:
    """What one way of searching reached on one set."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = defaultdict(list)
        self.ms: list[float] = []

    def add(self, data: DataSet, question: Question, found: Sequence[Message]) -> None:
        for metric in data.metrics:
            self.values[metric.name].append(metric.score(question, found))

    def mean(self, name: str) -> float:
        return 100 * statistics.fmean(self.values[name]) if self.values[name] else 0.0


class Product:
    """One store in a brain of its own."""

    def __init__(self, home: Path, name: str) -> None:
        self.root = home.parent / "roots" / re.sub(r"\W+", "-", name)
        self.fresh = not self.root.exists()
        self.root.mkdir(parents=True, exist_ok=True)
        session = open_session(home=home, root=self.root, agent="bench:quality")
        assert isinstance(session, EmbeddedSession), "set HINDBRAIN_MODE=embedded"
        self.session = session
        self.messages: dict[tuple[str, str], Message] = {}

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        answer = self.session.call(operation, **arguments)
        if not answer["ok"]:
            raise SystemExit(f"{operation}: {answer['error']}")
        return answer

    def fill(self, store: Store, tags: dict[str, list[str]]) -> dict[str, float]:
        """Take everything in and embed it, which changes nothing where that was done; how long each took."""
        self.messages = {(message.session, message.id): message for message in store.messages}
        self.call("ingest", path=str(self.root), project_root=str(self.root))
        sessions: dict[str, list[Message]] = defaultdict(list)
        for message in store.messages:
            sessions[message.session].append(message)
        groups = list(sessions.items()) if tags else [(store.name, list(store.messages))]
        began = time.perf_counter()
        for name, held in groups:
            lines = "\n".join(json.dumps(_line(message), ensure_ascii=False) for message in held)
            self.call("memory.ingest", text=lines, source=name, source_format="jsonl", tags=tags.get(name))
        ingested = time.perf_counter()
        self.call("model.embed")
        return {"ingest": ingested - began, "embed": time.perf_counter() - ingested}

    def ask(self, question: str, *, top_k: int, tag: str | None) -> list[Message]:
        rows = self.call("memory.search", query=question, top_k=top_k, tag=tag)["results"]
        return [self.messages[row["thread"], row["message_id"]] for row in rows]

    def by_vectors(self, question: str, tag: str | None) -> list[Message]:
        """MiniLM alone: the vectors that the product made, each row by its own, best chunk of a message first."""
        house = self.session.app.house
        brain = house.brains.covering(str(self.root))
        assert brain is not None
        with house.brains.use(brain) as opened:
            stamp = house.embedding.serving(opened)
            asked = house.embedder.query(question, stamp=stamp)
            if stamp is None or asked is None:
                return []
            near = opened.store.vectors.nearest(stamp, Shelf.EVIDENCE, asked.vector.tolist(), limit=2_000)
            keys = opened.store.keys(Shelf.EVIDENCE, near.turns)
            rows = opened.store.evidence([keys[turn] for turn in near.turns])  # type: ignore[misc]
        found = (rows[keys[turn]] for turn in near.turns)  # type: ignore[index]
        kept = [(row.thread or "", row.message) for row in found if tag is None or tag in row.tags]
        return [self.messages[key] for key in dict.fromkeys(kept)]

    def size(self) -> tuple[int, int]:
        """Bytes on disk and rows."""
        house = self.session.app.house
        brain = house.brains.covering(str(self.root))
        assert brain is not None
        with house.brains.use(brain) as opened:
            files = [path.stat().st_size for path in opened.directory.rglob("*") if path.is_file()]
            return sum(files), opened.store.counts().evidence

    def close(self) -> None:
        self.session.close()


def _line(message: Message) -> dict[str, Any]:
    told = {
        "session": message.session,
        "id": message.id,
        "text": message.text,
        "role": message.role,
        "speaker": message.speaker,
        "time": message.said_at,
    }
    return {name: value for name, value in told.items() if value is not None}


class PlainText:
    """FTS5 as it comes: porter stems, one row a message, the question's words without stop-words, any of them."""

    def __init__(self, store: Store) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute("create virtual table f using fts5(text, tokenize = 'porter unicode61')")
        self._messages = store.messages
        self._base.executemany("insert into f (rowid, text) values (?, ?)", enumerate(m.text for m in store.messages))

    def ask(self, question: Question) -> list[Message]:
        words = [word for word in re.findall(r"\w+", question.text.lower()) if word not in STOP_WORDS]
        if not words:
            return []
        match = " or ".join(f'"{word}"' for word in words).replace(" or ", " OR ")
        found = self._base.execute("select rowid from f where f match ? order by bm25(f), rowid", (match,))
        kept = [self._messages[row] for (row,) in found]
        return [message for message in kept if question.among is None or message.session in question.among]


def batches(data: DataSet, store: Store) -> list[tuple[Store, dict[str, list[str]]]]:
    """A store with the tags of its sessions. Haystacks are tags; where a session had too many, the questions are divided."""
    if not data.haystacks:
        return [(store, {})]
    for parts in range(1, len(store.questions) + 1):
        made = []
        for part in range(parts):
            tags: dict[str, list[str]] = defaultdict(list)
            asked = store.questions[part::parts]
            for number, question in enumerate(asked):
                for session in sorted(question.among or ()):
                    tags[session].append(f"q{number}")
            held = Store(name=f"{store.name}-{part + 1}of{parts}", messages=store.messages, questions=asked)
            made.append((held, dict(tags) | {m.session: [] for m in store.messages if m.session not in tags}))
        if all(len(names) <= TAGS for _, tags in made for names in tags.values()):
            return made
    raise SystemExit("a session lies in too many haystacks")


def measured(data: DataSet, home: Path, stores: Sequence[Store], *, baselines: bool) -> dict[str, Any]:
    """Everything about one set."""
    ways = {"hindbrain": Figures(), "fts5": Figures(), "minilm": Figures()}
    spent: dict[str, float] = defaultdict(float)
    size = rows = 0
    kinds: dict[str, Figures] = defaultdict(Figures)
    halves = (Figures(), Figures())
    sessions = any(metric.sessions for metric in data.metrics)
    counted = 0
    for whole in stores:
        plain = PlainText(whole)
        for store, tags in batches(data, whole):
            product = Product(home, f"{'longmemeval' if data.name == 'longmemeval' else data.name}-{store.name}")
            for name, seconds in product.fill(store, tags).items():
                spent[name] += seconds
            product.ask("warm up", top_k=10, tag=None)
            for number, question in enumerate(store.questions):
                tag = f"q{number}" if data.haystacks else None
                began = time.perf_counter()
                found = product.ask(question.text, top_k=10, tag=tag)
                ways["hindbrain"].ms.append((time.perf_counter() - began) * 1000)
                if sessions or max(metric.at for metric in data.metrics) > len(found):
                    found = product.ask(question.text, top_k=DEPTH, tag=tag)
                for figures in (ways["hindbrain"], kinds[question.kind], halves[counted % 2]):
                    figures.add(data, question, found)
                counted += 1
                asked = (
                    question if data.haystacks else Question(text=question.text, gold=question.gold, sessions=question.sessions)
                )
                if baselines:
                    ways["fts5"].add(data, asked, plain.ask(asked))
                    ways["minilm"].add(data, asked, product.by_vectors(question.text, tag))
            bytes_, held = product.size()
            size, rows = size + bytes_, rows + held
            product.close()
            print(f"  {data.name} {store.name}: {len(store.questions)} questions, {held} rows", file=sys.stderr, flush=True)
    times = sorted(ways["hindbrain"].ms)
    return {
        "metrics": {
            metric.name: {
                "goal": metric.goal,
                **{way: round(figures.mean(metric.name), 3) for way, figures in ways.items() if figures.values},
                "halves": [round(half.mean(metric.name), 1) for half in halves],
                "kinds": {kind: round(figures.mean(metric.name), 1) for kind, figures in sorted(kinds.items())},
            }
            for metric in data.metrics
        },
        "questions": len(times),
        "rows": rows,
        "p50_ms": round(statistics.median(times), 1),
        "p95_ms": round(times[int(0.95 * (len(times) - 1))], 1),
        "ingest_s": round(spent["ingest"], 1),
        "embed_s": round(spent["embed"], 1),
        "bytes_per_row": round(size / max(rows, 1)),
    }


def shown(name: str, found: dict[str, Any]) -> None:
    for metric, values in found["metrics"].items():
        goal = f"{values['goal']:.1f}" if values["goal"] is not None else ""
        others = " ".join(f"{values[way]:>9.1f}" if way in values else f"{'':>9}" for way in ("fts5", "minilm"))
        low, high = values["halves"]
        print(f"{name:<14} {metric:<13} {values['hindbrain']:>9.1f} {goal:>6} {others}   {low:>5.1f} {high:>5.1f}", flush=True)
    print(
        f"{name:<14} {found['questions']} questions, {found['rows']} rows; p50 {found['p50_ms']} ms, p95 {found['p95_ms']} ms; "
        f"ingest {found['ingest_s']} s, embed {found['embed_s']} s; {found['bytes_per_row']} bytes a row",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--set", action="append", choices=sorted(SETS), help="only this set; may be given again")
    parser.add_argument("--limit", type=int, default=0, help="only the first stores of each set")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--keep", type=Path, help="a directory in which the home is kept for the next run")
    parser.add_argument("--check", action="store_true", help="fail when a figure is below its goal")
    parser.add_argument("--report", type=Path, help="write all figures as JSON")
    parser.add_argument("--alone", action="store_true", help="without the other two ways of searching")
    chosen = parser.parse_args()
    os.environ["HINDBRAIN_MODE"] = "embedded"
    os.environ.setdefault("HINDBRAIN_MODEL_DIR", str(Path(sys.prefix) / "models"))
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        home = (chosen.keep or Path(scratch)).resolve() / "home"
        home.mkdir(parents=True, exist_ok=True)
        print(f"{'set':<14} {'metric':<13} {'hindbrain':>9} {'goal':>6} {'fts5':>9} {'minilm':>9}   halves")
        for name in chosen.set or SETS:
            stores = SETS[name].load(chosen.data)
            report[name] = measured(SETS[name], home, stores[: chosen.limit or None], baselines=not chosen.alone)
            shown(name, report[name])
    if chosen.report:
        chosen.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    low = [
        f"{name} {metric}: {values['hindbrain']} is below {values['goal']}"
        for name, found in report.items()
        for metric, values in found["metrics"].items()
        if values["goal"] is not None and values["hindbrain"] < values["goal"]
    ]
    for line in low:
        print(line, file=sys.stderr)
    return 1 if chosen.check and low else 0


if __name__ == "__main__":
    sys.exit(main())
