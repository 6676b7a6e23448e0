"""The kernel of missions through its operations: what a start gives, what is refused, what the runtime writes itself, the end."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import Actor, World, git

MAKER, OTHER = "codex:maker", "codex:second"
WORKER = "def retry(n):\n    done = 0\n    for _ in range(n + 1):\n        done += 1\n    return done\n"


@pytest.fixture
def root(world: World) -> str:
    """A repository with a fault, its brain and its graph."""
    made = world.repository("shop", src__worker_py=WORKER, src__other_py="def other():\n    return 1\n", README_md="# Shop\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    assert world.at(made).call("ingest", path=made, project_root=made)["ok"]
    return made


def said(actor: Actor, operation: str, **arguments: Any) -> dict[str, Any]:
    answer = actor.call(operation, **arguments)
    assert answer["ok"], answer
    return answer


def begun(actor: Actor, **more: Any) -> dict[str, Any]:
    return said(
        actor, "mission.start", **{"task": "find why retry runs too often", "mode": "bug_hunt", "budget": "short", **more}
    )


def events(actor: Actor, mission: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = said(actor, "mission.export", mission_id=mission, format="events")["data"]
    return found


def proven(actor: Actor, claim: str = "retry runs once too often", line: int = 3) -> dict[str, Any]:
    refs = [f"direct_source:src/worker.py:{line}"]
    return said(
        actor, "mission.verify", claim=claim, evidence_class="direct_source", evidence_refs=refs, targets=["src/worker.py"]
    )


def swept(actor: Actor) -> dict[str, Any]:
    """A look around a finding, with a direct event inside it."""
    read = said(actor, "mission.event", event_type="file_read", target="src/other.py")
    return said(actor, "mission.event", event_type="coverage_sweep", payload={"linked_events": [read["event_id"]]})


# -- start -----------------------------------------------------------------------------------------------------------


def test_aol_018_a_start_gives_route_budget_trust_non_goals_and_first_moves(world: World, root: str) -> None:
    answer = begun(world.at(root))

    assert answer["route"] == "short_audit"
    assert answer["budget"] == {"tool_calls_max": 12, "files_read_max": 8, "soft_deadline_ms": 90_000}
    assert answer["trust"]["verdict"] == "full_trust"
    assert "public performance claim" in answer["non_goals"]
    assert answer["starter_moves"][0]["tool"] == "seek"
    assert answer["context_guard"]["classification"] == "single_repo"
    assert answer["expected_phases"] == ["locate", "verify", "report"]
    assert "that semantic retrieval is always reliable" in answer["non_claims"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mode": "hunt"}, "bug_hunt"),
        ({"budget": "huge"}, "short"),
        ({"budget": {"tool_calls_max": 0}}, "tool_calls_max"),
        ({"budget": {"calls": 3}}, "tool_calls_max"),
        ({"risk": "extreme"}, "medium"),
        ({"task": "   "}, "sentence"),
        ({"repo": " "}, "give the path"),
        ({"mode": "task"}, "criteria"),
    ],
)
def test_aol_019_what_cannot_be_meant_is_refused_with_what_can(
    world: World, root: str, given: dict[str, Any], named: str
) -> None:
    answer = world.at(root).call("mission.start", **{"task": "look at it", "mode": "review", **given})

    assert answer["ok"] is False
    assert named in f"{answer['error']['message']} {answer['error']['fix']}"
    assert said(world.at(root), "mission.list")["missions"] == []


@pytest.mark.parametrize("name", ["../msn_x", "msn_a/b", "msn_", "msn_" + "x" * 80, "msn_ä"])
def test_aol_020_an_id_that_could_name_a_file_elsewhere_is_refused(world: World, root: str, name: str) -> None:
    mission = begun(world.at(root))["mission_id"]
    before = sorted(world.home.path.rglob("*"))

    answer = world.at(root).call("mission.status", mission_id=name)

    assert answer["error"]["code"] == "invalid_params"
    assert sorted(world.home.path.rglob("*")) == before
    assert mission.startswith("msn_")
    assert len(mission) == len("msn_") + 26


# -- events ----------------------------------------------------------------------------------------------------------


def test_aol_024_calls_of_our_own_tools_are_events_that_nobody_has_to_report(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]

    found = said(actor, "search", query="range(n + 1)", mission_id=mission)
    said(actor, "seek", query="retry")

    told = [one for one in events(actor, mission)[1:] if one["event_type"] != "loop_warning"]
    assert [one["event_type"] for one in told] == ["literal_search", "semantic_search"]
    assert told[0]["source"] == "runtime"
    assert told[0]["evidence_class"] == "direct_search"
    assert told[0]["payload"]["hits"][0] == {"path": "src/worker.py", "line": 3, "text": "    for _ in range(n + 1):"}
    assert told[1]["evidence_class"] == "graph_orientation"
    assert told[1]["payload"]["candidates"][0] == "src/worker.py"
    assert found["results"]


def test_aol_024_an_agent_without_a_mission_leaves_no_trace(world: World, root: str) -> None:
    mission = begun(world.at(root))["mission_id"]

    said(world.at(root, OTHER), "search", query="retry")

    assert len(events(world.at(root), mission)) == 1


def test_aol_026_moves_are_counted_from_one_and_a_last_event_is_recorded_first(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor)

    first = said(actor, "mission.next")
    second = said(actor, "mission.next", last_event={"event_type": "file_read", "target": "src/worker.py"})

    assert (first["step_id"], second["step_id"]) == (1, 2)
    assert second["event_count"] == first["event_count"] + 1
    assert isinstance(second["move"], dict)


def test_aol_035_after_a_close_nothing_more_happens(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor, mode="review")["mission_id"]
    proven(actor)

    closed = said(actor, "mission.close")
    later = actor.call("mission.event", mission_id=mission, event_type="file_read", target="src/worker.py")

    assert closed["proof"]["mission_id"] == mission
    assert "summary: 1 claim verified: " in closed["rendered"]
    assert said(actor, "mission.status", mission_id=mission)["status"] == "closed"
    assert later["error"]["code"] == "mission_closed"
    assert events(actor, mission)[-1]["event_type"] == "close"


def test_aol_040_another_agent_is_refused_and_told_whose_it_is(world: World, root: str) -> None:
    mission = begun(world.at(root, MAKER))["mission_id"]

    answer = world.at(root, OTHER).call("mission.next", mission_id=mission)

    assert answer["error"]["code"] == "mission_foreign"
    assert answer["error"]["owner"] == MAKER
    assert "resume" in answer["error"]["fix"]


# -- claims and the end ----------------------------------------------------------------------------------------------


def test_aol_029_aol_030_a_claim_waits_to_be_judged_and_a_text_that_was_not_registered_is(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]

    claim = said(actor, "mission.claim", claim="other is fine", targets=["src/other.py"], confidence=0.4)
    fresh = proven(actor)

    standing = {one["claim_id"]: one for one in said(actor, "mission.status", mission_id=mission)["claims"]}
    assert standing[claim["claim_id"]]["verdict"] == "candidate"
    assert standing[fresh["claim_id"]]["verdict"] == "verified_for_mission"
    assert standing[fresh["claim_id"]]["claim"] == "retry runs once too often"


def test_aol_036_a_close_names_what_is_open_and_the_right_evidence_opens_it(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor)
    weak = said(actor, "mission.verify", claim="retry runs once too often", evidence_class="graph_orientation")
    assert weak["verdict"] == "insufficient_evidence"
    refused = actor.call("mission.close")
    assert refused["error"]["code"] == "mission_open"
    assert weak["claim_id"] in refused["error"]["message"]

    assert proven(actor)["verdict"] == "verified_for_mission"
    assert "coverage_sweep" in actor.call("mission.close")["error"]["message"]
    swept(actor)
    closed = said(actor, "mission.close")

    assert closed["proof"]["forced"] is False
    assert [one["claim"] for one in closed["proof"]["verified_claims"]] == ["retry runs once too often"]


def test_aol_036_a_forced_close_needs_a_reason_and_says_so(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor)
    proven(actor)

    bare = actor.call("mission.close", force=True)
    closed = said(actor, "mission.close", force=True, reason="the demo is in an hour")

    assert bare["error"]["code"] == "invalid_params"
    assert closed["proof"]["forced"] is True
    assert closed["proof"]["forced_reason"] == "the demo is in an hour"
    assert any("coverage_sweep" in gap for gap in closed["proof"]["gaps"])
    assert closed["proof"]["counters"]["dissents"] == 1


def test_aol_051_a_note_is_written_on_request_and_its_failure_does_not_undo_the_close(world: World, root: str) -> None:
    actor = world.at(root)
    begun(actor, mode="review")
    proven(actor)
    noted = said(actor, "mission.close", write_light=True)
    text = Path(noted["light_file"]).read_text(encoding="utf-8")
    assert "retry runs once too often" in text
    assert "Protocol: L1GHT/" in text

    begun(actor, mode="review")
    proven(actor)
    Path(noted["light_file"]).unlink()
    Path(root, ".hindbrain/missions").rmdir()
    Path(root, ".hindbrain/missions").write_text("in the way", encoding="utf-8")
    closed = said(actor, "mission.close", write_light=True)

    assert closed["status"] == "closed"
    assert "light_error" in closed
    assert "light_file" not in closed


def test_aol_265_the_repository_is_left_as_it_was(world: World, root: str) -> None:
    actor = world.at(root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "with its brain", "--allow-empty")
    before = git(root, "status", "--porcelain")
    begun(actor)
    proven(actor)
    swept(actor)
    said(actor, "mission.close")

    assert git(root, "status", "--porcelain") == before


def test_aol_266_an_error_has_a_code_a_sentence_and_a_next_step(world: World, root: str) -> None:
    actor = world.at(root)
    calls = [
        ("mission.next", {}),
        ("mission.status", {"mission_id": "msn_nobody"}),
        ("mission.start", {"task": "a", "mode": "nothing"}),
        ("mission.resume", {"mission_id": "hnd_nobody"}),
        ("mission.verify_packet", {"file": "/nowhere/proof.json"}),
    ]

    for operation, given in calls:
        error = actor.call(operation, **given)["error"]
        assert error["code"] in ("unknown_mission", "invalid_params", "path_refused"), (operation, error)
        assert len(error["message"]) > 10
        assert error["fix"]
        assert "Traceback" not in json.dumps(error)
