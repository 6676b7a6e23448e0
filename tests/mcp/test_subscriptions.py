"""Notices of mail over MCP: a host subscribes to an inbox and is told that something came, on both transports in both eras."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from hindbrain.stores.owner_file import announce
from hindbrain.stores.token_file import owner_proof
from hindbrain.surfaces.bridge import DRAIN_S
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import Bridge, connected
from tests.support.owner import LIMIT_S, RunningOwner, Starter

INBOX = "hindbrain://cowork/inbox/b"


def on_bus(owner: RunningOwner, root: Path) -> None:
    for agent in "ab":
        assert owner.call("cowork.register", root=root, agent_id=agent, tool="codex")["ok"]


def send(owner: RunningOwner, root: Path, to: str = "b") -> str:
    told = owner.call("cowork.send", root=root, **{"from": "b" if to == "a" else "a", "to": to, "message": "the plan"})
    return str(told["message_id"])


@pytest.mark.anyio
@pytest.mark.filterwarnings(
    "ignore::mcp.shared.exceptions.MCPDeprecationWarning"
)  # the era of sessions is over, its hosts are not
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_subscribed_session_is_told_of_mail_on_its_own_bus_only(
    owner: RunningOwner, repository: Repositories, transport: str
) -> None:
    root, other = repository(f"own-{transport}"), repository(f"other-{transport}")
    on_bus(owner, root)
    on_bus(owner, other)
    heard: list[str] = []
    told = anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", None) == "notifications/resources/updated":
            heard.append(str(message.params.uri))
            told.set()

    async with connected(owner, transport, "2025", root=root, message_handler=hear) as client:
        await client.subscribe_resource(INBOX)
        with pytest.raises(MCPError, match="unknown_agent"):
            await client.subscribe_resource("hindbrain://cowork/inbox/nobody")
        with pytest.raises(MCPError, match="Only an inbox"):
            await client.subscribe_resource("hindbrain://brief")
        send(owner, other)
        send(owner, root, to="a")

        sent = send(owner, root)

        with anyio.fail_after(LIMIT_S):
            await told.wait()
        read = json.loads((await client.read_resource(INBOX)).contents[0].text)  # type: ignore[union-attr]
        assert (read["count"], read["message_ids"]) == (1, [sent])
        assert "plan" not in json.dumps(read)
        await client.unsubscribe_resource(INBOX)
        send(owner, root)
        assert (await client.call_tool("cowork_wait", {"agent_id": "b"})).structured_content["count"] == 2  # type: ignore[index]
        assert heard == [INBOX]


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_listening_client_of_2026_is_told_on_its_stream(
    owner: RunningOwner, repository: Repositories, transport: str
) -> None:
    root, other = repository(f"mine-{transport}"), repository(f"theirs-{transport}")
    on_bus(owner, root)
    on_bus(owner, other)
    async with connected(owner, transport, "2026", root=root) as client:
        async with client.listen(resource_subscriptions=[INBOX]) as events:
            send(owner, other)
            send(owner, root)

            with anyio.fail_after(LIMIT_S):
                event = await anext(aiter(events))

            assert event.uri == INBOX  # type: ignore[union-attr]


def test_a_bridge_subscribes_again_with_the_next_owner(starter: Starter, repository: Repositories, tmp_path: Path) -> None:
    root, home = repository("again"), tmp_path / "home"
    first = starter(home)
    on_bus(first, root)
    updated = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": INBOX}}
    with Bridge(home, root) as bridge:
        bridge.initialize()
        assert bridge.call("resources/subscribe", {"uri": INBOX})["result"] == {}
        first.kill()
        second = starter(home)

        bridge.ask("resources/read", {"uri": INBOX})

        assert bridge.read() == updated  # something may have come in between
        assert "result" in bridge.read()
        send(second, root)
        assert bridge.read() == updated


def test_a_bridge_has_its_host_look_when_the_next_owner_has_answered(
    starter: Starter, repository: Repositories, tmp_path: Path
) -> None:
    root, home = repository("slow"), tmp_path / "home"
    first = starter(home)
    on_bus(first, root)
    updated = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": INBOX}}
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "not yet"}}
    with Bridge(home, root) as bridge, socket.create_server(("127.0.0.1", 0)) as slow:
        bridge.initialize()
        assert bridge.call("resources/subscribe", {"uri": INBOX})["result"] == {}
        first.kill()
        slow.settimeout(LIMIT_S)
        port = slow.getsockname()[1]
        lock = announce(home / "owner.json", {**first.facts, "pid": os.getpid(), "bridge_port": port})

        asked = bridge.ask("resources/read", {"uri": INBOX})
        with slow.accept()[0] as link, link.makefile("rb") as said:
            link.settimeout(LIMIT_S)
            challenge = json.loads(said.readline())["challenge"]
            link.sendall(json.dumps({"proof": owner_proof(first.token, challenge, "127.0.0.1", port)}).encode() + b"\n")
            assert json.loads(said.readline())["token"] == first.token
            link.sendall(b'{"ok":true}\n')
            opening, begun, again = (json.loads(said.readline()) for _ in range(3))
            assert [one["method"] for one in (begun, again)] == ["notifications/initialized", "resources/subscribe"]
            for answer in ({"jsonrpc": "2.0", "id": opening["id"], "result": {}}, note):
                link.sendall(json.dumps(answer).encode() + b"\n")
            assert bridge.read() == note  # the subscription is not answered: nobody would tell of what comes now
            link.sendall(json.dumps({"jsonrpc": "2.0", "id": again["id"], "result": {}}).encode() + b"\n")

            assert bridge.read() == updated
            assert json.loads(said.readline())["id"] == asked
    os.close(lock)


def test_a_listening_host_that_closes_is_not_waited_for(owner: RunningOwner, repository: Repositories) -> None:
    root = repository("closing")
    on_bus(owner, root)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    with Bridge(owner.home, root) as bridge:
        bridge.ask("subscriptions/listen", {"notifications": {"resourceSubscriptions": [INBOX]}, "_meta": meta})
        assert bridge.read()["method"] == "notifications/subscriptions/acknowledged"
        began = time.monotonic()
        assert bridge.close() == 0
        assert time.monotonic() - began < DRAIN_S
