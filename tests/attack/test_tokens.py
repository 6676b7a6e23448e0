"""Token files that are empty, cut or foreign (F1): they open nothing, and the owner replaces them."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.stores.token_file import TokenUnreadable, ensure_token, read_token
from hindbrain.surfaces.hall.visits import Visits
from tests.support.owner import LIMIT_S, RunningOwner, Starter

NAMES = ("token", "human-token", "hook-token")
DAMAGED = {
    "empty": b"",
    "newline": b"\n",
    "cut": b"0123456789abcdef\n",
    "letters": b"spaces are in no token, and it is long enough\n",
    "zeros": b"\0" * 44,
    "long": b"a" * 5000,
}


def home_with(tmp_path: Path, content: bytes) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for name in NAMES:
        (home / name).write_bytes(content)
        (home / name).chmod(0o600)
    return home


def said_to_a_bridge(owner: RunningOwner, token: str) -> bytes:
    with socket.create_connection(("127.0.0.1", owner.facts["bridge_port"]), timeout=LIMIT_S) as line:
        line.sendall(json.dumps({"token": token}).encode() + b"\n")
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(4096), b""))


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_f1_a_damaged_token_file_opens_nothing_and_is_replaced(starter: Starter, tmp_path: Path, content: bytes) -> None:
    home = home_with(tmp_path, content)
    owner = starter(home)
    given = content.decode("ascii").strip().replace("\0", "")

    for sent in {"", given[:4000]}:
        for header in (f"Bearer {sent}", "Bearer", "bearer \t"):
            body = {"Content-Type": "application/json", "Authorization": header}
            answer = owner.request("POST", "/api/hall/ticket", body=b"{}", token=None, headers=body)
            assert (answer.status, answer.code) == (401, "unauthorized")
        assert b'"unauthorized"' in said_to_a_bridge(owner, sent)
    tokens = [(home / name).read_text().strip() for name in NAMES]
    assert [len(token) for token in tokens] == [43, 43, 43]
    assert len(set(tokens)) == 3
    assert owner.get("/api/health").status == 200
    log = (home / "owner.log").read_text()
    assert all(f"{home / name}" in log for name in NAMES)
    assert not [token for token in tokens if token in log]


def test_f1_a_disk_that_is_full_at_the_first_start_leaves_no_half_token(starter: Starter, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); from pathlib import Path;"
        "from hindbrain.surfaces.owner import serve; serve(Path(sys.argv[1]), port=0)"
    )

    full = subprocess.run([sys.executable, "-c", limited, str(home)], capture_output=True, timeout=LIMIT_S, check=False)

    assert full.returncode != 0
    assert [name for name in NAMES if (home / name).exists()] == []
    owner = starter(home)
    assert owner.request("GET", "/api/health", token=None, headers={"Authorization": "Bearer"}).status == 401


def test_f1_owners_that_start_together_agree_on_one_token(tmp_path: Path) -> None:
    home = home_with(tmp_path, b"")
    made = "import sys; from pathlib import Path; from hindbrain.stores.home import Home; t = Home(Path(sys.argv[1])).tokens()"
    command = [sys.executable, "-c", f"{made}; print(t.agent, t.human, t.hook)", str(home)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]

    said = {process.communicate(timeout=LIMIT_S)[0].decode().split(" ", 1)[0] for process in started}

    assert said == {(home / "token").read_text().strip()}


@pytest.mark.parametrize("secret", ["", "short", " " * 43])
def test_f1_keys_of_the_hall_are_never_made_with_a_damaged_secret(secret: str) -> None:
    with pytest.raises(ValueError, match="characters"):
        Visits(secret, "i")


def test_f1_doctor_names_a_damaged_token_file_and_repairs_it(tmp_path: Path) -> None:
    from tests.cli.program import Program

    home = home_with(tmp_path, b"")
    program = Program(home=home, directory=tmp_path, environ={"HINDBRAIN_MODE": "embedded"})

    named = json.dumps(program.answer("doctor"))
    program.answer("doctor", "--fix", "--yes")

    assert all(str(home / name) in named for name in NAMES)
    assert "token_damaged" in named
    assert [len((home / name).read_text().strip()) for name in NAMES] == [43, 43, 43]
    assert "token_damaged" not in json.dumps(program.answer("doctor"))


def test_f1_a_pipe_in_the_place_of_a_token_holds_nobody_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "token"
    os.mkfifo(path)

    with pytest.raises(TokenUnreadable):
        read_token(path)
    token, why = ensure_token(path)

    assert why is not None
    assert read_token(path) == token
