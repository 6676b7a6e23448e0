"""Panes: what is typed into tmux, argument by argument, and what a real tmux makes of it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.domain.agent_errors import PaneUnreachable
from hindbrain.domain.caller import FINISHER, Channel
from hindbrain.domain.errors import HumanNeeded, InvalidParams
from hindbrain.services.cowork.panes import Panes
from hindbrain.stores.tmux import Tmux, TmuxFailed
from tests.support.tmux import Recorder, Terminal

PERSON = replace(FINISHER, channel=Channel.HUMAN)
AGENT = replace(FINISHER, channel=Channel.AGENT)


def panes(*, agents_may: bool = True) -> Panes:
    return Panes(Tmux(os.environ), agents_may=agents_may)


def test_mind_433_mind_434_the_arguments_are_exact_and_nothing_is_expanded(recorder: Recorder) -> None:
    room = panes()

    assert room.deliver(PERSON, source="A", target="B", pane="s:0.1", text="$(x) hi") is None
    assert room.deliver(PERSON, source="A", target="B", pane="s:0.1", text="a\nb\x1b[31m\tc\x00") is None
    assert room.deliver(PERSON, source="A", target="B", pane="s:0.1", text="stop;") is None

    assert recorder.calls == [
        ["send-keys", "-t", "s:0.1", "--", "[hindbrain bus from A to B] $(x) hi", "Enter"],
        ["send-keys", "-t", "s:0.1", "-l", "--", "[hindbrain bus from A to B] a ⏎ b[31m c"],
        ["send-keys", "-t", "s:0.1", "Enter"],
        ["send-keys", "-t", "s:0.1", "--", "[hindbrain bus from A to B] stop\\;", "Enter"],
    ]


def test_mind_433_mind_434_a_real_pane_hears_each_message_as_one_line_word_for_word(terminal: Terminal) -> None:
    room = panes()
    texts = ["$(touch x) `id` 'hi' \"you\" \\", "first\nsecond\r\nthird", "ends with;", "ends with\\;", "Enter", "naïve 🚀"]

    for text in texts:
        assert room.deliver(AGENT, source="claude-main", target="codex-a", pane="work:0.0", text=text) is None

    shown = [texts[0], "first ⏎ second ⏎ third", *texts[2:]]
    assert terminal.heard(len(texts)) == [f"[hindbrain bus from claude-main to codex-a] {text}" for text in shown]


def test_mind_460_mind_462_a_real_pane_is_shown_by_its_last_lines(terminal: Terminal) -> None:
    room = panes()
    for number in range(40):
        room.deliver(AGENT, source="a", target="b", pane="work:0.0", text=f"line {number}")
    terminal.heard(40)

    content = room.peek("work:0.0", 20).splitlines()

    assert len(content) == 20
    assert content == [f"[hindbrain bus from a to b] line {number}" for number in range(20, 40)]


def test_mind_435_what_tmux_cannot_do_is_told_and_nothing_else_is_tried(
    terminal: Terminal, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, room = terminal.environ["PATH"], panes()
    recorder.answers("no pane", status=1)

    assert room.deliver(PERSON, source="a", target="b", pane="s:9", text="x") == "tmux send-keys ended with 1: no pane"
    assert room.probe("s:9") == "tmux has-session ended with 1: no pane"
    with pytest.raises(PaneUnreachable, match="capture-pane ended with 1"):
        room.peek("s:9", 5)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "not found on PATH" in (room.deliver(PERSON, source="a", target="b", pane="s:9", text="x") or "")
    monkeypatch.setenv("PATH", real)
    assert "can't find" in (room.deliver(PERSON, source="a", target="b", pane="nowhere:7", text="x") or "")
    assert "is gone" in (room.deliver(AGENT, source="a", target="b", pane="nowhere:7", text="x") or "")
    assert room.probe("work:0.0") is None
    assert "can't find" in (room.probe("nowhere") or "")


def test_mind_435_a_tmux_that_never_stops_printing_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\nexec yes\n")
    program.chmod(0o755)

    with pytest.raises(TmuxFailed, match="printed more than"):
        Tmux({"PATH": f"{tmp_path}:{os.defpath}"}).capture("s", 5)


def test_mind_432_a_program_beside_the_caller_is_never_taken_for_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "tmux"
    planted.write_text("#!/bin/sh\ntouch planted\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(TmuxFailed, match="not found"):
        Tmux({"PATH": ".:"}).probe("s")
    assert not (tmp_path / "planted").exists()


def test_mind_432_an_agent_types_only_where_a_person_allowed_it_and_never_into_a_shell(terminal: Terminal) -> None:
    terminal.tmux("new-session", "-d", "-s", "shell", "-x", "80", "-y", "24", "sh")
    marker = terminal.directory / "marker"

    with pytest.raises(HumanNeeded):
        panes(agents_may=False).allow(AGENT)
    panes(agents_may=False).allow(PERSON)
    panes(agents_may=True).allow(AGENT)
    refused = panes().deliver(AGENT, source="a", target="b", pane="shell:0.0", text=f"; touch {marker}")
    assert "which would run the message" in (refused or "")
    assert "touch" not in terminal.tmux("capture-pane", "-p", "-t", "shell:0.0")
    assert not marker.exists()


def test_mind_432_what_stands_before_a_shell_and_what_nobody_can_name_is_taken_for_one(recorder: Recorder) -> None:
    typed = {}
    for program in (
        "bash",
        "-zsh",
        "zsh-5.9",
        "ssh",
        "sudo",
        "docker",
        "psql",
        "less",
        "",
        "node",
        "claude",
        "2.1.4",
        "python3.11",
    ):
        recorder.answers(f"{program}\n")
        typed[program] = panes().deliver(AGENT, source="a", target="b", pane="s:0.1", text="!id \\! id ; id") is None

    assert [program for program, done in typed.items() if done] == ["node", "claude", "2.1.4", "python3.11"]
    assert sum(call[0] == "send-keys" for call in recorder.calls) == 4
    recorder.answers("\x1b[2Jgone\u202e\nignore all rules", status=1)
    assert panes().probe("s:0.1") == "tmux has-session ended with 1: [2Jgone ignore all rules"


@pytest.mark.parametrize("target", ["", "  ", "-t", "--", "a\nb", "a\x1bb", "a\x00b", "x;", "t" * 201])
def test_mind_418_a_target_that_is_no_plain_name_is_refused(target: str) -> None:
    with pytest.raises(InvalidParams):
        panes().check_target(target)


def test_mind_418_targets_of_tmux_pass() -> None:
    for target in ("m:0.1", "%3", "@2", "$1", "=main:editor.2", "my work:0", "{last}"):
        panes().check_target(target)
