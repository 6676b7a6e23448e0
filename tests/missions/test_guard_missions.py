"""The guard inside of missions: the front door, the looks on the way, drift in the packet, and the ten questions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.caller import AgentId, RootSource
from hindbrain.domain.mission import ContextGuard
from hindbrain.services.missions.graph import NullGraph
from tests.support.world import Actor, World, git

CODE = "def total(prices):\n    return sum(prices) + 1\n"


@pytest.fixture
def shop(world: World) -> str:
    root = world.repository("shop", total_py=CODE)
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin")
    return world.brain("shop")


def done(actor: Actor, operation: str, **arguments: Any) -> dict[str, Any]:
    answer = actor.call(operation, **arguments)
    assert answer["ok"], answer
    return answer


def started(actor: Actor, **asked: Any) -> dict[str, Any]:
    return done(actor, "mission.start", **{"task": "see whether total adds up", "mode": "review", "budget": "short", **asked})


def proven(actor: Actor) -> dict[str, Any]:
    """A claim with a direct source."""
    return done(
        actor,
        "mission.verify",
        claim="total adds one too many",
        evidence_class="direct_source",
        evidence_refs=["direct_source:total.py:2"],
    )


def guards(actor: Actor) -> list[dict[str, Any]]:
    """The guard events of the mission, in their order."""
    return looks(done(actor, "mission.export", format="events"))


def looks(exported: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in exported["data"] if one["event_type"] == "context_guard"]


def ask(actor: Actor, topic: str, **more: Any) -> Any:
    return done(actor, "ask", topic=topic, **more)["answer"]


# --- the front door -----------------------------------------------------------------------------------------------------


def test_aol_067_aol_299_the_guard_is_the_first_event_and_part_of_the_state(world: World, shop: str) -> None:
    actor = world.at(shop)

    begun = started(actor)

    (first,) = guards(actor)
    assert first["seq"] == 1
    assert first["payload"]["guard"]["classification"] == "single_repo"
    state = done(actor, "mission.export", format="state")["data"]
    assert msgspec.convert(state["context_guard"], ContextGuard) == msgspec.convert(first["payload"]["guard"], ContextGuard)
    assert state["trust"]["verdict"] == "full_trust"
    assert {"repo", "workspace_root", "ingest_roots", "runtime_root", "binary_version", "graph_generation"} <= set(
        begun["context_guard"]
    )
    assert begun["context_guard"]["repo"] == shop


def test_aol_067_aol_083_a_mission_for_another_repository_is_told_at_the_door(world: World, shop: str) -> None:
    other = world.repository("other", main_py="x = 1\n")
    actor = world.at(shop)

    begun = started(actor, repo=other)
    move = done(actor, "mission.next")

    assert begun["context_guard"]["classification"] == "wrong_workspace_binding"
    assert begun["phase"] == "recover"
    forbidden = [one for one in move["policy"]["do_not"] if one["source"] == "guard"]
    assert ("graph", "tool_family") in [(one["item"], one["kind"]) for one in forbidden]
    assert {"seek", "search"} & {one["item"] for one in forbidden}, "retrieval itself is named until the rebind"
    assert move["move"]["type"] in ("rebind", "recover")
    assert ask(actor, "avoid")["do_not"] == move["policy"]["do_not"]


def test_aol_084_drift_is_found_at_the_first_verdict_and_stands_in_the_packet(world: World, shop: str) -> None:
    actor = world.at(shop)
    mission = started(actor)["mission_id"]
    git(shop, "switch", "-q", "-c", "elsewhere")

    proven(actor)
    proven(actor)

    kinds = [one["payload"]["warnings"] for one in guards(actor)]
    assert kinds == [[], ["context_drift: branch was main, is elsewhere"]]
    closed = done(actor, "mission.close", summary="one too many")
    packet = done(actor, "mission.export", mission_id=mission, format="proof")["data"]
    assert packet["context_guard_at_start"]["branch_head"].startswith("main@")
    assert packet["context_guard_at_close"]["branch_head"].startswith("elsewhere@")
    assert any("context_drift" in one for one in packet["warnings"]), closed


def test_aol_084_the_guard_looks_again_at_hand_over_resume_and_close(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)
    seen = [len(guards(actor))]
    generations = [1]
    mission = done(actor, "mission.list")["missions"][0]["mission_id"]
    for act in ("mission.handoff", "mission.resume", "mission.close"):
        done(actor, "ingest", path=shop)
        more: dict[str, Any] = {"mission_id": mission}
        if act == "mission.close":
            more |= {"force": True, "reason": "only the guard is looked at"}
        done(actor, act, **more)
        found = looks(done(actor, "mission.export", mission_id=mission, format="events"))
        seen.append(len(found))
        assert found[-1]["payload"]["guard"]["graph_generation"] == generations[-1] + 1, act
        assert any("context_drift: graph_generation" in one for one in found[-1]["payload"]["warnings"]), act
        generations.append(found[-1]["payload"]["guard"]["graph_generation"])

    assert seen == [1, 2, 3, 4]


def test_aol_078_a_notice_of_other_roots_makes_a_guard_event(world: World, shop: str) -> None:
    """As the surface tells it: the notice itself says no agent, the session knows who works in it."""
    other = world.repository("other", main_py="x = 1\n")
    actor = world.at(shop)
    started(actor)
    told = replace(actor.caller, agent=AgentId("host:unknown"), offered_roots=(other,), root_source=RootSource.DIRECTORY)

    world.app.roots_changed(told)

    first, second = guards(actor)
    assert first["payload"]["guard"]["classification"] == "single_repo"
    assert second["payload"]["guard"]["classification"] == "wrong_workspace_binding"
    assert second["payload"]["guard"]["workspace_root_source"] == "mcp_roots"
    assert any("context_drift: classification" in one for one in second["payload"]["warnings"])


def test_aol_078_a_notice_of_a_session_without_a_brain_is_harmless(world: World, shop: str) -> None:
    started(world.at(shop))

    world.app.roots_changed(world.at(world.repository("stranger")).caller)

    assert len(guards(world.at(shop))) == 1


def test_aol_330_a_mission_without_a_graph_ends_with_direct_proof_alone(world: World, shop: str) -> None:
    world.app.house.guard.graph = NullGraph()
    actor = world.at(shop)

    begun = started(actor)
    verdict = proven(actor)
    closed = done(actor, "mission.close", summary="one too many")

    assert (begun["context_guard"]["graph_generation"], begun["trust"]["node_count"]) == (0, 0)
    assert verdict["verdict"] == "verified_for_mission"
    packet = done(actor, "mission.export", mission_id=begun["mission_id"], format="proof")["data"]
    assert packet["counters"]["graph_call_count"] == 0
    assert len(packet["verified_claims"]) == 1
    assert closed["ok"]


# --- the ten questions ----------------------------------------------------------------------------------------------------


def test_aol_006_which_workspace_am_i_in(world: World, shop: str) -> None:
    answer = ask(world.at(shop), "workspace")

    assert (answer["workspace_root"], answer["repo"], answer["ingest_roots"]) == (shop, shop, [shop])
    assert (answer["classification"], answer["graph_generation"]) == ("single_repo", 1)
    assert answer["repository_identity"].startswith("git:")


def test_aol_007_is_the_graph_fresh_enough(world: World, shop: str) -> None:
    actor = world.at(shop)
    world.clock.forward(90_000)
    fresh = ask(actor, "freshness")
    Path(shop, "total.py").write_text(CODE + "\n", encoding="utf-8")

    stale = ask(actor, "freshness")

    assert (fresh["graph_generation"], fresh["age_ms"], fresh["changed_files"], fresh["verdict"]) == (1, 90_000, 0, "full_trust")
    assert (stale["changed_files"], stale["verdict"], stale["graph_freshness"]) == (1, "orientation_only", "stale")


def test_aol_008_which_route_should_this_task_take(world: World, shop: str) -> None:
    actor = world.at(shop)

    short = ask(actor, "route", mode="bug_hunt", budget="short")
    known = ask(actor, "route", mode="bug_hunt", budget="short", known_targets=["total.py"])
    risky = ask(actor, "route", mode="refactor", risk="high")

    assert short["route"] == "short_audit"
    assert "one orientation call" in short["reason"]
    assert (known["route"], known["first_move_route"]) == ("short_audit", "direct_proof")
    assert risky["route"] == "risk_first"
    wrong = actor.call("ask", topic="route", mode="stroll")["error"]
    assert (wrong["code"], "bug_hunt" in wrong["fix"]) == ("invalid_params", True)


def test_aol_009_what_is_the_next_best_move(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)

    told = ask(actor, "next")

    assert told["move"] == done(actor, "mission.next")["move"]
    assert ask(actor, "next")["rule"]


def test_aol_010_which_tools_should_i_avoid_now(world: World, shop: str) -> None:
    other = world.repository("other", main_py="x = 1\n")
    actor = world.at(shop)

    nothing, wrong = ask(actor, "avoid")["do_not"], ask(actor, "avoid", repo=other)["do_not"]

    assert nothing == []
    assert [(one["item"], one["source"]) for one in wrong] == [("graph", "guard")]
    assert all(one["reason"] and one["until"] for one in wrong)


def test_aol_011_aol_013_what_is_proven_and_what_failed(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)
    assert ask(actor, "proven") == {"claims": [], "proven": False}
    proven(actor)
    graph_only = done(actor, "mission.verify", claim="nobody calls total", evidence_class="graph_structural", evidence_refs=[])
    done(
        actor, "mission.event", event_type="web_fetch", target="docs.example.org", outcome="error", failure_class="environmental"
    )

    every = ask(actor, "proven")
    one = ask(actor, "proven", claim="total adds one too many")
    failed = ask(actor, "failed")

    assert (every["proven"], one["proven"]) == (False, True)
    assert one["claims"][0]["evidence_grade"] == "direct"
    assert [row["claim_id"] for row in failed["claims"]] == [graph_only["claim_id"]]
    assert failed["claims"][0]["missing"]
    (event,) = [row for row in failed["events"] if row["target"] == "docs.example.org"]
    assert (event["outcome"], event["failure_class"]) == ("error", "environmental")
    assert actor.call("ask", topic="proven", claim="unheard of")["error"]["code"] == "invalid_params"


def test_aol_012_aol_014_what_was_covered_and_whether_it_can_be_resumed(world: World, shop: str) -> None:
    first, second = world.at(shop, "codex:first"), world.at(shop, "codex:second")
    mission = started(first)["mission_id"]
    done(first, "mission.event", event_type="file_read", target="total.py")
    done(first, "mission.event", event_type="dead_path", target="package.json", payload={"why": "holds no code"})
    refused = ask(second, "resumable", mission_id=mission)
    world.restart()

    own = ask(first, "resumable", mission_id=mission)
    done(first, "mission.handoff", mission_id=mission)
    handed = ask(second, "resumable", mission_id=mission)
    covered = ask(second, "covered", mission_id=mission)

    assert (refused["resumable"], own["resumable"], handed["resumable"]) == (False, True, True)
    assert own["event_count"] >= 3
    assert handed["call"]["arguments"]["mission_id"].startswith("hnd_")
    assert [one["path"] for one in covered["files_read"]] == ["total.py"]
    assert [(one["target"], one["why_ruled_out"]) for one in covered["dead_paths"]] == [("package.json", "holds no code")]
    assert covered["agent_id"] == "codex:first"
    assert done(second, handed["call"]["tool"], **handed["call"]["arguments"])["mission_id"] != mission


def test_aol_015_a_rebind_that_nobody_shook_hands_on_is_not_proven(world: World, shop: str) -> None:
    answer = ask(world.at(shop), "rebound")

    assert answer["host_rebind_proven"] is False
    assert all(row["host_rebind_proven"] is False for row in answer["hosts"])
    assert answer["non_claims"]


def test_a_question_that_is_none_is_refused_with_the_list(world: World, shop: str) -> None:
    assert world.at(shop).call("ask", topic="weather")["error"]["code"] == "invalid_params"
