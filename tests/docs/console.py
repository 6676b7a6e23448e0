"""Pages as scripts: the ```console blocks of a page, run for real in a terminal and compared with what the page shows.

A line that begins with `$ ` is a command, `> ` continues it. What follows is what it prints: a line of the page must come in the
output, in that order; `…` stands for anything that was left out. A command that must fail ends with `# exit N`.
Commands that a page needs but does not show stand in a comment: `<!-- given … -->`.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.program import end_owner

__all__ = ["Command", "Terminal", "commands", "missing"]

LIMIT_S = 120
COLUMNS = 100
_PART = re.compile(
    r"^(?P<fence>`{3,})console\n(?P<shown>.*?)^(?P=fence)$|^<!-- given\n(?P<given>.*?)^-->$", re.MULTILINE | re.DOTALL
)
_EXIT = re.compile(r"#\s*exit\s+(\d+)\s*$")
_ASKED = re.compile(r"(to go on: |Go on\? \[y/N\] )(.+)$")

# What differs from run to run, on both sides of the comparison.
_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?\b"), "DATE"),
    (re.compile(r"\b\d{13}\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{16,64}\b"), "HEX"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\bpid( +)\d+"), "pid N"),
)


@dataclass(slots=True, kw_only=True)
class Command:
    """One command of a page and what the page says it prints."""

    text: str
    line: int
    output: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        found = _EXIT.search(self.text)
        return int(found[1]) if found else 0

    @property
    def typed(self) -> str | None:
        """What the page's reader types when the command asks."""
        return next((found[2] for line in self.output if (found := _ASKED.search(line))), None)


def commands(page: str) -> list[Command]:
    """Every command of a page, shown or given, in the order of the page."""
    found: list[Command] = []
    for part in _PART.finditer(page):
        line = page.count("\n", 0, part.start()) + 2
        if part["given"] is not None:
            found.append(Command(text=part["given"].strip(), line=line))
            continue
        for number, text in enumerate(part["shown"].splitlines(), line):
            if text.startswith("$ "):
                found.append(Command(text=text[2:], line=number))
            elif text.startswith("> ") and found and not found[-1].output:
                found[-1].text += "\n" + text[2:]
            elif found and text.strip():
                found[-1].output.append(text)
    return found


def _plain(text: str, home: str) -> str:
    text = text.replace("\r", "").replace(home, "~")
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return " ".join(text.split())


def missing(command: Command, output: str, home: str) -> list[str]:
    """The lines that a page shows and the command did not print in that order."""
    left = [_plain(line, home) for line in output.splitlines()]
    absent = []
    for wanted in command.output:
        plain = _plain(wanted, home)
        if plain == "…":
            continue
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in plain.split("…")))
        place = next((index for index, line in enumerate(left) if pattern.fullmatch(line)), None)
        if place is None:
            absent.append(wanted)
        else:
            left = left[place + 1 :]
    return absent


class Terminal:
    """A terminal of one person with a home directory of their own. Directory and exported variables carry over."""

    def __init__(self, directory: Path, *, mode: str = "auto") -> None:
        self._state = directory / "state"
        self._home = directory / "home"
        self._state.mkdir()
        self._home.mkdir()
        (self._state / "cwd").write_text(str(self._home))
        (self._state / "environment").write_text("")
        (self._state / "gitconfig").write_text("[user]\nname = You\nemail = you@example.com\n[init]\ndefaultBranch = main\n")
        self._environ = {
            "HOME": str(self._home),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TZ": "UTC",
            "COLUMNS": str(COLUMNS),
            "GIT_CONFIG_GLOBAL": str(self._state / "gitconfig"),
        }
        if mode != "auto":
            self._environ["HINDBRAIN_MODE"] = mode

    @property
    def home(self) -> str:
        return str(self._home.resolve())

    def run(self, command: Command) -> tuple[int, str]:
        """Exit code and everything that appeared on the screen."""
        script = (
            f'. "{self._state}/environment"\ncd "$(cat "{self._state}/cwd")" || exit 99\n{command.text}\ncode=$?\n'
            f'pwd > "{self._state}/cwd"\nexport -p > "{self._state}/environment"\nexit $code\n'
        )
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", script],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._environ,
            start_new_session=True,
        )
        os.close(slave)
        try:
            shown = self._watch(master, self._typed(command))
            return process.wait(LIMIT_S), shown
        finally:
            os.close(master)
            if process.poll() is None:
                process.kill()
                process.wait()

    def _typed(self, command: Command) -> str | None:
        """What the reader types: a page shows the home directory as a tilde, as a shell would have read it."""
        return command.typed.replace("~", self.home, 1) if command.typed is not None else None

    @staticmethod
    def _watch(master: int, typed: str | None) -> str:
        """Read the screen until the command is done, and answer once when it asks."""
        seen = b""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                data = os.read(master, 65536)
            except OSError:  # the other side of a terminal is closed: that is how its end is told
                return seen.decode("utf-8", "replace")
            if not data:
                return seen.decode("utf-8", "replace")
            seen += data
            if typed is not None and seen.endswith((b"to go on: ", b"[y/N] ")):
                os.write(master, f"{typed}\n".encode())
                typed = None
        raise AssertionError(f"the command did not end within {LIMIT_S} s; it printed: {seen.decode('utf-8', 'replace')}")

    def close(self) -> None:
        """End the owners that a page may have started, each in a home of its own."""
        for told in self._home.parent.rglob("owner.json"):
            end_owner(told.parent)
