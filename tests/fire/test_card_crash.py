"""A process that dies between any two statements leaves a card, what it cites, its history and its entry all changed, or none."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.scholar import Scholar
from tests.support.world import World, tree_hash

LIMIT_S = 600


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A home with a card for each act, nobody in it."""

    home: Path
    root: str
    acts: dict[str, tuple[str, str, dict[str, Any]]]  # name -> channel, operation, arguments


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    world = World(tmp_path_factory.mktemp("crash"))
    here = Scholar(world, world.brain("app"))
    candidate, active, tool = here.distilled("Bound it."), here.promoted("Close it."), here.promoted("Name it.")
    method = here.promoted("Write it down.", tier="shu", supporting_refs=[here.saw("it was lost"), here.saw("it was lost again")])
    cited, more, check, against = (here.saw(f"seen {number} times") for number in range(4))
    linked, worded = here.distilled("Link it.", supporting_refs=[cited, more]), here.distilled("Say it.")
    gone = here.promoted("Forget it, quokka.", content="The quokka was here.")
    why = "it is so"
    given = {"statement": "Draw it.", "content": "Then it is seen.", "tier": "shu"}
    fallen = {"status": "demoted", "evidence_refs": [against], "reason": why, "reason_type": "contradicted"}
    acts: dict[str, tuple[str, str, dict[str, Any]]] = {
        "distill": ("agent", "knowledge.distill", given | {"supporting_refs": [cited, more], "counterexample_refs": [against]}),
        "promote": (
            "agent",
            "knowledge.promote",
            {"card_id": candidate, "status": "promoted", "verification_refs": [check], "reason": why},
        ),
        "demote": ("agent", "knowledge.demote", {"card_id": active, **fallen}),
        "retire": ("agent", "knowledge.demote", {"card_id": active, **fallen, "status": "retired"}),
        "link": ("agent", "knowledge.link", {"card_id": linked, "evidence_id": check, "role": "verification", "note": why}),
        "unlink": ("agent", "knowledge.unlink", {"card_id": linked, "evidence_id": more, "role": "supporting", "reason": why}),
        "edit": ("agent", "knowledge.edit", {"card_id": worded, "statement": "Say it twice.", "reason": why}),
        "publish to repo": ("agent", "knowledge.publish", {"card_id": tool, "to": "repo", "reason": why}),
        "publish to global": (
            "human",
            "knowledge.publish",
            {"card_id": method, "to": "global", "reason": why, "as_global": True},
        ),
        "forget": ("human", "forget", {"claim": gone}),
        "forget evidence": ("human", "forget", {"claim": more}),
    }
    here.saw("there is a medulla", domain="global")
    world.close()
    return Prepared(home=world.home.path, root=here.root, acts=acts)


def state(world: World) -> dict[str, Any]:
    """Cards, what they cite and how they came about, and what the ledger tells of them; without numbers and names, which a
    process that finishes the work of a dead one has of its own."""
    house, found = world.app.house, {}
    for brain in (*house.brains.all(), *([house.home.medulla()] if house.brains.has_medulla() else [])):
        with house.brains.use(brain) as opened:
            store = opened.store
            acts = [entry for entry in store.entries(limit=10_000) if entry.act.startswith(("card.", "evidence."))]
            found[brain.name] = {
                "cards": {
                    card.id: (card.statement, card.status, card.anchor, card.domain, card.active) for card in store.each_card()
                },
                "links": sorted((link.card_id, link.evidence_id, link.role) for link in store.links()),
                "events": [(one.card_id, one.type, one.before, one.after, one.reason) for one in store.card_events()],
                "acts": [(entry.act, entry.subject) for entry in acts],
                "evidence": sorted(row.id for row in store.each_evidence()),
                "intents": [one.kind for one in store.intents()],
                "erasing": store.meta("erasing"),
            }
    return found


def shown(world: World, root: str) -> list[str]:
    sections = Scholar(world, root).context("it quokka", include_cards=True, max_items=50)["sections"]
    return sorted(item["id"] for section in sections for item in section["items"])


def whole(world: World, root: str) -> None:
    """Whatever happened: the record holds, every card stands or falls with it, nothing is left half done."""
    here = Scholar(world, root)
    for tier in ({}, {"tier": "medulla"}):
        verdict = here.call("ledger.verify", **tier)
        assert verdict["intact"], verdict["breaks"]
    for name, held in state(world).items():
        assert held["intents"] == [], name
        assert held["erasing"] is None, name
        told = [act for act in held["acts"] if act[0].startswith("card.") and act[0] != "card.forgotten"]
        gone = {subject for act, subject in held["acts"] if act == "card.forgotten"}
        events = [(f"card.{kind.value}", card) for card, kind, *_ in held["events"]]
        assert events == [(act, subject) for act, subject in told if subject not in gone], name
    kinds = {one["kind"] for one in here.call("doctor", scan=True)["warnings"]}
    assert not kinds & {"card_unbacked", "ledger_broken", "database_damaged"}, kinds


def differing(deaths: list[dict[str, Any]], work: Path) -> Iterator[dict[str, Any]]:
    """Those that left other bytes than the one before: a transaction is written at its end, and a death before leaves nothing."""
    before = ""
    for death in deaths:
        now = tree_hash(work / str(death["number"]), leave=("-shm",))  # what is in there is made anew by whoever opens the file
        if now != before:
            yield death
        before = now


ACTS = (
    *("distill", "promote", "demote", "retire", "link", "unlink", "edit", "publish to repo", "publish to global"),
    *("forget", "forget evidence"),
)


@pytest.mark.req("MIND-151", "CONF-14")
@pytest.mark.parametrize("act", ACTS)
def test_a_death_before_any_statement_leaves_all_of_it_or_nothing(prepared: Prepared, act: str, tmp_path: Path) -> None:
    channel, operation, arguments = prepared.acts[act]
    words = [str(prepared.home), prepared.root, str(tmp_path), channel, operation, json.dumps(arguments)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.stepping", *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "HINDBRAIN_HOME"},
    )
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    deaths = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(deaths) > 6
    assert any("commit" in one["statement"] for one in deaths)

    def looked(number: int, look: Callable[[World], None]) -> None:
        world = World(tmp_path / str(number))
        try:
            look(world)
        finally:
            world.close()

    ends: dict[str, Any] = {}
    looked(deaths[-1]["number"], lambda world: ends.update(after=state(world), shown=shown(world, prepared.root)))
    untouched = World(prepared.home.parent)
    ends["before"] = state(untouched)
    untouched.close()
    assert ends["before"] != ends["after"]
    seen = set()
    for death in differing(deaths[:-1], tmp_path):

        def look(world: World, death: dict[str, Any] = death) -> None:
            Scholar(world, prepared.root).call("north", task="it")  # the brain wakes and finishes what was begun
            now = state(world)
            if now == ends["after"]:
                seen.add("after")
            else:
                assert now == ends["before"], (act, death)
                seen.add("before")
            whole(world, prepared.root)
            if now == ends["before"]:
                again = Scholar(world, prepared.root, human=channel == "human").call(operation, **arguments)
                assert again["ok"], (death, again)
                assert state(world) == ends["after"], death
                whole(world, prepared.root)
            assert shown(world, prepared.root) == ends["shown"]

        looked(death["number"], look)
    assert seen == {"before", "after"} or act not in ("publish to global", "forget"), "deaths fell on both sides of the commit"
