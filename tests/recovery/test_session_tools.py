"""Session tools: north, handshake, selftest, playbook, doctor and help say one thing, and each step they name can be walked."""

from pathlib import Path
from typing import Any

import pytest

from hindbrain.engines.tool_surface import REQUIRED_TOOLS
from tests.contract.test_modes import empty_brain
from tests.support.world import World, tree_hash

MODES = ("full_trust", "needs_ingest", "wrong_workspace_binding", "stale_binding_suspected", "degraded_host_tool_surface")


def told(world: World, mode: str) -> tuple[str, dict[str, Any]]:
    """A caller's root and what it tells, so that the mode holds."""
    x = empty_brain(world) if mode == "needs_ingest" else world.brain("x")
    if mode == "wrong_workspace_binding":
        return x, {"scope": world.repository("other")}
    if mode == "stale_binding_suspected":
        world.at(x).memorize("Kettle", "The kettle boils.")
        return x, {"observed_proof_state": "blocked", "observed_tool": "seek"}
    return x, {"missing_tools": ["doctor"]} if mode == "degraded_host_tool_surface" else {}


@pytest.mark.req("GR-146")
def test_gr_146_north_gives_every_part_in_one_answer_and_changes_nothing(world: World) -> None:
    x = world.brain("x")
    Path(x, "kettle.py").write_text("def boil():\n    return 90\n")
    world.at(x).call("ingest", path=x)
    world.at(x).memorize("Kettle", "The kettle boils at ninety.", evidence=["kettle.py"])
    before = world.at(x).call("health")["binding_fingerprint"]

    answer = world.at(x).north("boil the kettle")

    parts = {"reception", "anchors", "memory", "conflicts", "honest_gaps", "next_move", "agent_runtime_contract"}
    assert parts <= answer.keys()
    assert isinstance(answer["next_move"], (dict, str))
    assert answer["memory"][0]["slug"] == "kettle"
    after = world.at(x).call("health")["binding_fingerprint"]
    assert {key: after[key] for key in ("graph_generation", "plasticity_generation")} == {
        key: before[key] for key in ("graph_generation", "plasticity_generation")
    }


@pytest.mark.req("GR-147", "GR-148")
def test_gr_147_an_empty_graph_still_shows_memory_and_says_what_is_missing(world: World) -> None:
    empty = empty_brain(world)
    (world.home.medulla_dir).mkdir(parents=True, exist_ok=True)

    answer = world.at(empty).north("anything")

    kinds = {gap["kind"]: gap for gap in answer["honest_gaps"]}
    assert answer["agent_runtime_contract"]["trust_mode"] == "needs_ingest"
    assert "needs_ingest" in kinds
    assert all({"kind", "text"} <= gap.keys() <= {"kind", "text", "fix"} for gap in answer["honest_gaps"])


@pytest.mark.req("GR-148")
def test_gr_148_a_place_without_a_brain_is_a_gap_with_one_fix(world: World) -> None:
    stranger = world.repository("stranger")

    gaps = {gap["kind"]: gap for gap in world.at(stranger).north("anything")["honest_gaps"]}

    assert gaps["project_brain_absent"]["fix"] == {"tool": "ingest", "arguments": {"path": stranger, "project_root": stranger}}


@pytest.mark.req("GR-151", "GR-152")
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "stale_binding_suspected"])
def test_gr_151_the_handshake_knows_each_mode_without_a_probe(world: World, mode: str) -> None:
    root, arguments = told(world, mode)

    answer = world.at(root).call("session_handshake", **arguments)

    assert (answer["schema"], answer["trust_mode"], answer["used_probe"]) == ("m1nd-session-handshake-v0", mode, False)
    assert {
        "binding_fingerprint",
        "can_ingest",
        "can_retrieve",
        "can_recover",
        "next_action",
        "tool_surface",
        "health",
    } <= answer.keys()
    assert {"graph_state", "context_guard", "doctor_recovery", "reception"} <= answer.keys()
    assert answer["can_retrieve"] is (mode != "needs_ingest")


@pytest.mark.req("GR-153")
@pytest.mark.parametrize("mode", MODES)
def test_gr_153_the_selftest_gives_the_verdict_and_the_way_back(world: World, mode: str) -> None:
    root, arguments = told(world, mode)

    answer = world.at(root).call("trust_selftest", **arguments)

    assert (answer["verdict"], answer["ok"]) == (mode, mode == "full_trust")
    assert ("recovery_playbook" in answer) is (mode != "full_trust")
    assert {
        "status",
        "next_action",
        "binding_fingerprint",
        "graph_state",
        "session_handshake",
        "checks",
        "non_claims",
    } <= answer.keys()


