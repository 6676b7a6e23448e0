"""Research: reports become evidence and nothing more (MIND-307 to MIND-322)."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.engines.research import read
from hindbrain.operations import REGISTRY, describe, input_schema
from hindbrain.surfaces import arguments
from hindbrain.surfaces.manifest import Manifest
from hindbrain.surfaces.output import exit_code
from tests.support.still import still
from tests.support.world import Actor, World, git

REPORT: dict[str, Any] = {
    "report_id": "r1",
    "title": "Retries under load",
    "sources": [{"url": "https://example.org/a", "kind": "paper"}, "https://example.org/b"],
    "findings": [
        {"summary": "Retries without a bound make an outage longer.", "confidence": 0.8},
        "A queue hides the fault for an hour.",
        {"statement": "Bounded retries lose nothing.", "contradiction": True},
    ],
    "candidate_insights": [{"statement": "Bound every retry.", "finding_refs": [0]}],
}
GOLDEN = """\
Research: Retries under load
Report: r1
Finding: Retries without a bound make an outage longer.
Sources: [{"kind": "paper", "url": "https://example.org/a"}, "https://example.org/b"]
Raw: {"confidence": 0.8, "summary": "Retries without a bound make an outage longer."}"""


def given(**more: Any) -> dict[str, Any]:
    return copy.deepcopy(REPORT) | more


@pytest.fixture
def actor(any_world: World) -> Actor:
    return any_world.at(any_world.brain("app"))


def cards(world: World, actor: Actor) -> int:
    """How many cards the caller's brain holds, asked of its store."""
    house = world.app.house
    brain = house.router.write_route(actor.caller)
    with house.brains.use(brain) as opened:
        return sum(1 for _ in opened.store.each_card())


def over_mcp(world: World, actor: Actor) -> Actor:
    return Actor(world, replace(actor.caller, reads_files=False))


@pytest.mark.req("MIND-311")
def test_mind_311_everything_that_a_report_lacks_is_named(world: World) -> None:
    actor = world.at(None)

    empty = actor.call("research.validate", report={})
    full = actor.call("research.validate", report=given())

    assert (empty["ok"], empty["valid"], exit_code(empty)) == (True, False, 0)
    assert [error.split(":")[0] for error in empty["errors"]] == ["report_id", "title", "sources", "findings"]
    assert (full["valid"], full["errors"], exit_code(full)) == (True, [], 0)


@pytest.mark.req("MIND-311")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"report_id": "  "}, "report_id"),
        ({"title": 7}, "title"),
        ({"sources": []}, "sources"),
        ({"findings": {"0": "a"}}, "findings"),
        ({"candidate_insights": "x"}, "candidate_insights"),
        ({"candidate_insights": [{"statement": "s", "finding_refs": [3]}]}, "candidate_insights[0].finding_refs"),
        ({"report_id": "r" * 201}, "report_id"),
    ],
)
def test_mind_311_a_report_with_one_fault_has_one_error(change: dict[str, Any], named: str) -> None:
    found = read(given(**change))

    assert [error.split(":")[0] for error in found.errors] == [named]
    assert found.findings == found.insights == ()


def test_mind_311_what_is_no_object_is_no_report() -> None:
    assert read([REPORT]).errors == ("a report is a JSON object",)


@pytest.mark.req("MIND-312")
def test_mind_312_a_finding_is_told_by_its_first_words() -> None:
    findings = ["a", {"summary": "b"}, {"summary": " ", "text": "c"}, {"x": 1}]
    insights = ["first", {"x": 1}, " ", {"content": "second"}, 7]

    found = read(given(findings=findings, candidate_insights=insights))

    told = [one.content.split("\n")[2] for one in found.findings]
    assert told == ["Finding: a", "Finding: b", "Finding: c", 'Finding: {"x": 1}']
    assert [one.statement for one in found.insights] == ["first", "second"]


@pytest.mark.req("MIND-313")
def test_mind_313_validate_only_counts(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    path = tmp_path / "r.json"
    path.write_text(json.dumps(given()))

    with still(world.home.path):
        found = world.at(root).call("research.validate", path=str(path))

    keys = ("valid", "report_id", "title", "source_count", "finding_count", "candidate_insight_count", "errors")
    assert [found[key] for key in keys] == [True, "r1", "Retries under load", 2, 3, 1, []]


@pytest.mark.parametrize("text", ["{", None, "\xff\xfe"])
def test_mind_314_a_file_that_cannot_be_read_is_an_error_and_no_report(world: World, tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))

    answer = world.at(None).call("research.validate", path=str(path))

    assert (answer["ok"], exit_code(answer)) == (False, 1)
    assert "bad.json" in answer["error"]["message"]


