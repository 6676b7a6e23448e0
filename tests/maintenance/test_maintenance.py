"""Maintenance: a checklist whose commands are real, and a plan that carries nothing out (MIND-491 to MIND-496, MIND-396)."""

import re
import shlex
import subprocess
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, describe
from hindbrain.policy.maintenance import STEPS
from hindbrain.surfaces import arguments
from hindbrain.surfaces.manifest import Manifest
from tests.support.still import still
from tests.support.world import Actor, World

NINE = (
    "research validation",
    "research ingest",
    "distill",
    "card gates",
    "context use and adoption",
    "adoption review",
    "rollback",
    "cowork handoff",
    "explicit capture",
)


def parsed(line: str) -> tuple[str, dict[str, Any]]:
    """A command line as the program itself reads it: its operation and arguments."""
    program, *words = shlex.split(line, comments=True)
    assert program == "hindbrain"
    given: dict[str, Any] = {}
    rest = arguments.leading(words, given)
    found = Manifest([describe(REGISTRY[name]) for name in sorted(REGISTRY)]).resolve(rest)
    assert found is not None, line
    op, count = found
    return op["name"], arguments.parse(op, rest[count:], given)


def lines(content: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", content, re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def actor(world: World) -> Actor:
    return world.at(world.brain("app"))


def candidate(actor: Actor) -> str:
    ref = actor.call("record", text="retries without a bound made the outage longer")["evidence_id"]
    made = actor.call(
        "knowledge.distill",
        statement="Bound every retry.",
        content="An endless retry hides the fault; short jobs may differ.",
        tier="qi",
        supporting_refs=[ref],
    )
    assert made["ok"], made
    return str(made["card_id"])


@pytest.mark.req("MIND-491")
def test_mind_491_the_runbook_names_its_nine_topics_and_needs_no_home(world: World) -> None:
    answer = world.at(None).call("maintenance.runbook")

    heads = re.findall(r"^## \d+\. (.+)$", answer["content"], re.M)
    assert [head.lower() for head in heads] == list(NINE)
    assert isinstance(answer["title"], str)
    assert not world.home.path.exists()


def test_mind_492_every_command_of_the_runbook_is_taken_by_the_program(world: World) -> None:
    found = lines(world.at(None).call("maintenance.runbook")["content"])

    assert len(found) >= 9
    assert {parsed(line)[0] for line in found} >= {
        *("research.ingest", "knowledge.gate", "context", "adoption.review"),
        *("cowork.doctor", "cowork.handoff", "cowork.capture"),
    }


@pytest.mark.req("MIND-396")
def test_mind_396_outcomes_are_recorded_and_reviewed_before_a_default_is_touched(world: World) -> None:
    names = [parsed(line)[0] for line in lines(world.at(None).call("maintenance.runbook")["content"])]

    recorded, reviewed = names.index("adoption.capture"), names.index("adoption.review")
    defaults = [at for at, name in enumerate(names) if name.startswith("defaults.")]
    assert recorded < reviewed < min(defaults)
    granting = {"knowledge.promote", "knowledge.publish", "knowledge.raise", "defaults.set", "promote"}
    assert granting.isdisjoint(names), "no step adds authority"


@pytest.mark.req("MIND-493")
def test_mind_493_the_plan_counts_and_starts_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = world.at(None).call("maintenance.plan")
    assert (nobody["evidence_count"], nobody["card_count"], nobody["runtime_adoption_event_count"]) == (0, 0, 0)
    assert (nobody["writes"], world.home.path.exists()) == (False, False)

    actor = world.at(world.brain("app"))
    card = candidate(actor)
    noted = actor.call("adoption.record", track="card_context", signal="used", feature="include_cards", card_id=card, note="n")
    assert noted["ok"], noted
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **more: started.append(words))
    with still(world.home.path):
        seeded = actor.call("maintenance.plan")

    assert (seeded["evidence_count"], seeded["card_count"], seeded["runtime_adoption_event_count"]) == (1, 1, 1)
    assert (seeded["writes"], started) == (False, [])


@pytest.mark.req("MIND-494")
def test_mind_494_eleven_steps_and_which_of_them_write(actor: Actor) -> None:
    steps = actor.call("maintenance.plan")["steps"]

    assert [step["order"] for step in steps] == list(range(1, 12))
    assert [step["order"] for step in steps if step["writes"]] == [3, 4, 11]
    assert [parsed(step["command"])[0] for step in steps] == [
        "research.validate",
        "research.ingest",
        "research.ingest",
        "knowledge.distill",
        "knowledge.gate",
        "context",
        "adoption.review",
        "defaults.rollback",
        "cowork.doctor",
        "cowork.handoff",
        "cowork.capture",
    ]
    executes = [parsed(step["command"])[1].get("execute") for step in steps]
    assert [order for order, given in enumerate(executes, start=1) if given] == [3, 11]


@pytest.mark.req("MIND-495")
def test_mind_495_a_step_that_makes_no_sense_says_why(actor: Actor) -> None:
    empty = actor.call("maintenance.plan")["steps"]
    candidate(actor)
    begun = actor.call("maintenance.plan")["steps"]
    assert actor.call("cowork.register", agent_id="codex-a", tool="codex")["ok"]
    staffed = actor.call("maintenance.plan")

    assert [step["applicable"] for step in empty] == [True] * 3 + [False] * 8
    assert all(step["reason"] for step in empty if not step["applicable"])
    assert [step["order"] for step in begun if step["applicable"]] == [1, 2, 3, 4, 5, 6]
    assert {step["reason"] for step in begun[8:]} == {"no agents are registered"}
    assert [step["order"] for step in staffed["steps"] if step["applicable"]] == [1, 2, 3, 4, 5, 6, 9, 10, 11]
    assert "hindbrain cowork doctor" in staffed["rendered"]


@pytest.mark.req("MIND-494", "MIND-495")
def test_mind_494_the_last_three_steps_run_as_the_plan_spells_them(actor: Actor) -> None:
    assert actor.call("cowork.register", agent_id="codex-a", tool="codex")["ok"]
    steps = [parsed(step["command"]) for step in actor.call("maintenance.plan")["steps"][8:]]

    doctor, handoff, captured = (actor.call(operation, **given) for operation, given in steps)

    assert doctor["agent_count"] == 1
    assert "codex-a" in handoff["rendered"]
    assert "codex-a" in str(actor.call("memory.get", evidence_id=captured["evidence_id"]))


@pytest.mark.req("MIND-496")
def test_mind_496_maintenance_gives_no_card_its_status(actor: Actor) -> None:
    card = candidate(actor)
    check = actor.call("record", text="the second outage showed it again")["evidence_id"]
    assert actor.call("knowledge.link", card_id=card, evidence_id=check, role="verification")["ok"]
    assert actor.call("knowledge.gate", card_id=card)["allowed"]
    before = actor.call("knowledge.get", card_id=card)

    plan = actor.call("maintenance.plan")

    assert actor.call("knowledge.get", card_id=card) == before
    assert not any("promote" in step["command"] for step in plan["steps"])
    assert not any("promote" in step.operation for step in STEPS)
