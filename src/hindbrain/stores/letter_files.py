"""Files of letters: the spool, which is only ever appended to, and the boxes in repositories, which git changes too.

Whoever made a repository made the files in it: no link is followed, and what is no plain file is no box."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.errors import Busy
from hindbrain.domain.letter import letter_id
from hindbrain.policy.limits import BOX_MAX_BYTES, BOX_MAX_LINES, LETTER_MAX_BYTES, LOCK_WAIT_S
from hindbrain.stores.atomic import sync_directory
from hindbrain.stores.home import BOX, REPO_DIR
from hindbrain.stores.line_file import add_whole, ends_whole

__all__ = ["Filed", "append", "blank_lines", "box_lines", "drop_lines", "file_missing", "lines"]

_CHUNK = 1 << 20
_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in place of a file must not hold the reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """What came of filing: for each line whether it was added, and whether the box is new."""

    added: tuple[bool, ...]
    created: bool


def append(path: Path, line: bytes) -> None:
    """Add one line to a spool with one write, and sync it. Others append as they like; nothing that is there changes."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _SAFE, 0o600)
    try:
        _plain(handle, path)
        with _locked(
            handle, path, wait_s=LOCK_WAIT_S
        ):  # without it a line that is just being written looks like one that was left open
            first = os.fstat(handle).st_size == 0
            _append(handle, line, path)
        os.fsync(handle)
        if first:
            sync_directory(path.parent)
    finally:
        os.close(handle)


def _append(handle: int, line: bytes, path: Path) -> None:
    for _ in range(2):
        data = (b"" if ends_whole(handle) else b"\n") + line + b"\n"
        written = os.write(handle, data)
        if written == len(data):
            return
        # The disk took a part. The rest could land behind somebody else's line: the part is blanked, and all is tried again.
        _blank(path, os.lseek(handle, 0, os.SEEK_CUR) - written, written)
    raise OSError(errno.ENOSPC, "the spool took only a part of the letter", str(path))


def _blank(path: Path, start: int, length: int) -> None:
    """Overwrite bytes of a spool with spaces. A handle that appends cannot do that."""
    handle = os.open(path, os.O_WRONLY | _SAFE)
    try:
        os.pwrite(handle, b" " * length, start)
    finally:
        os.close(handle)


def lines(path: Path) -> Iterator[bytes | None]:
    """The lines of a file without their ends, in order; None for one that is too long to be a letter. No file, no lines."""
    try:
        handle = os.open(path, os.O_RDONLY | _SAFE)
    except FileNotFoundError:
        return
    try:
        _plain(handle, path)
        yield from _split(handle)
    finally:
        os.close(handle)


def blank_lines(path: Path, which: Callable[[bytes], bool]) -> int:
    """Overwrite lines of a spool with spaces, and sync it. Others append meanwhile, and old letters count the lines: every byte
    that stays keeps its place."""
    try:
        handle = os.open(path, os.O_RDWR | _SAFE)
    except FileNotFoundError:
        return 0
    try:
        _plain(handle, path)
        count = at = 0
        with _locked(handle, path, wait_s=LOCK_WAIT_S):
            for raw in _all(handle).split(b"\n"):
                if raw.strip() and which(raw.removesuffix(b"\r")):
                    os.pwrite(handle, b" " * len(raw), at)
                    count += 1
                at += len(raw) + 1
            os.fsync(handle)
        return count
    finally:
        os.close(handle)


def drop_lines(directory: Path, which: Callable[[bytes], bool], *, root: str | None) -> int:
    """Take lines out of a box: that of the repository at `root`, else of a directory of ours. The file is written anew."""
    try:
        if root is not None:
            with _box_directory(root, make=False) as opened:
                return _drop_lines(opened, which, Path(root, REPO_DIR, BOX), bounded=True)
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return 0
    try:
        return _drop_lines(opened, which, directory / BOX, bounded=False)
    finally:
        os.close(opened)


def _drop_lines(directory: int, which: Callable[[bytes], bool], shown: Path, *, bounded: bool) -> int:
    with _locked(directory, shown, wait_s=LOCK_WAIT_S):
        try:
            handle = os.open(BOX, os.O_RDWR | _SAFE, dir_fd=directory)
        except FileNotFoundError:
            return 0
        try:
            _plain(handle, shown)
            if bounded:
                _within_reason(handle, shown)
            lines = _all(handle).split(b"\n")
            kept = [raw for raw in lines if not raw.strip() or not which(raw.removesuffix(b"\r"))]
            if len(kept) < len(lines):
                data = b"\n".join(kept)
                os.pwrite(handle, data, 0)
                os.ftruncate(handle, len(data))
                os.fsync(handle)
            return len(lines) - len(kept)
        finally:
            os.close(handle)