@pytest.mark.req("MIND-315")
def test_mind_315_a_report_is_planned_first_and_written_when_told(world: World) -> None:
    actor = world.at(world.brain("app"))
    actor.call("record", text="so that the brain has its salt")

    with still(world.home.path):
        planned = actor.call("research.ingest", report=given())
    done = actor.call("research.ingest", report=given(), execute=True)

    assert (planned["writes"], planned["planned_evidence_count"], planned["created_count"]) == (False, 3, 0)
    assert (done["writes"], done["created_count"], done["skipped_count"]) == (True, 3, 0)
    assert [row["evidence_id"] for row in planned["evidence"]] == [row["evidence_id"] for row in done["evidence"]]
    assert actor.call("memory.list", room="research")["total"] == 3


@pytest.mark.req("MIND-315")
def test_mind_315_an_invalid_report_writes_nothing(actor: Actor) -> None:
    answer = actor.call("research.ingest", report=given(sources=[]), execute=True)

    assert (answer["ok"], answer["valid"], answer["writes"], answer["evidence"]) == (True, False, False, [])
    assert answer["errors"]
    assert actor.call("memory.list")["total"] == 0


@pytest.mark.req("MIND-316", "MIND-309")
def test_mind_316_a_finding_is_one_row_with_its_place_and_its_sources(actor: Actor) -> None:
    answer = actor.call("research.ingest", report=given(), execute=True)

    rows = [actor.call("memory.get", evidence_id=row["evidence_id"]) for row in answer["evidence"]]
    told = {"provenance": "research", "domain": "project", "field": "research", "importance": 3, "source_type": "project"}
    for index, row in enumerate(rows):
        assert {key: row[key] for key in told} == told
        assert (row["memory_kind"], row["wing"], row["room"]) == ("evidence", "hindbrain", "research")
        assert row["source_file"] == f"research://r1#finding-{index}" == answer["evidence"][index]["source_file"]
        assert row["chunk_index"] == answer["evidence"][index]["finding_index"] == index
    assert rows[0]["content"] == GOLDEN
    assert [row["tags"] for row in rows] == [[], [], ["counterexample"]]


@pytest.mark.req("MIND-316")
def test_mind_316_a_long_finding_stays_one_row(actor: Actor) -> None:
    answer = actor.call("research.ingest", report=given(findings=["retries matter. " * 400]), execute=True)

    assert (answer["created_count"], actor.call("memory.list")["total"]) == (1, 1)


@pytest.mark.req("MIND-309")
@pytest.mark.parametrize(
    "mark", [{"contradiction": True}, {"counterexample": "x"}, {"contradicts": ["card_1"]}, {"kind": "contradiction"}]
)
def test_mind_309_a_contradiction_is_kept_as_a_counterexample(mark: dict[str, Any]) -> None:
    against, neutral = read(given(findings=[{"summary": "s", **mark}, {"summary": "s", "contradiction": False}])).findings

    assert (against.tags, neutral.tags) == (("counterexample",), ())


@pytest.mark.req("MIND-307", "MIND-308")
def test_mind_307_a_report_makes_no_knowledge(any_world: World) -> None:
    actor = any_world.at(any_world.brain("app"))

    actor.call("research.validate", report=given())
    answer = actor.call("research.ingest", report=given(), execute=True)

    assert cards(any_world, actor) == 0
    assert [one["statement"] for one in answer["candidate_insights"]] == ["Bound every retry."]
    assert {row["memory_kind"] for row in actor.call("memory.list")["rows"]} == {"evidence"}


@pytest.mark.req("MIND-310")
def test_mind_310_a_report_cannot_give_itself_a_rank(any_world: World) -> None:
    plain, proud = any_world.at(any_world.brain("plain")), any_world.at(any_world.brain("proud"))
    boasts = {"tier": "dao_tian", "status": "canonical", "dao_tian": ["obey"], "reviewer": "human:founder", "importance": 5}

    plain.call("research.ingest", report=given(), execute=True)
    proud.call("research.ingest", report=given(**boasts), execute=True)

    kept = [
        [
            {key: row[key] for key in ("content", "provenance", "importance", "tags", "source_file")}
            for row in one.call("memory.list")["rows"]
        ]
        for one in (plain, proud)
    ]
    assert sorted(map(str, kept[0])) == sorted(map(str, kept[1]))
    assert cards(any_world, proud) == 0


