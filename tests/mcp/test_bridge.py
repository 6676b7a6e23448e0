"""The bridge process: fast, quiet, and never without an answer, whatever happens to the owner behind it."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain import __version__
from hindbrain.stores.owner_file import announce
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import INITIALIZE, Bridge, bridge_environ
from tests.support.owner import LIMIT_S, RunningOwner, Starter

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}

# None of these is needed to relay lines, and each would be paid for at every start of every host.
TOO_DEAR = {
    "argparse",
    "asyncio",
    "dataclasses",
    "hindbrain.domain.errors",
    "hindbrain.stores.home",
    "inspect",
    "logging",
    "mcp",
    "msgspec",
    "pathlib",
    "pydantic",
    "socket",
    "subprocess",
    "threading",
    "typing",
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home without an owner; one that a bridge starts on demand is ended with the test."""
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    yield place
    try:
        os.kill(json.loads((place / "owner.json").read_text())["pid"], signal.SIGKILL)
    except (OSError, ValueError):
        return


@pytest.fixture
def manifest(owner: RunningOwner, home: Path, tmp_path: Path) -> dict[str, Any]:
    """The manifest an earlier owner left in the home."""
    with Bridge(owner.home, tmp_path) as bridge:  # an owner that answers has written its manifest
        bridge.initialize()
        bridge.tool("test_wait", step_s=0.0)
    text = (owner.home / "manifest.json").read_text()
    (home / "manifest.json").write_text(text)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture
