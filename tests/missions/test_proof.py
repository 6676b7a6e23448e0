"""A mission from its start to its proof, through the operations: what is said proves nothing, what the runtime saw does."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import Actor, World

BUGGY = "def add(a, b):\n    return a - b\n"
TEST = """import unittest
from calc import add


class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def hunter(world: World, monkeypatch: pytest.MonkeyPatch) -> Actor:
    """An agent in a repository with a planted bug, and a mission to find it."""
    root = world.brain("repo")
    (Path(root) / "calc.py").write_text(BUGGY)
    (Path(root) / "test_calc.py").write_text(TEST)
    monkeypatch.chdir(root)
    actor = world.at(root)
    done(actor.call("mission.start", task="find what is wrong with add", mode="bug_hunt", budget="short"))
    return actor


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def verdict(actor: Actor, claim: str, evidence_class: str, *refs: str, **more: Any) -> dict[str, Any]:
    return done(actor.call("mission.verify", claim=claim, evidence_class=evidence_class, evidence_refs=list(refs), **more))


def ran(actor: Actor) -> dict[str, Any]:
    """The tests of the repository, by a real process."""
    return done(actor.call("mission.run", command=[sys.executable, "-B", "-m", "unittest", "test_calc"]))


def test_aol_029_a_claim_is_a_candidate_and_not_verified(hunter: Actor) -> None:
    made = done(hunter.call("mission.claim", claim="add subtracts", targets=["calc.py"], confidence=0.8))

    (kept,) = done(hunter.call("mission.status"))["claims"]
    assert (kept["claim_id"], kept["verdict"], list(kept["targets"])) == (made["claim_id"], "candidate", ["calc.py"])
    assert kept["confidence_reported"] == 0.8


def test_aol_030_a_text_that_nobody_registered_is_registered_and_judged(hunter: Actor) -> None:
    found = verdict(hunter, "add subtracts", "direct_source", "direct_source:calc.py:2")

    (kept,) = done(hunter.call("mission.status"))["claims"]
    assert (found["claim_id"], found["verdict"]) == (kept["claim_id"], "verified_for_mission")


def test_aol_031_aol_011_what_nobody_saw_verifies_nothing_and_says_what_is_missing(hunter: Actor) -> None:
    cases = [
        ("graph_structural", ["graph_query:calc.py"], "graph_only"),
        ("memory_recall", [], "graph_only"),
        ("agent_testimony", ["I am sure of it"], "inferred"),
        ("direct_source", [], "direct_unverified"),
        ("direct_source", ["direct_source:gone.py:3"], "direct_unverified"),
        ("direct_source", ["direct_source:calc.py:99"], "direct_unverified"),
        ("direct_test", ["direct_test:test_calc.py"], "direct_unverified"),
    ]
    for number, (evidence_class, refs, grade) in enumerate(cases):
        found = verdict(hunter, f"add subtracts ({number})", evidence_class, *refs, confidence=0.99)

        assert (found["verdict"], found["evidence_grade"], found["confidence"]) == ("insufficient_evidence", grade, 0.5)
        assert found["missing"]
        assert found["next_required_move"]["type"] == "read_file"
    assert done(hunter.call("mission.status"))["phase"] == "locate"


def test_aol_031_aol_091_the_class_is_needed_and_known(hunter: Actor) -> None:
    without = hunter.call("mission.verify", claim="add subtracts")
    unknown = hunter.call("mission.verify", claim="add subtracts", evidence_class="direct")
    odd = hunter.call("mission.event", event_type="review_note", target="calc.py")

    for answer in (without, unknown, odd):
        assert answer["error"]["code"] == "invalid_params"
    assert "direct_source" in unknown["error"]["fix"] + unknown["error"]["message"]
    assert "file_read" in odd["error"]["fix"]


def test_aol_092_a_claim_proven_by_a_path_names_the_event_in_which_it_was_read(hunter: Actor) -> None:
    verdict(hunter, "add subtracts", "direct_source", "direct_source:calc.py:2", targets=["calc.py"])

    events = {one["event_id"]: one for one in done(hunter.call("mission.export", format="events"))["data"]}
    (claim,) = done(hunter.call("mission.status"))["claims"]
    (name,) = claim["evidence_refs"]
    assert (events[name]["event_type"], events[name]["source"], events[name]["target"]) == ("file_read", "runtime", "calc.py")
    assert events[name]["target_digest"].startswith("sha256:")


def test_aol_095_a_direct_event_on_another_file_proves_nothing(hunter: Actor) -> None:
    read = done(hunter.call("mission.event", event_type="file_read", target="test_calc.py"))

    found = verdict(hunter, "add subtracts", "direct_source", read["event_id"], targets=[str(Path.cwd() / "calc.py")])
    right = verdict(hunter, "add is tested", "direct_source", read["event_id"], targets=[str(Path.cwd() / "test_calc.py")])

    assert right["verdict"] == "verified_for_mission"
    assert read["evidence_class"] == "direct_source"
    assert (found["verdict"], found["evidence_grade"]) == ("insufficient_evidence", "inferred")


def test_aol_098_a_run_that_failed_rejects_that_the_tests_pass_whatever_the_agent_tells(hunter: Actor) -> None:
    told = done(hunter.call("mission.event", event_type="test_run", outcome="passed", payload={"command": "unittest"}))
    hoped = verdict(hunter, "the tests pass", "direct_test", told["event_id"])
    run = ran(hunter)
    judged = verdict(hunter, "the tests pass", "direct_test", told["event_id"], run["event_id"])

    assert (told["evidence_class"], hoped["verdict"]) == ("direct_unverified", "insufficient_evidence")
    assert (run["evidence_class"], run["exit_status"], run["event"]["outcome"]) == ("direct_test", 1, "failed")
    assert judged["verdict"] == "rejected"
    assert "exit status 1" in judged["missing"][0]


