"""Running: one command with its end seen. Words, no shell; what it prints goes through as it comes; both streams are digested
and the end of what was said is kept. Runs in the process of whoever typed it; only needs what comes with Python."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time

from hindbrain.launcher import Child, start_typed

# The typing module and the records are too dear for a command line that may run nothing of ours but this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO, Any

__all__ = ["run"]

_PIECE = 64 * 1024
_KEPT = 16 * 1024  # bytes of the end
_QUIET_S = 0.3  # after the command ended: a stream that says nothing for so long is held open by somebody else
_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(argv: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None, out: int = 1, err: int = 2) -> dict[str, Any]:
    """Run a command to its end; what was seen of it, in the fields of `domain.mission_run.Ran`. Ctrl-C ends the command and not
    the telling of it."""
    begun = time.monotonic()
    told = _Told()
    streams = [_Stream(out, told), _Stream(err, told)]
    child: Child[bytes] | None = None
    interrupted = False

    def heard(number: int, _: object) -> None:
        nonlocal interrupted
        interrupted = True
        # A terminal tells the child of an interrupt itself; what was sent to this process alone is handed on.
        if child is not None and number != signal.SIGINT:
            child.send_signal(number)

    # Handlers, not ignored signals: the child starts with what the system does by itself. Only the main thread can have them.
    numbers = _HEARD if threading.current_thread() is threading.main_thread() else ()
    held = {number: signal.signal(number, heard) for number in numbers}
    status: int | None = None
    failure = ""
    try:
        child = start_typed(argv, cwd=cwd, env=env)
        for stream, source in zip(streams, (child.stdout, child.stderr), strict=True):
            stream.start(source)
        code = child.wait()
        status = code if code >= 0 else 128 - code
        interrupted = interrupted or code == -signal.SIGINT
        for stream in streams:
            stream.drain()
    except OSError as wrong:
        failure = wrong.strerror or str(wrong)
        status = 127 if isinstance(wrong, FileNotFoundError) else 126
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
    return {
        "argv": list(argv),
        "exit_status": status,
        "output": failure or told.text(),
        "stdout_digest": streams[0].digest(),
        "stderr_digest": streams[1].digest(),
        "output_bytes": told.size,
        "duration_ms": int((time.monotonic() - begun) * 1000),
        "cwd": cwd,
        "interrupted": interrupted,
        "not_started": bool(failure),
    }


class _Told:
    """The end of what both streams said, in the order in which it came."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._end = bytearray()
        self.size = 0

    def add(self, piece: bytes) -> None:
        with self._turn:
            self.size += len(piece)
            self._end += piece
            del self._end[:-_KEPT]

    def text(self) -> str:
        with self._turn:
            return self._end.decode("utf-8", "replace")


class _Stream:
    """One stream of the child: passed through as it comes, and digested."""

    def __init__(self, target: int, told: _Told) -> None:
        self._target = target
        self._told = told
        self._hash = hashlib.sha256()
        self._size = 0
        self._busy = False
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, source: IO[bytes] | None) -> None:
        assert source is not None  # noqa: S101 - it was asked for as a pipe
        self._thread = threading.Thread(target=self._pump, args=(source,), daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Wait for what is left in the stream, and for whoever reads it from us; not for a process that stayed behind."""
        thread, before = self._thread, -1
        while thread is not None and thread.is_alive() and (self._busy or self._size != before):
            before = self._size
            thread.join(_QUIET_S)

    def _pump(self, source: IO[bytes]) -> None:
        listening = True
        with source:
            while piece := os.read(source.fileno(), _PIECE):
                self._busy = True
                with self._turn:
                    self._hash.update(piece)
                    self._size += len(piece)
                self._told.add(piece)
                # Whoever read it may have seen enough: what the command does is still recorded to its end.
                listening = listening and self._pass_on(piece)
                self._busy = False

    def _pass_on(self, piece: bytes) -> bool:
        try:
            while piece:
                piece = piece[os.write(self._target, piece) :]
        except BrokenPipeError:
            return False
        return True

    def digest(self) -> str:
        with self._turn:
            return "sha256:" + self._hash.hexdigest()
