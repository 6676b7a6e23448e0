"""How fast a context is assembled: context, brief and north through a running owner, in a brain with evidence and cards.

    .venv/bin/python benchmarks/context.py                                     # 100,000 rows of evidence, 5,000 cards
    .venv/bin/python benchmarks/context.py --rows 10000 --cards 500 --check

Evidence is made as for `recall`. Cards are distilled from it, linked and promoted by the product's own services, in all four
ranks but the first, each a statement of ten words of the rows it cites. Limit: 60 ms for `context`; medians over warm calls,
every question asked for the first time. The same questions are asked twice, and the answers must be the same bytes.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from memory import checked, median_ms, owned
from recall import fill, put, questions

LIMIT_MS = 60.0
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "context": ("query", {}),
    "context, cards and evidence": ("query", {"include_cards": True, "include_evidence": True}),
    "brief": ("query", {}),
    "knowledge.retrieve": ("query", {}),
    "north": ("task", {}),
}
TIERS = ("dao_ren", "shu", "shu", "qi", "qi", "qi", "qi", "qi")


def learn(home: Home, root: str, count: int) -> None:
    """So many active cards, each from two rows of evidence and checked by a third."""
    app = App(home, Settings({"embedder": "off"}))
    caller = Caller(
        agent=AgentId("bench:learner"), root=root, root_source=RootSource.CALL, session=SessionId("learn"), channel=Channel.AGENT
    )

    def call(operation: str, **arguments: Any) -> dict[str, Any]:
        answer = app.call(operation, arguments, caller=caller)
        checked(answer)
        return answer

    rng = random.Random(11)
    rows = [row for newest in (True, False) for row in call("memory.list", limit=1000, newest=newest)["rows"]]
    for number in range(count):
        first, second, third = rng.sample(rows, 3)
        words = rng.sample((first["content"] + " " + second["content"]).split(), 10)
        card = call(
            "knowledge.distill",
            statement=f"{' '.join(words)}.",
            content=f"Seen in {number}: {first['content']}",
            tier=TIERS[number % len(TIERS)],
            field=f"field{number % 20}",
            supporting_refs=[first["id"], second["id"]],
        )["card_id"]
        call("knowledge.promote", card_id=card, status="promoted", verification_refs=[third["id"]], reason="checked")
        if number % 500 == 499:
            print(f"  {number + 1:,} cards", file=sys.stderr)
    app.close()


def said(session: Any, asked: list[str]) -> list[str]:
    """What contexts say: without who answered, how far the index is, and what could be learned elsewhere."""
    told = []
    for text in asked:
        answer = session.call("context", query=text, distill_suggestions=False)
        checked(answer)
        told.append(json.dumps([answer[key] for key in ("context_hash", "sections", "rendered")]))
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--cards", type=int, default=5_000)
    parser.add_argument("--check", action="store_true", help="fail when the limit is broken or two answers differ")
    chosen = parser.parse_args()
    os.environ.setdefault("HINDBRAIN_MODEL_DIR", str(Path(sys.prefix, "models")))
    with tempfile.TemporaryDirectory(prefix="hb") as place:
        home, root = Home(Path(place, "home")), os.path.realpath(Path(place, "repo"))
        os.makedirs(root)
        fill(home, root, chosen.rows)
        learn(home, root, chosen.cards)
        with owned(home, root) as (session, _):
            began = time.perf_counter()
            checked(session.call("context", query="the first question"))
            print(f"{chosen.rows:,} rows, {chosen.cards:,} cards; first answer {time.perf_counter() - began:.1f} s")
            print(f"{'call':28} {'median':>9} {'p95':>9} {'limit':>8}")
            broken = False
            for seed, (name, (argument, more)) in enumerate(CALLS.items()):
                operation = name.partition(",")[0]
                asked = questions(seed)
                for text in questions(100 + seed)[:10]:
                    checked(session.call(operation, **{argument: text}, **more))
                call = partial(put, _With(session, more), operation, argument, asked)
                median, p95 = median_ms(call, len(asked))
                limit = LIMIT_MS if name == "context" else None
                broken |= limit is not None and median > limit
                print(f"{name:28} {median:6.1f} ms {p95:6.1f} ms {f'{limit:5.0f} ms' if limit else '':>8}", flush=True)
            asked = questions(0)
            first, second = said(session, asked), said(session, asked)
            for number in range(100):
                checked(session.call("record", text=f"zebra {number} xylophone", field="elsewhere"))
            third = said(session, asked)
            again, after = (sum(x == y for x, y in zip(first, other, strict=True)) for other in (second, third))
            print(
                f"the same bytes when asked again: {again}, after a hundred writes about something else: {after}, of {len(asked)}"
            )
            broken |= again < len(asked)
    return 1 if broken and chosen.check else 0


class _With:
    """A session whose calls carry more arguments."""

    def __init__(self, session: Any, more: dict[str, Any]) -> None:
        self._session = session
        self._more = more

    def call(self, operation: str, **arguments: Any) -> Any:
        return self._session.call(operation, **arguments, **self._more)


if __name__ == "__main__":
    sys.exit(main())
