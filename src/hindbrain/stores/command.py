"""Commands in a workspace: a bare environment, no input, a limit of time and of output, and an end for all that they started."""

import json
import os
import re
import selectors
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hindbrain.launcher import PIPE, STDOUT, Child, TimeoutExpired, start
from hindbrain.policy.commands import CLOSED
from hindbrain.policy.tools import COMMAND_OUTPUT, COMMAND_PRINTED, COMMAND_S
from hindbrain.stores import confined
from hindbrain.stores.sandbox import Sandbox, available, places_of, specification

__all__ = ["UNCONTAINED", "Commands", "Ran"]

UNCONTAINED = "this system has no sandbox: install bubblewrap, or use Linux 6.12 or newer with Landlock"

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_UNSEEN = re.compile(r"[^\n\t\x20-\x7e\x85\xa0-\U0010ffff]")
_GIT = ".git"
_TICK_S = 0.1  # how late a cancel is noticed
_GRACE_S = 6.0  # for the program that ends the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended. `contained` says that it could write nowhere else."""

    status: int | None  # None when it was ended by us
    output: str
    elapsed_ms: int
    why: str = ""  # why it was ended
    complete: bool = True
    contained: bool = False


class Commands:
    """Runs commands in one directory, in the best sandbox of this machine or in the one that is named.

    `path` is where programs are looked for, `user` the person's home. A command reads the directory, the system, programs of the
    search path, and `readable` places; never a `hidden` one."""

    def __init__(
        self,
        root: Path,
        *,
        temporary: Path,
        path: str,
        hidden: Sequence[Path] = (),
        readable: Sequence[Path] = (),
        user: Path | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self._root = Path(os.path.realpath(root))
        self._temporary = Path(os.path.realpath(temporary))
        places = [one for one in path.split(os.pathsep) if os.path.isabs(one)]
        # A program that this run wrote must not take the name of one of the system.
        outside = [one for one in places if not Path(os.path.realpath(one)).is_relative_to(self._root)]
        self._path = os.pathsep.join(outside)
        self._places = places_of(write=(self._root, self._temporary), read=readable, hidden=hidden, path=outside, user=user)
        self._sandbox = available() if sandbox is None else sandbox
        self.contains = self._sandbox is not Sandbox.NONE
        self.closes_settings = self._sandbox is Sandbox.BUBBLEWRAP

    def run(
        self,
        command: str,
        *,
        timeout_s: float = COMMAND_S,
        connect: bool = True,
        write: bool = True,
        settings: bool = False,
        uncontained: bool = False,
        stopped: threading.Event | None = None,
    ) -> Ran:
        """Start it and wait. `connect` allows connections to other machines; `stopped` ends it before its time.

        `write` allows changes in the workspace. `settings` allows changes of what starts programs later, such as hooks of git; a
        sandbox without namespaces cannot close these, see `closes_settings`.

        Without a sandbox nothing is started, unless somebody answers for it: `uncontained`."""
        if not self.contains and not uncontained:
            return Ran(status=None, output="", elapsed_ms=0, why=f"not started: {UNCONTAINED}", complete=False)
        begun = time.monotonic()
        words = self._words(command, connect=connect, write=write, settings=settings)
        try:
            started = start(words, cwd=self._root, env=self._environment(), stdout=PIPE, stderr=STDOUT)
        except (OSError, ValueError) as wrong:  # too long for the system, or a character that no argument can have
            return Ran(status=None, output="", elapsed_ms=0, why=f"not started: {wrong}", complete=False)
        with started as process:
            kept = _Kept(COMMAND_OUTPUT)
            try:
                why = _read(process, kept, begun + timeout_s, timeout_s, stopped or threading.Event())
            finally:
                _end(process)
        return Ran(
            status=None if why else process.returncode,
            output=kept.text(),
            elapsed_ms=int((time.monotonic() - begun) * 1000),
            why=why,
            complete=kept.complete and not why,
            contained=self.contains,
        )

    def _words(self, command: str, *, connect: bool, write: bool, settings: bool) -> list[str]:
        if not sys.platform.startswith("linux"):
            return ["/bin/sh", "-c", command]
        places = self._places if write else self._places.read_only(self._root)
        if write and not settings:
            places = places.with_fixed(_settings(self._root))
        spec = specification(self._sandbox, places, command, connect=connect, root=self._root)
        return [sys.executable, "-I", "-S", confined.__file__, json.dumps(spec, ensure_ascii=False)]

    def _environment(self) -> dict[str, str]:
        """Nothing of ours: no key, no token, no home."""
        place = str(self._temporary)
        return {
            "PATH": self._path or os.defpath,
            "HOME": place,
            "TMPDIR": place,
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "CI": "1",
            "PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",  # closed like most of /etc
            "GIT_CEILING_DIRECTORIES": str(self._root.parent),  # no repository above the workspace is meant
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def _settings(root: Path) -> list[Path]:
    """Return what a command must not change in a workspace: directories of git at any depth, the memory and the trash."""
    found = [root / name for name in CLOSED if os.path.lexists(root / name)]
    for place, inner, names in os.walk(root):
        found += [Path(place, name) for name in (*inner, *names) if name.casefold() == _GIT]
        inner[:] = [name for name in inner if name.casefold() not in CLOSED]
    return list(dict.fromkeys(found))


class _Kept:
    """The first third and the last two thirds of a stream, whatever its length."""

    def __init__(self, most: int) -> None:
        self._head_most, self._tail_most = most // 3, most - most // 3
        self._head, self._tail = bytearray(), bytearray()
        self.size = 0

    def add(self, part: bytes) -> None:
        self.size += len(part)
        room = self._head_most - len(self._head)
        self._head += part[:room]
        self._tail += part[max(room, 0) :]
        if len(self._tail) > 2 * self._tail_most:
            del self._tail[: -self._tail_most]

    @property
    def complete(self) -> bool:
        return self.size <= self._head_most + self._tail_most

    def text(self) -> str:
        tail = self._tail[-self._tail_most :]
        if self.complete:
            return _plain(bytes(self._head + self._tail))
        left = self.size - len(self._head) - len(tail)
        return f"{_plain(bytes(self._head))}\n… {left} bytes left out …\n{_plain(bytes(tail))}"


def _plain(raw: bytes) -> str:
    """Text that cannot steer a terminal."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub("\ufffd", _ESCAPES.sub("", text))


def _read(process: Child[bytes], kept: _Kept, ends: float, limit: float, stopped: threading.Event) -> str:
    """Read until the program ends; why it has to be ended otherwise."""
    if process.stdout is None:
        return "it has no output"
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            if stopped.is_set():
                return "cancelled"
            left = ends - time.monotonic()
            if left <= 0:
                return f"timed out after {limit:g} s"
            if kept.size > COMMAND_PRINTED:
                return f"it printed more than {COMMAND_PRINTED} bytes"
            over = process.poll() is not None  # asked first: what it printed before its end is there to be read by now
            if ready.select(0 if over else min(left, _TICK_S)):
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    return _ended(process, ends, limit, stopped)
                kept.add(part)
            elif over:
                return ""


def _ended(process: Child[bytes], ends: float, limit: float, stopped: threading.Event) -> str:
    """It closed its output; it may still work."""
    while process.poll() is None:
        if stopped.wait(_TICK_S / 2):
            return "cancelled"
        if time.monotonic() > ends:
            return f"timed out after {limit:g} s"
    return ""


def _end(process: Child[bytes]) -> None:
    """End it with all that it started: by the program that holds them, else the whole group."""
    if process.poll() is None and sys.platform.startswith("linux"):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_GRACE_S)
        except TimeoutExpired:
            process.kill()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left of it
