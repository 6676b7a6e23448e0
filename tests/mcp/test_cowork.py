"""The bus over MCP: every action of it is a tool, and each tells what the command line tells (MIND-479)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hindbrain.surfaces import cli
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import connected
from tests.support.owner import Starter

SENT = {"from": "a", "message": "hello", "thread_id": "t"}
# The twenty actions, in an order in which each finds what it needs.
ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("register", {"agent_id": "a", "tool": "codex"}),
    ("register", {"agent_id": "b", "tool": "codex"}),
    ("heartbeat", {"agent_id": "b"}),
    ("send", {**SENT, "to": "b"}),
    ("broadcast", {**SENT, "to": ["b"]}),
    ("channel.set", {"channel": "c", "agents": ["a", "b"]}),
    ("channel.list", {}),
    ("channel.send", {"from": "a", "channel": "c", "message": "all"}),
    ("agents", {}),
    ("deliveries", {"agent_id": "b"}),
    ("session.create", {"session_id": "s", "title": "Work", "agents": ["a"], "channels": ["c"], "thread_id": "t"}),
    ("session.list", {}),
    ("session.status", {"session_id": "s", "status": "paused"}),
    ("handoff", {"session_id": "s"}),
    ("capture", {"note": "n"}),
    ("session.close", {"session_id": "s", "capture": True}),
    ("drain", {"agent_id": "b"}),
    ("ack", {"agent_id": "b", "message_id": "evt-0"}),
    ("peek", {"agent_id": "b", "lines": 5}),
    ("events", {"limit": 50}),
    ("doctor", {"now": "2026-05-25T00:00:00Z"}),
    ("peek", {"agent_id": "b", "lines": 501}),
]
NAMED = "register agents send broadcast drain events deliveries ack heartbeat channel.set channel.list channel.send peek doctor"
NAMED += " session.create session.list session.status session.close handoff capture"


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what chance, the clock and the directory put into it."""
    told = json.dumps(answer)
    told = re.sub(r"evt-[0-9a-f]{16}", "evt-N", told)
    told = re.sub(r"cowork-capture-[0-9a-f]{16}", "cowork-capture-N", told)
    told = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", told)
    found = json.loads(re.sub(r"/(mcp|cli)-project", "/project", told))
    assert isinstance(found, dict)
    return found


def typed(action: str, arguments: dict[str, Any]) -> list[str]:
    words = ["cowork", *action.split(".")]
    for name, value in arguments.items():
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return [*words, "--json"]


@pytest.mark.anyio
@pytest.mark.req("MIND-479", "MIND-429")
async def test_mind_479_every_action_of_the_bus_is_a_tool_that_tells_what_the_command_tells(
    starter: Starter,
    repository: Repositories,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_mcp: list[dict[str, Any]] = []
    owner, root = starter(tmp_path / "home"), repository("mcp-project")
    async with connected(owner, "http", "2026", root=root, agent="codex:maker", profile="full") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        for action, arguments in ACTIONS:
            found = (await client.call_tool(f"cowork_{action.replace('.', '_')}", arguments)).structured_content
            assert isinstance(found, dict)
            by_mcp.append(found)
    monkeypatch.setenv("HINDBRAIN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HINDBRAIN_AGENT_ID", "codex:maker")
    monkeypatch.chdir(repository("cli-project"))
    by_cli: list[dict[str, Any]] = []
    for action, arguments in ACTIONS:
        cli.main(typed(action, arguments))
        by_cli.append(json.loads(capsys.readouterr().out))

    assert {f"cowork_{name.replace('.', '_')}" for name in NAMED.split()} <= tools
    assert {action for action, _ in ACTIONS} == set(NAMED.split())
    for (action, _), there, here in zip(ACTIONS, by_mcp, by_cli, strict=True):
        shown = {name: value for name, value in plain(here).items() if name in there}
        assert shown == plain(there), action
    failed = [action for (action, _), one in zip(ACTIONS, by_mcp, strict=True) if not one["ok"]]
    assert failed == ["ack", "peek", "peek"]
