"""Transcripts: which format a source has, who said what in it, and what is left out (MIND-216 to MIND-218, MIND-221)."""

import json

import pytest

from hindbrain.engines.transcripts import Format, Reading, Turn, cleaned, detected, from_document, from_lines, time_of
from tests.support.evidence_sources import CHATGPT, CLAUDE, CODEX, GENERIC, SLACK, jsonl

QUESTION, ANSWER = "Why does the ferry parser fail?", "It reads the timetable as UTC."


def lines(text: str) -> list[bytes]:
    return text.encode().splitlines(keepends=True)


def read(text: str, reading: Reading | None = None, form: Format | None = None) -> tuple[Format, list[Turn]]:
    reading = reading or Reading()
    found = form or detected(lines(text))
    if found is not None and found.by_lines:
        return found, list(from_lines(lines(text), found, reading))
    return from_document(text.encode(), found, reading) if found is not Format.TEXT else (found, [])


@pytest.mark.req("MIND-216", "MIND-217")
@pytest.mark.parametrize(
    ("text", "form"),
    [
        (CLAUDE, Format.CLAUDE),
        (CODEX, Format.CODEX),
        (SLACK, Format.SLACK),
        (CHATGPT, Format.CHATGPT),
        (GENERIC, Format.JSONL),
        (json.dumps(json.loads(CHATGPT)[0], indent=2), Format.CHATGPT),
        (json.dumps({"messages": [{"role": "user", "content": QUESTION}]}), Format.CHATGPT),
        (jsonl({"type": "human", "message": QUESTION}, {"type": "assistant", "content": ANSWER}), Format.CLAUDE),
        ("# Ferry\n\nIt leaves at noon.\n", Format.TEXT),
        (jsonl({"type": "session_meta", "payload": {"id": "x"}}, {"type": "turn_context", "payload": {}}), Format.TEXT),
        ('{"name": "a package", "version": 1}', Format.TEXT),
        ("[1, 2, 3]", Format.TEXT),
        ("", Format.TEXT),
    ],
    ids=["claude", "codex", "slack", "chatgpt", "jsonl", "one", "messages", "old", "text", "meta", "json", "list", "empty"],
)
def test_mind_216_a_format_is_known_by_what_is_in_it(text: str, form: Format) -> None:
    assert read(text)[0] is form


@pytest.mark.req("MIND-217", "MIND-218")
@pytest.mark.parametrize(("text", "thread"), [(CLAUDE, "s1"), (CODEX, "c1"), (CHATGPT, "g1"), (GENERIC, "k1"), (SLACK, None)])
def test_mind_217_every_format_gives_who_said_what(text: str, thread: str | None) -> None:
    turns = read(text)[1]

    assert [turn.text for turn in turns[:2]] == [QUESTION, ANSWER]
    assert {turn.thread for turn in turns} == {thread}
    if text is not GENERIC:
        assert [turn.role for turn in turns[:2]] == ["user", "assistant"]


def test_mind_217_a_line_that_cannot_be_read_is_counted_and_passed_over() -> None:
    reading = Reading()

    turns = list(from_lines([b"{broken\n", *lines(GENERIC), b'"text"\n', b"\xff\xfe\n"], Format.JSONL, reading))

    assert [turn.text for turn in turns] == [QUESTION, ANSWER]
    assert reading.broken_lines == 3


def test_mind_217_what_tools_answered_is_kept_only_when_asked_for() -> None:
    for text in (CLAUDE, CODEX):
        assert "tool" not in {turn.role for turn in read(text)[1]}
        kept = read(text, Reading(keep_tools=True))[1]
        assert [turn.text for turn in kept if turn.role == "tool"] == ["parser.py timetable.csv"]


def test_mind_217_a_helpers_conversation_is_a_thread_of_its_own() -> None:
    line = {"type": "user", "sessionId": "s1", "isSidechain": True, "agentId": "a7", "message": {"content": "look"}}

    (turn,) = read(jsonl(line))[1]

    assert turn.thread == "s1/a7"


def test_generic_lines_keep_speaker_time_and_message() -> None:
    first, second = read(GENERIC)[1]

    assert (first.speaker, first.role, first.message, first.said_at) == ("Ada", "user", "1", 1_767_323_045_000)
    assert (second.speaker, second.role, second.message, second.said_at) == ("Bo", None, "2", None)


@pytest.mark.req("MIND-217")
def test_mind_217_a_plain_text_is_read_as_a_transcript_when_told_so() -> None:
    form, turns = read("> hi\nyo\n\nmore\n> again\nUser: typed\nAssistant: told\n", form=Format.CONVOS)

    assert form is Format.CONVOS
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "hi"),
        ("assistant", "yo\n\nmore"),
        ("user", "again"),
        ("user", "typed"),
        ("assistant", "told"),
    ]


@pytest.mark.req("MIND-221")
def test_mind_221_noise_goes_outside_of_fences_only() -> None:
    fence = "```\n<system-reminder>kept</system-reminder>\n```"
    said = f"<command-name>/x</command-name>\nfix it <system-reminder>gone\nall of it</system-reminder>\n{fence}\nthanks"
    line = jsonl({"type": "user", "sessionId": "s", "message": {"content": said}})
    reading = Reading()

    (turn,) = read(line, reading)[1]
    (whole,) = read(line, Reading(strip_noise=False))[1]

    assert turn.text == f"fix it \n{fence}\nthanks"
    assert reading.noise_bytes == len(said) - len(turn.text)
    assert whole.text == said


@pytest.mark.req("MIND-221")
@pytest.mark.parametrize(
    "noise", ['["toolu_01", "toolu_02"]\n', "[session started at noon]\n", "Base directory for this skill: /x\nrules\n\n"]
)
def test_mind_221_what_a_host_writes_is_noise(noise: str) -> None:
    line = jsonl({"type": "user", "sessionId": "s", "message": {"content": f"{noise}the ferry"}})

    assert [turn.text for turn in read(line)[1]] == ["the ferry"]


@pytest.mark.req("MIND-016")
@pytest.mark.parametrize(
    ("value", "at"),
    [
        (1_777_710_000, 1_777_710_000_000),
        ("1777710000", 1_777_710_000_000),
        (1_777_710_000_123, 1_777_710_000_123),
        ("2026-05-02T08:20:00Z", 1_777_710_000_000),
        ("2026-05-02T10:20:00+02:00", 1_777_710_000_000),
        ("soon", None),
        (True, None),
        (float("nan"), None),
        (1e300, None),
        ([], None),
    ],
)
def test_mind_016_times_of_every_kind_are_milliseconds(value: object, at: int | None) -> None:
    assert time_of(value) == at


@pytest.mark.parametrize(
    "hostile", ["[" * 50_000, '{"a":' * 50_000, '{"mapping": {"a": 1, "b": {"children": 5}}}', "[[[]]]", "{}"]
)
def test_hostile_documents_are_text(hostile: str) -> None:
    assert from_document(hostile.encode(), None, Reading()) == (Format.TEXT, [])


def test_half_characters_and_nul_are_replaced_and_counted() -> None:
    reading = Reading()

    (turn,) = list(from_lines([b'{"text": "a\\u0000b \\ud83d c"}'], Format.JSONL, reading))

    assert turn.text == "a\ufffdb \ufffd c"
    assert reading.replaced == 2
    assert cleaned("\ud83d\ude80") == ("🚀", 2)
