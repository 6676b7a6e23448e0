"""Bus intents: what a turn means to change is written and synced before anything is changed, so that no process leaves half of it
when it dies. For who holds the lock of the bus.

The intents of the last turns stand in one file, a line each, and beside it how many bytes of it are carried out. Who comes next
carries out the rest. A step says at which offset its bytes stand, so doing it twice is doing it once. What was carried out is
synced now and then, and only then are the intents dropped: after a power cut, which the boot id tells, all are done again."""

import functools
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec

from hindbrain.domain.typed import decoded
from hindbrain.stores.atomic import sync_directory

__all__ = ["Intents", "Step", "is_bus_name"]

_INTENTS = "intents.jsonl"
_DONE = "intents.done"
_DAMAGED = "intents.damaged"
_SETTLED_AT = 256 * 1024  # bytes of intents after which the files themselves are synced
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PART = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_.-]{1,80}"
_NAME = re.compile(rf"{_PART}(?:/{_PART})?")


def is_bus_name(name: str) -> bool:
    """Whether this can be a file of a bus, in it or in a directory of it: nothing leads outside."""
    return _NAME.fullmatch(name) is not None


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of one file: bytes that end it from an offset on; or, without bytes, that it goes or gets another name."""

    file: str
    at: int = 0
    data: bytes | None = None
    to: str | None = None


@functools.cache
def _boot() -> str:
    """Which run of the machine this is. Where nobody says, each process takes its own for a new one and does a little more."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return secrets.token_hex(8)


class Intents:
    """The intents of one bus."""

    def __init__(self, directory: Path, make: Callable[[Path], None], *, settled_at: int = _SETTLED_AT) -> None:
        self._directory = directory
        self._make = make
        self._settled_at = settled_at
        self._path = directory / _INTENTS
        self._done_path = directory / _DONE

    def finish(self) -> None:
        """Carry out what a dead process meant to do."""
        size, done = _size(self._path), self._done()
        if size == done:
            return
        raw = b""
        if size:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            with os.fdopen(handle, "rb") as file:
                file.seek(done if done <= size else 0)
                raw = file.read()
        for line in raw.splitlines(keepends=True):
            if line.endswith(b"\n"):  # else its writer died over it, and nobody was told of that turn
                self._carry_out_line(line)
        self._settle()

    def commit(self, steps: tuple[Step, ...]) -> None:
        """Write one turn. When this returns, it is done and stays so; when it raises, nothing was done and nothing will be."""
        end = _size(self._path)
        if end >= self._settled_at or any(step.to is not None for step in steps):
            # Bytes before a rename must not be put again into the file that has the name after it.
            self._settle()
            end = 0
        line = msgspec.json.encode(steps) + b"\n"
        try:
            _put(self._path, end, line)
            if end == 0:
                sync_directory(self._directory)
        except OSError:
            _cut(self._path, end)  # its caller is told that it failed: whoever comes next must not carry it out
            raise
        try:
            self._carry_out(steps)
            self._mark(end + len(line))
        except OSError:
            return  # a full disk, say. The turn stands in the intents: whoever comes next carries it out before anything is read

    def scrub(self) -> None:
        """Sync what was carried out and drop every intent, also damaged ones: they hold the bytes of what they wrote."""
        self._settle()
        (self._directory / _DAMAGED).unlink(missing_ok=True)

    def _carry_out_line(self, line: bytes) -> None:
        steps = _steps(line)
        if steps is None:
            # A whole line that nobody can read is damage from outside. It must not stop the bus for ever, and is kept.
            _put(self._directory / _DAMAGED, _size(self._directory / _DAMAGED), line)
            return
        self._carry_out(steps)

    def _carry_out(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            path = self._directory / step.file
            if step.to is not None:
                if path.exists() and not (self._directory / step.to).exists():
                    os.rename(path, self._directory / step.to)
            elif step.data is None:
                path.unlink(missing_ok=True)
            else:
                try:
                    _put(path, step.at, step.data, sync=False)
                except FileNotFoundError:
                    self._make(path.parent)
                    _put(path, step.at, step.data, sync=False)

    def _settle(self) -> None:
        """Everything that was carried out is on the disk; the intents can go."""
        if not _size(self._path):
            self._mark(0)
            return
        named = {self._directory / name for name in self._named()}
        for path in named:
            _sync(path)
        for place in {self._directory, *(path.parent for path in named)}:
            if place.is_dir():
                sync_directory(place)
        _put(self._path, 0, b"")
        self._mark(0)

    def _named(self) -> set[str]:
        """The files that the intents changed. Others in the same place are none of ours, and may go while we look."""
        handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as file:
            found = [_steps(line) for line in file.read().splitlines(keepends=True)]
        return {step.to or step.file for steps in found for step in steps or ()}

    def _mark(self, done: int) -> None:
        _put(self._done_path, 0, f"{_boot()} {done}\n".encode(), sync=False)

    def _done(self) -> int:
        """Up to where this run of the machine carried the intents out."""
        try:
            boot, _, done = self._done_path.read_text(encoding="ascii").partition(" ")
            return int(done) if boot == _boot() else 0
        except FileNotFoundError:
            return 0
        except (UnicodeDecodeError, ValueError):
            return 0


def _steps(line: bytes) -> tuple[Step, ...] | None:
    """The steps of one intent; None for one that nobody can read, or that leads out of the bus."""
    try:
        steps = decoded(line, tuple[Step, ...])
    except (ValueError, msgspec.MsgspecError):
        return None
    return steps if all(is_bus_name(step.file) and is_bus_name(step.to or step.file) for step in steps) else None


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0


def _put(path: Path, at: int, data: bytes, *, sync: bool = True) -> None:
    """Write data at its offset and end the file there."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        written = 0
        while written < len(data):
            written += os.pwrite(handle, data[written:], at + written)
        os.ftruncate(handle, at + len(data))
        if sync:
            os.fdatasync(handle)
    finally:
        os.close(handle)


def _cut(path: Path, end: int) -> None:
    """End a file where it ended before."""
    if _size(path) > end:
        _put(path, end, b"")


def _sync(path: Path) -> None:
    """Make a file durable; one that is gone is gone."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        os.fdatasync(handle)
    finally:
        os.close(handle)
