"""Status: what was learned, by tier and status, and a warning when knowledge outgrows what it rests on (MIND-044, MIND-094)."""

from typing import Any

import pytest

from hindbrain import __version__
from hindbrain.policy.texts import INSTRUCTIONS
from tests.support.world import Actor, World


@pytest.fixture
def actor(any_world: World) -> Actor:
    return any_world.at(any_world.brain("app"))


def observed(actor: Actor, number: int) -> list[str]:
    return [str(actor.call("record", text=f"the outage grew, seen in case {one}")["evidence_id"]) for one in range(number)]


def distilled(actor: Actor, name: str, refs: list[str], tier: str = "qi") -> str:
    made = actor.call(
        "knowledge.distill",
        statement=f"Bound the {name}.",
        content=f"Without a bound the {name} hides the fault.",
        tier=tier,
        supporting_refs=refs,
    )
    assert made["ok"], made
    return str(made["card_id"])


def promoted(actor: Actor, name: str, refs: list[str], tier: str = "qi") -> None:
    card = distilled(actor, name, refs[:1], tier)
    done = actor.call("knowledge.promote", card_id=card, status="promoted", verification_refs=refs[1:2], reason="seen again")
    assert done["ok"], done


def shown(actor: Actor) -> dict[str, Any]:
    """What `hindbrain status` shows beside its processes."""
    return actor.call("instances")


@pytest.mark.req("MIND-044")
def test_mind_044_learning_is_counted_by_tier_and_status(actor: Actor) -> None:
    refs = observed(actor, 3)
    distilled(actor, "retry", refs[:1])
    promoted(actor, "queue", refs, "shu")

    for answer in (shown(actor), actor.call("health")):
        assert answer["knowledge_by_tier_status"] == {"qi.candidate": 1, "shu.promoted": 1}
        assert (answer["evidence_count"], answer["knowledge_ratio"], answer["warnings"]) == (3, 0.333, [])


@pytest.mark.req("MIND-094")
def test_mind_094_more_knowledge_than_evidence_is_warned_of(actor: Actor) -> None:
    refs = observed(actor, 3)
    for name in ("retry", "queue", "pool", "cache"):
        promoted(actor, name, refs)

    many = shown(actor)
    observed(actor, 5)

    assert len(many["warnings"]) == 1
    assert "active knowledge outnumbers evidence" in many["warnings"][0]
    assert shown(actor)["warnings"] == []


@pytest.mark.req("MIND-506", "MIND-507")
def test_mind_506_deleted_rows_and_the_protocol_are_told(actor: Actor) -> None:
    first, _ = observed(actor, 2)
    actor.call("memory.delete", evidence_id=first)

    health = actor.call("health")

    assert (health["evidence_count"], health["deleted_count"]) == (1, 1)
    assert health["schema_version"] >= 3
    assert (health["protocol"], health["protocol_version"]) == (INSTRUCTIONS, __version__)
