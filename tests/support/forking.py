"""Runs of the program that do not import it again: half a second of work each time, of which a suite has thousands."""

import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO

__all__ = ["Fork", "Process", "alike", "fork", "run", "start"]

LONGEST = 100_000  # bytes of words and environment that fit into one request
SCRIPT = Path(__file__).with_name("forked_main.py")
REPOSITORY = Path(__file__).resolve().parents[2]
KEPT = ("PATH", "LANG", "PYTHONDONTWRITEBYTECODE")


def alike(environ: Mapping[str, str], words: Sequence[str]) -> bool:
    """Whether a fork is the same as a start: not where the interpreter itself is told something, and only on Linux."""
    told = any(name.startswith(("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")) for name in environ)
    long = sum(map(len, words)) + sum(len(value) for value in environ.values()) > LONGEST
    return sys.platform == "linux" and not told and not long


@dataclass(frozen=True, kw_only=True)
class Fork:
    """One process of the program: its id, and the pipe by which its end is told."""

    pid: int
    told: int

    def ended(self, deadline: float) -> int:
        """Its exit code, negative for a signal."""
        try:
            if not select.select([self.told], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"process {self.pid} does not end")
            return int(os.read(self.told, 64))
        finally:
            os.close(self.told)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@functools.cache
def _nursery() -> socket.socket:
    """The socket of the process that has imported the program; one for every process that runs tests."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        made = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={name: os.environ[name] for name in KEPT if name in os.environ},
        )

    def end() -> None:
        ours.close()
        made.wait()

    atexit.register(end)
    return ours


_ONE_AT_A_TIME = threading.Lock()


def fork(
    words: Sequence[str],
    *,
    directory: Path,
    environ: Mapping[str, str],
    streams: Sequence[int],
    terminal: bool = False,
    module: str = "hindbrain",
) -> Fork:
    """Start the program, or a module of tests/support, with these words. The streams stay the caller's to close."""
    request = {
        "module": module,
        "words": words,
        "directory": str(directory),
        "environ": dict(environ),
        "terminal": terminal,
    }
    told, tells = os.pipe()
    try:
        with _ONE_AT_A_TIME:
            socket.send_fds(_nursery(), [json.dumps(request).encode()], [*streams, tells])
    finally:
        os.close(tells)
    return Fork(pid=int(_line(told)), told=told)


def _line(handle: int) -> bytes:
    """Up to the end of the line and not beyond: the exit code may follow at once."""
    found = b""
    while not found.endswith(b"\n"):
        piece = os.read(handle, 1)
        assert piece, "the process that has imported the program is gone"
        found += piece
    return found


class Process:
    """A process that was forked, with the words of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        made: Fork,
        *,
        stdin: "FileIO | None" = None,
        stdout: "IO[bytes] | FileIO | None" = None,
        stderr: "FileIO | None" = None,
    ) -> None:
        self._told = made.told
        self.pid = made.pid
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self.returncode = int(os.read(self._told, 64))
            os.close(self._told)
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, said: bytes = b"", timeout: float = 60.0) -> tuple[bytes, bytes]:
        """Say this, hear everything, and wait for the end. A process that takes too long is killed, and that is an error."""
        deadline = time.monotonic() + timeout
        assert self.stdin is not None
        heard: dict[object, list[bytes]] = {self.stdout: [], self.stderr: []}
        os.set_blocking(self.stdin.fileno(), False)
        while listening := [file for file in (self.stdout, self.stderr) if file is not None and not file.closed]:
            saying = [] if self.stdin.closed else [self.stdin]
            ready, writable, _ = select.select(listening, saying, [], max(0.0, deadline - time.monotonic()))
            if not ready and not writable:
                self.kill()
                self.__exit__()
                raise AssertionError(f"process {self.pid} waits for something: {heard!r}")
            if writable:
                try:
                    said = said[os.write(self.stdin.fileno(), said) :] if said else b""
                except BrokenPipeError:  # it does not listen, as it may
                    said = b""
                if not said:
                    self.stdin.close()
            for file in ready:
                piece = os.read(file.fileno(), 65536)
                heard[file].append(piece)
                if not piece:
                    file.close()
        self.stdin.close()  # a process may end before it was told everything
        self.wait(max(0.0, deadline - time.monotonic()))
        return b"".join(heard[self.stdout]), b"".join(heard[self.stderr])

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *exc: object) -> None:
        for file in (self.stdin, self.stdout, self.stderr):
            if file is not None:
                file.close()
        self.wait()


def start(module: str, *words: str, environ: Mapping[str, str]) -> "Process | subprocess.Popen[bytes]":
    """Start a module of tests/support in pipes, as a fork where that is the same."""
    if alike({}, words):
        return _started(words, directory=REPOSITORY, environ=environ, module=module)
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", module, *words]
    return subprocess.Popen(command, cwd=REPOSITORY, env=environ, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


def _started(words: Sequence[str], *, directory: Path, environ: Mapping[str, str], module: str = "hindbrain") -> Process:
    (reads, says), (out, writes_out), (err, writes_err) = (os.pipe() for _ in range(3))
    theirs = (reads, writes_out, writes_err)
    try:
        made = fork(words, directory=directory, environ=environ, streams=theirs, module=module)
    finally:
        for handle in theirs:
            os.close(handle)
    return Process(made, stdin=FileIO(says, "wb"), stdout=FileIO(out, "rb"), stderr=FileIO(err, "rb"))


def run(
    words: Sequence[str], *, directory: Path, environ: Mapping[str, str], stdin: bytes, seconds: float
) -> tuple[int, bytes, bytes]:
    """Run the program in pipes to its end: its exit code and what it said on both streams."""
    process = _started(words, directory=directory, environ=environ)
    out, err = process.communicate(stdin, seconds)
    return process.wait(), out, err
