"""Attack F39: what `forget` leaves. One sentence is planted in every place that can hold text, then a person forgets it."""

import base64
import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.house import places_with
from tests.support.world import Actor, World

LABEL = "Violet heron ledger"
WORDS = "quokkaword swims nightly through the zanzibarword harbour"
TEXT = f"The {WORDS}."
SIBLING = "The grey gull rests upon the northern pier."
NEEDLES = ("quokkaword", "zanzibarword", "violet-heron", "violet heron", "Violet heron")


def residue(*places: Path) -> list[str]:
    """Every file below these places that holds one of the words, raw or packed."""
    found = []
    for place in places:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink():
                raw = path.read_bytes()
                raw += gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else b""
                raw += b"".join(base64.b64decode(piece) for piece in re.findall(rb'"data":"([A-Za-z0-9+/=]+)"', raw))
                found += [f"{path}: {needle}" for needle in NEEDLES if needle.encode() in raw or needle in path.name]
    return found


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"] is True, answer
    return answer


def _claims(agent: Actor, person: Actor, root: str) -> None:
    done(agent.memorize(LABEL, f"{TEXT} At first.", evidence=["package.json"]))
    done(agent.memorize(LABEL, TEXT, confidence=0.8))
    done(agent.call("learn", feedback="correct", node_ids=["violet-heron-ledger"], query=TEXT))
    agent.north(TEXT)
    agent.seek(TEXT)
    agent.call("activate", query=TEXT)


def _evidence(agent: Actor, person: Actor, root: str) -> None:
    done(agent.call("record", text=TEXT))
    done(agent.call("record", text=f"We met. {TEXT} Then we left."))
    done(agent.call("memory.ingest", text=f"{TEXT}\n\n{SIBLING}\n", source="notes"))
    removed = done(agent.call("record", text=f"Deleted already: {TEXT}"))
    done(agent.call("memory.delete", evidence_id=removed["evidence_id"], reason="not needed"))


def _cards(agent: Actor, person: Actor, root: str) -> None:
    row = done(agent.call("record", text=f"{TEXT} Seen by the keeper."))
    done(
        agent.call(
            "knowledge.distill",
            statement=TEXT,
            content=f"The keeper saw it twice: {TEXT}",
            tier="shu",
            supporting_refs=[row["evidence_id"]],
        )
    )
    done(agent.call("adoption.record", track="card_context", signal="accepted", feature="context", note=TEXT, query=TEXT))


def _boot(agent: Actor, person: Actor, root: str) -> None:
    done(agent.call("boot_memory", action="set", key="heron", value={"told": [TEXT]}))
    done(agent.call("boot_memory", action="set", key="gull", value=SIBLING))


def _letters(agent: Actor, person: Actor, root: str) -> None:
    done(agent.call("report", **{"class": "friction"}, what=TEXT, snippet=TEXT))
    done(agent.call("report", **{"class": "friction"}, what=SIBLING))
    done(person.call("mailbox.distribute"))


def _bus(agent: Actor, person: Actor, root: str) -> None:
    for name in ("a", "b"):
        done(agent.call("cowork.register", agent_id=name, tool="codex"))
    done(agent.call("cowork.send", **{"from": "a"}, to="b", message=TEXT))
    done(agent.call("cowork.drain", agent_id="b", batch="first"))
    done(agent.call("cowork.send", **{"from": "a"}, to="b", message=TEXT))
    done(agent.call("cowork.send", **{"from": "a"}, to="b", message=SIBLING))
    done(agent.call("cowork.session.create", session_id="s", title=TEXT, goal=TEXT, agents=["a", "b"]))
    done(agent.call("cowork.reserve", agent_id="a", paths=["package.json"], reason=TEXT))


def _partner(agent: Actor, person: Actor, root: str) -> None:
    done(agent.call("partner.push", content=TEXT, target_tool="claude"))
    done(agent.call("partner.push", content=SIBLING, target_tool="claude"))


def _mission(agent: Actor, person: Actor, root: str) -> None:
    begun = done(agent.call("mission.start", task=TEXT))
    agent.call("seek", query=TEXT)
    done(agent.call("mission.claim", claim=TEXT, mission_id=begun["mission_id"]))
    done(agent.call("mission.handoff", summary=TEXT, mission_id=begun["mission_id"]))


def _experience(agent: Actor, person: Actor, root: str) -> None:
    done(person.call("experience.remember", text=TEXT))


def _delegation(agent: Actor, person: Actor, root: str) -> None:
    packet = done(agent.call("delegate", task=f"Change worker.py: {TEXT}", scope={"paths": ["worker.py"]}))
    agent.call(
        "debrief",
        delegation_id=packet["delegation_id"],
        subagent_id="child",
        outcome="done",
        report_text=TEXT,
        findings=[{"label": "Gull", "text": SIBLING}],
    )


