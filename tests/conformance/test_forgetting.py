"""Forgetting erases: CONF-14, CONF-17. The ledger keeps the act, and nothing of what it was about."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.policy.limits import DAY_MS
from tests.conformance.house import background, found, places_with
from tests.support.world import World

CHIEF = "claude:orchestrator"
LABEL, SLUG = "Quokka of Zanzibar", "quokka-of-zanzibar"
WORDS = ("quokkaword", "zanzibarword")
TEXT = "the quokkaword swims in the zanzibarword"
SIBLING = "the heron stands at the pier"


def remembered(world: World) -> str:
    """A claim with a past: two versions, graded, shared, shared again, with a sibling of the same batch."""
    a = world.brain("a")
    world.at(a).memorize(LABEL, f"{TEXT}, they say", evidence=["package.json"])
    world.at(a).memorize("Heron", SIBLING)
    world.clock.forward(DAY_MS)
    world.at(a).memorize(LABEL, TEXT, confidence=0.8)
    world.at(a).call("learn", feedback="correct", node_ids=[SLUG])
    for claim in (SLUG, "heron"):
        assert world.at(a, CHIEF).call("promote", claim=claim, reason="about the animals")["ok"]
    world.at(a).north(TEXT)
    return a


def exported(world: World, root: str, name: str) -> tuple[str, bytes]:
    path = world.place / f"{name}.tar.gz"
    assert world.at(root).call("export", target=str(path))["ok"]
    return str(path), gzip.decompress(path.read_bytes())


def traces(world: World) -> list[str]:
    return sorted({place for needle in (*WORDS, LABEL, SLUG) for place in places_with(world, needle)})


def test_conf_14_forgotten_content_is_absent_everywhere_and_stays_so(any_world: World) -> None:
    a = remembered(any_world)
    before, held = exported(any_world, a, "before")
    assert TEXT.encode() in held
    assert traces(any_world)

    answer = any_world.human(a).call("forget", claim=LABEL, reason="asked by its author")

    assert answer["ok"]
    assert {one["brain"] for one in answer["reached"]} == {a, "medulla"}
    assert traces(any_world) == []
    for _ in range(2):
        background(any_world)
        assert found(any_world, a, f"{TEXT} heron pier") == [SIBLING]
        assert traces(any_world) == []
    after = exported(any_world, a, "after")[1]
    assert SIBLING.encode() in after
    assert not any(word.encode() in after for word in (*WORDS, SLUG))

    report = any_world.human(a).call("import", source=before)
    assert [(one["name"], one["code"]) for one in report["refused"]] == [(SLUG, "rejected_value")]
    assert any_world.at(a).call("history", claim=SLUG)["error"]["code"] == "unknown_claim"
    assert found(any_world, a, f"{TEXT} heron pier") == [SIBLING]
    assert traces(any_world) == []


def test_conf_14_the_ledger_records_the_act_without_the_content(any_world: World) -> None:
    a = remembered(any_world)
    any_world.human(a).call("forget", claim=SLUG, reason="asked by its author")

    for tier in ({}, {"tier": "medulla"}):
        shown = any_world.at(a).call("ledger.show", limit=5000, **tier)["entries"]
        (act,) = [entry for entry in shown if entry["act"] == "claim.forget"]
        assert (act["actor"], act["channel"], act["slug"]) == ("human:founder", "human", None)
        assert not any(word in json.dumps(shown) for word in (*WORDS, SLUG, LABEL))
        assert any_world.at(a).call("ledger.verify", **tier)["intact"]
    assert any_world.at(a).call("history", claim="heron")["versions"]


def test_conf_14_a_person_may_forget_what_was_rejected_superseded_or_removed(any_world: World) -> None:
    """No state of a claim keeps it from being forgotten."""
    a = any_world.brain("a")
    for number, end in enumerate(("reject", "remove", "conflict", "deleted", "live")):
        any_world.at(a).memorize(f"{LABEL} {number}", f"{TEXT} {number} and more")
        file = any_world.file(a, f"{SLUG}-{number}")
        if end == "reject":
            any_world.human(a).call("reject", claim=f"{SLUG}-{number}", reason="wrong")
        elif end == "remove":
            any_world.human(a).call("claim.remove", claim=f"{SLUG}-{number}")
        elif end == "deleted":
            file.unlink()
        elif end == "conflict":
            file.write_text(f"<<<<<<< HEAD\n{TEXT}\n=======\n{TEXT}!\n>>>>>>> theirs\n")
    any_world.at(a, CHIEF).memorize(f"{LABEL} 5", f"{TEXT} shared", tier="medulla")
    any_world.at(a, CHIEF).call("learn", feedback="wrong", node_ids=[f"{SLUG}-5"], tier="medulla")
    assert any_world.at(a, CHIEF).call("consolidate", apply=True)["done"]
    any_world.at(a).memorize("Heron", SIBLING)
    any_world.at(a).north(TEXT)

    assert any_world.human(a).call("forget", claim=f"{SLUG}-5", tier="medulla")["ok"]
    for number in range(5):
        assert any_world.human(a).call("forget", claim=f"{SLUG}-{number}")["ok"]

    background(any_world)
    assert traces(any_world) == []
    assert found(any_world, a, f"{TEXT} heron pier") == [SIBLING]


# -- CONF-17: copies -------------------------------------------------------------------------------------------------


@pytest.fixture
def copied(any_world: World) -> tuple[World, dict[str, str], str]:
    """A's claim in the medulla, pulled into B by an export, and from B on into C; B and C have heron claims of their own."""
    roots: dict[str, str] = {"a": remembered(any_world)}
    for name in ("b", "c"):
        roots[name] = any_world.brain(name)
        any_world.at(roots[name]).memorize(f"Heron of {name}", f"{SIBLING} of {name}")
    export, _ = exported(any_world, roots["a"], "from-a")
    assert SLUG in any_world.human(roots["b"]).call("import", source=export)["taken"]
    second, _ = exported(any_world, roots["b"], "from-b")
    assert SLUG in any_world.human(roots["c"]).call("import", source=second)["taken"]
    for root in roots.values():
        assert TEXT in found(any_world, root, TEXT)
    return any_world, roots, export


