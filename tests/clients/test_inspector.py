"""The MCP inspector's command line, which nobody here wrote, against a real owner: stdio and HTTP."""

import json
from pathlib import Path

import pytest

from tests.clients.conftest import Program
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import TRANSPORTS, bridge_command
from tests.support.owner import RunningOwner

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def target(owner: RunningOwner, transport: str, root: Path, profile: str = "default") -> list[str]:
    """The words that name a server to the inspector."""
    if transport == "stdio":
        command, *arguments = bridge_command("--profile", profile)
        return ["-e", f"HINDBRAIN_HOME={owner.home}", "--cwd", str(root), command, *arguments]
    headers = (f"Authorization: Bearer {owner.token}", f"Hindbrain-Caller-Root: {root}")
    address = f"{owner.url}/mcp?profile={profile}"
    return [address, "--transport", "http", "--header", headers[0], "--header", headers[1]]


@pytest.mark.parametrize("profile", ["default", "full"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_its_lint_finds_no_fault_in_any_tool(
    owner: RunningOwner, repository: Repositories, run_node: Program, transport: str, profile: str
) -> None:
    named = target(owner, transport, repository("x"), profile)

    code, seen, errors = run_node(INSPECTOR, "--cli", *named, "--method", "tools/list", "--strict")

    assert code == 0, errors
    assert ("history" in {tool["name"] for tool in seen["tools"]}) is (profile == "full")
    assert {"north", "memorize"} <= {tool["name"] for tool in seen["tools"]}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_it_remembers_recalls_and_sees_a_failing_tool(
    owner: RunningOwner, repository: Repositories, run_node: Program, transport: str
) -> None:
    root = repository("x")

    def call(tool: str, **arguments: str) -> tuple[int, dict[str, object], str]:
        pairs = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
        found: tuple[int, dict[str, object], str] = run_node(
            INSPECTOR, "--cli", *target(owner, transport, root), "--method", "tools/call", "--tool-name", tool, *pairs
        )
        return found

    owner.call("ingest", root=root, path=str(root), project_root=str(root))
    code, memorized, errors = call("memorize", node_label="heron", text="The heron eats at dawn.")
    _, north, _ = call("north", task="heron")
    _, failed, _ = call("promote", claim="no-such-claim", reason="because")

    assert code == 0, errors
    assert memorized["isError"] is False
    assert "The heron eats at dawn." in json.dumps(north)
    assert failed["isError"] is True
    assert "unknown_claim" in json.dumps(failed)
