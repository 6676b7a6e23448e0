"""The loop of knowledge from end to end: a report becomes evidence, a card, a belief at work, a default, and all of it is undone.

Once by the command line and once over MCP, with real processes; what only a person may do is typed at a terminal."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from tests.cli.program import Ended, Program, end_owner
from tests.mcp.hosts import connected, mcp_is_up
from tests.support.owner import Starter

REPORT = {
    "report_id": "r-7",
    "title": "Queues under load",
    "sources": ["https://example.org/queues"],
    "findings": [
        {"summary": "A retry without a bound filled the queue in four minutes."},
        {"summary": "The bounded retry drained the queue within a minute."},
    ],
    "candidate_insights": [{"statement": "Bound every retry.", "finding_refs": [0]}],
}
LAW = {"statement": "Bound every retry of the queue.", "content": "Without a bound one fault fills it for all the others."}
CRITERION = "switch it off when one outcome says rollback"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Program]:
    """A repository with a brain and a report on disk; its owner ends with the test."""
    root = tmp_path / "app"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "report.json").write_text(json.dumps(REPORT), encoding="utf-8")
    program = Program(home=tmp_path / "home", directory=root, environ={"HINDBRAIN_MODE": "owner", "HINDBRAIN_EMBEDDER": "off"})
    yield program
    end_owner(program.home)


def ok(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def typed(program: Program, name: str, *words: str) -> Ended:
    """A person at a terminal, who types what the act is about."""
    ended = program.at_terminal(*words, say=[("to go on: ", f"{name}\n")])
    assert ended.code == 0, ended.out
    return ended


@pytest.mark.req("MIND-392", "MIND-389", "MIND-394", "MIND-046", "MIND-351", "MIND-373", "MIND-376", "MIND-381")
def test_mind_392_the_loop_by_the_command_line(project: Program) -> None:
    ok(project.answer("ingest", str(project.directory), "--project-root", str(project.directory)))

    # A report becomes evidence: planned first, then kept.
    planned = ok(project.answer("research", "ingest", "report.json"))
    kept = ok(project.answer("research", "ingest", "report.json", "--execute"))
    first, second = (row["evidence_id"] for row in kept["evidence"])
    assert (planned["writes"], kept["writes"], kept["created_count"]) == (False, True, 2)
    assert planned["candidate_insights"][0]["suggested_command"][:3] == ["hindbrain", "knowledge", "distill"]

    # A candidate, a closed gate, verification, an open one.
    card = ok(
        project.answer(
            *("knowledge", "distill", "--tier", "dao_ren", "--statement", LAW["statement"], "--content", LAW["content"]),
            *("--supporting-ref", first),
        )
    )["card_id"]
    promote = ("knowledge", "promote", card, "--status", "promoted", "--reason", "measured twice", "--verification-ref", second)
    closed = project.run(*promote)
    assert (closed.code, closed.json["error"]["code"]) == (1, "gate_closed")
    assert closed.json["error"]["gate"]["reasons"] == ["supporting: have 1, need 2"]
    ok(project.answer("knowledge", "link", card, second, "--role", "supporting"))
    assert ok(project.answer(*promote))["new_status"] == "promoted"

    # At work: shown with what it rests on, and a command that went well with it.
    silent = ok(project.answer("context", "retry of the queue"))
    shown = ok(project.answer("context", "retry of the queue", "--include-cards"))
    assert [item["text"] for item in silent["sections"][0]["items"]] == [LAW["statement"]]
    assert "card_id" not in silent["sections"][0]["items"][0]
    item = shown["sections"][0]["items"][0]
    assert (item["card_id"], {one["evidence_id"] for one in item["evidence_citations"]}) == (card, {first, second})
    wrapped = ("adoption", "wrap", "--surface", "card-context", "--query", "retry of the queue", "--card-id", card, "--execute")
    for _ in range(3):
        assert project.run(*wrapped, "--context-hash", shown["context_hash"], "--", "true").code == 0
    assert len(ok(project.answer("adoption", "list", "--context-hash", shown["context_hash"]))["events"]) == 3

    # Outcomes speak for the default; a person switches it on, and off when one speaks against it.
    assert ok(project.answer("adoption", "readiness", "card-context-default"))["ready"] is True
    assert project.answer("defaults", "set", "card-context", "--enable", "--rollback-criterion", CRITERION)["error"]["code"] == (
        "human_needed"
    )
    typed(project, "card-context", "defaults", "set", "card-context", "--enable", "--rollback-criterion", CRITERION)
    assert ok(project.answer("context", "retry of the queue"))["sections"][0]["items"][0]["card_id"] == card
    worse = (
        "--track",
        "card_context",
        "--signal",
        "rollback",
        "--feature",
        "include_cards",
        "--card-id",
        card,
        "--note",
        "worse",
    )
    ok(project.answer("adoption", "record", *worse))
    assert ok(project.answer("defaults", "rollback", "card-context"))["rollback_required"] is True
    typed(project, "card-context", "defaults", "rollback", "card-context", "--execute")
    assert "card_id" not in ok(project.answer("context", "retry of the queue"))["sections"][0]["items"][0]
    assert ok(project.answer("defaults", "show"))["include_cards_default"] is False

    told(project, card)


def told(project: Program, card: str) -> None:
    """The record of it holds, and reads as a story."""
    assert ok(project.answer("ledger", "verify"))["ok"]
    events = ok(project.answer("knowledge", "events", card))["events"]
    assert [event["event_type"] for event in events] == ["created", "linked", "promoted"]
    story = ok(project.answer("story"))
    lines = story["rendered"]
    told_of = (
        *("made a dao_ren card", "refused by the gate", "linked evidence", "promoted a dao_ren card", "outcome: accepted"),
        *("switched cards in every context on", "outcome: rollback", "took the default back"),
    )
    places = [lines.index(words) for words in told_of]
    assert places == sorted(places), lines
    assert LAW["statement"] in lines
    assert "the chain holds" in lines
    assert [row["channel"] for row in story["rows"] if row["act"].startswith("default.")] == ["human", "human"]


@pytest.mark.req("MIND-393")
def test_mind_393_an_invalid_report_creates_nothing(project: Program) -> None:
    ok(project.answer("ingest", str(project.directory), "--project-root", str(project.directory)))
    Path(project.directory, "empty.json").write_text("{}", encoding="utf-8")

    answer = project.answer("research", "ingest", "empty.json", "--execute")

    assert (answer["valid"], answer["writes"]) == (False, False)
    assert ok(project.answer("memory", "list"))["total"] == 0
    assert ok(project.answer("knowledge", "list"))["total"] == 0
    assert ok(project.answer("adoption", "stats"))["total"] == 0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.req("MIND-392", "MIND-286", "MIND-013", "MIND-321", "MIND-149")
async def test_mind_392_the_loop_over_mcp(project: Program, starter: Starter) -> None:
    owner = mcp_is_up(starter(project.home, environ={"HINDBRAIN_EMBEDDER": "off"}))
    root = project.directory
    async with connected(owner, "http", "2026", root=root, agent="codex:maker", profile="full") as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            found = (await client.call_tool(tool, arguments)).structured_content
            assert isinstance(found, dict)
            return found

        ok(await call("ingest", path=str(root), project_root=str(root)))
        plan = ok(await call("research_ingest", report=REPORT))
        refused = await call("research_ingest", report=REPORT, execute=True)
        assert (plan["writes"], plan["planned_evidence_count"], refused["ok"]) == (False, 2, False)
        ids = [
            ok(await call("record", text=one["summary"], provenance="research", source=f"research://r-7#finding-{at}"))[
                "evidence_id"
            ]
            for at, one in enumerate(REPORT["findings"])  # type: ignore[arg-type]
        ]
        card = ok(await call("knowledge_distill", **LAW, tier="dao_ren", supporting_refs=ids[:1]))["card_id"]
        checked = {"card_id": card, "status": "promoted", "reason": "measured twice", "verification_refs": ids[1:]}
        assert (await call("knowledge_promote", **checked))["error"]["code"] == "gate_closed"
        canonical = await call("knowledge_promote", **checked | {"status": "canonical"}, reviewer="human:founder")
        assert canonical["error"]["code"] == "human_needed"
        assert canonical["error"]["command"][:3] == ["hindbrain", "knowledge", "promote"]
        ok(await call("knowledge_link", card_id=card, evidence_id=ids[1], role="supporting"))
        assert ok(await call("knowledge_promote", **checked))["new_status"] == "promoted"
        shown = ok(await call("context", query="retry of the queue", include_cards=True))
        assert shown["sections"][0]["items"][0]["card_id"] == card
        outcome = {"surface": "card-context", "outcome": "accepted", "query": "retry of the queue", "card_id": card}
        for _ in range(3):
            ok(await call("adoption_capture", **outcome, context_hash=shown["context_hash"], execute=True))
        assert ok(await call("adoption_readiness", candidate="card-context-default"))["ready"] is True
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert not tools & {"defaults_set", "adoption_wrap", "knowledge_create"}
        acts = [f"knowledge_{act}" for act in ("list", "get", "retrieve", "events", "gate", "promote", "demote")]
        assert set(acts) <= tools
        held = [ok(await call("knowledge_list")), ok(await call("knowledge_events", card_id=card))]
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("knowledge_create", {**LAW, "tier": "qi", "supporting_refs": ids[:1]})
        assert unknown.value.error.code == INVALID_PARAMS
        assert [act for act in acts if act not in unknown.value.error.message] == []
        assert [ok(await call("knowledge_list")), ok(await call("knowledge_events", card_id=card))] == held

        typed(project, "card-context", "defaults", "set", "card-context", "--enable", "--rollback-criterion", CRITERION)
        assert ok(await call("context", query="retry of the queue"))["sections"][0]["items"][0]["card_id"] == card
        ok(await call("adoption_capture", **outcome | {"outcome": "rollback"}, note="worse", execute=True))
        assert ok(await call("defaults_rollback", candidate="card-context"))["rollback_required"] is True
        assert (await call("defaults_rollback", candidate="card-context", execute=True))["error"]["code"] == "human_needed"
        typed(project, "card-context", "defaults", "rollback", "card-context", "--execute")
        assert "card_id" not in ok(await call("context", query="retry of the queue"))["sections"][0]["items"][0]

    told(project, card)
