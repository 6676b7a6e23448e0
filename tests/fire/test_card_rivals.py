"""Eight people decide on the same cards at once: no update is lost, no event doubled, and the chain is unbroken."""

import json
import os
from collections import Counter

import pytest

from hindbrain.domain.card import Status
from tests.support import forking
from tests.support.scholar import Scholar
from tests.support.world import World

PEOPLE = 8
ROUNDS = 24
LIMIT_S = 600


@pytest.mark.req("MIND-151", "MIND-277")
def test_eight_people_on_the_same_cards_lose_nothing_and_double_nothing(any_world: World) -> None:
    here = Scholar(any_world, any_world.brain("app"))
    cards = [here.distilled(f"Rule {number} holds.", tier="shu") for number in range(3)]
    first = {card: here.card(card)["supporting_refs"] for card in cards}
    wide = here.promoted("This goes everywhere.", tier="shu")
    here.saw("there is a medulla", domain="global")
    url = str(any_world._settings.get("store_url", ""))
    any_world.close()
    words = ("tests.support.rivals", str(any_world.home.path), here.root)
    last = (str(ROUNDS), ",".join(cards), wide, url)
    people = [forking.start(*words, f"p{number}", *last, environ=os.environ) for number in range(PEOPLE)]
    for one in people:
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n", one.communicate(timeout=LIMIT_S)
    for one in people:
        assert one.stdin is not None
        one.stdin.write(b"go\n")
    told = []
    for one in people:
        out, problems = one.communicate(timeout=LIMIT_S)
        assert one.returncode == 0, problems
        told += [json.loads(line) for line in out.splitlines()]

    any_world.clock.catch_up()
    assert {one["code"] for one in told} <= {None, "illegal_move", "unknown_evidence"}, Counter(one["code"] for one in told)
    done = [one for one in told if one["done"]]
    assert len(done) > PEOPLE * ROUNDS // 3
    for tier in ({}, {"tier": "medulla"}):
        assert here.ok("ledger.verify", **tier)["intact"]
    for card in cards:
        events = here.ok("knowledge.events", card_id=card)["events"]
        acted = Counter((one["what"], one["by"]) for one in done if one["card"] == card)
        kept = Counter((one["event_type"], one["actor"].removeprefix("human:")) for one in events[1:])
        assert kept == acted, card
        now = Status.CANDIDATE
        for one in events[1:]:
            if one["to_status"]:
                assert one["from_status"] == now, "each began where the one before ended"
                now = Status(one["to_status"])
        shown = here.card(card)
        assert (shown["status"], shown["backed"], shown["version"]) == (now, True, max(one["seq"] for one in events))
        cited = {(ref, role) for role in ("supporting", "verification", "counterexample") for ref in shown[f"{role}_refs"]}
        assert cited == links_of(first[card], events)
    (made,) = {one["id"] for one in told if one["what"] == "created"}
    assert [one["event_type"] for one in here.ok("knowledge.events", card_id=made)["events"]] == ["created"]
    assert sum(one["what"] == "created" for one in done) == 1
    moved = [one["event_type"] for one in here.ok("knowledge.events", card_id=wide)["events"]]
    assert moved == ["created", "promoted", "published_anchor", "published_anchor"], "once in the project, once in the medulla"
    assert here.card(wide)["brain"] == "medulla"
    kinds = {one["kind"] for one in here.call("doctor", scan=True)["warnings"]}
    assert not kinds & {"card_unbacked", "ledger_broken"}, kinds


def links_of(first: list[str], events: list[dict[str, object]]) -> set[tuple[str, str]]:
    """What a card must cite, told by what it cited first and by its history."""
    cited = {(ref, "supporting") for ref in first}
    for one in events:
        told = one["metadata"]
        assert told is None or isinstance(told, dict)
        for ref in (told or {}).get("verification_refs", ()):
            cited.add((ref, "verification"))
        for ref in (told or {}).get("evidence_refs", ()):
            cited.add((ref, "counterexample"))
        if one["event_type"] == "linked" and told:
            cited.add((told["evidence_id"], told["role"]))
        if one["event_type"] == "unlinked" and told:
            cited.discard((told["evidence_id"], told["role"]))
    return cited
