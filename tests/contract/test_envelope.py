"""The envelope: on every retrieval answer, complete, and true about who answered."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain.engines.contract import MODES as ENGINE_MODES
from hindbrain.engines.fence import tokens
from hindbrain.operations import REGISTRY
from hindbrain.operations.registry import Effect
from tests.contract.envelopes import MODES, RETRIEVAL, checked
from tests.support.owner import Starter
from tests.support.world import World, git

KETTLE, STOVE = "file::kettle.py", "file::stove.py"
FILES = {
    "kettle_py": "def boil():\n    return 90\n",
    "stove_py": "from kettle import boil\n\n\ndef heat():\n    return boil()\n",
}

# One call of each retrieval operation that finds something, one that finds nothing, and one that is refused for its arguments.
CALLS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "seek": ({"query": "kettle"}, {"query": "harbour crane"}, {"query": " "}),
    "north": ({"task": "kettle"}, {"task": "kettle", "tier": "medulla"}, {"task": 7}),
    "recall": ({"query": "kettle"}, {"query": "harbour crane"}, {"query": "kettle", "as_of": "yesterday"}),
    "boot_memory": ({"action": "list"}, {"action": "list", "tier": "medulla"}, {"action": "get"}),
    "memory.search": ({"query": "kettle whistles"}, {"query": "harbour crane"}, {"query": "kettle", "top_k": -1}),
    "activate": ({"query": "kettle"}, {"query": "zzqqxx"}, {"query": "kettle", "top_k": 0}),
    "search": ({"query": "def boil"}, {"query": "harbour crane"}, {"query": " "}),
    "glob": ({"pattern": "**/*.py"}, {"pattern": "**/*.zz"}, {"pattern": ""}),
    "graph.show": ({"node": KETTLE}, {"node": "zzqqxx"}, {"node": 7}),
    "impact": ({"node_id": KETTLE}, {"node_id": "file::zz.zz"}, {"node_id": KETTLE, "direction": "up"}),
    "why": ({"source": STOVE, "target": KETTLE}, {"source": STOVE, "target": "file::zz.zz"}, {"source": STOVE}),
    "panoramic": ({}, {"scope": "nowhere"}, {"top_n": 0}),
    "predict": ({"changed_node": KETTLE}, {"changed_node": "file::zz.zz"}, {"changed_node": KETTLE, "top_k": 0}),
    "missing": ({"query": "kettle", "min_sibling_activation": 0.01}, {"query": "zzqqxx"}, {"query": 7}),
    "timeline": ({"node": KETTLE}, {"node": "file::zz.zz"}, {"node": KETTLE, "depth": "soon"}),
    "trace": ({"text": 'File "kettle.py", line 2, in boil'}, {"text": "no trace"}, {"text": 7}),
    "brief": ({"query": "kettle"}, {"query": "harbour crane"}, {"query": "kettle", "max_items": 0}),
    "context": ({"query": "kettle"}, {"query": "harbour crane"}, {"query": "kettle", "max_items": 0}),
    "knowledge.retrieve": ({"query": "kettle whistles"}, {"query": "harbour crane"}, {"query": "kettle", "top_k": 0}),
    "experience.query": ({"space": "tool:kettle"}, {"space": "tool:crane"}, {"recent": -1}),
    "warmup": ({"task_description": "kettle"}, {"task_description": "zzqqxx"}, {"task_description": 7}),
}


@pytest.fixture
def kettle(world: World) -> tuple[World, str]:
    """A brain with two files, a claim, an observation, a card, a rule and a boot entry about a kettle, and no medulla."""
    x = world.repository("x", **FILES)
    git(x, "add", ".")
    git(x, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Add the kettle")
    world.brain("x", **FILES)
    seen = world.at(x).call("record", text="The kettle whistles when it boils.")["evidence_id"]
    given = {"statement": "Listen to the kettle.", "content": "It tells when it is done.", "tier": "qi"}
    made = world.at(x).call("knowledge.distill", **given, supporting_refs=[seen])
    world.at(x).call("knowledge.promote", card_id=made["card_id"], status="promoted", verification_refs=[seen], reason="heard")
    world.at(x).memorize("Kettle", "The kettle boils.")
    world.at(x).call("boot_memory", action="set", key="kettle", value="boils")
    world.human(x).call("experience.remember", text="Wait for the whistle.", space="tool:kettle")
    return world, x


@pytest.mark.req("RC-001", "RC-002")
def test_rc_002_every_operation_marked_retrieval_is_tried_here() -> None:
    assert set(CALLS) == set(RETRIEVAL), "a new retrieval operation needs its three calls in this table"


@pytest.mark.req("RC-002")
def test_rc_002_an_operation_that_answers_with_candidates_is_marked(kettle: tuple[World, str]) -> None:
    world, x = kettle
    for name, op in REGISTRY.items():
        if not op.retrieval and not op.human and op.effect is not Effect.DESTRUCTIVE:
            words = {"query": "kettle", "claim": "kettle", "path": x, "check": ["evidence_freshness"]}
            answer = world.at(x).call(name, **{k: v for k, v in words.items() if k in op.arguments.__struct_fields__})
            lists = {key for key, value in answer.items() if isinstance(value, list)}
            lists -= {"groups"} if name == "adoption.analytics" else set()  # counts of outcomes, no rows of memory
            lists -= {"candidates"} if name.startswith("knowledge.backfill_") else set()  # rows that could become cards
            assert not {"results", "memory", "groups", "candidates", "anchors"} & lists, name
            assert "agent_runtime_contract" not in answer, name


@pytest.mark.req("RC-001", "RC-002", "RC-003", "RC-004", "RC-005", "RC-006", "RC-013", "RC-016")
@pytest.mark.parametrize("tool", sorted(CALLS))
def test_rc_001_a_hit_is_full_trust(kettle: tuple[World, str], tool: str) -> None:
    world, x = kettle

    envelope = checked(world.at(x).call(tool, **CALLS[tool][0]), tool)

    assert (envelope["trust_mode"], envelope["status"]) == ("full_trust", "ok")
    assert envelope["observed"]["candidates"] > 0
    assert envelope["observed"]["error_text"] is None


@pytest.mark.req("RC-001", "RC-002", "RC-004", "RC-005", "RC-031")
@pytest.mark.parametrize("tool", sorted(CALLS))
def test_rc_001_an_empty_result_is_triaging(kettle: tuple[World, str], tool: str) -> None:
    world, x = kettle

    envelope = checked(world.at(x).call(tool, **CALLS[tool][1]), tool)

    assert (envelope["trust_mode"], envelope["status"]) == ("retrieval_needs_recovery", "triaging")
    assert envelope["observed"] == {"tool": tool, "candidates": 0, "error_text": None}


@pytest.mark.req("RC-008", "RC-030", "RC-004")
@pytest.mark.parametrize("tool", sorted(CALLS))
def test_rc_030_a_refused_call_carries_the_envelope_too(kettle: tuple[World, str], tool: str) -> None:
    world, x = kettle

    answer = world.at(x).call(tool, **CALLS[tool][2])
    envelope = checked(answer, tool)

    assert answer["ok"] is False
    assert envelope["proof_state"] == "blocked"
    assert envelope["observed"]["candidates"] == 0
    assert envelope["observed"]["error_text"] == answer["error"]["message"]


@pytest.mark.req("RC-008", "RC-030")
def test_rc_030_the_error_text_names_the_empty_query(kettle: tuple[World, str]) -> None:
    world, x = kettle
    assert "query is empty" in world.at(x).seek("")["agent_runtime_contract"]["observed"]["error_text"]


@pytest.mark.req("RC-006")
@pytest.mark.parametrize(("query", "state"), [("kettle boils", "proving"), ("harbour crane", "blocked")])
def test_rc_006_proof_state_is_the_tools_own(kettle: tuple[World, str], query: str, state: str) -> None:
    world, x = kettle

    answer = world.at(x).seek(query, scope="light::")  # one claim, and no file that shares its word

    assert answer["proof_state"] == answer["agent_runtime_contract"]["proof_state"] == state


@pytest.mark.req("RC-007", "RC-005")
def test_rc_007_there_are_four_modes_and_their_statuses() -> None:
    assert {mode: status for mode, (status, _) in ENGINE_MODES.items()} == MODES


@pytest.mark.req("RC-009")
def test_rc_009_candidates_are_counted_before_the_cut(world: World) -> None:
    x = world.brain("x")
    for number in range(12):
        world.at(x).memorize(f"Kettle {number}", "A kettle boils.")
    world.at(x).memorize("Shared kettle", "A kettle boils.", tier="medulla")

    found = world.at(x).seek("kettle", top_k=2)
    wide = world.at(x).seek("kettle", top_k=2, tier="all-brains")
    beat = world.at(x).north("kettle")

    assert len(found["results"]) == 2
    assert checked(found, "seek")["observed"]["candidates"] == 13
    assert checked(wide, "seek")["observed"]["candidates"] == 13
    assert checked(beat, "north")["observed"]["candidates"] == len(beat["memory"]) + len(beat["anchors"]) == 6


@pytest.mark.req("RC-010")
def test_rc_010_session_identity_tells_who_answered(kettle: tuple[World, str]) -> None:
    world, x = kettle

    who = world.at(x, "claude:reviewer").seek("kettle")["agent_runtime_contract"]["session_identity"]

    assert (who["agent_id"], who["tool"], who["process_id"]) == ("claude:reviewer", "seek", os.getpid())
    assert who["runtime_root"] == str(world.store(x).parent)
    assert who["binary"] == {"name": "hindbrain", "version": hindbrain.__version__}


@pytest.mark.req("RC-010")
def test_rc_010_an_owner_says_its_own_pid(starter: Starter, tmp_path: Path) -> None:
    root = tmp_path.resolve() / "repo"
    root.mkdir()
    (root / "a.py").write_text("a\n", encoding="utf-8")
    running = starter(tmp_path / "home")
    running.call("ingest", path=str(root), project_root=str(root), root=root)

    who = running.call("north", task="x", root=root)["agent_runtime_contract"]["session_identity"]

    assert who["process_id"] == running.facts["pid"]
    assert who["binary"]["version"] == hindbrain.__version__


@pytest.mark.req("RC-011", "RC-012")
def test_rc_011_binding_and_graph_of_a_call_without_scope(kettle: tuple[World, str]) -> None:
    world, x = kettle

    envelope = world.at(x).seek("kettle")["agent_runtime_contract"]

    assert envelope["workspace_binding"] == {
        "requested_scope": None,
        "active_workspace_root": x,
        "active_workspace_root_source": "manifest",
        "active_ingest_roots": ["."],
        "workspace_match": True,
        "mismatch": None,
    }
    graph, stats = envelope["graph_identity"], world.at(x).call("health")
    assert (graph["node_count"], graph["edge_count"]) == (stats["node_count"], stats["edge_count"])
    assert graph["graph_path_exists"] is True
    assert Path(graph["graph_path"]).expanduser().is_file(), "the file itself, not only its name"
    assert Path(graph["graph_path"]).parent == Path(envelope["session_identity"]["runtime_root"])
    assert Path(envelope["session_identity"]["current_exe"]).expanduser().is_file(), "the program that answered"


@pytest.mark.req("RC-012")
def test_rc_012_a_graph_that_was_never_written_does_not_exist_yet(world: World) -> None:
    stranger = world.repository("stranger")

    before = world.at(stranger).seek("kettle")["agent_runtime_contract"]["graph_identity"]
    world.brain("stranger")
    after = world.at(stranger).seek("kettle")["agent_runtime_contract"]["graph_identity"]

    assert (before["graph_path_exists"], before["node_count"], before["graph_generation"]) == (False, 0, 0)
    assert after["graph_path_exists"] is True
    assert after["node_count"] > 0
    assert after["graph_generation"] > 0


def test_the_envelope_of_a_good_answer_is_compact(kettle: tuple[World, str]) -> None:
    """Given paths as people have them, it costs 320 tokens (characters / 4) when all is well."""
    world, x = kettle
    envelope = world.at(x, "claude-code:maker").seek("kettle")["agent_runtime_contract"]
    assert envelope["status"] == "ok"

    text = json.dumps(envelope, separators=(",", ":"))
    text = text.replace(x, "/home/ada/shop").replace(str(world.home.path), "~/.hindbrain")

    assert tokens(text) <= 320
