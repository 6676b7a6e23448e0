"""Processes: what the system says of one, so that a number that was given to another meanwhile is not taken for it."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from hindbrain.launcher import find_program, run

__all__ = ["Process", "end", "process"]

_PROC = Path("/proc")
_PS_S = 5.0
_END_S = 5.0  # a bridge ends at once; an embedded server closes its brains first
_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A running process: when it began, in the system's own words, and what it runs."""

    pid: int
    started: str
    executable: str
    command: tuple[str, ...]


def process(pid: int) -> Process | None:
    """The process of that number, or None when there is none that we may look at."""
    return _from_proc(pid) if (_PROC / "self" / "stat").exists() else _from_ps(pid)


def _from_proc(pid: int) -> Process | None:
    place = _PROC / str(pid)
    try:
        stat = (place / "stat").read_text(encoding="utf-8", errors="replace")
        executable = os.readlink(place / "exe")
        words = (place / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may hold blanks
    if fields[0] in ("Z", "X"):
        return None
    command = tuple(word.decode("utf-8", "replace") for word in words if word)
    return Process(pid=pid, started=fields[19], executable=executable.removesuffix(" (deleted)"), command=command)


def _from_ps(pid: int) -> Process | None:
    program = find_program("ps", os.defpath)
    if program is None:
        return None

    def asked(what: str) -> str:
        found = run([program, "-o", f"{what}=", "-p", str(pid)], timeout_s=_PS_S, env={"PATH": os.defpath, "LC_ALL": "C"})
        return found.stdout.decode("utf-8", "replace").strip()

    started, executable, command = asked("lstart"), asked("comm"), asked("args")
    if not started or not executable:
        return None
    return Process(pid=pid, started=started, executable=os.path.realpath(executable), command=tuple(command.split()))


def end(found: Process, *, wait_s: float = _END_S) -> bool:
    """Ask a process to end, if it still is the one that was looked at; whether it is gone."""
    if process(found.pid) != found:
        return False
    try:
        os.kill(found.pid, signal.SIGTERM)
    except ProcessLookupError:
        return True
    deadline = time.monotonic() + wait_s
    while process(found.pid) == found:
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_S)
    return True
