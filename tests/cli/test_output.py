"""What a command says and where: JSON in a pipe, text at a terminal, failures on stderr, and an exit code (GR-180)."""

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import ERRORS
from hindbrain.surfaces.output import exit_code, json_line
from hindbrain.surfaces.render import clean, failure, text
from tests.cli.described import described, write_manifest
from tests.cli.program import Ended, Program
from tests.cli.strange import json_answer, strange_owner

SEEK = described("seek", {"query": {"type": "string"}}, positional=["query"], retrieval=True)
ENVELOPE = {
    "trust_mode": "retrieval_needs_recovery",
    "status": "triaging",
    "next_suggested_tool": "recovery_playbook",
    "next_step_hint": "Hand recovery.arguments to recovery_playbook first.",
}


def said(program: Program, answer: dict[str, Any], *words: str, terminal: bool = False) -> Ended:
    """What the command says when the owner gives this answer."""
    with strange_owner(program.home, json_answer(answer)):
        write_manifest(program.home, SEEK)
        return program.at_terminal(*words) if terminal else program.run(*words)


@pytest.mark.req("GR-180")
def test_gr_180_a_pipe_gets_the_answer_as_json(program: Program) -> None:
    answer = {"ok": True, "results": [], "agent_runtime_contract": ENVELOPE}

    piped = said(program, answer, "seek", "nothing")
    asked = said(program, answer, "seek", "nothing", "--json", terminal=True)

    assert (piped.code, piped.json, piped.err) == (0, answer, "")
    assert asked.json == answer


@pytest.mark.req("RC-036")
def test_rc_036_a_terminal_gets_the_envelope_as_its_last_line(program: Program) -> None:
    answer = {"ok": True, "results": [], "agent_runtime_contract": ENVELOPE}

    at_terminal = said(program, answer, "seek", "nothing", terminal=True)
    in_a_pipe = said(program, answer, "seek", "nothing", "--no-json")

    for ended in (at_terminal, in_a_pipe):
        assert ended.out.rstrip().splitlines()[-1] == "retrieval_needs_recovery · triaging · hindbrain recovery-playbook"


@pytest.mark.req("GR-180")
@pytest.mark.parametrize("words", [("seek", "--nosuch", "1"), ("nosuch",)])
def test_gr_180_a_line_that_cannot_be_read_is_still_answered_in_the_form_it_asks_for(
    program: Program, words: tuple[str, ...]
) -> None:
    write_manifest(program.home, described("seek"))

    text, asked = program.run(*words, "--no-json"), program.run(*words, "--json")

    assert (text.code, text.out) == (2, "")
    assert "nosuch" in text.err
    assert asked.json["error"]["message"] in text.err


@pytest.mark.req("MIND-425")
def test_mind_425_an_answer_whose_text_is_empty_shows_nothing() -> None:
    assert text({"ok": True, "rendered": "", "count": 0, "messages": []}, colour=False) == ""


