"""What each host reads, event by event, as its documentation has it; and real hooks of real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hindbrain.policy.hooks import CARRIERS, SOURCES
from hindbrain.policy.hosts import HOSTS
from hindbrain.surfaces.hook_shapes import event_name, shaped
from tests.cli.program import Program, git_repository
from tests.support.hooking import claude_log
from tests.support.owner import Starter

TEXT = "what is remembered"
NESTED = {"additionalContext": TEXT}

# Which events of a host take a text, from its documentation; all others that `install` registers take none.
TAKES = {
    "claude-code": {"SessionStart", "UserPromptSubmit"},
    "codex": {"SessionStart", "UserPromptSubmit"},
    "cursor": {"sessionStart", "postToolUse"},
    "gemini": {"SessionStart", "BeforeAgent"},
}
# Codex refuses an answer with a word that its schema does not have.
CODEX_WORDS = {"continue", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput", "decision", "reason"}


@pytest.mark.parametrize("host", list(TAKES))
def test_hook_every_registered_event_has_an_answer_its_host_can_read(host: str) -> None:
    (hooks,) = [one.hooks for one in HOSTS if one.name == host]
    assert hooks is not None
    assert host in SOURCES
    for event in hooks.events:
        named = event_name(event)
        full, empty = shaped(host, named, TEXT), shaped(host, named, "")
        if event not in TAKES[host]:
            assert full == empty
            assert empty == ({"continue": True} if event == "beforeSubmitPrompt" else {}), event
        elif host == "cursor":
            assert (full, empty) == ({"additional_context": TEXT}, {})
        else:
            assert full == {"hookSpecificOutput": {"hookEventName": event, **NESTED}}
            assert "additionalContext" not in json.dumps(empty)
        if host == "codex":
            assert set(full) | set(empty) <= CODEX_WORDS
        # Nothing that any host takes for a veto or for a prompt of its own.
        vetoes = {"decision", "permission", "permissionDecision", "followup_message", "stopReason"}
        assert not vetoes & (set(full) | set(full.get("hookSpecificOutput", {})))
        assert full.get("continue", True) is True


@pytest.mark.parametrize("host", [*TAKES, "generic"])
def test_hook_no_answer_is_longer_than_its_host_takes(host: str) -> None:
    for event in CARRIERS[host]:
        for sample in (
            "x" * 40_000,
            "é\n" * 20_000,
            "🦊" * 20_000,
            f"```memory\n{'🦊é' * 20_000}\n```",
            "`" * 30_000 + "\nx\n" * 9_000,
        ):
            answer = shaped(host, event, sample)
            told = answer.get("additional_context") or answer["hookSpecificOutput"]["additionalContext"]
            units = len(told.encode()) if host in ("codex", "generic") else len(told.encode("utf-16-le")) // 2
            assert 0 < units <= 10_000


# -- processes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(program: Program, tmp_path: Path) -> Program:
    """A repository with one claim, in a home without an owner."""
    inside = program.given(git_repository(tmp_path / "app"), HINDBRAIN_MODE="embedded")
    assert inside.run("init").code == 0
    assert inside.run("memorize", "Retry policy", "The worker retries three times before it gives up").code == 0
    return inside


def heard(program: Program, host: str, event: str, **payload: Any) -> Any:
    told = {"hook_event_name": event, "cwd": str(program.directory), "session_id": "s-1", **payload}
    ended = program.run("hook", host, event, stdin=json.dumps(told).encode())
    assert ended.code == 0, ended.err
    return ended.json


def test_hook_a_session_from_start_over_a_cut_to_its_end_without_an_owner(project: Program, tmp_path: Path) -> None:
    log = claude_log(
        tmp_path / "log.jsonl",
        str(project.directory),
        "s-1",
        ("user", "sort the ferries"),
        ("assistant", "they are sorted \ud83e"),
    )
    ask = {"prompt": "how often does the worker retry before it gives up? \ud800"}

    start = heard(project, "claude-code", "SessionStart", source="startup")
    prompt = heard(project, "codex", "UserPromptSubmit", **ask)
    saved = heard(project, "claude-code", "PreCompact", trigger="auto", transcript_path=log)
    again = heard(project, "claude-code", "SessionStart", source="compact")
    stop = heard(project, "claude-code", "Stop", transcript_path=log)

    begun = "<hindbrain-memory>\nHindbrain keeps the memory of app."
    assert start["hookSpecificOutput"]["additionalContext"].startswith(begun)
    assert "retries three times" in start["hookSpecificOutput"]["additionalContext"]
    assert prompt == {}  # the start of this session told it
    assert saved == stop == {}
    assert "they are sorted" in again["hookSpecificOutput"]["additionalContext"].split("Hindbrain memory for")[0]
    assert not (project.home / "owner.json").exists()


def test_hook_an_owner_answers_a_prompt(project: Program, starter: Starter) -> None:
    starter(project.home)
    served = project.given(HINDBRAIN_MODE="auto")

    told = heard(served, "gemini", "BeforeAgent", prompt="how often does the worker retry before it gives up?")
    nothing = heard(served, "gemini", "BeforeAgent", prompt="bake a lemon cake with cream")
    cursor = heard(served, "cursor", "beforeSubmitPrompt", prompt="how often does the worker retry before it gives up?")

    assert told["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert "retries three times" in told["hookSpecificOutput"]["additionalContext"]
    assert nothing == {}
    assert cursor == {"continue": True}


def test_hook_one_that_is_killed_while_it_saves_leaves_nothing_that_the_next_one_cannot_go_on_from(
    project: Program, tmp_path: Path
) -> None:
    said = [("user" if number % 2 else "assistant", f"turn {number} of the ferry " + "word " * 60) for number in range(300)]
    log = claude_log(tmp_path / "log.jsonl", str(project.directory), "s-1", *said)
    told = json.dumps({"cwd": str(project.directory), "session_id": "s-1", "transcript_path": log}).encode()
    command = [sys.executable, "-P", "-m", "hindbrain", "hook", "claude-code", "PreCompact"]
    for wait_s in (0.15, 0.45, 0.8):
        with subprocess.Popen(command, env=project.environment(), cwd=project.directory, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(told)
            process.stdin.close()
            end = time.monotonic() + wait_s
            while process.poll() is None and time.monotonic() < end:
                os.sched_yield()
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)

    saved = project.run("hosts", "event", "claude-code", "PreCompact", "--payload", told.decode(), "--json").json
    kept = project.run("memory", "list", "--limit", "1", "--json").json

    assert saved["gaps"] == []
    assert saved["saved"]["chunks"] + saved["saved"]["skipped"] == 300
    assert kept["ok"]
    assert project.run("ledger", "verify", "--json").json["ok"]
