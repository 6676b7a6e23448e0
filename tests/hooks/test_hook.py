"""`hindbrain hook`: whatever fails, it exits 0 with JSON its host can read (MED-342)."""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hindbrain.surfaces.hook import LIMIT_S
from tests.cli.program import Program
from tests.cli.strange import address_file, json_answer, strange_owner

NORTH = json_answer({"ok": True, "rendered": "Memory of app:\n```memory\nretries three times\n```"})
CONTEXT = "Memory of app:\n```memory\nretries three times\n```"
START = json.dumps({"hook_event_name": "SessionStart", "cwd": "/r/app", "session_id": "s", "source": "startup"}).encode()


def answered(program: Program, *words: str, stdin: bytes = START) -> Any:
    """What the host reads. Every run of every test must exit 0."""
    ended = program.run(*words, stdin=stdin)
    assert ended.code == 0, ended.err
    return ended.json


@pytest.mark.req("MED-342")
@pytest.mark.parametrize("words", [("hook", "claude-code", "SessionStart"), ("hook", "claude-code"), ("north", "--hook")])
def test_med_342_a_session_starts_with_what_is_remembered(program: Program, words: tuple[str, ...]) -> None:
    with strange_owner(program.home, NORTH) as heard:
        answer = answered(program, *words)

    assert answer == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": CONTEXT}}
    assert b"POST /api/op/hosts.event HTTP/1.1" in heard[0]
    assert b"Hindbrain-Caller-Root: /r/app\r\n" in heard[0]


@pytest.mark.req("MED-017")
def test_med_017_the_root_is_what_the_host_says_else_its_variable_else_the_directory(program: Program) -> None:
    cases = [
        (b'{"cwd": "/told"}', {"CLAUDE_PROJECT_DIR": "/variable"}, b"/told"),
        (b'{"workspace_roots": ["/first", "/second"]}', {}, b"/first"),
        (b'{"cwd": "relative"}', {"CLAUDE_PROJECT_DIR": "/variable"}, b"/variable"),
        (b"", {"HINDBRAIN_WORKSPACE_ROOT": "/named", "CLAUDE_PROJECT_DIR": "/variable"}, b"/named"),
        (b"", {}, os.fsencode(program.directory)),
    ]
    with strange_owner(program.home, NORTH) as heard:
        for stdin, environ, root in cases:
            answered(program.given(**environ), "hook", "claude-code", "SessionStart", stdin=stdin)
            assert b"Hindbrain-Caller-Root: " + root + b"\r\n" in heard[-1]


@pytest.mark.req("MED-342")
@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_med_342_an_owner_that_does_not_answer_costs_the_memory_and_not_the_session(program: Program, host: str) -> None:
    """It ends while the owner still hangs: the handler waits for the hook to go away."""

    def silent(request: bytes, connection: socket.socket) -> None:
        connection.recv(1)

    with strange_owner(program.home, silent):
        answer = answered(program, "hook", host, "SessionStart")

    assert answer in ({}, {"hookSpecificOutput": {"hookEventName": "SessionStart"}})


@pytest.mark.req("MED-342")
@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'{"cwd": 7, "hook_event_name": {"a": 1}, "workspace_roots": {}}',
        b'{"cwd": "/a\\u0000b"}',
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"n": ' + b"9" * 10_000 + b"}",
        b"x" * 3_000_000,
    ],
)
def test_med_342_hostile_input_costs_nothing(program: Program, stdin: bytes) -> None:
    with strange_owner(program.home, NORTH):
        answer = answered(program, "hook", "claude-code", "SessionStart", stdin=stdin)

    assert answer["hookSpecificOutput"]["additionalContext"] == CONTEXT


@pytest.mark.req("MED-342")
@pytest.mark.parametrize(
    "words",
    [("hook",), ("hook", "unheard-of", "SessionStart"), ("hook", "codex", "SessionStart", "more"), ("north", "--hook", "--odd")],
)
def test_med_342_a_wrong_command_line_costs_nothing(program: Program, words: tuple[str, ...]) -> None:
    with strange_owner(program.home, NORTH):
        answer = answered(program, *words)

    assert answer["hookSpecificOutput"]["additionalContext"] == CONTEXT