STEPS = {
    "full_trust": ["proceed"],
    "needs_ingest": ["ingest", "handshake_again"],
    "wrong_workspace_binding": ["inspect_guard", "rebind", "ingest", "federate", "files"],
    "stale_binding_suspected": [
        "doctor",
        "compare_fingerprints",
        "retry_unscoped",
        "literal_search",
        "files",
        "conclude_absence",
    ],
    "degraded_host_tool_surface": ["refresh_host", "list_tools", "doctor", "handshake_again", "files"],
}


@pytest.mark.req("GR-154", "GR-155", "GR-156", "GR-157")
@pytest.mark.parametrize("mode", MODES)
def test_gr_155_the_steps_of_each_mode_in_order_and_each_can_be_walked(world: World, mode: str) -> None:
    root, arguments = told(world, mode)
    world.at(root).call("health")
    before = tree_hash(world.home.path)

    answer = world.at(root).call("recovery_playbook", **arguments)

    assert tree_hash(world.home.path) == before
    assert (answer["schema"], answer["trust_mode"]) == ("m1nd-recovery-playbook-v0", mode)
    assert [step["id"] for step in answer["steps"]] == STEPS[mode]
    assert answer["next_action"] == answer["steps"][0]["action"]
    for step in answer["steps"]:
        if "tool" in step:
            walked = world.at(root).call(step["tool"], **step["arguments"])
            assert "error" not in walked, step


@pytest.mark.req("GR-158", "GR-159")
@pytest.mark.parametrize(
    ("mode", "status"), [("full_trust", "ok"), ("needs_ingest", "blocked"), ("stale_binding_suspected", "warn")]
)
def test_gr_158_doctor_says_how_it_stands(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, status: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    root, arguments = told(world, mode)
    world.brain("second")

    answer = world.at(root).call("doctor", **arguments)

    assert (answer["schema"], answer["status"]) == ("m1nd-doctor-v0", status)
    assert answer["diagnostics"]["stale_binding_suspected"] is (mode == "stale_binding_suspected")
    keys = {"diagnostics", "observed", "tool_surface", "graph_state", "context_guard", "runtime_state", "session_state"}
    assert keys | {"warnings", "probable_causes", "next_actions", "memory", "brains"} <= answer.keys()
    assert {row["root"] for row in answer["brains"]} >= {root, str(world.repository("second"))}
    assert all({"root", "kind", "state", "last_ingest_age_ms", "open_letters"} <= row.keys() for row in answer["brains"])


@pytest.mark.req("GR-158")
@pytest.mark.parametrize(
    ("told", "lacking", "complete"),
    [
        ({}, [], None),
        ({"available_tools": [f"mcp__hindbrain__{name}" for name in REQUIRED_TOOLS]}, [], True),
        ({"available_tools": [name for name in REQUIRED_TOOLS if name != "help"]}, ["help"], False),
        ({"missing_tools": ["mcp__hindbrain__recovery_playbook"]}, ["recovery_playbook"], False),
    ],
)
@pytest.mark.parametrize("tool", ["doctor", "session_handshake", "recovery_playbook"])
def test_gr_158_the_tool_surface_is_what_the_caller_reported(
    world: World, tool: str, told: dict[str, Any], lacking: list[str], complete: bool | None
) -> None:
    answer = world.at(world.brain("x")).call(tool, **told)

    assert (answer["tool_surface"]["missing"], answer["tool_surface"]["complete"]) == (lacking, complete)
    degraded = answer.get("trust_mode") == "degraded_host_tool_surface" or "missing_recovery_tools" in str(
        answer.get("diagnoses")
    )
    assert degraded is bool(lacking)


@pytest.mark.req("GR-123", "GR-124", "GR-129")
def test_gr_123_a_grade_is_kept_beside_the_claim_and_stays_in_its_brain(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    for root in (x, y):
        world.at(root).memorize("Kettle", "The kettle boils.")
        world.at(root).memorize("Kettle lid", "The kettle has a lid.")
    before = world.file(x, "kettle").read_bytes()

    answer = world.at(x).call("learn", feedback="wrong", node_ids=["kettle"])

    assert answer["ok"]
    assert world.file(x, "kettle").read_bytes() == before
    mine, theirs = ({row["slug"]: row for row in world.at(root).seek("kettle")["results"]} for root in (x, y))
    assert mine["kettle"]["graded_wrong"] is True
    assert mine["kettle"]["score"] < mine["kettle-lid"]["score"]
    assert not theirs["kettle"].get("graded_wrong")


@pytest.mark.req("GR-161")
def test_gr_161_help_lists_explains_and_proposes(world: World) -> None:
    x = world.brain("x")

    assert set(REQUIRED_TOOLS) <= world.at(x).call("help")["operations"].keys()
    assert world.at(x).call("help", tool_name="seek")["name"] == "seek"
    assert world.at(x).call("help", intent="find claims by words")["proposed"] == "seek"
