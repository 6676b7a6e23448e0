"""What stands in the files really starts: the server answers a client, the hooks answer the host, and a person is asked."""

import asyncio
import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from mcp.client.client import Client

from hindbrain.engines import json_edit
from mcp import StdioServerParameters
from tests.cli.program import Program
from tests.hosts.conftest import Desk
from tests.mcp.hosts import mcp_is_up
from tests.support.host_homes import USER_FILES, put_down
from tests.support.owner import Starter

HOSTS = ("claude-code", "codex", "cursor", "gemini")
LIMIT_S = 60.0


def read(path: Path) -> Any:
    text = path.read_bytes().decode()
    return tomllib.loads(text) if path.suffix == ".toml" else json_edit.read(text)


def environ(desk: Desk, **more: str) -> dict[str, str]:
    """What a host gives to a program that it starts: its own surroundings and what its file says."""
    return {"PATH": os.environ["PATH"], "HOME": str(desk.user), **more}


def test_host_what_is_configured_answers_a_real_client_and_the_host(desk: Desk, starter: Starter) -> None:
    for host in HOSTS:
        put_down(desk.user, USER_FILES[host])
    desk.world.clock.catch_up()
    desk.call("ingest", path=str(desk.root), project_root=str(desk.root))
    desk.world.at(str(desk.root)).memorize("Retry policy", "The worker retries three times.")
    done = desk.call("install", yes=True)
    assert [row["host"] for row in done["hosts"]] == list(HOSTS), done
    desk.world.close()
    mcp_is_up(starter(desk.world.home.path))

    servers = {
        "claude-code": read(desk.user / ".claude.json")["mcpServers"],
        "codex": read(desk.user / ".codex/config.toml")["mcp_servers"],
        "cursor": read(desk.user / ".cursor/mcp.json")["mcpServers"],
        "gemini": read(desk.user / ".gemini/settings.json")["mcpServers"],
    }
    for host, found in zip(servers, asyncio.run(tools_of(desk, servers)), strict=True):
        assert {"north", "memorize", "seek"} <= found, host

    hooks = {
        "claude-code": (".claude/settings.json", "SessionStart", "Stop"),
        "codex": (".codex/hooks.json", "SessionStart", "PreCompact"),
        "cursor": (".cursor/hooks.json", "sessionStart", "stop"),
        "gemini": (".gemini/settings.json", "SessionStart", "PreCompress"),
    }
    for host, (file, *events) in hooks.items():
        for event in events:
            elements = read(desk.user / file)["hooks"][event]
            commands = [one["command"] for element in elements for one in element.get("hooks", [element])]
            (command,) = [one for one in commands if "hindbrain" in one]
            answer = hooked(desk, command, event)
            if event.lower() == "sessionstart":
                assert "retries three times" in json.dumps(answer), (host, answer)


async def tools_of(desk: Desk, servers: dict[str, dict[str, Any]]) -> list[set[str]]:
    """The tools that each configured server lists to the SDK's client."""

    async def tools(entry: dict[str, Any]) -> set[str]:
        variables = {name: value.replace("${workspaceFolder}", str(desk.root)) for name, value in entry["env"].items()}
        given = StdioServerParameters(command=entry["command"], args=entry["args"], env=environ(desk, **variables), cwd=desk.root)
        async with Client(given, mode="legacy") as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    return await asyncio.wait_for(asyncio.gather(*(tools(one["hindbrain"]) for one in servers.values())), LIMIT_S)


def hooked(desk: Desk, command: str, event: str) -> dict[str, Any]:
    """What a configured hook answers when a shell starts it as the host does."""
    told = json.dumps({"hook_event_name": event, "cwd": str(desk.root), "session_id": "s-1"}).encode()
    ended = subprocess.run(
        ["/bin/sh", "-c", command],
        input=told,
        cwd=desk.root,
        env=environ(desk),
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    answer = json.loads(ended.stdout)
    assert (ended.returncode, isinstance(answer, dict)) == (0, True), (command, ended.stderr)
    return dict(answer)


def test_host_a_person_is_asked_and_only_a_yes_writes(program: Program) -> None:
    user = program.home.parent
    put_down(user, USER_FILES["windsurf"])
    file = user / ".codeium/windsurf/mcp_config.json"
    question = "Change these files? [y/N]"

    no = program.at_terminal("install", "windsurf", say=[(question, "\n")])
    assert (no.code, file.read_text()) == (1, "{}")
    assert "Nothing was changed." in no.out
    assert "+++" in no.out
    yes = program.at_terminal("install", "windsurf", say=[(question, "y\n")])
    assert (yes.code, "hindbrain" in file.read_text()) == (0, True), yes.out