@pytest.mark.req("MED-342")
def test_med_342_a_host_that_leaves_its_pipe_open_is_answered(program: Program) -> None:
    with strange_owner(program.home, NORTH):
        pipe = subprocess.PIPE
        with program.start("hook", "claude-code", stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(START)
            process.stdin.flush()
            line = process.stdout.readline()
            code = process.wait(30)

    assert json.loads(line)["hookSpecificOutput"]["additionalContext"] == CONTEXT
    assert code == 0


@pytest.mark.req("MED-342")
def test_med_342_a_home_that_cannot_be_used_costs_the_memory_and_not_the_session(program: Program, tmp_path: Path) -> None:
    missing = program
    a_file = Program(home=tmp_path / "file", directory=program.directory, environ={})
    a_file.home.write_text("not a directory")
    corrupt = Program(home=tmp_path / "corrupt", directory=program.directory, environ={"HINDBRAIN_MODE": "embedded"})
    corrupt.home.mkdir()
    for name in ("owner.json", "token", "medulla", "brains", "config.toml"):
        (corrupt.home / name).write_bytes(b"\xff\x00")
    locked = Program(home=tmp_path / "locked", directory=program.directory, environ={"HINDBRAIN_MODE": "embedded"})
    locked.home.mkdir(mode=0o000)
    try:
        for one in (missing, a_file, corrupt):
            assert answered(one, "hook", "claude-code", "SessionStart") == {}
        assert isinstance(answered(locked, "hook", "claude-code", "SessionStart"), dict)  # root may read it all the same
    finally:
        locked.home.chmod(0o700)


@pytest.mark.req("MED-342")
def test_med_342_an_answer_that_is_an_error_is_a_session_without_memory(program: Program) -> None:
    error = json_answer({"ok": False, "error": {"code": "store_unavailable", "message": "no", "fix": None}}, status="503 Busy")
    with strange_owner(program.home, error):
        ended = program.run("hook", "claude-code", "SessionStart", stdin=START)

    assert (ended.code, ended.json) == (0, {})
    assert "store_unavailable" in ended.err


def test_hook_closed_streams_are_no_failure(program: Program) -> None:
    with strange_owner(program.home, NORTH):
        command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *_command("hook", "claude-code", "SessionStart")]
        code = subprocess.run(command, env=program.environment(), cwd=program.directory, timeout=60).returncode

    assert code == 0


def _command(*words: str) -> list[str]:
    import sys

    return [sys.executable, "-P", "-m", "hindbrain", *words]


@pytest.mark.req("MED-342")
def test_med_342_whatever_hangs_the_clock_answers_before_four_seconds_are_over(program: Program) -> None:
    """Opening a named pipe waits for a writer who never comes; nothing but the clock ends that."""
    program.home.mkdir()
    os.mkfifo(program.home / "config.toml")

    assert answered(program.given(HINDBRAIN_MODE="embedded"), "hook", "claude-code", "SessionStart") == {}
    assert LIMIT_S < 4


# -- the other events ----------------------------------------------------------------------------------------------------


def test_hook_an_event_that_only_listens_keeps_nothing(program: Program) -> None:
    program.home.mkdir()
    prompt = {"hook_event_name": "UserPromptSubmit", "cwd": "/r/app", "prompt": "what a person typed"}

    answers = [
        answered(program, "hook", "claude-code", stdin=json.dumps(prompt).encode()),
        answered(program, "hook", "claude-code", "Stop", stdin=json.dumps(prompt).encode()),
    ]

    assert answers == [{}, {}]
    assert list(program.home.rglob("*")) == []


def test_hook_a_stale_owner_file_does_not_hold_a_session_up(program: Program) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and not listening: nobody else gets the port
        address_file(program.home, deaf.getsockname()[1])

        answer = answered(program, "hook", "claude-code", "SessionStart", stdin=b"{}")

    assert "Hindbrain memory" in answer["hookSpecificOutput"]["additionalContext"]
