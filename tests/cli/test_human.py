"""Human acts: only a person at a terminal who types the name, never a flag and never a pipe."""

import json
from typing import Any

import pytest

from tests.cli.described import described, write_manifest
from tests.cli.program import Ended, Program
from tests.cli.strange import HUMAN_TOKEN, json_answer, strange_owner

FORGET = described(
    "forget",
    {"slug": {"type": "string"}, "reason": {"type": "string"}},
    positional=["slug"],
    human=True,
    effect="destructive",
    schema={"type": "object", "properties": {"slug": {"type": "string"}, "reason": {"type": "string"}}, "required": ["slug"]},
)
WORDS = ("forget", "retry-policy", "--reason", "wrong")


def at_terminal(program: Program, typed: str, *words: str) -> tuple[Ended, list[bytes]]:
    with strange_owner(program.home, json_answer({"ok": True, "rendered": "Forgot it."})) as heard:
        write_manifest(program.home, FORGET)
        (program.home / "human-token").write_text(HUMAN_TOKEN + "\n")
        return program.at_terminal(*words, say=[("to go on: ", typed)]), heard


def test_human_an_act_is_shown_and_confirmed_by_typing_its_name(program: Program) -> None:
    ended, heard = at_terminal(program, "retry-policy\n", *WORDS)

    assert ended.code == 0
    assert "The summary of forget." in ended.out
    assert "reason: wrong" in ended.out
    assert "Type retry-policy to go on:" in ended.out
    assert "Forgot it." in ended.out
    assert f"Authorization: Bearer {HUMAN_TOKEN}\r\n".encode() in heard[0]
    assert json.loads(heard[0].split(b"\r\n\r\n")[1]) == {"slug": "retry-policy", "reason": "wrong"}


@pytest.mark.parametrize("typed", ["\n", "yes\n", "y\n", "retry\n", "RETRY-POLICY\n", "\x04"])
def test_human_anything_else_changes_nothing(program: Program, typed: str) -> None:
    ended, heard = at_terminal(program, typed, *WORDS)

    assert ended.code == 1
    assert "nothing was changed (human_needed)" in ended.out
    assert "to go on: hindbrain:" not in ended.out
    assert heard == []


def test_human_control_c_at_the_question_changes_nothing(program: Program) -> None:
    ended, heard = at_terminal(program, "^C", *WORDS)

    assert ended.code == 130
    assert "Traceback" not in ended.out
    assert heard == []


@pytest.mark.parametrize("words", [WORDS, ("call", "forget", '{"slug": "retry-policy"}')])
def test_human_a_pipe_is_refused_with_the_way_out(program: Program, words: tuple[str, ...]) -> None:
    with strange_owner(program.home, json_answer({"ok": True})) as heard:
        write_manifest(program.home, FORGET)
        ended = program.run(*words, stdin=b"retry-policy\n")

    assert ended.code == 1
    assert ended.json["error"]["code"] == "human_needed"
    assert "in a terminal: hindbrain forget" in ended.json["error"]["fix"]
    assert heard == []


@pytest.mark.parametrize("flag", ["--yes", "--force", "--human", "--confirm"])
def test_human_no_flag_stands_in_for_a_person(program: Program, flag: str) -> None:
    with strange_owner(program.home, json_answer({"ok": True})) as heard:
        write_manifest(program.home, FORGET)
        ended = program.run(*WORDS, flag)

    assert ended.code == 2
    assert heard == []


def test_human_a_hostile_name_cannot_hide_what_is_asked(program: Program) -> None:
    hostile = "\x1b[2Jclean\u202e\n up"

    ended, heard = at_terminal(program.given(NO_COLOR="1"), "clean up\n", "forget", hostile)

    answer: dict[str, Any] = json.loads(heard[0].split(b"\r\n\r\n")[1])
    assert "\x1b" not in ended.out
    assert "Type clean up to go on" in ended.out
    assert answer == {"slug": hostile}
