"""False absence and false presence: questions that a store answers and those it does not, and what the floor does to each.

    .venv/bin/python benchmarks/absence.py                    # 200 and 200 questions, prints both shares and the curve
    .venv/bin/python benchmarks/absence.py --check --plot docs/absence.svg

Stores are LoCoMo conversations, taken in by memory.ingest. Answerable are their own questions; unanswerable are questions about
other people's conversations, about a LongMemEval user and about BEAM projects. Shares come from memory.search as agents call it;
the curve moves the floor by the relevance that the pipeline computes. Then a brain with 25 claims is asked for what none of them
is about: north and seek have to say that 25 exist.
"""

import argparse
import os
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _datasets import Question, Store, beam, locomo, longmemeval
from _plot import line_chart
from quality import Product

EACH = 200
GOALS = {"nothing relevant": 90.0, "kept recall": 97.0}
CLAIMS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question put to one store."""

    relevance: float
    recall: float  # share of its evidence in the best ten, without a floor; 0 for an unanswerable one
    silent: bool  # memory.search said nothing relevant


def chosen(data: Path, limit: int) -> list[tuple[Store, list[Question], list[Question]]]:
    """Each store with questions that it answers and questions that it does not."""
    rng = random.Random(11)
    stores = locomo(data)[: limit or None]
    others = [question for store in longmemeval(data) for question in store.questions]
    projects = [question for store in beam(data) for question in store.questions]
    part = -(-EACH // len(stores))
    made = []
    for number, store in enumerate(stores):
        strangers = [question for one in locomo(data) if one.name != store.name for question in one.questions]
        count = min(part, EACH - number * part)
        wrong = [*rng.sample(strangers, count // 2), *rng.sample(others, count // 4)]
        wrong += rng.sample(projects, count - len(wrong))
        made.append((store, rng.sample(list(store.questions), count), wrong))
    return made


def put(product: Product, question: Question, *, answerable: bool) -> Asked:
    house = product.session.app.house
    brain = house.brains.covering(str(product.root))
    assert brain is not None
    with house.brains.use(brain) as opened:
        found = house.retrieval.search(opened, question.text, limit=10, floor=False)
    ids = {product.messages[hit.evidence.thread or "", hit.evidence.message].id for hit in found.hits}
    silent = not product.call("memory.search", query=question.text)["results"]
    recall = len(question.gold & ids) / len(question.gold) if answerable else 0.0
    return Asked(relevance=found.relevance, recall=recall, silent=silent)


def shares(right: list[Asked], wrong: list[Asked], floor: float) -> tuple[float, float]:
    """Per cent of the unanswerable that get nothing, and of the answerable's recall that is kept, with the floor there."""
    whole = sum(one.recall for one in right)
    kept = sum(one.recall for one in right if one.relevance >= floor)
    return 100 * sum(one.relevance < floor for one in wrong) / len(wrong), 100 * kept / whole if whole else 0.0


def claims_case(home: Path) -> bool:
    """25 claims that match nothing: both answers say how many there are, and why none is shown."""
    product = Product(home, "claims")
    if product.fresh:
        product.call("ingest", path=str(product.root), project_root=str(product.root))
        for number in range(CLAIMS):
            product.call("memorize", node_label=f"Belief {number}", text=f"Walnut trees grow in row {number}.")
    north = product.call("north", task="repaint the harbour crane")
    seek = product.call("seek", query="repaint the harbour crane")
    product.close()
    said = north["memory_exists"] == seek["memory_exists"] == CLAIMS
    shown = [row["match"] for row in north["memory"]]
    print(f"{CLAIMS} claims about something else: north and seek say memory_exists {north['memory_exists']}")
    print(f"  north: {north.get('memory_note')} (rows shown as {sorted(set(shown))}); seek: {seek['rendered'].splitlines()[0]}")
    return said and not seek["results"] and set(shown) <= {"recent"}


def plot(path: Path, curve: list[tuple[float, float, float]]) -> None:
    """How much each floor keeps silent, and how much it keeps."""
    line_chart(
        path,
        "Where the floor lies",
        {
            "unanswerable questions that get nothing": [(floor, nothing) for floor, nothing, _ in curve],
            "recall of answerable ones that is kept": [(floor, kept) for floor, _, kept in curve],
        },
        x_title="floor, relative to the one in force",
        y_title="per cent",
        limits={f"{name}: at least {goal:.0f}": goal for name, goal in GOALS.items()},
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--limit", type=int, default=0, help="only the first stores")
    parser.add_argument("--keep", type=Path, help="a directory in which the home is kept for the next run")
    parser.add_argument("--check", action="store_true", help="fail when a share is below its goal")
    parser.add_argument("--plot", type=Path, help="write the curve as an SVG")
    options = parser.parse_args()
    os.environ["HINDBRAIN_MODE"] = "embedded"
    os.environ.setdefault("HINDBRAIN_MODEL_DIR", str(Path(sys.prefix) / "models"))
    right: list[Asked] = []
    wrong: list[Asked] = []
    with tempfile.TemporaryDirectory() as scratch:
        home = (options.keep or Path(scratch)).resolve() / "home"
        home.mkdir(parents=True, exist_ok=True)
        for store, own, strange in chosen(options.data, options.limit):
            product = Product(home, f"locomo-{store.name}")
            product.fill(store, {})
            right += [put(product, question, answerable=True) for question in own]
            wrong += [put(product, question, answerable=False) for question in strange]
            product.close()
            print(f"  {store.name}: {len(own)} and {len(strange)} questions", file=sys.stderr, flush=True)
        silent = 100 * sum(one.silent for one in wrong) / len(wrong)
        kept = 100 * sum(one.recall for one in right if not one.silent) / sum(one.recall for one in right)
        print(f"unanswerable {len(wrong)}: {silent:.1f} % get nothing relevant (goal {GOALS['nothing relevant']:.0f})")
        print(f"answerable   {len(right)}: {kept:.1f} % of their recall is kept (goal {GOALS['kept recall']:.0f})")
        curve = [(floor / 4, *shares(right, wrong, floor / 4)) for floor in range(-24, 25)]
        print("floor  nothing relevant  kept recall")
        for floor, nothing, keeps in curve[::4]:
            print(f"{floor:>5.1f}  {nothing:>16.1f}  {keeps:>11.1f}")
        honest = claims_case(home)
    if options.plot:
        plot(options.plot, curve)
    good = honest and silent >= GOALS["nothing relevant"] and kept >= GOALS["kept recall"]
    return 1 if options.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
