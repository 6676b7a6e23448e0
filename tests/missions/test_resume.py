"""Missions that go on: after a crash, by their own agent; from a hand-over, by another."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import Actor, World, git

HOUR = 3_600_000
A, B = "def a():\n    return open('x').read()\n", "def b():\n    return 2\n"


@pytest.fixture
def root(world: World) -> str:
    """A repository with its brain and one commit."""
    made = world.repository("shop", src__a_py=A, src__b_py=B, src__c_py="def c():\n    return 3\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    answer = world.at(made).call("ingest", path=made, project_root=made)
    assert answer["ok"], answer
    return made


def say(actor: Actor, operation: str, **arguments: Any) -> dict[str, Any]:
    answer = actor.call(operation, **arguments)
    assert answer["ok"], answer
    read: dict[str, Any] = json.loads(json.dumps(answer))  # as it arrives on any surface
    return read


def begun(actor: Actor, **more: Any) -> str:
    return str(say(actor, "mission.start", task="find the leak", **{"mode": "review", **more})["mission_id"])


def worked(actor: Actor) -> str:
    """Two files read and claimed, one ruled out, one question left."""
    mission = begun(actor)
    for name in ("src/a.py", "src/b.py"):
        say(actor, "mission.event", event_type="file_read", target=name)
        refs = [f"direct_source:{name}:1"]
        told = say(
            actor,
            "mission.verify",
            claim=f"{name} defines `def {Path(name).stem}()`",
            evidence_class="direct_source",
            evidence_refs=refs,
            targets=[name],
        )
        assert told["verdict"] == "verified_for_mission", told
    say(actor, "mission.event", event_type="literal_search", target="return", payload={"query": "return open"})
    say(actor, "mission.event", event_type="dead_path", target="src/c.py", payload={"why": "it opens nothing"})
    return mission


def state(actor: Actor, mission: str) -> dict[str, Any]:
    return say(actor, "mission.status", mission_id=mission)


# -- the same agent --------------------------------------------------------------------------------------------------


def test_aol_014_aol_037_a_killed_process_is_resumed_by_its_agent_and_taken_over_by_another(world: World, root: str) -> None:
    world.close()
    words = [sys.executable, "-m", "tests.support.mission_worker", str(world.home.path), root, "codex:maker"]
    with subprocess.Popen(
        [*words, "src/a.py", "src/b.py", "src/c.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        mission = worker.stdout.readline().strip()
        worker.kill()
    world.clock.catch_up()

    same = say(world.at(root, "codex:maker"), "mission.resume", mission_id=mission)
    other = say(world.at(root, "codex:second"), "mission.resume", mission_id=mission)

    assert same["mission_id"] == mission
    told = say(world.at(root, "codex:maker"), "mission.export", mission_id=mission, format="events")["data"]
    assert [one["target"] for one in told if one["source"] == "agent"] == ["src/a.py", "src/b.py", "src/c.py"]
    assert other["mission_id"] != mission
    assert other["parent_mission_id"] == mission
    assert [one["path"] for one in other["inherited"]["files_read"]] == ["src/a.py", "src/b.py", "src/c.py"]


def test_aol_044_a_mission_goes_between_its_states_by_its_owner_and_ends_once(world: World, root: str) -> None:
    maker, other = world.at(root), world.at(root, "codex:second")
    mission = worked(maker)

    def standing() -> str:
        return str(state(maker, mission)["status"])

    assert standing() == "active"
    say(maker, "mission.handoff", mission_id=mission)
    assert standing() == "handed_off"
    refused = maker.call("mission.event", event_type="file_read", target="src/a.py", mission_id=mission)
    assert refused["error"]["code"] == "mission_closed"
    assert say(other, "mission.resume", mission_id=mission)["mission_id"] != mission
    assert standing() == "handed_off"  # only its owner takes it up again
    say(maker, "mission.resume", mission_id=mission)
    assert standing() == "active"
    given = say(maker, "mission.handoff", mission_id=mission)["handoff_id"]
    assert say(maker, "mission.resume", mission_id=given)["mission_id"] == mission  # its own hand-over brings its own back
    assert standing() == "active"
    say(maker, "mission.handoff", mission_id=mission)
    say(maker, "mission.close", mission_id=mission)
    assert standing() == "closed"
    for operation in ("mission.resume", "mission.handoff", "mission.close"):
        assert maker.call(operation, mission_id=mission)["error"]["code"] == "mission_closed", operation

    given_up = begun(maker)
    say(maker, "mission.abandon", mission_id=given_up, reason="not needed any more")
    assert state(maker, given_up)["status"] == "abandoned"
    assert maker.call("mission.resume", mission_id=given_up)["error"]["code"] == "mission_closed"


def test_aol_014_what_changed_while_a_mission_lay_is_told_to_its_own_agent(world: World, root: str) -> None:
    maker = world.at(root)
    mission = worked(maker)
    say(maker, "mission.handoff", mission_id=mission)
    Path(root, "src/a.py").write_text("def a():\n    return 1\n", encoding="utf-8")

    answer = say(maker, "mission.resume", mission_id=mission)

    assert "src/a.py changed since the hand-over" in state(maker, mission)["warnings"]
    assert [one["subject"] for one in answer["changes"] if one["kind"] == "file_digest"] == ["src/a.py"]


# -- what is handed over ---------------------------------------------------------------------------------------------


def test_aol_012_aol_034_aol_268_aol_269_aol_270_aol_271_aol_272_aol_273_aol_274_aol_275_a_hand_over_has_all_that_was_seen(
    world: World, root: str
) -> None:
    maker = world.at(root)
    mission = worked(maker)
    tell = partial(say, maker, "mission.event", mission_id=mission)
    tell(event_type="graph_query", target="who opens files", payload={"query": "who opens files"})
    tell(event_type="file_read", target="src/a.py", payload={"range": [1, 2]})
    tell(event_type="test_run", target="pytest -q", payload={"command": "pytest -q", "exit_status": 1}, outcome="failed")
    tell(event_type="hypothesis", target="src/b.py", payload={"text": "b is slow"})
    supposed = tell(event_type="hypothesis", target="src/a.py", payload={"text": "a is never called"})["event_id"]
    tell(event_type="hypothesis", target="src/a.py", outcome="hypothesis_refuted", payload={"refutes": supposed})
    against = tell(event_type="file_read", target="src/b.py", outcome="hypothesis_refuted")["event_id"]
    for text, refs in (("b opens a file", [against]), ("a is slow", ["inferred:guess"])):
        say(maker, "mission.verify", claim=text, evidence_class="direct_source", evidence_refs=refs, targets=["src/b.py"])
    say(maker, "mission.claim", claim="c is unused", mission_id=mission)

    handoff = say(maker, "mission.handoff", mission_id=mission, summary="a and b are read")

    claims = state(maker, mission)["claims"]
    assert handoff["schema"] == "hindbrain-mission-handoff-v1"
    assert handoff["mission_summary"].startswith("a and b are read")
    assert len(handoff["mission_summary"]) <= 1_200
    assert handoff["verified_claims"] == [one for one in claims if one["verdict"] == "verified_for_mission"] != []
    assert handoff["rejected_claims"] == [one for one in claims if one["verdict"] == "rejected"]
    assert [one["claim"] for one in handoff["rejected_claims"]] == ["b opens a file"]
    assert handoff["open_hypotheses"] == ["a is slow", "c is unused", "b is slow"]
    assert [(one["target"], one["why_ruled_out"]) for one in handoff["dead_paths"]] == [("src/c.py", "it opens nothing")]
    files = {one["path"]: one for one in handoff["files_read"]}
    assert set(files) == {"src/a.py", "src/b.py"}
    assert [1, 2] in files["src/a.py"]["ranges"]
    assert files["src/a.py"]["times"] >= 2
    assert files["src/a.py"]["digest"] == "sha256:" + hashlib.sha256(A.encode()).hexdigest()
    assert [(one["command"], one["outcome"], one["exit_status"]) for one in handoff["tests_run"]] == [("pytest -q", "failed", 1)]
    anchors = [(one["node_or_query"], one["graph_generation"]) for one in handoff["graph_anchors"]]
    assert anchors == [("who opens files", state(maker, mission)["context_guard"]["graph_generation"])]
    kinds = {one["kind"] for one in handoff["staleness_criteria"]}
    assert kinds == {"file_digest", "graph_generation", "binary_version", "branch_head", "age_hours"}


def test_aol_286_a_third_agent_knows_what_the_first_and_the_second_did(world: World, root: str) -> None:
    maker, second, third = world.at(root), world.at(root, "codex:second"), world.at(root, "codex:third")
    first = say(maker, "mission.handoff", mission_id=worked(maker))
    child = say(second, "mission.resume", mission_id=first["handoff_id"])["mission_id"]
    say(second, "mission.event", event_type="file_read", target="package.json", mission_id=child)
    say(second, "mission.event", event_type="dead_path", target="package.json", payload={"why": "it is empty"}, mission_id=child)
    handed = say(second, "mission.handoff", mission_id=child)

    last = say(third, "mission.resume", mission_id=handed["handoff_id"])["inherited"]

    assert last["handoff_ids"] == [first["handoff_id"], handed["handoff_id"]]
    assert {one["path"] for one in last["files_read"]} == {"src/a.py", "src/b.py", "package.json"}
    assert {one["target"] for one in last["dead_paths"]} == {"src/c.py", "package.json"}
    assert {one["inherited_from"] for one in last["claims"]} == {first["mission_id"]}
    assert {("literal_search", "open return")} <= {(one["family"], one["item"]) for one in last["covered"]}


# -- another agent ---------------------------------------------------------------------------------------------------


def test_aol_038_aol_280_aol_281_both_ways_to_go_on_inherit_the_same_and_link_both_missions(world: World, root: str) -> None:
    maker, second, third = world.at(root), world.at(root, "codex:second"), world.at(root, "codex:third")
    mission = worked(maker)
    handoff = say(maker, "mission.handoff", mission_id=mission)

    resumed = say(second, "mission.resume", mission_id=handoff["handoff_id"])
    started = say(third, "mission.start", task="find the leak", mode="review", parent_mission_id=mission)

    assert resumed["inherited"] == started["inherited"]
    assert resumed["handoff_id"] == started["handoff_id"] == handoff["handoff_id"]
    assert {one["verdict"] for one in resumed["inherited"]["claims"]} == {"inherited"}
    assert ("src/c.py", "handoff") in {(one["item"], one["source"]) for one in resumed["do_not"]}
    children = [resumed["mission_id"], started["mission_id"]]
    assert sorted(state(maker, mission)["child_mission_ids"]) == sorted(children)
    for agent, child in zip((second, third), children, strict=True):
        assert state(agent, child)["parent_mission_id"] == mission


def test_aol_039_an_unknown_parent_is_refused_and_nothing_begins(world: World, root: str) -> None:
    maker = world.at(root)

    answer = maker.call("mission.start", task="find the leak", mode="review", parent_mission_id="msn_01NOBODY")

    assert answer["error"]["code"] == "unknown_mission"
    assert say(maker, "mission.list")["missions"] == []


def test_aol_034_aol_276_the_next_move_of_a_hand_over_is_what_the_router_says_then(world: World, root: str) -> None:
    maker = world.at(root)
    mission = worked(maker)
    explained = say(maker, "route_explain", mission_id=mission)

    handoff = say(maker, "mission.handoff", mission_id=mission, leave=False)

    assert handoff["next_required_move"]["move"] == explained["move"]
    told = [(one["item"], one["kind"]) for one in handoff["next_required_move"]["do_not"]]
    assert told == [(one["item"], one["kind"]) for one in explained["policy"]["do_not"]]
    assert handoff["status"] == "active"


def test_aol_278_aol_282_an_edited_file_makes_its_claim_stale_and_is_read_next(world: World, root: str) -> None:
    maker, second = world.at(root), world.at(root, "codex:second")
    mission = worked(maker)
    handoff = say(maker, "mission.handoff", mission_id=mission)
    Path(root, "src/a.py").write_text("def a():\n    return 1\n", encoding="utf-8")
    git(root, "commit", "-qam", "second")
    world.clock.forward(73 * HOUR)

    child = say(second, "mission.resume", mission_id=handoff["handoff_id"])
    move = say(second, "mission.next", mission_id=child["mission_id"])["move"]

    verdicts = {tuple(one["targets"]): one["verdict"] for one in child["inherited"]["claims"]}
    assert verdicts == {("src/a.py",): "stale", ("src/b.py",): "inherited"}
    assert {one["kind"] for one in child["changes"]} == {"file_digest", "branch_head", "age_hours"}
    assert (move["type"], move["target"]) == ("read_file", "src/a.py")
    say(second, "mission.event", event_type="file_read", target="src/a.py", mission_id=child["mission_id"])
    after = say(second, "mission.next", mission_id=child["mission_id"])["move"]
    assert after["target"] != "src/a.py"


def test_aol_283_a_dead_path_of_the_parent_is_blocked_until_a_reason_is_given(world: World, root: str) -> None:
    maker, second = world.at(root), world.at(root, "codex:second")
    mission = worked(maker)
    handoff = say(maker, "mission.handoff", mission_id=mission)
    child = say(second, "mission.resume", mission_id=handoff["handoff_id"])["mission_id"]

    entered = say(second, "mission.event", event_type="file_read", target="src/c.py", mission_id=child)
    why = {"why": "the caller changed", "chosen_tool": "read", "evidence_required": "direct_source", "item": "src/c.py"}
    say(second, "mission.event", event_type="dissent", target="src/c.py", payload=why, mission_id=child)
    lifted = say(second, "mission.event", event_type="file_read", target="src/c.py", mission_id=child)

    blocked = [one for one in entered["loop_warnings"] if one["rule"] == "LW7"]
    assert [(one["action"], one["item"]) for one in blocked] == [("block", "src/c.py")]
    assert "it opens nothing" in blocked[0]["message"]
    assert [one for one in lifted["loop_warnings"] if one["rule"] == "LW7"] == []


def test_aol_120_records_of_a_child_stand_in_the_trace_of_its_parent(world: World, root: str) -> None:
    maker, second = world.at(root), world.at(root, "codex:second")
    mission = worked(maker)
    handoff = say(maker, "mission.handoff", mission_id=mission)
    child = say(second, "mission.resume", mission_id=handoff["handoff_id"])["mission_id"]

    above = say(maker, "flight", mission_id=mission)["records"]
    below = say(second, "flight", mission_id=child)["records"]

    assert {one["trace_id"] for one in below} == {one["trace_id"] for one in above}
    giving = next(one for one in above if one["target"] == handoff["handoff_id"])
    assert giving["span_id"] in {one["parent_span_id"] for one in below}


def test_aol_279_a_hand_over_that_was_changed_on_disk_is_refused(world: World, root: str) -> None:
    maker, second = world.at(root), world.at(root, "codex:second")
    mission = worked(maker)
    handoff = say(maker, "mission.handoff", mission_id=mission)
    world.close()
    database = next(world.home.brains_dir.glob("*/brain.db"))
    with sqlite3.connect(database) as changing:
        for (name,) in changing.execute(
            "select name from sqlite_master where type = 'trigger' and tbl_name = 'mission_paper'"
        ).fetchall():
            changing.execute(f"drop trigger {name}")
        changing.execute("update mission_paper set body = replace(body, 'it opens nothing', 'it is the one')")
    changing.close()

    answer = second.call("mission.resume", mission_id=handoff["handoff_id"])

    assert answer["error"]["code"] == "handover_broken"


def test_aol_288_aol_289_closing_a_parent_leaves_its_child_open_and_names_its_digest(world: World, root: str) -> None:
    maker, second = world.at(root), world.at(root, "codex:second")
    mission = worked(maker)
    handoff = say(maker, "mission.handoff", mission_id=mission, leave=False)
    child = say(second, "mission.resume", mission_id=handoff["handoff_id"])["mission_id"]
    say(second, "mission.event", event_type="file_read", target="src/c.py", mission_id=child)

    say(maker, "mission.close", mission_id=mission)

    packet = say(maker, "mission.export", mission_id=mission, format="proof")["data"]
    assert packet["children"] == {child: state(second, child)["event_digest"]}
    assert state(second, child)["status"] == "active"
    assert state(maker, mission)["status"] == "closed"


def test_aol_036_aol_282_what_was_inherited_closes_nothing_and_a_stale_claim_keeps_the_mission_open(
    world: World, root: str
) -> None:
    given = worked(world.at(root))
    say(world.at(root), "mission.handoff", mission_id=given)
    other = world.at(root, "codex:second")
    say(other, "mission.resume", mission_id=given)
    bare = other.call("mission.close")

    world.at(root).call("mission.resume", mission_id=given)
    say(world.at(root), "mission.handoff", mission_id=given)
    Path(root, "src/a.py").write_text("def a():\n    return 1\n", encoding="utf-8")
    third = world.at(root, "codex:third")
    say(third, "mission.resume", mission_id=given)
    stale = third.call("mission.close", gaps=["nothing_proven"])

    assert "nothing_proven" in bare["error"]["message"]
    assert stale["error"]["code"] == "mission_open"
    assert "changed since it was verified" in stale["error"]["message"]
