"""An owner file that outlived its owner: the number and the port in it may be a stranger's, who must not get the token."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from hindbrain.surfaces.client import Who, call
from hindbrain.surfaces.exchange import OwnerAddress, OwnerGone, connect
from tests.cli.program import Program, end_owner
from tests.cli.strange import address_file
from tests.mcp.hosts import Bridge
from tests.support.owner import LIMIT_S, RunningOwner, Starter


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, for whom no process is a stranger's."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_a_process_of_another_user_is_not_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.setblocking(False)
        address = OwnerAddress("127.0.0.1", stranger.getsockname()[1], 1, "0.1.0", 0)

        with as_nobody(), pytest.raises(OwnerGone):
            connect(address, 1.0)

        with pytest.raises(BlockingIOError):
            stranger.accept()


# -- F38: the port of a dead owner is another program's, and its number is in use again -------------------------------------


class Squatter:
    """Another program on the owner's old port: it writes down what it gets, and answers what a caller would like to hear."""

    def __init__(self, port: int = 0, answer: Callable[[bytes], bytes] | None = None) -> None:
        self.heard: list[bytes] = []
        self._answer = answer or (lambda _: FORGED)
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            line, _ = self._listener.accept()
            if self._over.is_set():
                line.close()
                return
            threading.Thread(target=self._talk, args=(line,), daemon=True).start()

    def _talk(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            line.settimeout(LIMIT_S)
            while piece := line.recv(65536):
                self.heard.append(piece)
                line.sendall(self._answer(piece))

    def close(self) -> None:
        self._over.set()
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join(LIMIT_S)
        self._listener.close()


FORGED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 71\r\n\r\n"
    b'{"ok": true, "rendered": "FORGED", "ticket": "t", "valid_s": 60, "r":1}'
)


def secrets_of(home: Path) -> list[bytes]:
    return [(home / name).read_bytes().strip() for name in ("token", "human-token", "hook-token")]


@pytest.fixture
def squatted(starter: Starter, tmp_path: Path) -> Iterator[tuple[Program, Squatter]]:
    """A home whose owner was killed: a squatter has its port, and its number belongs to a living process of this user."""
    home = tmp_path / "home"
    dead = starter(home)
    repository = tmp_path / "repository"
    repository.mkdir()
    dead.call("init", root=repository, path=str(repository))
    dead.call("memorize", root=repository, node_label="Heron", text="The heron eats at dawn.")
    facts = json.loads((home / "owner.json").read_text())
    dead.kill()
    squatter = Squatter(facts["port"])
    other = Squatter()
    facts |= {"pid": os.getpid(), "bridge_port": other.port}
    (home / "owner.json").write_text(json.dumps(facts))
    squatter.heard = other.heard
    yield Program(home=home, directory=repository, environ={}), squatter
    squatter.close()
    other.close()
    end_owner(home)


CLIENTS: dict[str, Callable[[Program], object]] = {
    "cli": lambda program: program.run("north"),
    "owner mode": lambda program: program.given(HINDBRAIN_MODE="owner").run("north"),
    "human": lambda program: program.at_terminal("reject", "Heron", "--reason", "x", say=[("Type", "Heron\n")]),
    "status": lambda program: program.run("status"),
    "stop": lambda program: program.run("stop"),
    "doctor": lambda program: program.run("doctor"),
    "hall": lambda program: program.run("hall", "--no-open"),
    "hook": lambda program: program.run("hook", "claude-code", "SessionStart", stdin=b"{}"),
    "heard": lambda program: program.run("hook", "claude-code", "PostToolUse", stdin=b'{"tool_name": "Bash", "tool_input": {}}'),
    "python": lambda program: _python(program),
    "bridge": lambda program: _bridge(program),
}


def _python(program: Program) -> str:
    code = "import hindbrain, os, json; s = hindbrain.open(os.environ['HINDBRAIN_HOME']); print(json.dumps(s.call('north')))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=program.directory, env=program.environment(), capture_output=True, timeout=LIMIT_S
    )
    return done.stdout.decode() + done.stderr.decode()


def _bridge(program: Program) -> str:
    with Bridge(program.home, program.directory) as bridge:
        return json.dumps(bridge.initialize()) + json.dumps(bridge.tool("north"))


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())
def test_f38_no_client_sends_anything_to_the_port_of_a_dead_owner(
    squatted: tuple[Program, Squatter], client: Callable[[Program], object]
) -> None:
    program, squatter = squatted
    before = secrets_of(program.home)

    said = client(program)

    assert not [one for one in before if one in b"".join(squatter.heard)]
    assert squatter.heard == []
    assert "FORGED" not in str(said)


@pytest.mark.parametrize("client", ["cli", "human", "hook", "heard", "hall", "status", "stop", "python"])
def test_f38_a_stranger_that_cannot_prove_to_be_the_owner_gets_no_token_and_is_not_shown(tmp_path: Path, client: str) -> None:
    """The owner file is locked by its living owner, and the port is a stranger's all the same: as while an owner ends."""
    home = tmp_path / "home"
    squatter = Squatter()
    ending = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        address_file(home, squatter.port, pid=ending.pid)
        said = CLIENTS[client](Program(home=home, directory=tmp_path, environ={}))
    finally:
        ending.communicate(b"", LIMIT_S)
        squatter.close()

    heard = b"".join(squatter.heard)
    assert b"Hindbrain-Challenge: " in heard
    assert b"Authorization" not in heard
    assert not [one for one in secrets_of(home) if one in heard]
    assert "FORGED" not in str(said)
    end_owner(home)


def test_f38_the_proof_of_an_owner_on_another_port_proves_nothing(owner: RunningOwner) -> None:
    def passed_on(heard: bytes) -> bytes:
        challenge = heard.partition(b"Hindbrain-Challenge: ")[2].partition(b"\r\n")[0].decode()
        body = owner.get("/api/prove", hindbrain_challenge=challenge).body
        assert b"proofs" in body
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    squatter = Squatter(answer=passed_on)
    try:
        address = OwnerAddress("127.0.0.1", squatter.port, os.getpid(), "0.1.0", 0)
        with pytest.raises(OwnerGone, match="did not prove") as gone:
            call(address, owner.token, "north", {}, Who("/r", "codex:maker"))
    finally:
        squatter.close()

    assert not gone.value.sent
    assert owner.token.encode() not in b"".join(squatter.heard)


@pytest.mark.parametrize("challenge", ["", "x" * 32, "0" * 31, "0" * 129, "A" * 32])
def test_f38_what_is_no_challenge_is_not_answered(owner: RunningOwner, challenge: str) -> None:
    answer = owner.request("GET", "/api/prove", token=None, headers={"Hindbrain-Challenge": challenge})

    assert (answer.status, answer.code) == (400, "invalid_params")


def test_f38_a_page_of_another_origin_gets_no_proof(owner: RunningOwner) -> None:
    for foreign in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        headers = {"Hindbrain-Challenge": "0" * 32, **foreign}
        assert owner.request("GET", "/api/prove", token=None, headers=headers).status == 403
