"""Owners that come and go: started once by many, stopped cleanly, and never in the way when they are gone."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.stores.locks import locked
from hindbrain.surfaces.client import OwnerGone
from hindbrain.surfaces.starting import ensure_owner
from tests.cli.program import Program, git_repository
from tests.cli.strange import address_file, json_answer, strange_owner

OWNER = {"HINDBRAIN_MODE": "owner"}


def owner_of(program: Program) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((program.home / "owner.json").read_text())
    return found


def test_processes_twenty_clients_at_once_start_one_owner(program: Program) -> None:
    pipe = subprocess.PIPE
    clients = [program.given(**OWNER).start("health", stdin=pipe, stdout=pipe, stderr=pipe) for _ in range(20)]
    answers = [client.communicate(timeout=120) for client in clients]

    assert [client.returncode for client in clients] == [0] * 20, answers
    served = owner_of(program)
    log = (program.home / "owner.log").read_text()
    assert log.count(" is process ") == 1
    assert f" is process {served['pid']} " in log


def test_processes_an_owner_on_demand_holds_nothing_of_its_client(program: Program) -> None:
    """A host that reads a pipe to its end must not wait for the owner, and the owner belongs to no project or agent."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    environ = {**OWNER, "CLAUDE_PROJECT_DIR": str(program.directory), "HINDBRAIN_AGENT_ID": "codex:maker"}
    done = program.given(**environ).start("health", stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, close_fds=False)
    out, _ = done.communicate(timeout=60)
    os.close(writer)

    assert (done.returncode, json.loads(out)["ok"]) == (0, True)
    assert os.read(reader, 1) == b""  # the end of the pipe, although the owner lives
    os.close(reader)
    owner = owner_of(program)
    assert os.getsid(owner["pid"]) == owner["pid"]
    assert os.readlink(f"/proc/{owner['pid']}/cwd") == str(program.home)
    environment = Path(f"/proc/{owner['pid']}/environ").read_bytes()
    assert b"CLAUDE_PROJECT_DIR" not in environment
    assert b"HINDBRAIN_AGENT_ID" not in environment


def test_processes_a_one_shot_command_leaves_no_owner_behind(program: Program) -> None:
    answer = program.answer("health")

    assert answer["ok"]
    assert not (program.home / "owner.json").exists()
    assert not (program.home / "owner.log").exists()


def test_processes_status_tells_of_owner_and_brains_with_and_without_an_owner(program: Program, tmp_path: Path) -> None:
    repository = git_repository(tmp_path / "app")
    inside = program.given(repository)
    assert inside.run("init").code == 0

    without = inside.answer("status")
    inside.given(**OWNER).answer("health")
    with_owner = inside.answer("status")

    assert (without["ok"], without["owner"]) == (True, None)
    assert with_owner["owner"]["pid"] == owner_of(program)["pid"]
    assert with_owner["owner"]["url"] == f"http://127.0.0.1:{owner_of(program)['port']}"
    assert with_owner["version"] == with_owner["owner"]["version"]
    for answer in (without, with_owner):
        assert str(repository) in json.dumps(answer)
    text = inside.run("status", "--no-json")
    assert (text.code, str(repository) in text.out) == (0, True)


def test_processes_status_starts_nothing(program: Program) -> None:
    answer = program.given(**OWNER).answer("status")

    assert (answer["ok"], answer["owner"], answer["mode"]) == (True, None, "owner")
    assert not (program.home / "owner.json").exists()


def test_processes_status_tells_of_an_owner_that_does_not_answer(program: Program) -> None:
    with strange_owner(program.home, b""):
        answer = program.answer("status")

    assert answer["owner"]["status"] == "silent"
    assert answer["owner"]["pid"] == os.getpid()


def test_processes_stop_ends_an_owner_that_does_not_know_our_token_any_more(program: Program) -> None:
    program.given(**OWNER).answer("health")
    (program.home / "token").write_text("x" * 43 + "\n")

    assert program.answer("status")["owner"]["status"] == "silent"
    assert program.answer("stop")["stopped"] is True


