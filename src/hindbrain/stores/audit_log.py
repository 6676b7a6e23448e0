"""The audit log: lines that are only added to, each chained to the one before by its hash. Its last line holds the cursor of who
writes it, so that nothing is lost with a line that a crash tore. Knows nothing of what the lines say."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.ledger import canonical
from hindbrain.stores.directories import make_directory
from hindbrain.stores.line_file import append_lines
from hindbrain.stores.locks import try_lock

__all__ = ["GENESIS", "AuditLog", "Checked", "Line", "Tail"]

GENESIS = "sha256:" + "0" * 64
Line = dict[str, Any]

_WINDOW = b'"of":"window"'  # a line from which one can go on without those before it
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The end of the log: what stands since the last window, with the line that closed it first."""

    lines: tuple[Line, ...]  # up to the first that is not as it was written
    broken: int | None  # which that is


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a walk over the whole log found."""

    lines: int
    head: str
    broken: int | None = None  # the first line that does not hold
    reason: str = ""


class AuditLog:
    """One brain's log. Whoever writes holds its lock; anybody may read."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "log.jsonl"
        self._directory = directory
        self._count = 0
        self._head = GENESIS
        self.size = 0  # of the file, as far as this process knows it

    @property
    def exists(self) -> bool:
        return self.path.exists()

    @contextmanager
    def hold(self) -> Iterator[bool]:
        """Be the one who writes; False when somebody else is."""
        make_directory(self._directory)
        handle = try_lock(self._directory / "log.lock")
        try:
            yield handle is not None
        finally:
            if handle is not None:
                os.close(handle)

    @property
    def changed(self) -> bool:
        """Whether somebody else has written, or cut, since."""
        return (self.path.stat().st_size if self.exists else 0) != self.size

    def open(self) -> Tail:
        """Take up the log where it ends, without a line that a crash tore. Only for who holds it."""
        self._mend()
        raw = self._since_window()
        self.size = self.path.stat().st_size if self.exists else 0
        self._count, self._head = 0, GENESIS
        lines: list[Line] = []
        broken: int | None = None
        for place, one in enumerate(raw):
            line, fault = _read(one)
            begins = not place and _WINDOW in one  # what stood before it was looked at when it was written
            number = _numbered(line) if begins and not fault else self._count + 1
            follows = begins or (_numbered(line) == self._count + 1 and _of(line, "prev_hash") == self._head)
            if broken is None and (fault or not follows):
                broken = number
            if line is not None and broken is None:
                lines.append(line)
            self._count, self._head = number, _of(line, "hash") or _digest(one)
        return Tail(lines=tuple(lines), broken=broken)

    @property
    def anchor(self) -> str:
        """A name for what is written next, which tells how the log ended before it."""
        return f"aud_{self._count + 1}_{self._head.removeprefix('sha256:')[:24]}"

    def append(self, lines: Sequence[Line]) -> None:
        """Add lines, chained, and wait until they are on the disk. Each has an `x`, which gets its number and hashes."""
        if not lines:
            return
        count, head, parts = self._count, self._head, []
        for line in lines:
            count += 1
            told = line | {"x": line["x"] | {"line": count, "prev_hash": head, "hash": ""}}
            head = _digest(canonical(told).encode())
            told["x"]["hash"] = head
            parts.append(canonical(told))
        grown = append_lines(self.path, ("\n".join(parts) + "\n").encode())
        self._count, self._head, self.size = count, head, self.size + grown

    def lines(self) -> Iterator[Line]:
        """Every line that can be read, in order."""
        for raw in self._raw():
            line, _ = _read(raw)
            if line is not None:
                yield line

    def check(self) -> Checked:
        """Walk the whole log and name the first line that was changed, removed or put in."""
        count, head = 0, GENESIS
        for count, raw in enumerate(self._raw(), start=1):
            line, fault = _read(raw)
            reason = fault
            if not reason and _numbered(line) != count:
                reason = f"is line {_numbered(line)}: lines before it were removed or put in"
            if not reason and _of(line, "prev_hash") != head:
                reason = "does not follow the line before it"
            if reason:
                return Checked(lines=count, head=head, broken=count, reason=reason)
            head = _of(line, "hash")
        return Checked(lines=count, head=head)

    def _raw(self) -> Iterator[bytes]:
        """Whole lines. One that is being written, or was torn, is none yet."""
        if not self.exists:
            return
        with self.path.open("rb") as file:
            for raw in file:
                if raw.endswith(b"\n"):
                    yield raw.removesuffix(b"\n")

    def _mend(self) -> None:
        """Cut off what follows the last line's end: a crash tore it, and who writes reads it from the bus again."""
        if not self.exists:
            return
        with self.path.open("r+b") as file:
            end = at = file.seek(0, os.SEEK_END)
            while at > 0:
                start = max(0, at - _BLOCK)
                file.seek(start)
                found = file.read(at - start).rfind(b"\n")
                if found >= 0:
                    at = start + found + 1
                    break
                at = start
            if at < end:
                file.truncate(at)
                os.fsync(file.fileno())

    def _since_window(self) -> list[bytes]:
        """The lines from the last window on, read from the end."""
        if not self.exists:
            return []
        held = b""
        with self.path.open("rb") as file:
            at = file.seek(0, os.SEEK_END)
            while at > 0:
                start = max(0, at - max(_BLOCK, len(held)))
                file.seek(start)
                held = file.read(at - start) + held
                at = start
                mark = held.rfind(_WINDOW)
                begin = held.rfind(b"\n", 0, mark) + 1 if mark >= 0 else 0
                if mark >= 0 and (begin > 0 or at == 0):
                    return held[begin:].split(b"\n")[:-1]
        return held.split(b"\n")[:-1]


def _read(raw: bytes) -> tuple[Line | None, str]:
    """A line, and what is wrong with it. Its bytes are the one form it can have."""
    try:
        line = json.loads(raw)
        hashed = line["x"]["hash"]
        line["x"]["hash"] = ""
        whole = _digest(canonical(line).encode()) == hashed
        line["x"]["hash"] = hashed
        whole = whole and canonical(line).encode() == raw
    except (ValueError, TypeError, KeyError, RecursionError):
        return None, "cannot be read"
    return line, "" if whole else "was changed after it was written"


def _of(line: Line | None, name: str) -> str:
    return str(line["x"].get(name, "")) if line is not None else ""


def _numbered(line: Line | None) -> int:
    number = line["x"].get("line") if line is not None else None
    return number if isinstance(number, int) else 0


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
