"""The TypeScript SDK's client, which nobody here wrote, against a real owner: stdio and HTTP, both protocol eras."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Program
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import PROTOCOLS, TRANSPORTS, bridge_command, bridge_environ
from tests.support.owner import RunningOwner


def plan(owner: RunningOwner, transport: str, era: str, root: Path, calls: list[tuple[str, dict[str, Any]]]) -> str:
    """What client.mjs is to do, on its command line."""
    if transport == "stdio":
        command, *arguments = bridge_command()
        reach: dict[str, Any] = {"command": command, "args": arguments, "env": bridge_environ(owner.home), "cwd": str(root)}
    else:
        headers = {"Authorization": f"Bearer {owner.token}", "Hindbrain-Caller-Root": str(root)}
        reach = {"url": f"{owner.url}/mcp", "headers": headers}
    return json.dumps({**reach, "era": era, "calls": calls})


@pytest.mark.parametrize("era", list(PROTOCOLS))
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_it_lists_remembers_recalls_and_fails_as_any_host(
    owner: RunningOwner, repository: Repositories, run_node: Program, transport: str, era: str
) -> None:
    root = repository("x")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("ingest", {"path": str(root), "project_root": str(root)}),
        ("memorize", {"node_label": "heron", "text": "The heron eats at dawn."}),
        ("north", {"task": "heron"}),
        ("promote", {"claim": "no-such-claim", "reason": "because"}),
        ("no_such_tool", {}),
    ]

    code, seen, errors = run_node("client.mjs", plan(owner, transport, era, root, calls))

    assert code == 0, errors
    assert seen["protocol"] == PROTOCOLS[era]
    assert "Call north first" in seen["instructions"]
    assert {"north", "memorize"} <= {tool["name"] for tool in seen["tools"]}
    _, memorized, north, failed, unknown = seen["calls"]
    assert memorized["structuredContent"]["ok"] is True
    assert "The heron eats at dawn." in json.dumps(north)
    assert failed["isError"] is True
    assert failed["structuredContent"]["error"]["code"] == "unknown_claim"
    assert unknown["thrown"] == -32602


def test_without_the_token_it_is_not_let_in(owner: RunningOwner, run_node: Program) -> None:
    code, _, errors = run_node("client.mjs", json.dumps({"url": f"{owner.url}/mcp", "headers": {}, "era": "2025", "calls": []}))

    assert code != 0
    assert "401" in errors or "unauthorized" in errors.lower()
