"""Agent hosts for tests: the SDK's client on both transports in both eras, and raw lines where a client is too polite."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from mcp import StdioServerParameters
from tests.support.owner import LIMIT_S, RunningOwner

TRANSPORTS = ("stdio", "http")
MODES = {"2025": "legacy", "2026": "auto"}
PROTOCOLS = {"2025": "2025-11-25", "2026": "2026-07-28"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def mcp_is_up(owner: RunningOwner) -> RunningOwner:
    """Wait until an owner serves MCP, which it does some time after the rest: only then is a bridge welcomed."""
    with socket.create_connection(("127.0.0.1", owner.facts["bridge_port"]), timeout=LIMIT_S) as bridge:
        bridge.sendall(json.dumps({"token": owner.token}).encode() + b"\n")
        assert json.loads(bridge.makefile().readline()) == {"ok": True}
    return owner


def bridge_environ(home: Path, **more: str) -> dict[str, str]:
    """The environment of a bridge process: this one's without anything that would name another home or project."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "CLAUDE_"))}
    return {**kept, "HINDBRAIN_HOME": str(home), **more}


def bridge_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hindbrain", "mcp", *arguments]


@asynccontextmanager
async def connected(
    owner: RunningOwner,
    transport: str,
    era: str,
    *,
    root: Path | None,
    profile: str = "default",
    agent: str | None = None,
    **options: Any,
) -> AsyncIterator[Client]:
    """The SDK's client, connected from a project directory as a host would do it."""
    mode = MODES[era]
    if transport == "stdio":
        environ = bridge_environ(owner.home, **({"HINDBRAIN_AGENT_ID": agent} if agent else {}))
        command, *arguments = bridge_command("--profile", profile)
        server = StdioServerParameters(command=command, args=arguments, env=environ, cwd=root)
        async with Client(server, mode=mode, **options) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {owner.token}"}
    if root is not None:
        headers["Hindbrain-Caller-Root"] = str(root)
    if agent:
        headers["Hindbrain-Agent"] = agent
    address = f"{owner.url}/mcp" + ("?profile=full" if profile == "full" else "")
    async with httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as http:
        async with Client(streamable_http_client(address, http_client=http), mode=mode, **options) as client:
            yield client


class Bridge:
    """A bridge process that is spoken to line by line."""

    def __init__(self, home: Path, root: Path, *arguments: str, **environ: str) -> None:
        self.process = subprocess.Popen(
            bridge_command(*arguments),
            cwd=root,
            env=bridge_environ(home, **environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._deadline = threading.Timer(LIMIT_S, self.process.kill)
        self._deadline.start()
        self._next = 0

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request without waiting; its id."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, **({"params": params} if params is not None else {})})
        return self._next

    def read(self) -> dict[str, Any]:
        """The next line the bridge writes."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the bridge ended: {self.errors()}"
        found: dict[str, Any] = json.loads(line)
        return found

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One request and its answer, which has to be the next line."""
        asked = self.ask(method, params)
        answer = self.read()
        assert answer["id"] == asked, answer
        return answer

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.call("tools/call", {"name": name, "arguments": arguments})["result"]
        return result

    def initialize(self) -> dict[str, Any]:
        answer = self.call("initialize", INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> int:
        """Close the host's side and wait for the end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(LIMIT_S)

    def errors(self) -> str:
        assert self.process.stderr is not None
        self.process.kill()
        return self.process.stderr.read().decode(errors="replace")[-2000:]

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(self, *exc: object) -> None:
        self._deadline.cancel()
        self.process.kill()
        self.process.wait(LIMIT_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
