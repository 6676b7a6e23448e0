"""Handshakes over MCP: every session is on record, on each transport and in each era, before its first answer."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from hindbrain.stores.processes import process
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import INITIALIZE, PROTOCOLS, TRANSPORTS, Bridge, connected
from tests.support.owner import RunningOwner, Starter

pytestmark = pytest.mark.anyio


def records(home: Path) -> list[dict[str, Any]]:
    file = home / "recovery" / "handshakes.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize("era", sorted(PROTOCOLS))
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_aol_254_every_session_is_on_record(
    owner: RunningOwner, repository: Repositories, transport: str, era: str
) -> None:
    root = repository("shop")
    before = len(records(owner.home))

    async with connected(owner, transport, era, root=root, agent="codex:maker") as client:
        tools = await client.list_tools()
        await client.call_tool("health", {})

    new = [one for one in records(owner.home)[before:] if one["workspace_root"] == str(root)]
    assert len({one["session_id"] for one in new}) == 1, "one session, however many messages"
    made = new[0]
    assert (made["build_id"], made["transport"], made["host"]) == (owner.facts["build"], transport, "codex")
    assert made["protocol_version"] == PROTOCOLS[era]
    assert made["client_name"]
    assert made["client_version"]
    assert made["tools_digest"].startswith("sha256:")
    assert tools.tools
    assert (made["pid"] is not None) == (transport == "stdio"), "only a host that started a process has one"


async def test_aol_254_a_record_names_the_process_that_the_host_started(owner: RunningOwner, repository: Repositories) -> None:
    root = repository("shop")
    with (
        Bridge(owner.home, root, HINDBRAIN_HOST="gemini") as bridge,
        Bridge(owner.home, root, HINDBRAIN_HOST="gemini", HINDBRAIN_AGENT_ID="gemini:child") as child,
    ):
        for one in (bridge, child):
            one.initialize()
            one.tool("health")

        made = next(one for one in records(owner.home) if one["pid"] == bridge.process.pid)
        named = next(one for one in records(owner.home) if one["pid"] == child.process.pid)
        seen = process(bridge.process.pid)

    assert seen is not None
    assert (made["process_started"], made["host"], made["client_name"]) == (seen.started, "gemini", "raw")
    assert made["executable"] == os.path.realpath(seen.executable)
    assert (made["agent"], named["agent"]) == ("gemini:agent", "gemini:child"), "a name of its own outranks the host's"


async def test_aol_254_a_session_that_outlives_its_owner_stays_the_same_session(
    starter: Starter, repository: Repositories
) -> None:
    """A bridge repeats the handshake to a new owner: that is no new session of the host."""
    root = repository("shop")
    running = starter(root.parent / "home")
    with Bridge(running.home, root) as bridge:
        bridge.initialize()
        bridge.tool("health")
        running.process.send_signal(signal.SIGTERM)
        running.wait()
        starter(running.home)
        bridge.tool("health")

        mine = [one for one in records(running.home) if one["pid"] == bridge.process.pid]

    assert len(mine) == 2
    assert len({one["session_id"] for one in mine}) == 1


async def test_aol_254_what_a_client_says_of_itself_is_bounded(owner: RunningOwner, repository: Repositories) -> None:
    root = repository("shop")
    with Bridge(owner.home, root) as bridge:
        info = {"name": "n" * 5000, "version": "1\n{}"}
        bridge.call("initialize", {**INITIALIZE, "clientInfo": info})
        bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        bridge.tool("health")

        made = next(one for one in records(owner.home) if one["pid"] == bridge.process.pid)

    assert (len(made["client_name"]), made["client_version"]) == (100, "1{}")
