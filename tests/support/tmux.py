"""tmux for tests: a recorder first on PATH, and a real server of the test's own with a pane that tells what it heard."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["Recorder", "Terminal", "recorder", "terminal"]

_RECORDER = """#!/bin/sh
{{ printf '%s\\0' "$@"; printf '\\036\\0'; }} >> '{place}/calls'
cat '{place}/answer'
exit "$(cat '{place}/status')"
"""
# A program that is no shell: it writes down each line that it is given, and says so to whoever waits.
_HEARER = """
import subprocess, sys
print("ready", flush=True)
subprocess.run(["tmux", "wait-for", "-S", "ready"], check=True)
for number, line in enumerate(sys.stdin, 1):
    with open(sys.argv[1], "a", encoding="utf-8") as heard:
        heard.write(line)
    subprocess.run(["tmux", "wait-for", "-S", f"heard-{number}"], check=True)
"""


class Recorder:
    """A program called tmux that writes down its arguments and answers as it is told."""

    def __init__(self, place: Path) -> None:
        self._place = place
        place.mkdir()
        (place / "calls").touch()
        self.answers("", status=0)
        program = place / "bin" / "tmux"
        program.parent.mkdir()
        program.write_text(_RECORDER.format(place=place))
        program.chmod(0o755)
        self.path = f"{program.parent}:{os.defpath}"

    def answers(self, text: str, *, status: int = 0) -> None:
        (self._place / "answer").write_text(text, encoding="utf-8")
        (self._place / "status").write_text(str(status))

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call so far."""
        raw = (self._place / "calls").read_text(encoding="utf-8")
        return [call.split("\0")[:-1] for call in raw.split("\036\0")[:-1]]


class Terminal:
    """A real tmux server with one session `work`, whose pane `work:0.0` hears lines."""

    def __init__(self) -> None:
        # A socket has a short name: the directories of pytest are too deep for one.
        self.directory = Path(tempfile.mkdtemp(prefix="hb-tmux-", dir="/tmp"))
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "TMUX_TMPDIR": str(self.directory)}
        self.heard_file = self.directory / "heard"
        hearer = self.directory / "hearer.py"
        hearer.write_text(_HEARER)
        hears = [sys.executable, "-ISE", str(hearer), str(self.heard_file)]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "work", "-x", "200", "-y", "24", *hears)
        self.tmux("wait-for", "ready")

    def tmux(self, *words: str) -> str:
        env = {**self.environ, "LC_ALL": "C.UTF-8"}
        return subprocess.run(["tmux", *words], env=env, check=True, capture_output=True, text=True, timeout=20).stdout

    def heard(self, count: int) -> list[str]:
        """The lines that the pane has heard, once it has heard that many."""
        self.tmux("wait-for", f"heard-{count}")
        return self.heard_file.read_text(encoding="utf-8").splitlines()

    def close(self) -> None:
        self.tmux("kill-server")
        shutil.rmtree(self.directory)


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    found = Recorder(tmp_path / "tmux")
    monkeypatch.setenv("PATH", found.path)
    return found


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        reason = "no tmux: install the package tmux"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    found = Terminal()
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(found.directory))
    try:
        yield found
    finally:
        found.close()
