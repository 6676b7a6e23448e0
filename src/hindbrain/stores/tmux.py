"""tmux: the local program, asked without a shell, for a limited time. Knows nothing of agents and messages."""

import os
import signal
import threading
from collections.abc import Mapping

from hindbrain.launcher import PIPE, STDOUT, Child, find_program, start

__all__ = ["Tmux", "TmuxFailed"]

_SECONDS = 5.0  # tmux answers in milliseconds; a server that hangs must not hold a call
_OUTPUT = 4 << 20  # a history of 500 very wide lines stays far below
_DETAIL = 200
# What tells tmux which server is meant. All else of our environment stays here: keys and tokens are none of its business.
_PASSED = ("HOME", "TMUX", "TMUX_TMPDIR")


class TmuxFailed(Exception):
    """tmux is missing, refused, or did not answer; the text says which."""


class Tmux:
    """The tmux of an environment: the program from its PATH, the server that its TMUX and TMUX_TMPDIR name."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def type(self, target: str, line: str, *, literal: bool) -> None:
        """Type one line into a pane and press Enter. `literal` text is never taken for the name of a key."""
        if literal:
            self._run("send-keys", "-t", target, "-l", "--", _whole(line))
            self._run("send-keys", "-t", target, "Enter")
        else:
            self._run("send-keys", "-t", target, "--", _whole(line), "Enter")

    def capture(self, target: str, lines: int) -> str:
        """What a pane shows, from that many lines above its screen on."""
        return self._run("capture-pane", "-t", target, "-p", "-S", f"-{lines}").decode("utf-8", "replace")

    def probe(self, target: str) -> None:
        """Fails unless the session of a target is there."""
        self._run("has-session", "-t", target)

    def foreground(self, target: str) -> str:
        """The name of the program that a pane runs now; empty when tmux does not say."""
        return self._run("display-message", "-p", "-t", target, "#{pane_current_command}").decode("utf-8", "replace").strip()

    def _run(self, *words: str) -> bytes:
        program = find_program("tmux", self._environ.get("PATH", ""))
        if program is None:
            raise TmuxFailed("tmux is not installed: it was not found on PATH")
        passed = {name: self._environ[name] for name in _PASSED if name in self._environ}
        try:
            process = start(
                [program, *words], stdout=PIPE, stderr=STDOUT, env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", **passed}
            )
        except (OSError, ValueError) as failure:  # ValueError: a NUL among the words
            raise TmuxFailed(f"tmux did not start: {failure}") from failure
        return _read(process, words[0])


def _whole(line: str) -> str:
    """tmux takes a last `;` of an argument for the end of a command; written so, it is text."""
    return f"{line[:-1]}\\;" if line.endswith(";") else line


def _read(process: Child[bytes], command: str) -> bytes:
    """All that it prints, up to a limit of time and size."""
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(_SECONDS, end)
    timer.start()
    try:
        with process:
            printed = process.stdout.read(_OUTPUT + 1) if process.stdout is not None else b""
            if len(printed) > _OUTPUT:
                _kill(process)
    finally:
        timer.cancel()
    if late.is_set():
        raise TmuxFailed(f"tmux {command} did not answer within {_SECONDS:g} s")
    if len(printed) > _OUTPUT:
        raise TmuxFailed(f"tmux {command} printed more than {_OUTPUT} bytes")
    if process.returncode != 0:
        said = printed[:_DETAIL].decode("utf-8", "replace").strip()
        raise TmuxFailed(f"tmux {command} ended with {process.returncode}" + (f": {said}" if said else ""))
    return printed


def _kill(process: Child[bytes]) -> None:
    """End it with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # it has ended by itself
