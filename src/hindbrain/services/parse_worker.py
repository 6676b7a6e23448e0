"""The worker: a process that reads and parses files for its parent. Knows no brain; it ends when its input does.

A grammar that loops holds the interpreter and cannot be stopped from inside, so the kernel's timer ends the whole process.
"""

import os
import signal
import sys
from typing import Any, BinaryIO

import msgspec

from hindbrain.domain.typed import unpacker
from hindbrain.engines.code.extract import parse_file
from hindbrain.policy.graph import MAX_FILE_BYTES
from hindbrain.stores.graph_rows import Packed, pack
from hindbrain.stores.ordinary_file import is_ordinary

__all__ = ["frame", "main", "unframed"]

_LENGTH = 4
_requests = unpacker(tuple[float, list[tuple[str, str, str]]])  # seconds for one file; path, full path and digest of each


def frame(value: Any) -> bytes:
    """A value with its length before it."""
    data = msgspec.msgpack.encode(value)
    return len(data).to_bytes(_LENGTH, "little") + data


def unframed(stream: BinaryIO) -> bytes:
    """The next value, still packed; EOFError when there is none."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        raise EOFError
    return stream.read(int.from_bytes(length, "little"))


def read(path: str, full: str, digest: str) -> Packed | str | None:
    """A file as rows, or why it is left out; None when it still has the content of that digest."""
    handle = os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        if not is_ordinary(facts):
            return "not a regular file"
        data = file.read(MAX_FILE_BYTES + 1)
    if facts.st_size > len(data):
        return f"larger than {MAX_FILE_BYTES} bytes"
    parsed = parse_file(path, data, mtime_ns=facts.st_mtime_ns)
    if parsed.facts.parse == "skipped":
        return parsed.warnings[0] if parsed.warnings else "skipped"
    return None if digest and parsed.facts.sha256 == digest else pack(parsed)


def main() -> None:
    """Answer requests (seconds per file, [(path, full path, digest)]) until the input ends: one answer per file."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interrupt is the parent's to answer
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            seconds, files = _requests.decode(unframed(source))
        except EOFError:
            return
        for path, full, digest in files:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                answer = read(path, full, digest)
            except (OSError, ValueError, RecursionError) as error:
                answer = f"cannot be read: {getattr(error, 'strerror', None) or error}"
            signal.setitimer(signal.ITIMER_REAL, 0)
            sink.write(frame((path, answer)))
            sink.flush()


if __name__ == "__main__":
    main()
