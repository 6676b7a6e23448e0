"""A local command as a model: real programs, their time, their output, and what they leave behind."""

import os
import select
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from hindbrain.providers.command import Command
from hindbrain.providers.port import Limits, ProviderFailed, Reply

LIMITS = Limits(total_s=60.0, max_bytes=100_000)


def command(*words: str, limits: Limits = LIMITS) -> Command:
    return Command(words=words, environ={"PATH": os.environ["PATH"]}, tier=1, limits=limits)


def asked(made: Command, user: str = "count", timeout_s: float = 60.0) -> Reply:
    return made.complete("R3", "be brief", user, max_tokens=10, timeout_s=timeout_s)


def failure(words: Sequence[str], *, limits: Limits = LIMITS, timeout_s: float = 60.0) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as failed:
        asked(command(*words, limits=limits), timeout_s=timeout_s)
    return failed.value


def test_ctl_300_a_command_gets_the_prompt_and_answers_on_its_output() -> None:
    reply = asked(command("/bin/sh", "-c", "echo said; cat; pwd; ls -A | wc -l"))

    said, system, _, user, directory, files = reply.text.splitlines()
    assert (said, system, user, files.strip()) == ("said", "be brief", "count", "0")
    assert not Path(directory).exists()
    assert (reply.provider, reply.model, reply.tier) == ("command", "sh", 1)
    assert reply.usage.estimated
    assert reply.usage.prompt_tokens == 4


def test_ctl_300_a_long_prompt_to_a_command_that_does_not_read_it_does_not_hang() -> None:
    assert asked(command("/bin/echo", "done"), user="x" * 2_000_000).text == "done\n"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("/bin/sh", "-c", "echo broken >&2; exit 3"), "refused"),
        (("/nowhere/at-all",), "unreachable"),
        (("/bin/sh", "-c", "cat >/dev/null"), "empty"),
        (("/bin/sh", "-c", r"printf '\377\376'"), "broken"),
        (("/bin/sh", "-c", "yes"), "too_large"),
    ],
)
def test_ctl_300_what_a_command_does_wrong_is_one_failure_with_a_reason(words: tuple[str, ...], kind: str) -> None:
    failed = failure(words)

    assert failed.kind == kind
    assert failed.reason
    assert kind != "refused" or ("3" in failed.reason and "broken" in failed.reason)


def _ended(pid: int) -> bool:
    """Whether a process has ended, or does within a minute: a kill is not waited for by who sends it to strangers."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)


def test_ctl_300_a_command_that_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    began = time.monotonic()

    failed = failure(("/bin/sh", "-c", f"sleep 600 & echo $! > {note}; wait"), timeout_s=3)

    assert failed.kind == "timeout"
    assert time.monotonic() - began < 60
    assert _ended(int(note.read_text()))


class Ending:
    """A command that answers and ends just when it is asked whether it has ended; what it left behind holds its pipes."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._answers = pipe, [b"answer"]

    def poll(self) -> int:
        while self._answers:
            os.write(self._pipe, self._answers.pop())
        return 0


def test_ctl_300_what_a_command_said_last_is_heard_however_late_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.providers.command._DRAIN_S", 0.0)  # all of it was over before anybody could read
    (out, says), (err, complains) = os.pipe(), os.pipe()

    with os.fdopen(out, "rb") as told, os.fdopen(err, "rb") as complained:
        heard = command("x")._read(cast(Any, Ending(says)), told, complained, time.monotonic() + 60)
        os.close(says)
        os.close(complains)

    assert heard == (b"answer", b"")


def test_ctl_300_what_a_command_leaves_behind_is_ended_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    began = time.monotonic()

    reply = asked(command("/bin/sh", "-c", f"sleep 600 & echo $! > {note}; echo answer"))

    assert reply.text == "answer\n"
    assert time.monotonic() - began < 60
    assert _ended(int(note.read_text()))
