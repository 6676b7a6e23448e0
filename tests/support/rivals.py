"""One of several people who decide on the same cards at once; says what was acknowledged, one JSON line each.

usage: python -m tests.support.rivals HOME ROOT NAME ROUNDS CARDS WIDE STORE_URL

CARDS are ids, joined by commas, that everybody moves and links; WIDE is one that everybody publishes.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home


def main(home: str, root: str, name: str, rounds: str, cards: str, wide: str, store_url: str = "") -> int:
    rng = random.Random(name)
    caller = local_caller(root=root, agent=f"human:{name}", channel=Channel.HUMAN, environ={})
    settings = Settings({"store_url": store_url} if store_url else {})
    with embedded(Home(Path(home)), settings, caller) as session:
        own = [str(session.call("record", text=f"{name} saw thing {number}")["evidence_id"]) for number in range(4)]
        print("ready", flush=True)
        sys.stdin.readline()

        def act(what: str, operation: str, **arguments: Any) -> None:
            answer = session.call(operation, **arguments)
            told = {"what": what, "by": name, "card": arguments.get("card_id"), "evidence": arguments.get("evidence_id")}
            code = None if answer["ok"] else answer["error"]["code"]
            done = answer["ok"] and answer.get("linked", answer.get("created", True))
            print(json.dumps({**told, "done": done, "code": code, "id": answer.get("card_id")}), flush=True)

        for number in range(int(rounds)):
            card = rng.choice(cards.split(","))
            ways: list[tuple[str, str, dict[str, Any]]] = [
                (
                    "promoted",
                    "knowledge.promote",
                    {"status": "promoted", "verification_refs": own[:1], "reason": name, "allow_counterexamples": True},
                ),
                (
                    "demoted",
                    "knowledge.demote",
                    {"status": "demoted", "evidence_refs": own[1:2], "reason": name, "reason_type": "contradicted"},
                ),
                ("linked", "knowledge.link", {"evidence_id": own[2], "role": "supporting"}),
                ("unlinked", "knowledge.unlink", {"evidence_id": own[2], "role": "supporting"}),
                ("updated", "knowledge.annotate", {"reason": f"{name} {number}"}),
            ]
            what, operation, arguments = rng.choice(ways)
            act(what, operation, card_id=card, **arguments)
            if number == int(rounds) // 2:
                act("published_anchor", "knowledge.publish", card_id=wide, to="global", reason=name, as_global=True)
                given = {"statement": "Everybody says this.", "content": "Because everybody does.", "tier": "shu"}
                shared = session.call("record", text="everybody saw this")["evidence_id"]
                act("created", "knowledge.distill", **given, supporting_refs=[shared])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