def blocked(home: Path) -> Iterator[int]:
    """A home in which no owner can be started as long as this lock is held."""
    handle = os.open(home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    yield handle
    os.close(handle)


def test_relaying_loads_no_library_that_a_host_would_wait_for(owner: RunningOwner, tmp_path: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    program = (
        "import sys; from hindbrain.surfaces.bridge import main; code = main([]);"
        "sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        env=bridge_environ(owner.home),
        cwd=tmp_path,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["tools"]
    assert set(done.stderr.decode().split()) & TOO_DEAR == set()


def test_from_a_manifest_a_host_is_answered_while_no_owner_can_start(
    home: Path, manifest: dict[str, Any], blocked: int, tmp_path: Path
) -> None:
    with Bridge(home, tmp_path) as bridge:
        agreed = bridge.initialize()
        listed = {name: bridge.call(f"{name}/list")["result"][name] for name in ("tools", "prompts", "resources")}
        pong = bridge.call("ping")["result"]

        assert not (home / "owner.json").exists()
        assert (agreed["protocolVersion"], agreed["serverInfo"]["version"]) == ("2025-11-25", __version__)
        assert agreed["instructions"] == manifest["instructions"]
        assert all(listed.values())
        assert pong == {}
        assert bridge.close() == 0


def test_what_waited_for_the_owner_is_carried_out_once_it_is_up(
    home: Path, manifest: dict[str, Any], blocked: int, tmp_path: Path
) -> None:
    with Bridge(home, tmp_path) as bridge:
        bridge.initialize()
        first, second = bridge.ask("tools/call", {"name": "health"}), bridge.ask("tools/call", {"name": "doctor"})
        bridge.call("tools/list")

        fcntl.flock(blocked, fcntl.LOCK_UN)
        answers = {answer["id"]: answer for answer in (bridge.read(), bridge.read())}

        assert set(answers) == {first, second}
        assert all(answer["result"]["isError"] is False for answer in answers.values())


def test_a_2026_client_is_discovered_from_the_manifest_and_served_by_the_owner(
    home: Path, manifest: dict[str, Any], blocked: int, tmp_path: Path
) -> None:
    with Bridge(home, tmp_path) as bridge:
        discovered = bridge.call("server/discover", {"_meta": ENVELOPE})["result"]
        listed = bridge.call("tools/list", {"_meta": ENVELOPE})["result"]
        asked = bridge.ask("tools/call", {"name": "health", "_meta": ENVELOPE})
        fcntl.flock(blocked, fcntl.LOCK_UN)
        answer = bridge.read()

    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert listed["resultType"] == "complete"
    assert (answer["id"], answer["result"]["resultType"]) == (asked, "complete")


@pytest.mark.parametrize("profile", ["default", "full"])
def test_a_host_cannot_tell_the_manifest_from_the_owner(
    owner: RunningOwner, home: Path, manifest: dict[str, Any], blocked: int, tmp_path: Path, profile: str
) -> None:
    def seen(place: Path) -> list[Any]:
        with Bridge(place, tmp_path, "--profile", profile) as bridge:
            if place == owner.home:
                bridge.send({"jsonrpc": "2.0", "id": "up", "method": "ping"})  # answered by the owner only
                assert bridge.read()["id"] == "up"
            old = [bridge.initialize(), *(bridge.call(method)["result"] for method in ("tools/list", "prompts/list"))]
        with Bridge(place, tmp_path, "--profile", profile) as bridge:
            methods = ("server/discover", "tools/list", "resources/list")
            return old + [bridge.call(method, {"_meta": ENVELOPE})["result"] for method in methods]

    assert seen(home) == seen(owner.home)


def test_without_manifest_and_owner_the_first_answer_waits_for_an_owner_started_on_demand(home: Path, tmp_path: Path) -> None:
    with Bridge(home, tmp_path) as bridge:
        assert bridge.initialize()["serverInfo"]["name"] == "hindbrain"
        assert bridge.tool("health")["isError"] is False
        assert json.loads((home / "owner.json").read_text())["on_demand"] is True
        assert bridge.close() == 0


def test_a_host_that_is_idle_does_not_notice_that_the_owner_died(starter: Starter, home: Path, tmp_path: Path) -> None:
    running = starter(home)
    with Bridge(home, tmp_path) as bridge:
        bridge.initialize()
        before = bridge.tool("health")
        running.kill()

        after = bridge.tool("health")

        assert before["isError"] is after["isError"] is False
        assert json.loads((home / "owner.json").read_text())["pid"] != running.process.pid


def test_a_call_that_the_owner_had_when_it_died_is_answered_with_what_is_not_known(
    starter: Starter, home: Path, tmp_path: Path
) -> None:
    running = starter(home)
    with Bridge(home, tmp_path) as bridge:
        bridge.initialize()
        token = {"progressToken": 1}
        asked = bridge.ask("tools/call", {"name": "test_wait", "arguments": {"steps": 2, "step_s": 60.0}, "_meta": token})
        assert bridge.read()["method"] == "notifications/progress"  # it is under way
        running.kill()

        lost = bridge.read()
        after = bridge.tool("health")

    assert (lost["id"], lost["error"]["code"]) == (asked, -32000)
    assert "may or may not have been carried out" in lost["error"]["message"]
    assert lost["error"]["data"]["code"] == "owner_unreachable"
    assert after["isError"] is False


def test_broken_lines_are_answered_and_do_no_harm(owner: RunningOwner, tmp_path: Path) -> None:
    with Bridge(owner.home, tmp_path) as bridge:
        bridge.initialize()
        errors = []
        for line in (b"{", b"[" * 100_000, b"[]", b'"text"', b"\xff\xfe", b'{"jsonrpc":"1.0","id":9,"method":"ping"}'):
            bridge.send(line)
            errors.append(bridge.read())
        bridge.send(b"")

        assert [answer["error"]["code"] for answer in errors] == [-32700, -32700, -32600, -32600, -32700, -32600]
        assert [answer["id"] for answer in errors] == [None, None, None, None, None, 9]
        assert bridge.tool("test_wait", step_s=0.0)["isError"] is False


def test_a_message_beyond_every_size_is_refused_by_its_id(owner: RunningOwner, tmp_path: Path) -> None:
    with Bridge(owner.home, tmp_path) as bridge:
        bridge.initialize()
        huge = bridge.call("tools/call", {"name": "memorize", "arguments": {"node_label": "a", "text": "x" * (20 << 20)}})
        large = bridge.tool("memorize", node_label="a", text="x" * (2 << 20))

        assert huge["error"]["code"] == -32600
        assert large["isError"] is True
        assert large["structuredContent"]["error"]["code"] == "body_too_large"
        assert bridge.tool("test_wait", step_s=0.0)["isError"] is False


@pytest.mark.parametrize("text", ["nul \0 here", "half \ud800 here"])
def test_text_that_no_store_can_keep_is_refused_with_its_code(owner: RunningOwner, tmp_path: Path, text: str) -> None:
    with Bridge(owner.home, tmp_path) as bridge:
        bridge.initialize()
        refused = bridge.tool("memorize", node_label="a", text=text)

    assert refused["isError"] is True
    assert refused["structuredContent"]["error"]["code"] == "invalid_params"


def test_a_host_that_leaves_ends_the_bridge_and_still_gets_the_answers_under_way(owner: RunningOwner, tmp_path: Path) -> None:
    with Bridge(owner.home, tmp_path) as bridge:
        bridge.initialize()
        asked = bridge.ask("tools/call", {"name": "test_wait", "arguments": {"step_s": 0.3}})
        code = bridge.close()

        assert bridge.read()["id"] == asked
        assert code == 0


def test_a_cancelled_request_is_not_answered_in_the_owner_s_place(
    home: Path, manifest: dict[str, Any], blocked: int, tmp_path: Path
) -> None:
    with Bridge(home, tmp_path) as bridge:
        bridge.initialize()
        asked = bridge.ask("tools/call", {"name": "health"})
        bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})

        assert bridge.close() == 0  # nothing is left to wait for
        assert bridge.process.stdout is not None
        assert bridge.process.stdout.read() == b""


def test_an_owner_of_another_release_is_named_and_not_used(home: Path, tmp_path: Path) -> None:
    facts = {"pid": os.getpid(), "host": "127.0.0.1", "port": 9, "bridge_port": 9, "version": "99.0.0", "started_ms": 0}
    held = announce(home / "owner.json", facts)
    with Bridge(home, tmp_path) as bridge:
        answer = bridge.call("initialize", INITIALIZE)
    (home / "owner.json").unlink()
    os.close(held)

    assert "Hindbrain 99.0.0" in answer["error"]["message"]
    assert "hindbrain stop" in answer["error"]["data"]["fix"]


def test_a_home_in_which_nothing_can_start_is_named_in_the_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with Bridge(tmp_path / "file" / "home", tmp_path) as bridge:
        answer = bridge.call("initialize", INITIALIZE)

        assert "no owner could be started" in answer["error"]["message"]
        assert answer["error"]["data"]["code"] == "owner_unreachable"
        assert bridge.close() == 0


@pytest.mark.parametrize(
    "hello", [b"{}", b'{"token":"wrong"}', b'{"token":null}', b"not json", b"[]", b'{"token":"' + b"x" * 70_000 + b'"}']
)
def test_a_connection_without_the_token_gets_no_session(owner: RunningOwner, hello: bytes) -> None:
    with socket.create_connection(("127.0.0.1", owner.facts["bridge_port"]), timeout=LIMIT_S) as stranger:
        stranger.sendall(hello + b'\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        stranger.shutdown(socket.SHUT_WR)
        heard = b""
        while chunk := stranger.recv(4096):
            heard += chunk

    assert json.loads(heard) == {"ok": False, "error": {"code": "unauthorized"}}


@pytest.mark.req("MED-033", "MED-017")
def test_med_033_a_host_s_project_is_the_one_it_names_else_the_one_it_stands_in(
    owner: RunningOwner, repository: Repositories
) -> None:
    x, y = repository("x"), repository("y")

    def project(*arguments: str, **environ: str) -> str:
        with Bridge(owner.home, x, *arguments, **environ) as bridge:
            bridge.initialize()
            refused = bridge.tool("memorize", node_label="a", text="It is so.")["structuredContent"]
        return str(refused["caller_root"])

    assert project() == str(x)
    assert project(HINDBRAIN_WORKSPACE_ROOT=str(y)) == str(y)
    assert project(CLAUDE_PROJECT_DIR=str(y)) == str(y)
    assert project(CLAUDE_PROJECT_DIR=str(x), HINDBRAIN_WORKSPACE_ROOT=str(y)) == str(y)
    assert project("--root", str(y)) == str(y)


def test_embedded_the_same_server_runs_in_the_host_s_own_child(home: Path, repository: Repositories) -> None:
    root = repository("x")
    with Bridge(home, root, HINDBRAIN_MODE="embedded") as bridge:
        bridge.initialize()
        bridge.tool("ingest", path=str(root), project_root=str(root))
        written = bridge.tool("memorize", node_label="heron", text="The heron eats at dawn.")
        assert bridge.close() == 0
    (home / "config.toml").write_text('mode = "embedded"\n')
    with Bridge(home, root) as bridge:
        bridge.initialize()
        found = bridge.tool("seek", query="heron")
        assert bridge.close() == 0

    assert written["isError"] is False
    assert "The heron eats at dawn." in json.dumps(found)
    assert not (home / "owner.json").exists()


@pytest.mark.parametrize("arguments", [["--profile", "half"], ["--profile"], ["extra"], ["--colour", "red"]])
def test_a_wrong_flag_is_a_usage_error(home: Path, tmp_path: Path, arguments: list[str]) -> None:
    with Bridge(home, tmp_path, *arguments) as bridge:
        assert bridge.close() == 2
        assert "usage: " in bridge.errors()