def _task(agent: Actor, person: Actor, root: str) -> None:
    done(agent.call("run", goal=f"Write it down: {TEXT}", empty=True, wait_s=60))


def _battery(agent: Actor, person: Actor, root: str) -> None:
    letter = done(agent.call("report", **{"class": "memory_misdelivery"}, kind="leak", what=TEXT))
    done(person.call("battery.add", letter_id=letter["id"], name="leak", about=TEXT, absent=[TEXT]))


def _exports(agent: Actor, person: Actor, root: str) -> None:
    home = person._world.app.home
    place = home.exports_dir(home.project(root) or home.medulla())
    place.mkdir(parents=True)
    done(person.call("export", target=str(person._world.place / "all.tar.gz")))
    shutil.move(person._world.place / "all.tar.gz", place)
    (place / "graph.json").write_text(json.dumps({"label": TEXT}))
    (place / "gulls.json").write_text(json.dumps({"label": SIBLING}))


def _refusals(agent: Actor, person: Actor, root: str) -> None:
    agent.call("memorize", node_label=f"{LABEL} again", text=f"{TEXT} token=ghp_{'a1B2' * 9}")
    agent.call("promote", claim=LABEL, reason=TEXT, brain="/nowhere")
    agent.call("memory.get", evidence_id=TEXT)


def _hooks(agent: Actor, person: Actor, root: str) -> None:
    for event, payload in (
        ("SessionStart", {"session_id": "h", "cwd": root, "source": "startup"}),
        ("UserPromptSubmit", {"session_id": "h", "cwd": root, "prompt": TEXT}),
    ):
        agent.call("hosts.event", host="claude-code", event=event, payload=payload)


def _repeated(agent: Actor, person: Actor, root: str) -> None:
    """The same sentence several times in one row: after a list mark, in a quotation, at the end."""
    done(agent.call("record", text=f"{SIBLING} {TEXT} We met.\n- {TEXT}\n> {TEXT}\nThen we left. {TEXT}"))
    done(agent.call("cowork.session.close", session_id="s", capture=True, execute=True))
    done(agent.call("record", text=SIBLING, source=f"said: {TEXT}", tags=[WORDS[:60]]))


def _reasons(agent: Actor, person: Actor, root: str) -> None:
    """What somebody writes beside an act."""
    first, second = (done(agent.call("record", text=f"{SIBLING} Number {one}."))["evidence_id"] for one in ("one", "two"))
    made = {"statement": "Gulls rest on the pier.", "content": "Seen twice.", "tier": "shu", "supporting_refs": [first]}
    card = done(agent.call("knowledge.distill", **made))["card_id"]
    done(agent.call("knowledge.annotate", card_id=card, reason=TEXT, metadata={"note": [TEXT]}))
    done(agent.call("knowledge.edit", card_id=card, statement="Gulls rest on piers.", reason=TEXT))
    done(agent.call("knowledge.link", card_id=card, evidence_id=second, role="supporting", note=TEXT))
    done(agent.call("knowledge.unlink", card_id=card, evidence_id=second, role="supporting", reason=TEXT))
    done(agent.call("memory.delete", evidence_id=second, reason=TEXT))
    done(person.call("reject", claim="Otter", value="The otter sleeps under the southern bridge.", reason=TEXT))


PLANTS: tuple[Callable[[Actor, Actor, str], None], ...] = (
    _claims,
    _evidence,
    _cards,
    _boot,
    _letters,
    _bus,
    _repeated,
    _reasons,
    _partner,
    _experience,
    _delegation,
    _refusals,
    _hooks,
    _task,
    _battery,
    _mission,
    _exports,
)


def planted(world: World) -> tuple[str, Actor]:
    root = world.repository("x", worker_py="def work(): ...\n")
    person = world.human(root)
    done(person.call("init", path=root))
    agent = world.at(root, "codex:maker")
    for plant in PLANTS:
        plant(agent, person, root)
    assert residue(world.app.home.path, Path(root, ".hindbrain"))
    return root, person


@pytest.mark.parametrize("again", [False, True])
def test_f39_a_forgotten_claim_leaves_no_byte_in_any_store(any_world: World, again: bool) -> None:
    root, person = planted(any_world)

    answer = done(person.call("forget", claim=LABEL, reason="asked by its author"))
    if again:
        any_world.restart()

    assert residue(any_world.app.home.path, Path(root, ".hindbrain")) == []
    assert [place for needle in NEEDLES for place in places_with(any_world, needle)] == [], "tables of a server, too"
    assert "git history" in answer["rendered"]
    reached = answer["reached"][0]
    assert set(reached["also"]) == {
        "evidence",
        "experience",
        "boot_memory",
        "letters",
        "messages",
        "battery",
        "exports",
        "reasons",
    }
    assert "not_reached" not in reached
    assert any_world.at(root).call("ledger.verify")["intact"] is True
    kept = json.dumps(any_world.at(root).call("boot_memory", action="list")) + json.dumps(any_world.at(root).call("mailbox.show"))
    assert kept.count("grey gull") >= 2, "what says something else stays"
    drained = any_world.at(root).call("cowork.drain", agent_id="b")["messages"]
    assert [one["content"] for one in drained] == ["[forgotten]", SIBLING]


