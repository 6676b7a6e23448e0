"""Parsing: worker processes that turn files into rows. The parser holds the interpreter's lock, so threads would not help.

Workers are shared by all brains of a process and kept for a while: a changed file must not wait for a process to start.
"""

import atexit
import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple, cast

from hindbrain.domain.typed import unpacker
from hindbrain.launcher import PIPE, TimeoutExpired, python_words, start
from hindbrain.policy.ingest import BATCH_BYTES, BATCH_FILES, FILE_SECONDS, IDLE_SECONDS, SMALL_BYTES, WORKERS
from hindbrain.services.parse_worker import frame
from hindbrain.stores.graph_rows import Packed

__all__ = ["Answer", "Wanted", "Workers", "workers"]

PIPE_BYTES = 1 << 20


_answers = unpacker(tuple[str, Packed | str | None])


class Wanted(NamedTuple):
    """A file to read."""

    path: str
    full: str
    size: int
    digest: str = ""  # of the content that needs no parsing
    mtime_ns: int = 0


class Answer(NamedTuple):
    """What came of it: rows, or a reason to leave it out, or neither when it is unchanged."""

    path: str
    packed: Packed | None
    reason: str = ""


class _Worker:
    """One child process with the files it was given and has not answered yet."""

    def __init__(self) -> None:
        self.process = start(python_words("hindbrain.services.parse_worker"), stdin=PIPE, stdout=PIPE, bufsize=0)
        self._input = cast("IO[bytes]", self.process.stdin)
        self.output = cast("IO[bytes]", self.process.stdout)
        self.waiting: deque[Wanted] = deque()
        self.idle_since = 0.0
        self._heard = bytearray()

    def give(self, files: Sequence[Wanted]) -> None:
        self.waiting.extend(files)
        left = memoryview(frame((FILE_SECONDS, [(one.path, one.full, one.digest) for one in files])))
        try:
            while left:
                left = left[self._input.write(left) :]
        except BrokenPipeError:
            return  # the process is gone: its end is read next, and another one gets what it was given

    def hear(self) -> list[bytes]:
        """The answers that are whole by now; EOFError when the process is gone."""
        data = os.read(self.output.fileno(), PIPE_BYTES)
        if not data:
            raise EOFError
        self._heard += data
        found, at = [], 0
        while len(self._heard) >= at + 4:
            end = at + 4 + int.from_bytes(self._heard[at : at + 4], "little")
            if end > len(self._heard):
                break
            found.append(bytes(self._heard[at + 4 : end]))
            at = end
        del self._heard[:at]
        return found

    def end(self) -> None:
        self._input.close()
        self.output.close()
        try:
            self.process.wait(timeout=1)
        except TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Workers:
    """The workers of this process. Several ingests may borrow at once; each gets its own."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()

    def parse(self, files: Sequence[Wanted], *, until: float) -> Iterator[Answer]:
        """The answers for files, in the order in which they are ready. At `until` (monotonic) the rest is left out."""
        batches = deque(_batches(files))
        count = 1 if sum(one.size for one in files) <= SMALL_BYTES else min(WORKERS, len(batches))
        hired: list[_Worker] = []
        try:
            with selectors.DefaultSelector() as selector:
                for _ in range(count):
                    hired.append(self._hire(selector, batches))
                while any(one.waiting for one in hired) and time.monotonic() < until:
                    for key, _ in selector.select(timeout=0.5):
                        yield from self._hear(key.data, selector, hired, batches)
        finally:
            for one in hired:
                self._dismiss(one)

    def _hire(self, selector: selectors.BaseSelector, batches: "deque[list[Wanted]]") -> _Worker:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is not None and worker.process.poll() is not None:
            worker.end()
            worker = None
        worker = worker or _Worker()
        selector.register(worker.output, selectors.EVENT_READ, worker)
        for _ in range(2):  # one to work at, one to begin with while the parent is busy
            if batches:
                worker.give(batches.popleft())
        return worker

    def _hear(
        self, worker: _Worker, selector: selectors.BaseSelector, hired: list[_Worker], batches: "deque[list[Wanted]]"
    ) -> Iterator[Answer]:
        try:
            heard = worker.hear()
        except (EOFError, OSError):
            selector.unregister(worker.output)
            hired.remove(worker)
            worker.end()
            culprit = worker.waiting.popleft()
            yield Answer(culprit.path, None, _why(worker.process.returncode))
            if worker.waiting:
                batches.appendleft(list(worker.waiting))
            if batches:
                hired.append(self._hire(selector, batches))
            return
        for answer in heard:
            path, found = _answers.decode(answer)
            worker.waiting.popleft()
            if batches and len(worker.waiting) < BATCH_FILES // 2:
                worker.give(batches.popleft())
            yield Answer(path, None, found) if isinstance(found, str) else Answer(path, found)

    def _dismiss(self, worker: _Worker) -> None:
        with self._lock:
            if not worker.waiting and len(self._idle) < WORKERS and worker.process.poll() is None:
                worker.idle_since = time.monotonic()
                self._idle.append(worker)
                return
        worker.process.kill()
        worker.end()

    def rest(self) -> None:
        """Let workers go that nobody needed for a while."""
        with self._lock:
            old = [one for one in self._idle if time.monotonic() - one.idle_since > IDLE_SECONDS]
            self._idle = [one for one in self._idle if one not in old]
        for one in old:
            one.end()

    def close(self) -> None:
        with self._lock:
            gone, self._idle = self._idle, []
        for one in gone:
            one.end()


def _why(code: int | None) -> str:
    return f"took longer than {FILE_SECONDS:g} s" if code == -14 else f"the parser ended with code {code}"


def _batches(files: Sequence[Wanted]) -> Iterator[list[Wanted]]:
    """Few enough files that two workers end together, many enough that asking costs nothing."""
    batch: list[Wanted] = []
    size = 0
    for one in files:
        batch.append(one)
        size += one.size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_shared: list[tuple[int, Workers]] = []
_shared_lock = threading.Lock()


def workers() -> Workers:
    """The workers of this process, shared by all its brains; a forked child has its own."""
    with _shared_lock:
        if not _shared or _shared[0][0] != os.getpid():
            _shared[:] = [(os.getpid(), Workers())]
            atexit.register(_shared[0][1].close)
        return _shared[0][1]