def _all(handle: int) -> bytes:
    pieces, at = [], 0
    while piece := os.pread(handle, _CHUNK, at):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def box_lines(root: str) -> Iterator[bytes | None]:
    """The lines of a repository's box. FileNotFoundError when it has none, another OSError when it cannot be read."""
    with _box_directory(root, make=False) as directory:
        handle = os.open(BOX, os.O_RDONLY | _SAFE, dir_fd=directory)
    try:
        shown = Path(root, REPO_DIR, BOX)
        _plain(handle, shown)
        _within_reason(handle, shown)
        yield from _split(handle)
    finally:
        os.close(handle)


def file_missing(directory: Path, letters: Sequence[bytes], *, root: str | None, wait_s: float) -> Filed:
    """Add to a box the lines that it lacks, in their order. It lies in the repository at `root`, else in a directory of ours."""
    if root is not None:
        with _box_directory(root, make=True) as opened:
            return _file_missing(opened, letters, Path(root, REPO_DIR, BOX), mode=0o644, wait_s=wait_s, bounded=True)
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return _file_missing(opened, letters, directory / BOX, mode=0o600, wait_s=wait_s)
    finally:
        os.close(opened)


def _file_missing(
    directory: int, letters: Sequence[bytes], shown: Path, *, mode: int, wait_s: float, bounded: bool = False
) -> Filed:
    # The directory is what is locked: git replaces the file, and a lock file of ours would be one more thing to commit.
    with _locked(directory, shown, wait_s=wait_s):
        try:
            handle = os.open(BOX, os.O_RDWR | os.O_APPEND | _SAFE, dir_fd=directory)
            created = False
        except FileNotFoundError:
            if not letters:
                return Filed(added=(), created=False)
            handle = os.open(BOX, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _SAFE, mode, dir_fd=directory)
            created = True
        try:
            _plain(handle, shown)
            if bounded:
                _within_reason(handle, shown)
            have = {letter_id(raw) for raw in _split(handle) if raw}
            added: list[bool] = []
            for raw in letters:
                added.append((one := letter_id(raw)) not in have)
                have.add(one)
            missing = b"".join(raw + b"\n" for raw, new in zip(letters, added, strict=True) if new)
            if missing:
                if bounded:  # what could not be read again is not written
                    _within_reason(handle, shown, more=missing)
                add_whole(handle, (b"" if ends_whole(handle) else b"\n") + missing)
            return Filed(added=tuple(added), created=created)
        finally:
            os.close(handle)


@contextmanager
def _box_directory(root: str, *, make: bool) -> Iterator[int]:
    """The directory of a repository's box, itself and not what a link in its place leads to."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    top = os.open(root, flags)
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(REPO_DIR, 0o755, dir_fd=top)
        inner = os.open(REPO_DIR, flags, dir_fd=top)
    finally:
        os.close(top)
    try:
        yield inner
    finally:
        os.close(inner)


@contextmanager
def _locked(handle: int, shown: Path, *, wait_s: float) -> Iterator[None]:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy(f"{shown} is held by another process", fix="try again in a moment") from None
            time.sleep(0.002)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _plain(handle: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "it is no plain file", str(path))


def _within_reason(handle: int, shown: Path, *, more: bytes = b"") -> None:
    """A box comes with its repository, and all boxes are read by one process: one that is too large must not fill it."""
    size, held = os.fstat(handle).st_size + len(more), more.count(b"\n")
    if size <= BOX_MAX_BYTES:
        at = 0
        while chunk := os.pread(handle, _CHUNK, at):
            at, held = at + len(chunk), held + chunk.count(b"\n")
    if size > BOX_MAX_BYTES or held > BOX_MAX_LINES:
        told = f"a box has at most {BOX_MAX_BYTES >> 20} MiB and {BOX_MAX_LINES} lines"
        raise OSError(errno.EFBIG, told, str(shown))


def _split(handle: int) -> Iterator[bytes | None]:
    rest = b""
    skipping = False  # within a line that was given up
    while chunk := os.read(handle, _CHUNK):
        first, *more = chunk.split(b"\n")
        if not more:
            rest = b"" if skipping else rest + first
        else:
            *whole, last = more
            if not skipping:
                yield _line(rest + first)
            yield from map(_line, whole)
            rest, skipping = last, False
        if len(rest) > LETTER_MAX_BYTES + 1:  # one more for the CR of its end
            yield None
            rest, skipping = b"", True
    if rest:
        yield _line(rest)


def _line(found: bytes) -> bytes | None:
    raw = found[:-1] if found.endswith(b"\r") else found
    return raw if len(raw) <= LETTER_MAX_BYTES else None
