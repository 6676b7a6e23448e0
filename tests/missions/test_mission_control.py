"""Missions and the control loop are one machine: the bus hears of a mission, the controller steers it, its end is experience."""

import json
from typing import Any

import pytest

from tests.missions.test_kernel import begun, proven, root, said, swept
from tests.support.world import Actor, World

__all__ = ["root"]

TASK = "find why retry runs too often"


def messages(world: World, place: str, mission: str) -> list[dict[str, Any]]:
    """What was said on the bus in a mission, in order."""
    with world.app.house.brains.use(world.app.house.home.project(place)) as opened:  # type: ignore[arg-type]
        assert world.app.house.lines.of(opened).journal.drain(60)
        return [json.loads(one.body) for one in opened.store.messages(task_id=mission, limit=1000)]


def of_kind(told: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one["payload"] for one in told if one["type"] == kind]


def megrams(world: World, place: str) -> list[Any]:
    with world.app.house.brains.use(world.app.house.home.project(place)) as opened:  # type: ignore[arg-type]
        assert world.app.house.lines.of(opened).journal.drain(60)
        return [one.megram for one in opened.store.effective(None) if one.megram.writer == "R7"]


def failed(actor: Actor, claim: str) -> dict[str, Any]:
    return said(actor, "mission.verify", claim=claim, evidence_class="graph_orientation", evidence_refs=["graph_orientation:x"])


def refuted(actor: Actor) -> dict[str, Any]:
    """A claim that a direct event contradicts."""
    read = said(actor, "mission.event", event_type="file_read", target="src/other.py", outcome="hypothesis_refuted")
    refs = [read["event_id"]]
    return said(
        actor,
        "mission.verify",
        claim="other returns two",
        evidence_class="direct_source",
        evidence_refs=refs,
        targets=["src/other.py"],
    )


def test_ctl_108_ctl_316_a_mission_says_on_the_bus_what_a_task_says(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]
    said(actor, "mission.next")
    read = said(actor, "mission.event", event_type="file_read", target="src/worker.py")
    failed(actor, "the worker runs once too often")
    proven(actor, "the worker runs once too often")
    swept(actor)
    said(actor, "mission.close")

    told = messages(world, root, mission)
    kinds = [one["type"] for one in told if one["type"] not in ("Megram",)]
    assert kinds == [
        "TaskSpec",
        "SubTask",
        "DispatchManifest",
        "SubTask",
        "ExecutionResult",
        "SubTaskOutcome",
        "ReplanRequest",
        "PlanDirective",
        "FinalResult",
    ]
    assert of_kind(told, "TaskSpec")[0]["intent"] == TASK
    calls = of_kind(told, "ExecutionResult")[0]["tool_calls"]
    assert read["event_id"] in [one["event_id"] for one in calls]
    assert of_kind(told, "FinalResult")[0]["directive"] == "accept"


def test_ctl_317_aol_328_a_refuted_claim_turns_the_next_move_and_closes_the_family_it_used(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor)

    verdict = refuted(actor)
    told = said(actor, "mission.next")

    assert verdict["verdict"] == "rejected"
    assert told["directive"] == "break_symmetry"
    barred = {one["item"]: one for one in told["policy"]["do_not"]}
    assert barred["direct_read"]["source"] == "ggs"


def test_aol_049_rounds_follow_each_other_and_the_move_shows_both_directives(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor)
    failed(actor, "the worker is wrong")
    first = said(actor, "mission.next")
    said(actor, "mission.event", event_type="file_read", target="src/worker.py")
    for line, text in ((1, "retry takes n"), (3, "retry loops over range(n + 1)"), (5, "retry returns done")):
        proven(actor, text, line)
    failed(actor, "the worker is wrong in another way")
    second = said(actor, "mission.next")

    assert (first["prev_directive"], first["directive"]) == ("init", "change_path")
    assert (second["prev_directive"], second["directive"]) == ("change_path", "refine")


def test_ctl_318_the_budget_counts_calls_like_time_and_rounds_like_replans(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]
    for number in range(6):
        said(actor, "mission.event", event_type="runtime_probe", target=f"probe {number}")
    world.clock.forward(20_000)

    answer = failed(actor, "the worker is wrong")

    assert answer["control"]["loss"]["Omega"] == pytest.approx(0.4)
    assert said(actor, "mission.status", mission_id=mission)["control"]["round"] == 1


def test_ctl_319_what_not_to_do_names_its_four_sources(world: World, root: str) -> None:
    actor = world.at(root)
    for _ in range(2):
        begun(actor)
        said(actor, "mission.abandon", reason="it led nowhere")
    world.clock.forward(1_000)
    started = begun(actor)
    refuted(actor)
    said(actor, "mission.event", event_type="dead_path", target="src/other.py", payload={"why": "it is one line"})
    for _ in range(2):
        said(actor, "seek", query="retry")
    told = said(actor, "mission.next")

    assert "memory" in {one["source"] for one in started["do_not"]}
    sources = {one["source"] for one in told["policy"]["do_not"]}
    assert {"memory", "ggs", "loop"} <= sources
    assert all(one["reason"] and one["until"] for one in told["policy"]["do_not"])


def test_aol_048_experience_of_an_intent_is_told_at_the_start(world: World, root: str) -> None:
    actor = world.at(root)
    for _ in range(2):
        begun(actor)
        said(actor, "mission.abandon", reason="it led nowhere")

    answer = begun(actor)

    assert answer["experience"]["potentials"]["action"] == "Avoid"
    assert len(answer["experience"]["newest"]) == 2
    assert {one["source"] for one in answer["do_not"]} == {"memory"}
    (told,) = answer["do_not"]
    assert told["item"] == TASK
    assert "it led nowhere" in told["reason"]


def test_ctl_320_a_close_leaves_one_megram_and_one_for_each_dead_end(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]
    said(actor, "mission.event", event_type="dead_path", target="src/other.py", payload={"why": "it is one line"})
    proven(actor)
    swept(actor)
    said(actor, "mission.close")

    found = {(one.space, one.state): one for one in megrams(world, root)}
    assert set(found) == {("intent:find_why_retry", "accept"), ("tool:direct_read", "change_path")}
    assert found["tool:direct_read", "change_path"].entity == "path:src/other.py"
    assert {one.mission_id for one in found.values()} == {mission}


def test_ctl_320_a_mission_that_shows_nothing_is_given_up(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor)
    failed(actor, "the worker is wrong")
    closed = said(actor, "mission.close", gaps=["the worker is wrong"])

    assert closed["directive"] == "abandon"
    assert [one.state for one in megrams(world, root) if one.space.startswith("intent:")] == ["abandon"]


def test_ctl_323_the_auditor_sees_missions_dissent_and_recovery(world: World, root: str) -> None:
    actor, person = world.at(root), world.human(root)
    begun(actor)
    said(actor, "mission.next")
    why = {"why": "I know the file", "chosen_tool": "read", "evidence_required": "direct_source"}
    said(actor, "mission.event", event_type="dissent", target="src/worker.py", payload=why)
    failed(actor, "the worker is wrong")

    report = said(person, "control.audit")

    assert report["missions"]["dissent"] == 1
    assert report["report"]["tasks_observed"] == 1
    assert report["report"]["anomalies"] == []