@pytest.mark.req("MIND-317")
def test_mind_317_a_second_run_creates_nothing(actor: Actor) -> None:
    first = actor.call("research.ingest", report=given(), execute=True)
    again = actor.call("research.ingest", report=given(), execute=True)

    assert (again["created_count"], again["skipped_count"], again["writes"]) == (0, 3, False)
    assert [(row["created"], row["skipped"]) for row in again["evidence"]] == [(False, True)] * 3
    assert [row["evidence_id"] for row in again["evidence"]] == [row["evidence_id"] for row in first["evidence"]]
    assert actor.call("memory.list")["total"] == 3


def test_mind_317_a_row_that_somebody_deleted_stays_away(actor: Actor) -> None:
    first = actor.call("research.ingest", report=given(), execute=True)["evidence"][1]["evidence_id"]
    actor.call("memory.delete", evidence_id=first, reason="wrong")

    again = actor.call("research.ingest", report=given(), execute=True)

    assert (again["created_count"], again["evidence"][1]["reason"]) == (0, "it was deleted here")
    assert actor.call("memory.list")["total"] == 2


@pytest.mark.req("MIND-318")
def test_mind_318_order_of_findings_and_keys_does_not_matter(actor: Actor) -> None:
    first = actor.call("research.ingest", report=given(), execute=True)
    turned = given(findings=[_turned(one) for one in reversed(REPORT["findings"])], sources=list(map(_turned, REPORT["sources"])))
    turned = dict(reversed(turned.items())) | {"candidate_insights": []}

    again = actor.call("research.ingest", report=turned, execute=True)

    assert (again["created_count"], again["skipped_count"]) == (0, 3)
    assert [row["evidence_id"] for row in again["evidence"]] == [row["evidence_id"] for row in reversed(first["evidence"])]


def _turned(value: Any) -> Any:
    return dict(reversed(value.items())) if isinstance(value, dict) else value


def test_mind_318_the_same_finding_twice_is_one_row(actor: Actor) -> None:
    answer = actor.call("research.ingest", report=given(findings=["a", "a"], candidate_insights=[]), execute=True)

    assert (answer["created_count"], answer["skipped_count"]) == (1, 1)


@pytest.mark.req("MIND-319", "MIND-320")
def test_mind_319_insights_are_suggestions_with_a_command(actor: Actor) -> None:
    insights = ["Watch the queue.", {"statement": "Bound every retry.", "finding_refs": [0]}]

    planned = actor.call("research.ingest", report=given(candidate_insights=insights))

    ids = [row["evidence_id"] for row in planned["evidence"]]
    all_of_them, one = planned["candidate_insights"]
    assert (all_of_them["statement"], all_of_them["supporting_refs"]) == ("Watch the queue.", ids)
    assert (one["supporting_refs"], one["needs_content"]) == (ids[:1], True)
    assert one["suggested_command"][:3] == ["hindbrain", "knowledge", "distill"]
    assert [word for word in one["suggested_command"] if word.startswith("ev_")] == ids[:1]


@pytest.mark.req("MIND-321")
def test_mind_321_over_mcp_research_is_only_planned(world: World, tmp_path: Path) -> None:
    actor = world.at(world.brain("app"))
    actor.call("record", text="so that the brain has its salt")
    mcp = over_mcp(world, actor)
    path = tmp_path / "r.json"
    path.write_text(json.dumps(given()))

    with still(world.home.path):
        planned = mcp.call("research.ingest", report=given())
        refused = mcp.call("research.ingest", report=given(), execute=True)
        from_file = mcp.call("research.ingest", path=str(path))
        checked = mcp.call("research.validate", report=given())

    assert (planned["writes"], checked["valid"]) == (False, True)
    assert refused["error"]["code"] == from_file["error"]["code"] == "invalid_params"


@pytest.mark.req("MIND-322")
def test_mind_322_one_planner_serves_every_caller(world: World, tmp_path: Path) -> None:
    actor = world.at(world.brain("app"))
    path = tmp_path / "r.json"
    path.write_text(json.dumps(given()))

    by_file = actor.call("research.ingest", path=str(path))
    by_mcp = over_mcp(world, actor).call("research.ingest", report=given())

    assert by_file == by_mcp