def test_processes_stop_ends_the_owner_and_says_so(program: Program) -> None:
    program.given(**OWNER).answer("health")
    pid = owner_of(program)["pid"]

    stopped, again = program.answer("stop"), program.answer("stop")

    assert stopped == {"ok": True, "stopped": True, "pid": pid}
    assert again["stopped"] is False
    assert not (program.home / "owner.json").exists()
    with locked(program.home / "owner.lock", wait_s=0):  # only a process that is over has given it back
        pass


def test_processes_stop_never_signals_a_stranger_with_the_owners_old_number(program: Program) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        address_file(program.home, 1, pid=stranger.pid, locked=False)

        answer = program.answer("stop")

        assert answer["stopped"] is False
        assert stranger.poll() is None
    finally:
        stranger.communicate(b"", 60)


@pytest.mark.parametrize("words", [("health",), ("north",)])
def test_processes_a_stale_owner_file_is_healed_by_the_next_call(program: Program, words: tuple[str, ...]) -> None:
    program.given(**OWNER).answer("health")
    dead = owner_of(program)
    os.kill(dead["pid"], signal.SIGKILL)
    with locked(program.home / "owner.lock", wait_s=30):  # held until it is really over
        pass

    embedded = program.answer(*words)
    restarted = program.given(**OWNER).answer(*words)

    assert embedded["ok"]
    assert restarted["ok"]
    assert owner_of(program)["pid"] != dead["pid"]


def test_processes_an_owner_that_cannot_start_is_told_with_its_log(program: Program) -> None:
    program.home.mkdir()
    (program.home / "config.toml").write_text("port = 'none'\n")

    with pytest.raises(OwnerGone, match=r"ended while it was starting \(exit code 2\).*owner.log"):
        ensure_owner(str(program.home), 60)

    assert "port" in (program.home / "owner.log").read_text()


def test_processes_an_owner_of_another_release_line_is_named_with_the_way_out(program: Program) -> None:
    with strange_owner(program.home, json_answer({"ok": True})) as heard:
        port = json.loads((program.home / "owner.json").read_text())["port"]
        address_file(program.home, port, version="9.9.9")
        ended = program.run("health")

    assert ended.code == 1
    assert ended.json["error"]["code"] == "owner_running"
    assert "9.9.9" in ended.json["error"]["message"]
    assert "hindbrain stop" in ended.json["error"]["fix"]
    assert heard == []


def test_processes_an_owner_of_the_same_release_line_is_used_with_a_note(program: Program) -> None:
    with strange_owner(program.home, json_answer({"ok": True, "served": "there"})):
        port = json.loads((program.home / "owner.json").read_text())["port"]
        address_file(program.home, port, version="0.1.999")
        ended = program.run("health")

    assert (ended.code, ended.json["served"]) == (0, "there")
    assert ended.err.count("\n") == 1
    assert "0.1.999" in ended.err


def test_processes_a_write_that_may_have_arrived_is_not_repeated(program: Program) -> None:
    with strange_owner(program.home, b"") as heard:
        ended = program.run("memorize", "Label", "text")

    assert ended.code == 1
    assert ended.json["error"]["code"] == "owner_unreachable"
    assert "may have been carried out or not" in ended.json["error"]["message"]
    assert len(heard) == 1


def test_processes_a_read_is_answered_here_when_the_owner_breaks_off(program: Program) -> None:
    with strange_owner(program.home, b"") as heard:
        answer = program.answer("health")

    assert answer["ok"]
    assert len(heard) == 1


def test_processes_a_wrong_setting_is_a_usage_error(program: Program) -> None:
    ended = program.given(HINDBRAIN_MODE="sometimes").run("health")

    assert ended.code == 2
    assert ended.json["error"]["code"] == "config_invalid"
    assert "auto, embedded, owner" in ended.json["error"]["fix"]


def test_processes_the_mode_of_a_home_is_kept_in_its_config(program: Program) -> None:
    program.home.mkdir()
    (program.home / "config.toml").write_text('mode = "embedded"\n')
    with strange_owner(program.home, json_answer({"ok": True})) as heard:
        answer = program.answer("health")

    assert answer["ok"]
    assert heard == []
