"""One wrapped command: its output passes through, its end is captured, its exit code is the program's (MIND-351 to MIND-353)."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, describe
from hindbrain.surfaces import local
from tests.cli.program import Ended, Program, git_repository

GOOD = ("--surface", "runtime-context", "--query", "q")


@pytest.fixture
def shop(program: Program, tmp_path: Path) -> Program:
    """The program in a repository that has its brain; every call does its own work."""
    here = program.given(git_repository(tmp_path.resolve() / "shop"), HINDBRAIN_MODE="embedded")
    assert here.answer("init")["ok"]
    return here


def total(shop: Program) -> int:
    return int(shop.answer("adoption", "stats")["total"])


def wrapped(shop: Program, *words: str) -> tuple[Ended, dict[str, Any]]:
    """How it ended, and its report."""
    ended = shop.run("adoption", "wrap", "--report", "report.json", *words)
    file = shop.directory / "report.json"
    report: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    file.unlink(missing_ok=True)
    return ended, report


@pytest.mark.req("MIND-351", "MIND-352", "MIND-012")
@pytest.mark.parametrize(("code", "outcome"), [(0, "accepted"), (7, "rejected")])
def test_mind_351_the_end_of_the_command_is_the_outcome(shop: Program, code: int, outcome: str) -> None:
    ended = shop.run("adoption", "wrap", "--surface", "context", "--", "sh", "-c", f"echo out; echo err >&2; exit {code}")

    assert (ended.code, ended.out) == (code, "out\n")
    first, report = ended.err.split("\n", 1)
    assert first == "err"
    told = json.loads(report)
    assert (told["child_exit_code"], told["outcome"], told["surface"]) == (code, outcome, "card-context")
    assert (told["writes"], told["execute"]) == (False, False)
    assert (told["child_stdout"], told["child_stderr"], told["truncated"]) == ("out\n", "err\n", False)
    assert told["capture"]["record_plan"]["record_payload"]["metadata"]["child_exit_code"] == code
    assert total(shop) == 0


@pytest.mark.req("MIND-351")
@pytest.mark.parametrize(
    "words",
    [
        ("--surface", "context"),
        ("--surface", "context", "--"),
        ("--", "true"),
        ("--surface", "ui", "--", "touch", "x"),
        ("--surface", "context", "--report", "nowhere/r.json", "--", "touch", "x"),
    ],
)
def test_mind_351_what_cannot_be_read_runs_nothing(shop: Program, words: tuple[str, ...]) -> None:
    ended = shop.run("adoption", "wrap", *words)

    assert ended.code == 2
    assert ended.json["error"]["code"] == "invalid_params"
    assert not (shop.directory / "x").exists()


@pytest.mark.req("MIND-351", "MIND-352")
def test_mind_352_it_is_recorded_only_when_asked_for_and_by_the_checked_way(shop: Program) -> None:
    dry, _ = wrapped(shop, *GOOD, "--", "true")
    assert (dry.code, total(shop)) == (0, 0)

    _, done = wrapped(shop, *GOOD, "--execute", "--", "true")
    lacking, blocked = wrapped(shop, "--surface", "card-context", "--execute", "--", "true")
    _, allowed = wrapped(
        shop, "--surface", "card-context", "--execute", "--allow-warnings", "--outcome", "neutral", "--", "false"
    )

    assert (done["writes"], done["capture"]["record_checked"]["blocked"]) == (True, False)
    assert (blocked["writes"], blocked["capture"]["record_checked"]["blocked"], lacking.code) == (False, True, 0)
    assert (allowed["writes"], allowed["outcome"], allowed["child_exit_code"]) == (True, "neutral", 1)
    events = shop.answer("adoption", "list")["events"]
    assert [(event["track"], event["signal"]) for event in events] == [
        ("card_context", "neutral"),
        ("runtime_adoption", "accepted"),
    ]


@pytest.mark.req("MIND-352")
def test_mind_352_no_other_surface_runs_a_command() -> None:
    assert not [name for name in REGISTRY if "wrap" in name]
    assert local.COMMANDS["adoption.wrap"]["surfaces"] == ["cli"]


def test_wrap_takes_what_a_capture_takes() -> None:
    handed = set(describe(REGISTRY["adoption.capture"])["schema"]["properties"]) - {"fail_on_block", "agent_id", "caller_root"}
    assert set(local.COMMANDS["adoption.wrap"]["schema"]["properties"]) == handed | {"report"}


@pytest.mark.req("MIND-353")
def test_mind_353_all_output_passes_and_a_bounded_part_is_captured(shop: Program) -> None:
    script = "import sys; sys.stdout.write('x' * (1 << 20)); sys.stderr.write('y')"
    ended, report = wrapped(shop, *GOOD, "--", sys.executable, "-c", script)

    assert ended.out == "x" * (1 << 20)
    assert ended.err == "y"
    assert (len(report["child_stdout"]), report["child_stderr"], report["truncated"]) == (64 * 1024, "y", True)


@pytest.mark.req("MIND-353")
def test_mind_353_a_signal_is_told_as_the_shell_tells_it(shop: Program) -> None:
    ended, report = wrapped(shop, *GOOD, "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")

    assert (ended.code, report["child_exit_code"], report["outcome"]) == (137, 137, "rejected")


@pytest.mark.req("MIND-353")
def test_mind_353_there_is_no_shell_between(shop: Program) -> None:
    ended, _ = wrapped(shop, *GOOD, "--", sys.executable, "-c", "import sys; print(sys.argv[1:])", "$HOME; *", '["a"]', "--json")
    missing, none = wrapped(shop, *GOOD, "--execute", "--", "no-such-command-here")

    assert ended.out == f"{['$HOME; *', '[' + chr(34) + 'a' + chr(34) + ']', '--json']}\n"
    assert (missing.code, none) == (127, {})
    assert "no-such-command-here" in missing.err
    assert total(shop) == 0, "what never ran has no outcome"


def test_wrap_hands_a_signal_on_and_waits_for_the_command(shop: Program) -> None:
    """Whoever ends the wrapper ends the command, and still learns how it ended."""
    script = "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(5))\nprint('up', flush=True)\nsignal.pause()"
    command = ("adoption", "wrap", *GOOD, "--report", "report.json", "--", sys.executable, "-c", script)
    with shop.start(*command, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)

    assert process.returncode == 5
    assert json.loads((shop.directory / "report.json").read_text())["child_exit_code"] == 5


@pytest.mark.req("MIND-388")
def test_mind_388_switched_off_the_command_is_not_run_in_vain(shop: Program) -> None:
    off = shop.given(HINDBRAIN_ADOPTION="false")
    ended = off.run("adoption", "wrap", *GOOD, "--execute", "--", "touch", "ran")
    dry = off.run("adoption", "wrap", *GOOD, "--", "touch", "dry")

    assert (ended.code, ended.json["error"]["code"]) == (1, "switched_off")
    assert not (shop.directory / "ran").exists()
    assert dry.code == 0
    assert (shop.directory / "dry").exists()
    assert total(shop) == 0


def test_wrap_at_a_terminal_says_it_in_words(shop: Program) -> None:
    ended = shop.at_terminal("adoption", "wrap", *GOOD, "--execute", "--", "echo", "hello")

    assert ended.code == 0
    assert "hello\n" in ended.out
    assert "exit code 0: accepted" in ended.out
    assert "created=true" in ended.out


@pytest.mark.req("MIND-335", "MIND-342", "MIND-325", "MIND-332", "MIND-333")
def test_mind_335_mind_342_the_command_line_says_it_plainly(shop: Program) -> None:
    recorded = shop.run(
        "adoption", "record", "--track", "card_context", "--signal", "accepted", "--feature", "include_cards", "--no-json"
    )
    guidance = shop.run("adoption", "guidance", "--no-json")
    bad = shop.run("adoption", "record", "--track", "misc", "--signal", "used", "--feature", "f")
    advice = ("knowledge", "advise", "--subject-kind", "qi", "--subject-id", "k", "--proposed-action", "promote")
    nobody = shop.run(*advice)
    advised = shop.answer(*advice, "--evaluator-id", "e", "--evidence-ref", "e1", "--evidence-ref", "e2", "--risk-note", "r")
    proposed = shop.answer("defaults", "propose", "card-context", "--rollback-criterion", "a rollback")

    assert recorded.out.startswith("event_id=adoption_")
    assert recorded.out.endswith(" created=true\n")
    for words in ("version=1", "signal=used", "track=card_context"):
        assert words in guidance.out
    liked = shop.run("adoption", "record", "--track", "runtime_adoption", "--signal", "liked", "--feature", "f")
    assert (bad.code, liked.code, total(shop)) == (2, 2, 1)
    for word in ("used", "accepted", "rejected", "miss", "rollback", "contradiction", "neutral"):
        assert word in liked.err
    for track in ("runtime_adoption", "card_context", "card_embedding", "evaluator", "research_adapter"):
        assert track in bad.err
    assert nobody.code == 2
    assert "--evaluator-id" in nobody.err
    assert (advised["evidence_refs"], advised["risk_notes"]) == (["e1", "e2"], ["r"])
    assert proposed["rollback_criteria"] == ["a rollback"]


@pytest.mark.req("MIND-015")
def test_mind_015_the_exit_code_of_a_blocked_report(shop: Program) -> None:
    words = ("adoption", "record", "--track", "card_context", "--signal", "accepted", "--feature", "include_cards", "--checked")

    plain, failing = shop.run(*words), shop.run(*words, "--fail-on-block")

    assert (plain.code, plain.json["blocked"]) == (0, True)
    assert (failing.code, failing.json["blocked"], failing.err) == (3, True, "")
    assert shop.run("adoption", "gate", "card-context-default", "--fail-on-block").code == 3
    assert shop.run("adoption", "gate", "card-context-default").code == 0