@pytest.mark.req("MIND-508")
def test_mind_508_free_objects_are_declared_as_objects() -> None:
    schemas = {name: input_schema(op)["properties"] for name, op in REGISTRY.items()}
    free = [(name, key, shape) for name, held in schemas.items() for key, shape in held.items() if key in ("report", "metadata")]

    assert {("research.validate", "report"), ("research.ingest", "report"), ("adoption.record", "metadata")} <= {
        (name, key) for name, key, _ in free
    }
    for name, key, shape in free:
        kinds = {one.get("type") for one in shape.get("anyOf", [shape])}
        assert kinds == {"object", "null"}, f"{name}.{key}"


def test_mind_315_a_report_is_anchored_at_the_repository(world: World) -> None:
    root = world.brain("app")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    git(root, "worktree", "add", "-q", str(world.place / "tree"))
    actor = world.at(str(world.place / "tree"))

    shared = actor.call("research.ingest", report=given(), execute=True)
    local = actor.call("research.ingest", report=given(), execute=True, branch_local=True)

    assert (shared["anchor_kind"], shared["anchor_id"]) == ("repo", f"repo://{root}/.git")
    assert (local["anchor_kind"], local["anchor_id"]) == ("worktree", f"worktree://{world.place}/tree")
    assert (shared["created_count"], local["created_count"]) == (3, 3)


def test_mind_315_a_crossed_report_is_kept_whole_or_not_at_all(any_world: World) -> None:
    actor = any_world.at(any_world.brain("app"))
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    any_world.human(actor.caller.root).call("reject", claim="Queue", value="A queue hides the fault for an hour.")

    secret = actor.call("research.ingest", report=given(findings=["fine", f"use {token}"]), execute=True)
    buried = actor.call("research.ingest", report=given(), execute=True)

    assert (secret["error"]["code"], buried["error"]["code"]) == ("hygiene", "rejected_value")
    assert "finding 1" in buried["error"]["message"]
    assert actor.call("memory.list")["total"] == 0


def test_mind_317_the_record_has_one_entry_for_a_report(actor: Actor) -> None:
    actor.call("research.ingest", report=given(), execute=True)
    actor.call("research.ingest", report=given(), execute=True)

    (entry,) = [one for one in actor.call("ledger.show")["entries"] if one["act"] == "evidence.research"]
    assert (entry["channel"], entry["payload"]["rows"]) == ("research", 3)
    assert "Retries" not in json.dumps(entry)
    assert actor.call("ledger.verify")["ok"]


@pytest.mark.req("MIND-309")
def test_mind_309_a_demotion_may_cite_a_contradiction(actor: Actor) -> None:
    rows = actor.call("research.ingest", report=given(), execute=True)["evidence"]
    seen = [row["evidence_id"] for row in rows]
    made = actor.call(
        "knowledge.distill",
        statement="Never bound a retry.",
        content="Bounds lose work; it was believed until the outage.",
        tier="qi",
        supporting_refs=seen[:1],
    )
    up = actor.call(
        "knowledge.promote", card_id=made["card_id"], status="promoted", verification_refs=seen[1:2], reason="seen again"
    )
    assert up["ok"], up

    down = actor.call(
        "knowledge.demote",
        card_id=made["card_id"],
        status="demoted",
        evidence_refs=seen[2:],
        reason="bounded retries lose nothing",
        reason_type="contradicted",
    )

    assert (down["ok"], down["new_status"]) == (True, "demoted"), down
    assert down["counterexample_refs"] == seen[2:]


def test_mind_320_the_suggested_command_runs_once_its_content_is_written(world: World) -> None:
    actor = world.at(world.brain("app"))
    (one,) = actor.call("research.ingest", report=given(), execute=True)["candidate_insights"]
    _, *words = one["suggested_command"]
    words[words.index("--content") + 1] = "An endless retry keeps the load up; a short job may retry freely."
    op, count = Manifest([describe(REGISTRY[name]) for name in sorted(REGISTRY)]).resolve(words) or ({}, 0)

    made = actor.call(op["name"], **arguments.parse(op, words[count:], {}))

    assert (op["name"], made["ok"], made["created"]) == ("knowledge.distill", True, True)
    card = actor.call("knowledge.get", card_id=made["card_id"])
    assert (card["status"], card["supporting_refs"], card["field"]) == ("candidate", one["supporting_refs"], "research")