@pytest.mark.req("GR-180")
def test_gr_180_a_refusal_exits_1_with_its_json_and_is_told_on_stderr(program: Program) -> None:
    fix = {"action": "ingest_your_repo", "call": {"tool": "ingest", "arguments": {"path": "/r/it's"}}}
    refusal = {"ok": False, "refused": "brainless_root", "reason": "no brain covers /r", "fix": fix, "bytes_written": 0}

    piped = said(program, refusal, "seek", "x")

    assert (piped.code, piped.json) == (1, refusal)
    assert "no brain covers /r (brainless_root)" in piped.err
    command = piped.err.split("fix: ")[1].strip()
    as_the_shell_reads_it = subprocess.run(["sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True, check=True)
    assert as_the_shell_reads_it.stdout.splitlines() == ["hindbrain", "call", "ingest", '{"path":"/r/it\'s"}']


@pytest.mark.req("GR-180")
@pytest.mark.parametrize("code", sorted(ERRORS))
def test_gr_180_every_error_has_the_exit_code_of_its_table(code: str) -> None:
    told = {"ok": False, "error": {"code": code, "message": "m", "fix": None}}

    assert exit_code(told) == ERRORS[code].exit_code
    assert exit_code({"ok": False, "refused": code}) == ERRORS[code].exit_code
    assert ERRORS[code].exit_code in (1, 2)


@pytest.mark.req("MED-306")
@pytest.mark.parametrize(("verdict", "code"), [(0, 0), (1, 1), (2, 2), (3, 3), (7, 0), ("1", 0), (None, 0)])
def test_med_306_an_answer_with_a_verdict_of_its_own_decides_the_exit_code(verdict: object, code: int) -> None:
    assert exit_code({"ok": True, "status": "warn", "exit_code": verdict}) == code


HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \u202eevil\u202c bell\x07 back\x08space \x1bPdcs\x1b\\ end"


@pytest.mark.parametrize("field", ["rendered", "text"])
def test_cli_nothing_in_memory_steers_a_terminal(program: Program, field: str) -> None:
    ended = said(
        program.given(NO_COLOR="1"), {"ok": True, field: HOSTILE, "rows": [{"label": HOSTILE}]}, "seek", "x", terminal=True
    )

    assert not set("\x1b\x9b\x07\x08\u202e\u202c") & set(ended.out)
    assert "red" in ended.out
    assert "[31m" not in ended.out
    assert "title" not in ended.out


def test_cli_nothing_in_json_steers_a_terminal_and_nothing_is_lost(program: Program) -> None:
    answer = {"ok": True, "text": HOSTILE + "\ud800 ü"}

    shown = json_line(answer, indent=2)

    assert not set("\x1b\x9b\x07\x08\u202e\u202c\ud800") & set(shown)
    assert "ü" in shown
    assert json.loads(shown) == answer


def test_cli_colour_is_for_terminals_that_want_it(program: Program) -> None:
    answer = {"ok": True, "results": [{"label": "a", "more": {"deep": 1}}]}

    plain = said(program, answer, "seek", "x", "--no-json")
    coloured = said(program, answer, "seek", "x", terminal=True)
    without = said(program.given(NO_COLOR="1"), answer, "seek", "x", terminal=True)
    dumb = said(program.given(TERM="dumb"), answer, "seek", "x", terminal=True)

    assert "\x1b[1m" in coloured.out
    assert "\x1b" not in plain.out + without.out + dumb.out


def test_cli_rows_become_a_table_that_fits_or_records_that_lose_nothing() -> None:
    short = {"rows": [{"name": "a", "count": 1}, {"name": "bb", "count": None}]}
    long = {"rows": [{"label": "Retry policy", "text": "word " * 40, "where": {"path": "src/a.py"}}]}

    assert text({"ok": True, **short}, colour=False, width=80).splitlines() == [
        "rows (2)",
        "  name  count",
        "  a     1",
        "  bb    -",
    ]
    shown = text({"ok": True, **long}, colour=False, width=80)
    assert "• Retry policy" in shown
    assert "word " * 39 in shown
    assert "src/a.py" in shown


def test_cli_times_are_told_as_times_and_durations_with_their_unit() -> None:
    shown = text({"ok": True, "created_ms": 1_783_209_431_408, "age_ms": 40_000}, colour=False, width=80)

    assert shown.splitlines() == ["created  2026-07-04 23:57:11 UTC", "age      40 s"]


@pytest.mark.parametrize(
    ("age", "told"),
    [(0, "0 ms"), (999, "999 ms"), (119_999, "119 s"), (120_000, "2 min"), (7_200_000, "2 h"), (172_800_000, "2 days")],
)
def test_cli_a_duration_is_told_in_the_unit_that_fits(age: int, told: str) -> None:
    assert text({"ok": True, "age_ms": age}, colour=False) == f"age  {told}"


def test_cli_long_rows_are_told_in_brief_and_lose_nothing_that_went_wrong() -> None:
    entry = {"seq": 7, "at": 1_783_209_431_408, "actor": "a:b", "channel": "agent", "act": "call.refused", "hash": "ab" * 32}
    refused = entry | {"subject": "memorize", "slug": None, "payload": {"code": "hygiene", "digest": "cd" * 32}}
    gone = {"display_name": "shop", "state": "dormant", "project_root": "/shop", "unreachable": "no permission"}

    assert text({"ok": True, "entries": [refused]}, colour=False, width=80).splitlines() == [
        "entries (1)",
        "  seq  at UTC               act           actor  channel  payload",
        "  7    2026-07-04 23:57:11  call.refused  a:b    agent    code hygiene",
    ]
    assert "no permission" in text({"ok": True, "instances": [gone]}, colour=False, width=80)
    narrow = text({"ok": True, "entries": [refused]}, colour=False, width=40)
    assert "• call.refused" in narrow
    assert "code  hygiene" in narrow


def test_cli_the_last_column_of_a_brief_table_is_wrapped_under_itself() -> None:
    rows = [{"name": "seek", "effect": "read", "summary": "Find claims by words, and say where they come from.", "schema": {}}]

    shown = text({"ok": True, "operations": rows}, colour=False, width=50)

    assert shown.splitlines() == [
        "operations (1)",
        "  name  effect  summary",
        "  seek  read    Find claims by words, and say",
        "                where they come from.",
    ]


def test_cli_a_path_is_kept_whole_in_a_table_that_is_too_narrow_for_it() -> None:
    row = {"display_name": "my shop", "state": "warm", "active_claims": 1, "project_root": "/home/me/all of my work/my shop"}

    shown = text({"ok": True, "instances": [row]}, colour=False, width=50)

    assert shown.splitlines()[-1].endswith("  /home/me/all of my work/my shop")


def test_cli_a_part_with_a_text_of_its_own_is_that_text_and_an_empty_one_is_not_named() -> None:
    shown = text({"ok": True, "north": {"rendered": "one\n\ntwo", "rows": [1]}, "guard": {"why": None}}, colour=False)

    assert shown.splitlines() == ["north", "  one", "", "  two"]


def test_cli_a_list_that_is_too_long_for_its_line_is_wrapped_and_sentences_stand_alone() -> None:
    tools, laws = ["health", "doctor", "recovery_playbook"], ["It repairs nothing.", "It proves nothing at all."]

    assert text({"ok": True, "tools": tools, "laws": laws}, colour=False, width=30).splitlines() == [
        "tools",
        "  health, doctor,",
        "  recovery_playbook",
        "laws",
        "  It repairs nothing.",
        "  It proves nothing at all.",
    ]


@pytest.mark.req("MED-132")
def test_med_132_a_text_does_not_hide_a_warning() -> None:
    shown = text({"ok": True, "rendered": "nothing", "tier_warning": "unknown tier 'foo'"}, colour=False)

    assert shown.splitlines() == ["nothing", "tier warning: unknown tier 'foo'"]


def test_cli_a_text_of_many_lines_stays_in_its_column() -> None:
    shown = text({"ok": True, "rows": [{"label": "a", "deep": {"text": "one\ntwo"}}]}, colour=False, width=80)

    assert shown.splitlines() == ["rows (1)", "  • a", "    deep", "      text  one", "            two"]


def test_cli_an_answer_without_anything_to_say_says_that_it_is_done() -> None:
    assert text({"ok": True, "schema": "x"}, colour=False) == "done"


def test_cli_a_failure_names_its_code_and_its_fix() -> None:
    shown = failure({"ok": False, "error": {"code": "busy", "message": "locked", "fix": "try again"}}, colour=False)

    assert shown == "hindbrain: locked (busy)\nfix: try again"


def test_cli_clean_keeps_lines_and_letters() -> None:
    assert clean("a\tb\nü漢") == "a\tb\nü漢"


def test_cli_a_reader_that_has_seen_enough_is_no_error(program: Program) -> None:
    with strange_owner(program.home, json_answer({"ok": True, "rows": ["x" * 1000] * 5000})):
        write_manifest(program.home, SEEK)
        with program.start("seek", "x", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            err = process.stderr.read()

    assert process.returncode == 141
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_cli_an_answer_that_cannot_be_written_is_told_without_a_traceback(program: Program) -> None:
    with strange_owner(program.home, json_answer({"ok": True})), Path("/dev/full").open("wb") as full:
        write_manifest(program.home, SEEK)
        with program.start("seek", "x", stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            err = process.stderr.read()

    assert process.returncode == 1
    assert err == b"hindbrain: the answer cannot be written: No space left on device\n"


def test_cli_control_c_leaves_without_a_traceback(program: Program) -> None:
    import socket

    started = threading.Event()

    def silent(request: bytes, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert started.wait(60)
        interrupted.send_signal(2)
        connection.recv(1)

    with strange_owner(program.home, silent):
        write_manifest(program.home, SEEK)
        interrupted = program.start("seek", "x", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.set()
        try:
            out, err = interrupted.communicate(timeout=60)
        finally:
            interrupted.kill()  # one that did not hear must not hold the owner of this test

    assert interrupted.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_cli_a_command_that_is_newer_than_the_manifest_is_found_in_the_code(program: Program) -> None:
    write_manifest(program.home, described("seek"))

    ended = program.run("cowork", "agents", "--help")

    assert (ended.code, ended.out.splitlines()[0]) == (0, "Usage: hindbrain cowork agents [--FLAG VALUE]...")


def test_cli_a_manifest_of_another_release_is_not_believed(program: Program, tmp_path: Path) -> None:
    write_manifest(program.home, described("from_another_release"), version="0.0.0")

    ended = program.run("from-another-release")

    assert ended.code == 2
    assert ended.json["error"]["code"] == "unknown_operation"


def test_med_306_a_report_that_something_blocks_is_shown_and_not_taken_for_a_failed_call() -> None:
    report = {"ok": False, "status": "blocked", "exit_code": 2, "rendered": "graph  blocked"}

    assert exit_code(report) == 2
    assert text(report, colour=False) == "graph  blocked"
    assert exit_code({"ok": False, "error": {"code": "busy", "message": "m", "fix": "f"}}) != 2