@pytest.mark.parametrize("kind", ["evidence", "card"])
def test_f39_forgetting_evidence_or_a_card_walks_the_same_stores(world: World, kind: str) -> None:
    root = world.repository("x", worker_py="def work(): ...\n")
    person, agent = world.human(root), world.at(root)
    done(person.call("init", path=root))
    for plant in (_boot, _letters, _bus, _partner, _experience, _battery, _mission, _task):
        plant(agent, person, root)
    row = done(agent.call("record", text=TEXT))["evidence_id"]
    card = done(agent.call("knowledge.distill", statement=TEXT, content="Seen by the keeper.", tier="shu", supporting_refs=[row]))

    answer = done(person.call("forget", claim=row if kind == "evidence" else card["card_id"], reason="asked by its author"))

    assert residue(world.app.home.path, Path(root, ".hindbrain")) == []
    assert "git history" in answer["rendered"]


def test_f39_the_same_words_under_another_label_go_too_and_mentions_are_named(world: World) -> None:
    root = world.brain("x")
    agent, person = world.at(root), world.human(root)
    for label, text in ((LABEL, TEXT), ("Heron copy", TEXT), ("Gulls", SIBLING), ("Both", f"{SIBLING} We saw that {TEXT}")):
        agent.memorize(label, text)

    answer = done(person.call("forget", claim=LABEL, reason="asked by its author"))

    assert {one["slug"] for one in agent.call("claims")["claims"]} == {"gulls", "both"}
    assert answer["mentioned_in"] == ["both"]
    assert "both" in answer["rendered"]
    done(person.call("forget", claim="both", reason="asked by its author"))
    assert residue(world.app.home.path) == []


def test_f39_a_sentence_in_six_hundred_rows_is_forgotten_in_all(world: World) -> None:
    root = world.brain("x")
    person = world.human(root)
    world.at(root).memorize(LABEL, TEXT)
    notes = "\n\n".join(f"{TEXT} Note {one}. {'More about gulls. ' * 40}" for one in range(600))
    done(world.at(root).call("memory.ingest", text=notes, source="notes"))

    done(person.call("forget", claim=LABEL, reason="asked by its author"))

    assert residue(world.app.home.path) == []


@pytest.mark.parametrize("act", ["forget", "reject"])
def test_f39_a_buried_sentence_does_not_return_in_a_text_that_repeats_it(world: World, act: str) -> None:
    root = world.brain("x")
    agent, person = world.at(root), world.human(root)
    agent.memorize(LABEL, TEXT)
    before = done(agent.call("record", text=f"{SIBLING} {TEXT} We met.\n- {TEXT}"))["evidence_id"]
    done(person.call(act, claim=LABEL, reason="asked by its author"))

    agent.call("memory.ingest", text=f"{SIBLING}\n\n{TEXT}\n\nWe met.\n\n> {TEXT}\n\n- {TEXT}\n", source="notes")

    rows = agent.call("memory.list", limit=50)["rows"]
    assert before not in [one["id"] for one in rows]
    assert "grey gull" in json.dumps(rows)
    assert "quokkaword" not in json.dumps(rows)


def test_f39_another_project_keeps_its_own_words(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    for root in (x, y):
        world.at(root).memorize(LABEL, TEXT)
        for plant in (_evidence, _boot, _letters, _bus, _partner):
            plant(world.at(root), world.human(root), root)
    before = {path: path.read_bytes() for path in Path(y, ".hindbrain").rglob("*") if path.is_file()}

    done(world.human(x).call("forget", claim=LABEL, reason="asked by its author"))

    there = world.at(y)
    assert [one["slug"] for one in there.call("claims")["claims"]] == ["violet-heron-ledger"]
    assert [one["content"] for one in there.call("cowork.drain", agent_id="b")["messages"]] == [TEXT, SIBLING]
    assert TEXT in json.dumps(there.call("boot_memory", action="list"))
    assert TEXT in json.dumps(there.call("mailbox.show"))
    assert {path: path.read_bytes() for path in Path(y, ".hindbrain").rglob("*") if path.is_file()} == before


def test_f39_a_store_that_cannot_be_reached_is_named_and_the_others_are_cleaned(world: World) -> None:
    _, person = planted(world)
    world.app.home.field_reports_file.unlink()
    world.app.home.field_reports_file.mkdir()

    answer = done(person.call("forget", claim=LABEL, reason="asked by its author"))

    assert [one["store"] for one in answer["reached"][0]["not_reached"]] == ["letters"]
    assert "Not reached" in answer["rendered"]
    assert {"boot_memory", "messages", "evidence"} <= set(answer["reached"][0]["also"])
