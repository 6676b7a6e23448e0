"""Conventions that hold for every operation on knowledge: one store, checked arguments, no effects that nobody asked for."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.operations import REGISTRY
from hindbrain.operations.registry import input_schema
from hindbrain.stores.vector_port import Shelf
from tests.cli.program import Program, git_repository
from tests.support.scholar import Scholar, knowledge_of
from tests.support.still import still

FAMILIES = ("knowledge.", "adoption.", "defaults.", "research.", "maintenance.", "scope.", "release.")
OURS = sorted(name for name in REGISTRY if name.startswith(FAMILIES) or name in ("context", "brief", "wake", "record"))


def database(scholar: Scholar) -> apsw.Connection:
    return apsw.Connection(str(scholar.world.home.brains_dir / fingerprint(scholar.root) / "brain.db"))


@pytest.mark.req("MIND-001", "MIND-086", "MIND-295", "MIND-296")
def test_mind_001_everything_durable_is_in_one_file_and_no_card_has_a_vector(here: Scholar) -> None:
    card = here.promoted()
    here.ok("adoption.record", track="card_embedding", signal="miss", feature="card_statement_recall", card_id=card, note="n")
    held = knowledge_of(here.world)
    here.world.close()
    place = here.world.home.brains_dir / fingerprint(here.root)
    for name in ("index.db", "vectors.db", "graph.db"):
        for path in place.glob(f"{name}*"):
            path.unlink()

    assert knowledge_of(here.world) == held
    connection = database(here)
    columns = [row[1] for row in connection.execute("pragma table_info(card)")]
    assert {"tier", "status", "domain", "field", "anchor_kind", "anchor_id", "parent_anchor_id"} <= set(columns)
    tables = [row[0] for row in connection.execute("select name from sqlite_master")]
    assert not [name for name in tables if "card" in name and ("vector" in name or "embed" in name)]
    assert {shelf.value for shelf in Shelf} == {"claim", "evidence"}
    gate = here.ok("adoption.gate", candidate="card-embeddings")
    assert (gate["ready"], gate["required_track"]) == (False, "card_embedding")


@pytest.mark.req("MIND-003", "MIND-006", "MIND-008", "MIND-010")
def test_mind_010_what_is_wrong_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    program = Program(home=tmp_path / "home", directory=git_repository(tmp_path / "app"), environ={"HINDBRAIN_MODE": "embedded"})
    wrong = (
        ("knowledge", "policy", "--format", "yaml"),
        ("defaults", "set", "unknown", "--enable", "--rollback-criterion", "x"),
        ("adoption", "gate", "nope"),
        ("knowledge", "list", "--tier", "dao"),
        ("context", "x", "--max-items", "0"),
        ("adoption", "record", "--track", "misc", "--signal", "used", "--feature", "f"),
    )
    for words in wrong:
        ended = program.run(*words)
        assert ended.code in (1, 2), ended
        assert ended.json["error"]["code"] in ("invalid_params", "human_needed"), words
        assert not list(tmp_path.glob("home/**/*.db")), words
    assert "--format" in program.run(*wrong[0]).json["error"]["message"]
    assert "dao_tian" in program.run(*wrong[3]).json["error"]["fix"]

    for words in (("knowledge", "policy"), ("scope", "fields"), ("adoption", "guidance"), ("maintenance", "runbook")):
        ended = program.run(*words)
        assert (ended.code, ended.err) == (0, "")
        json.loads(ended.out)
    assert not (tmp_path / "home" / "config.toml").exists()
    assert not list(tmp_path.glob("home/**/*.db"))


@pytest.mark.req("MIND-010")
def test_mind_010_a_person_with_a_wrong_argument_is_refused_and_every_file_stays(here: Scholar) -> None:
    person = Scholar(here.world, here.root, human=True)
    card, seen = here.distilled(), here.saw()
    move = {"card_id": card, "reason": "r"}
    wrong: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("defaults.set", {"candidate": "unknown", "enable": True, "rollback_criteria": ["x"]}, "unknown"),
        ("adoption.record", {"track": "misc", "signal": "used", "feature": "f"}, "misc"),
        ("knowledge.promote", {**move, "status": "wonderful", "verification_refs": [seen]}, "wonderful"),
        ("knowledge.link", {"card_id": card, "evidence_id": seen, "role": "friend"}, "friend"),
        ("knowledge.publish", {**move, "to": "moon"}, "moon"),
        ("context", {"query": "x", "max_items": 0}, "max_items"),
    )
    for operation, arguments, named in wrong:
        with still(here.world.home.path):
            refused = person.refused(operation, **arguments)
        assert (refused["code"], named in refused["message"]) == ("invalid_params", True), refused
    assert not (here.world.home.path / "config.toml").exists()


@pytest.mark.req("MIND-006", "MIND-007")
def test_mind_006_no_process_outlives_its_command_and_nothing_is_written_elsewhere(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "app")
    environ = {"HINDBRAIN_MODE": "embedded", "HINDBRAIN_EMBEDDER": "off"}
    program = Program(home=tmp_path / "home", directory=root, environ=environ)
    outside = {str(path) for path in tmp_path.rglob("*") if not str(path).startswith((str(program.home), str(root)))}
    for words in (
        ("ingest", str(root), "--project-root", str(root)),
        ("record", "the queue was full"),
        ("context", "queue"),
        ("brief", "queue"),
        ("wake",),
        ("knowledge", "list"),
        ("adoption", "stats"),
    ):
        with program.start(*words, stdout=subprocess.PIPE, start_new_session=True) as process:
            process.communicate(timeout=60)
        assert process.returncode == 0, words
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)

    assert {str(path) for path in tmp_path.rglob("*") if not str(path).startswith((str(program.home), str(root)))} == outside


def choices(name: str) -> list[str]:
    """The arguments of an operation that take only some values."""
    fields = msgspec.structs.fields(REGISTRY[name].arguments)
    schema = input_schema(REGISTRY[name])["properties"]
    return [
        one.name
        for one in fields
        if "enum" in schema[one.name] or any("enum" in part for part in schema[one.name].get("anyOf", ()))
    ]


@pytest.mark.req("MIND-014", "MIND-508")
@pytest.mark.parametrize("name", [name for name in OURS if choices(name)])
def test_mind_014_a_value_that_is_none_of_those_is_the_callers_mistake(here: Scholar, name: str) -> None:
    schema = input_schema(REGISTRY[name])
    texts: dict[str, Any] = {"string": "x", "array": ["ev_x"], "object": {}, "integer": 1, "boolean": False}
    plain = {"surface": "card-context"}
    needed = {key: plain.get(key) or texts[schema["properties"][key].get("type", "string")] for key in schema.get("required", ())}
    here.saw()

    for argument in choices(name):
        lawful = {key: _first(schema["properties"][key], value) for key, value in needed.items()}
        before = knowledge_of(here.world)
        error = here.refused(name, **{**lawful, argument: "zzz"})
        if not REGISTRY[name].human:
            assert error["code"] == "invalid_params"
            assert argument in error["message"] + str(error["fix"])
        assert knowledge_of(here.world) == before


def _first(schema: dict[str, Any], value: Any) -> Any:
    return schema["enum"][0] if "enum" in schema else value


@pytest.mark.req("MIND-039", "MIND-048", "MIND-307", "MIND-049", "MIND-111", "MIND-081")
def test_mind_039_each_act_changes_one_layer_only(here: Scholar) -> None:
    def layers() -> tuple[Any, Any, Any]:
        (_, evidence, cards, links, events, outcomes) = knowledge_of(here.world)[0]
        return evidence, (cards, links, events), outcomes

    seen, check = here.saw("Build fails on 3.12", provenance="runtime", tags=["failure"]), here.saw("It failed again")
    row = here.ok("memory.get", evidence_id=seen)
    assert (row["provenance"], row["tags"], row["memory_kind"]) == ("runtime", ["failure"], "evidence")
    report = {"report_id": "r", "title": "t", "sources": ["s"], "findings": ["f"]}
    card = here.distilled("Pin the version.", supporting_refs=[seen])
    acts: list[tuple[str, dict[str, Any], tuple[bool, bool, bool]]] = [
        ("record", {"text": "seen"}, (True, False, False)),
        ("research.ingest", {"report": report, "execute": True}, (True, False, False)),
        ("research.validate", {"report": report}, (False, False, False)),
        ("knowledge.link", {"card_id": card, "evidence_id": check, "role": "supporting"}, (False, True, False)),
        ("knowledge.advise", _ADVICE | {"subject_id": card}, (False, False, False)),
        (
            "knowledge.promote",
            {"card_id": card, "status": "promoted", "verification_refs": [check], "reason": "r"},
            (False, True, False),
        ),
        ("adoption.record", {"track": "runtime_adoption", "signal": "used", "feature": "context_pack"}, (False, False, True)),
        ("knowledge.demote", _DOWN | {"card_id": card, "evidence_refs": [seen]}, (False, True, False)),
    ]
    for name, arguments, changed in acts:
        before = layers()
        here.ok(name, **arguments)
        assert tuple(a != b for a, b in zip(layers(), before, strict=True)) == changed, name


_ADVICE = {"evaluator_id": "e", "subject_kind": "qi", "proposed_action": "promote", "evidence_refs": ["ev_1"]}
_DOWN = {"status": "demoted", "reason": "r", "reason_type": "obsolete"}


@pytest.mark.req("MIND-037", "MIND-030")
def test_mind_037_tools_and_commands_are_qi(here: Scholar) -> None:
    told = input_schema(REGISTRY["knowledge.distill"])["properties"]["tier"]["description"]

    assert "tools and commands are qi" in told
    assert here.card(here.distilled("Use rg for search.", tier="qi"))["tier"] == "qi"


@pytest.mark.req("MIND-121", "MIND-018")
def test_mind_121_importance_is_three_and_ids_are_long(here: Scholar) -> None:
    card = here.card(here.distilled())

    assert card["importance"] == 3
    assert len(card["id"].removeprefix("card_")) >= 16
    assert len(card["supporting_refs"][0].removeprefix("ev_")) >= 16


@pytest.mark.req("MIND-267", "MIND-268", "MIND-281")
def test_mind_268_history_is_exported_on_request_and_mirrored_nowhere(scholar: Scholar) -> None:
    lines = {path: path.read_bytes() for path in scholar.world.place.rglob("*.jsonl")}
    card = scholar.distilled()
    scholar.ok("knowledge.link", card_id=card, evidence_id=scholar.saw(), role="supporting")
    scholar.promote(card)
    scholar.demote(card)

    first, second = scholar.ok("knowledge.export"), scholar.ok("knowledge.export")

    assert first["lines"] == second["lines"]
    assert [json.loads(line)["event_type"] for line in first["lines"]] == ["created", "linked", "promoted", "demoted"]
    assert len(scholar.ok("knowledge.events", card_id=card)["events"]) == 4
    assert {path: path.read_bytes() for path in scholar.world.place.rglob("*.jsonl")} == lines


@pytest.mark.req("MIND-274", "MIND-137")
def test_mind_274_a_card_that_is_not_there_is_named(here: Scholar) -> None:
    error = here.refused("knowledge.get", card_id="card_x")

    assert (error["code"], "card_x" in error["message"]) == ("unknown_card", True)


@pytest.mark.req("MIND-241", "MIND-240", "MIND-379")
def test_mind_241_no_feature_of_knowledge_changes_a_search(here: Scholar, person: Scholar) -> None:
    here.saw("the queue was full at noon")
    card = here.created("Drain the queue.", supporting_refs=[here.saw("the queue was empty at night")])
    here.promote(card, verification_refs=[here.saw("looked at the queue")])

    def golden() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = here.ok("memory.search", query="queue", floor=False)["results"]
        return rows

    before = golden()
    for _ in range(3):
        here.ok("adoption.record", track="card_context", signal="accepted", feature="include_cards", query="q", card_id=card)
    person.ok("defaults.set", candidate="card-context", enable=True, rollback_criteria=["c"])
    assert golden() == before
    assert "card_" not in json.dumps(before)


def test_no_operation_on_knowledge_is_named_after_a_stage() -> None:
    words = {part for name in OURS for part in name.replace(".", "_").split("_")}

    assert not words & {"phase", "phase3", "stage", "drawer", "legacy", "v2"}
