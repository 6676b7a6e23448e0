"""Outcomes over MCP: the same reports as at the command line, no command is run and no default is changed."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import connected
from tests.support.owner import Starter

ADVICE = {"evaluator_id": "e", "subject_kind": "qi", "subject_id": "k", "proposed_action": "promote", "evidence_refs": ["e1"]}


@pytest.mark.anyio
@pytest.mark.req("MIND-013", "MIND-344", "MIND-352", "MIND-375", "MIND-382")
async def test_mind_344_mind_382_mcp_tells_the_same_and_changes_no_default(
    starter: Starter, repository: Repositories, tmp_path: Path
) -> None:
    root = repository("x")
    owner = starter(tmp_path / "home")
    program = Program(home=tmp_path / "home", directory=root, environ={})
    async with connected(owner, "http", "2026", root=root, agent="codex:maker", profile="full") as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            found = (await client.call_tool(tool, arguments)).structured_content
            assert isinstance(found, dict)
            return found

        assert (await call("ingest", path=str(root), project_root=str(root)))["ok"]
        tools = {tool.name for tool in (await client.list_tools()).tools}
        for _ in range(3):
            await call("adoption_record", track="card_context", signal="accepted", feature="include_cards")
        await call("adoption_record", track="card_context", signal="rollback", feature="include_cards", note="worse")
        refused = await call("defaults_rollback", candidate="card-context", execute=True)
        by_mcp = [
            await call("adoption_guidance"),
            await call("adoption_instrumentation"),
            await call("adoption_check", track="card_context", signal="accepted", feature="include_cards"),
            await call("adoption_prepare", track="card_context", signal="accepted", feature="include_cards"),
            await call("adoption_stats"),
            await call("adoption_review"),
            await call("adoption_analytics"),
            await call("adoption_gate", candidate="card-context-default"),
            await call("adoption_readiness", candidate="card-context-default"),
            await call("defaults_propose", candidate="card-context", rollback_criteria=["c"]),
            await call("defaults_rollback", candidate="card-context"),
            await call("knowledge_advise", **ADVICE),
        ]

    record = ("--track", "card_context", "--signal", "accepted", "--feature", "include_cards")
    advice = ("--evaluator-id", "e", "--subject-kind", "qi", "--subject-id", "k", "--proposed-action", "promote")
    by_cli = [
        program.answer(*words)
        for words in (
            ("adoption", "guidance"),
            ("adoption", "instrumentation"),
            ("adoption", "check", *record),
            ("adoption", "prepare", *record),
            ("adoption", "stats"),
            ("adoption", "review"),
            ("adoption", "analytics"),
            ("adoption", "gate", "card-context-default"),
            ("adoption", "readiness", "card-context-default"),
            ("defaults", "propose", "card-context", "--rollback-criterion", "c"),
            ("defaults", "rollback", "card-context"),
            ("knowledge", "advise", *advice, "--evidence-ref", "e1"),
        )
    ]
    assert by_mcp == [{key: value for key, value in answer.items() if key != "rendered"} for answer in by_cli]
    assert by_mcp[-2]["rollback_required"] is True
    assert refused["error"]["code"] == "human_needed"
    assert not [name for name in tools if "wrap" in name or name == "defaults_set"]
    assert {"adoption_capture", "defaults_rollback", "knowledge_advise"} <= tools
