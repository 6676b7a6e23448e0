"""Rows that release 0.1.0 stored with Hindbrain's own text, or as a person's word: found by doctor, replaced by doctor --fix.

The rows were written by that release, in sessions of Gemini CLI, Codex and Claude Code, and exported from its home."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.caller import Channel
from hindbrain.domain.card import CardId, Link, Role
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType, evidence_id
from hindbrain.domain.ledger import Act
from hindbrain.services.brains import OpenBrain
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.gateway import recorded
from tests.support.world import World

ROWS = Path(__file__).with_name("data") / "evidence_0_1_0.jsonl"
OURS = ("indbrain", "hook_context", "```memory", "read as local time", "`north`")


def old_rows(root: str) -> list[Evidence]:
    """The rows, as if they had been written for this root."""
    found = []
    for line in ROWS.read_text().replace("{root}", root).splitlines():
        held: dict[str, Any] = json.loads(line)
        held["anchor"] = Anchor(
            kind=AnchorKind(held.pop("anchor_kind")), id=held.pop("anchor_id"), parent=held.pop("parent_anchor_id")
        )
        held |= {"domain": Domain(held["domain"]), "provenance": Provenance(held["provenance"]), "tags": tuple(held["tags"])}
        held["source_type"] = SourceType(held["source_type"])
        parts = ("anchor", "domain", "field", "provenance", "wing", "room", "thread", "position")
        made = evidence_id(held["content"], **{name: held[name] for name in parts})
        found.append(Evidence(**{**held, "id": made, "source": held["source"].replace(held["id"], made)}))
    return found


def put(opened: OpenBrain, salt: str, rows: list[Evidence]) -> None:
    """Each row with the entry in the ledger that it had there: only `Never sail in fog.` was recorded by a person."""
    with opened.store.writing() as writer:
        for row in rows:
            act = "evidence.record" if row.source_type is SourceType.MANUAL else "evidence.ingest"
            channel = Channel.HUMAN if "fog" in row.content else Channel.AGENT
            payload = {"rows": 1, "refused": 0, "digests": [recorded(salt, row.content)[:16]]}
            writer.append(Act(act=act, subject="source:x", actor="gemini", channel=channel, at=1, payload=payload))
        writer.put_evidence([(row, Batches.words(row)) for row in rows])


@pytest.fixture
def root(world: World) -> str:
    """A repository whose brain has the rows of 0.1.0."""
    return given(world)


def given(world: World) -> str:
    made = world.brain("app")
    house = world.app.house
    brain = house.brains.covering(made)
    assert brain is not None
    with house.brains.use(brain) as opened:
        put(opened, house.gateway.salt(opened), old_rows(made))
    return made


def rows_of(world: World, root: str, **more: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = world.at(root).call("memory.list", newest=False, limit=1000, **more)["rows"]
    return rows


def faults(world: World, root: str) -> dict[str, str]:
    told = world.at(root).call("doctor")
    return {one["kind"]: one["text"] for one in told["warnings"] if one["kind"] in ("own_text", "not_human")}


def test_doctor_finds_the_rows_and_changes_nothing(world: World, root: str) -> None:
    before = rows_of(world, root)

    found = faults(world, root)
    plan = world.at(root).call("doctor.fix")

    assert "10 row(s)" in found["own_text"], "two and three of Gemini CLI, two of Codex, one of Claude Code, two of a file"
    assert "5 row(s)" in found["not_human"], "four answers of an assistant, one observation of an agent"
    assert [(one["kind"], one.get("done")) for one in plan["repairs"]] == [("evidence", None)]
    assert rows_of(world, root) == before
    assert list(world.home.path.rglob("*.bak")) == []


def test_the_repair_keeps_what_people_said_and_labels_the_rest(any_world: World) -> None:
    world, root = any_world, given(any_world)
    fixed = world.at(root).call("doctor.fix", yes=True)

    rows = rows_of(world, root)
    assert [one["done"] for one in fixed["repairs"]] == [True]
    assert [row["content"] for row in rows for word in OURS if word in row["content"]] == []
    assert sorted(row["content"] for row in rows if row["provenance"] == "human") == [
        "Keep the night ferries at the end.",
        "Never sail in fog.",
        "Now by arrival, please.",
        "Please make the ferry timetable sortable.",
        "Which pier is the ferry at?",
    ]
    assert Counter(row["provenance"] for row in rows) == {"human": 5, "runtime": 6, "research": 1}
    assert next(row["content"] for row in rows if row["provenance"] == "research") == "# Rules of the house\n\nUse tabs."
    assert (faults(world, root), world.at(root).call("doctor.fix")["repairs"]) == ({}, [])
    assert world.at(root).call("ledger.verify")["ok"]
    assert "The user wants short answers." in world.at(root).call("seek", query="does the user want short answers")["rendered"]


def test_the_copy_is_named_and_a_single_row_can_be_brought_back(world: World, root: str) -> None:
    before = {row["id"]: row["content"] for row in rows_of(world, root)}

    (repair,) = world.at(root).call("doctor.fix", yes=True)["repairs"]

    (copy,) = world.home.path.rglob("brain.db.v*.bak")
    assert f"copy brain.db to {copy}," in repair["action"]
    removed = rows_of(world, root, deleted=True)
    assert {row["id"]: row["content"] for row in removed}.items() <= before.items()
    assert len(removed) == 15
    nested = next(row for row in removed if row["content"].startswith("Now by arrival"))
    assert world.at(root).call("memory.restore", evidence_id=nested["id"])["ok"]
    assert "1 row(s)" in faults(world, root)["own_text"]


def test_the_copy_restores_everything(world: World, root: str) -> None:
    before = rows_of(world, root)
    world.at(root).call("doctor.fix", yes=True)
    (copy,) = world.home.path.rglob("brain.db.v*.bak")

    world.close()
    for name in ("brain.db", "brain.db-wal", "brain.db-shm"):
        copy.with_name(name).unlink(missing_ok=True)
    copy.rename(copy.with_name("brain.db"))

    assert rows_of(world, root) == before


def test_cards_cite_what_replaces_a_row_and_an_assistant_teaches_no_more(world: World, root: str) -> None:
    answer = next(row for row in rows_of(world, root) if row["content"] == "At pier four.")
    made = world.at(root).call(
        "knowledge.distill",
        statement="The ferry is at pier four",
        tier="shu",
        supporting_refs=[answer["id"]],
        content="Seen there.",
    )
    assert made["ok"], made
    card = CardId(made["card_id"])
    brains = world.app.house.brains
    brain = brains.covering(root)
    assert brain is not None
    with brains.use(brain) as opened, opened.store.writing() as writer:  # as 0.1.0 let an agent cite it
        writer.put_link(Link(card_id=card, evidence_id=EvidenceId(answer["id"]), role=Role.TEACHING, at=1))

    world.at(root).call("doctor.fix", yes=True)

    now = next(row for row in rows_of(world, root) if row["content"] == "At pier four.")
    with brains.use(brain) as opened:
        cited = {(link.evidence_id, link.role) for link in opened.store.links(cards=[card]) if link.live}
    assert (now["provenance"], now["id"] != answer["id"]) == ("runtime", True)
    assert cited == {(now["id"], Role.SUPPORTING)}


def test_forgetting_removes_the_copy(any_world: World) -> None:
    world, root = any_world, given(any_world)
    world.at(root).call("doctor.fix", yes=True)
    row = next(one for one in rows_of(world, root) if "fog" in one["content"])
    copies = list(world.home.path.rglob("*.bak"))

    assert world.human(root).call("forget", claim=row["id"], reason="mine")["ok"]

    assert copies != []
    assert list(world.home.path.rglob("*.bak")) == []


def test_words_about_us_and_talk_between_people_are_left_alone(world: World, root: str) -> None:
    house = world.app.house
    brain = house.brains.covering(root)
    assert brain is not None
    world.at(root).call("doctor.fix", yes=True)
    of_0_1_0 = old_rows(root)[2]  # an answer of an assistant
    told = [
        replace(of_0_1_0, id=EvidenceId("ev_a"), content="We meet at the pier.", speaker="ada"),
        replace(of_0_1_0, id=EvidenceId("ev_b"), content="Why do I see <hook_context> in my prompt?", role="user"),
        replace(of_0_1_0, id=EvidenceId("ev_c"), content="👍", role="user"),
    ]
    with house.brains.use(brain) as opened:
        put(opened, house.gateway.salt(opened), told)

    assert faults(world, root) == {}
