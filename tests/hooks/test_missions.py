"""After a tool was used, a host's hook tells the mission of its agent: real processes."""

import json
from typing import Any

import pytest

from tests.cli.program import Program
from tests.cli.strange import HOOK_TOKEN, json_answer, strange_owner


def used(**changes: Any) -> bytes:
    told = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q tests"},
        "tool_response": {"stdout": "2 passed", "stderr": "", "exit_code": 0},
        "transcript_path": "/home/x/transcript.jsonl",
        "session_id": "s",
        "cwd": "/r/app",
    }
    return json.dumps({**told, **changes}).encode()


def test_aol_092_a_hook_tells_the_owner_what_a_tool_did_and_nothing_else(program: Program) -> None:
    with strange_owner(program.home, json_answer({"ok": True, "recorded": True})) as heard:
        ended = program.run("hook", "claude-code", stdin=used())

    assert (ended.code, ended.json) == (0, {})
    assert b"POST /api/op/mission.heard HTTP/1.1" in heard[0]
    assert f"Authorization: Bearer {HOOK_TOKEN}\r\n".encode() in heard[0]
    assert b"2 passed" in heard[0]
    assert b"transcript" not in heard[0]
    assert b"claude-code:agent\r\n" in heard[0]  # the name that install gives the server, which begins the missions


@pytest.mark.parametrize("stdin", [used(hook_event_name="PreToolUse"), used(tool_name=None), used(hook_event_name="Stop")])
def test_aol_092_other_events_are_not_told(program: Program, stdin: bytes) -> None:
    with strange_owner(program.home, json_answer({"ok": True})) as heard:
        assert program.run("hook", "claude-code", stdin=stdin).code == 0

    assert not heard
