"""The program as people and hosts start it: a real process with its own environment, in a pipe or at a terminal."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.surfaces.client import find_owner, read_owner
from tests.support import forking

__all__ = ["Ended", "Program", "end_owner", "git_repository"]

_AGAIN_S = 20.0  # after which somebody presses Ctrl-C once more
LIMIT_S = 60.0  # a hanging process fails its test instead of the run


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended and what it said. At a terminal both streams are one."""

    code: int
    out: str
    err: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class Program:
    """`hindbrain`, on one home."""

    home: Path
    directory: Path
    environ: Mapping[str, str]

    def given(self, directory: Path | None = None, **environ: str) -> "Program":
        return Program(home=self.home, directory=directory or self.directory, environ={**self.environ, **environ})

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONDONTWRITEBYTECODE") if name in os.environ}
        user = self.home.parent
        return {**kept, "HOME": str(user), "HINDBRAIN_HOME": str(self.home), "HINDBRAIN_PORT": "0", **self.environ}

    def start(self, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-P", "-m", "hindbrain", *words]
        return subprocess.Popen(command, cwd=self.directory, env=self.environment(), **options)

    def run(self, *words: str, stdin: bytes = b"") -> Ended:
        """Run it in a pipe."""
        if forking.alike(self.environ, words):
            code, said, complained = forking.run(
                words, directory=self.directory, environ=self.environment(), stdin=stdin, seconds=LIMIT_S
            )
            return Ended(code=code, out=said.decode(), err=complained.decode())
        pipe = subprocess.PIPE
        with self.start(*words, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            try:
                out, err = process.communicate(stdin, LIMIT_S)
            except BaseException:
                process.kill()
                raise
        return Ended(code=process.returncode, out=out.decode(), err=err.decode())

    def answer(self, *words: str, stdin: bytes = b"") -> dict[str, Any]:
        """Run it in a pipe and read its JSON, whatever its exit code."""
        ended = self.run(*words, stdin=stdin)
        assert ended.out, ended.err
        found: dict[str, Any] = ended.json
        return found

    def at_terminal(self, *words: str, say: Sequence[tuple[str, str]] = (), columns: int = 120) -> Ended:
        """Run it at a terminal. `say` is a dialogue: what to wait for, and what is typed then (^C sends an interrupt)."""
        environ = {**self.environment(), "TERM": self.environ.get("TERM", "xterm")}
        if forking.alike(self.environ, words):
            return self._forked_at_terminal(words, environ, list(say), columns)
        command = [sys.executable, "-P", "-m", "hindbrain", *words]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.directory)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a suite that runs in the background ignores it, a terminal does not
            os.execve(sys.executable, command, environ)
        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, _size(columns))
            out = _dialogue(terminal, list(say))
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            _, status = os.waitpid(child, 0)
            os.close(terminal)
        return Ended(code=os.waitstatus_to_exitcode(status), out=out.replace("\r\n", "\n"))

    def _forked_at_terminal(
        self, words: Sequence[str], environ: Mapping[str, str], say: list[tuple[str, str]], columns: int
    ) -> Ended:
        terminal, theirs = pty.openpty()
        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, _size(columns))
            try:
                made = forking.fork(words, directory=self.directory, environ=environ, streams=[theirs] * 3, terminal=True)
            finally:
                os.close(theirs)
            try:
                out = _dialogue(terminal, say)
            except BaseException:
                made.kill()
                raise
            code = made.ended(time.monotonic() + LIMIT_S)
        finally:
            os.close(terminal)
        return Ended(code=code, out=out.replace("\r\n", "\n"))


def _size(columns: int) -> bytes:
    return struct.pack("HHHH", 40, columns, 0, 0)


def _dialogue(terminal: int, say: list[tuple[str, str]]) -> str:
    """Everything the process says until it ends; each answer is typed once its question was seen."""
    heard, searched, end = b"", 0, time.monotonic() + LIMIT_S
    interrupted = False
    while True:
        if not select.select([terminal], [], [], _AGAIN_S if interrupted else end - time.monotonic())[0]:
            if not interrupted or time.monotonic() > end:
                raise AssertionError(f"the process waits for something: {heard!r}")
            # A Ctrl-C between the last look for signals and the read is heard with the next key, and a person presses it again.
            os.write(terminal, b"\x03")
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says EIO when the last process at the terminal is gone
            piece = b""
        if not piece:
            return heard.decode()
        heard += piece
        while say and (place := heard.find(say[0][0].encode(), searched)) >= 0:
            searched = place + len(say[0][0])
            typed = say.pop(0)[1].replace("^C", "\x03")
            interrupted = "\x03" in typed
            os.write(terminal, typed.encode())


def end_owner(home: Path) -> None:
    """End whatever owner a test left on its home. Owners are crash-safe; waiting for a clean stop would only take time."""
    address = read_owner(str(home))
    if address is not None and address.pid != os.getpid() and find_owner(str(home)):
        os.kill(address.pid, signal.SIGKILL)


def git_repository(path: Path) -> Path:
    """An empty git repository."""
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(path)], check=True, env={"PATH": os.environ["PATH"], "HOME": str(path.parent)})
    return path