def test_conf_17_forgetting_an_original_reaches_every_copy(copied: tuple[World, dict[str, str], str]) -> None:
    world, roots, _ = copied

    answer = world.human(roots["a"]).call("forget", claim=SLUG)

    assert {one["brain"] for one in answer["reached"]} == {*roots.values(), "medulla"}
    background(world)
    assert traces(world) == []
    for name, root in roots.items():
        told = found(world, root, f"{TEXT} heron pier")
        own = {"a": [], "b": ["b"], "c": ["b", "c"]}[name]  # C took B's heron along with the rest of B's export
        assert told == [SIBLING, *(f"{SIBLING} of {one}" for one in own)]
        assert world.at(root).call("ledger.verify")["intact"]


def test_conf_17_no_export_brings_it_back_into_any_brain(copied: tuple[World, dict[str, str], str]) -> None:
    world, roots, export = copied
    world.human(roots["a"]).call("forget", claim=SLUG)
    roots["d"] = world.brain("d")  # a brain that never had it

    for root in roots.values():
        for more in ({}, {"tier": "medulla"}):
            report = world.human(root).call("import", source=export, **more)
            assert [one["name"] for one in report["refused"]] == [SLUG], (root, more)

    assert traces(world) == []
    assert SIBLING in found(world, roots["d"], "heron pier")


def test_conf_17_another_scope_keeps_what_is_its_own(any_world: World) -> None:
    """B wrote under the same label, and shared its version over A's copy: forgetting in A takes A's and nothing of B's."""
    a, b = remembered(any_world), any_world.brain("b")
    theirs = "the quokka of b sleeps all day"
    any_world.at(b).memorize(LABEL, theirs, confidence=0.9)
    assert any_world.at(b, CHIEF).call("promote", claim=SLUG, reason="seen in b")["ok"]

    any_world.human(a).call("forget", claim=SLUG)

    assert any_world.file(b, SLUG).is_file()
    assert any_world.file(None, SLUG).is_file()
    assert [needle for needle in WORDS if places_with(any_world, needle)] == []
    assert found(any_world, b, "quokka sleeps") == [theirs]
    (row,) = any_world.at(a).seek("quokka sleeps")["results"]
    assert (row["tier"], row["origin_brain"], row["text"]) == ("medulla", b, theirs)
    assert any_world.at(a).call("ledger.verify", tier="medulla")["intact"]


def test_conf_17_forgetting_the_copy_leaves_the_original(any_world: World) -> None:
    a, c = remembered(any_world), any_world.brain("c")

    answer: dict[str, Any] = any_world.human(a).call("forget", claim=SLUG, tier="medulla")

    assert [one["brain"] for one in answer["reached"]] == ["medulla"]
    assert TEXT in found(any_world, a, TEXT)
    assert TEXT not in found(any_world, c, TEXT)
    assert found(any_world, c, "heron") == [SIBLING]
    assert not Path(any_world.file(None, SLUG)).exists()