def heard(actor: Actor, command: str, **answer: Any) -> dict[str, Any]:
    """What a host's hook tells after a command."""
    told = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": answer, "cwd": str(Path.cwd())}
    return done(actor.hook().call("mission.heard", payload=told))


def test_aol_092_a_command_that_a_host_saw_end_is_direct_evidence(world: World, hunter: Actor) -> None:
    told = heard(hunter, "python -m unittest test_calc.py", stdout="OK", exit_code=0)
    piped = heard(hunter, "python -m unittest test_calc.py | tail -1", stdout="OK", exit_code=0)
    unsaid = heard(hunter, "python -m unittest test_calc.py", stdout="OK")

    assert [(one["event"]["event_type"], one["evidence_class"]) for one in (told, piped, unsaid)] == [
        ("test_run", "direct_test"),
        ("command", "direct_runtime"),
        ("command", "direct_runtime"),
    ]
    assert (told["event"]["target"], told["event"]["payload"]["origin"]) == ("test_calc.py", "host_hook")
    assert verdict(hunter, "the tests pass", "direct_test", piped["event_id"])["verdict"] == "insufficient_evidence"
    assert verdict(hunter, "the tests pass", "direct_test", told["event_id"])["verdict"] == "verified_for_mission"
    assert heard(world.at(world.brain("empty")), "pytest", exit_code=0)["recorded"] is False


def test_aol_013_what_failed_and_why_is_in_the_packet(hunter: Actor) -> None:
    run = ran(hunter)
    verdict(hunter, "the tests pass", "direct_test", run["event_id"])

    packet = done(hunter.call("mission.close", force=True, reason="only a look"))["proof"]

    assert run["event"]["failure_class"] == "logical"
    assert [(one["claim"], one["verdict"], bool(one["missing"])) for one in packet["rejected_claims"]] == [
        ("the tests pass", "rejected", True)
    ]


def proven(actor: Actor) -> dict[str, Any]:
    """From a claim that nothing shows to a packet: each refusal on the way, then the right evidence."""
    refused = verdict(actor, "add subtracts", "graph_orientation", "graph_query:add")
    assert refused["verdict"] == "insufficient_evidence"
    early = actor.call("mission.close")
    assert early["error"]["code"] == "mission_open"
    found = verdict(actor, "add subtracts", "direct_source", "direct_source:calc.py:2", targets=["calc.py"])
    assert found["verdict"] == "verified_for_mission"
    unswept = actor.call("mission.close")
    assert "sweep" in json.dumps(unswept["error"])
    bare = done(actor.call("mission.event", event_type="coverage_sweep", payload={"text": "looked around"}))
    assert bare["evidence_class"] == "direct_unverified"
    assert actor.call("mission.close")["ok"] is False
    look = done(actor.call("mission.event", event_type="file_read", target="test_calc.py"))
    sweep = actor.call("mission.event", event_type="coverage_sweep", payload={"linked_events": [look["event_id"]]})
    assert done(sweep)["evidence_class"] == "direct_coverage_sweep"
    return done(actor.call("mission.close", summary="add subtracts instead of adding"))


def test_aol_036_aol_099_aol_100_aol_101_aol_300_from_a_claim_that_nothing_shows_to_a_packet(hunter: Actor) -> None:
    packet = proven(hunter)["proof"]

    assert [one["claim"] for one in packet["verified_claims"]] == ["add subtracts"]
    assert packet["direct_evidence_classes"]["direct_coverage_sweep"] == 1
    assert packet["event_digest"].startswith("sha256:")
    assert packet["ledger"]["seq"] > 0
    assert packet["forced"] is False


def test_aol_063_aol_110_the_packet_holds_on_another_machine_and_no_byte_can_be_changed(
    world: World, hunter: Actor, tmp_path: Path
) -> None:
    mission_id = proven(hunter)["mission_id"]
    (place,) = world.home.path.rglob(f"missions/{mission_id}")
    there = tmp_path / "there"
    there.mkdir()
    raw = (place / "proof.json").read_bytes()
    shutil.copy(place / "events.jsonl", there / "events.jsonl")
    elsewhere = World(there)
    try:
        actor = elsewhere.at(elsewhere.brain("other"))
        elsewhere.register_place()

        def checked(content: bytes, **more: str) -> dict[str, Any]:
            (there / "proof.json").write_bytes(content)
            return actor.call("mission.verify_packet", file=str(there / "proof.json"), **more)

        assert done(checked(raw))["findings"] == []
        assert done(checked(raw, events=str(there / "events.jsonl")))["valid"] is True
        for at in (1, len(raw) // 3, len(raw) // 2, len(raw) - 2):
            assert checked(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])["valid"] is False
    finally:
        elsewhere.close()


def test_aol_104_a_mission_is_exported_as_prov_json(hunter: Actor) -> None:
    verdict(hunter, "add subtracts", "direct_source", "direct_source:calc.py:2")

    told = done(hunter.call("mission.export", format="prov-json"))["data"]

    assert told["wasDerivedFrom"]
    assert any("calc.py" in name for name in told["entity"])


def test_aol_111_an_event_told_late_keeps_its_time(hunter: Actor) -> None:
    late = done(
        hunter.call("mission.event", event={"event_type": "note", "target": "calc.py", "timestamp": "2026-01-01T00:00:00.000Z"})
    )
    after = done(hunter.call("mission.event", event_type="note", target="calc.py"))

    assert late["event"]["timestamp"] == "2026-01-01T00:00:00.000Z"
    assert after["seq"] > late["seq"]
