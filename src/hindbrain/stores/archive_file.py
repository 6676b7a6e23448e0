"""Archive files: a .tar.gz whose bytes depend on nothing but its contents, and unpacking one that a stranger may have made."""

import gzip
import hashlib
import io
import os
import secrets
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hindbrain.domain.errors import InvalidParams, PathRefused, StoreUnavailable
from hindbrain.policy.carrying import MEMBERS_MOST
from hindbrain.policy.evidence import EXPORT_MAX_BYTES
from hindbrain.stores.atomic import held_directory, place_new
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["ArchiveWriter", "Unpacked", "check_place", "opened_archive", "unpack", "writing_archive"]

_BLOCK = 1024 * 1024
_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """One file of an archive: its size and digest, and where it lies if it was kept."""

    size: int
    sha256: str
    path: Path | None


class ArchiveWriter:
    """Adds files. No time, owner or mode of this machine goes in: the same contents give the same bytes."""

    def __init__(self, archive: tarfile.TarFile, room: Path) -> None:
        self._archive = archive
        self._room = room
        self.sums: dict[str, tuple[int, str]] = {}

    def add(self, name: str, data: bytes) -> None:
        self._add(name, io.BytesIO(data), len(data), hashlib.sha256(data).hexdigest())

    def add_all(self, name: str, pieces: Iterable[bytes]) -> int:
        """Pieces may be many: they go through a file, because an archive wants to know a size before it begins."""
        count, digest = 0, hashlib.sha256()
        with tempfile.TemporaryFile(dir=self._room) as spool:
            for piece in pieces:
                spool.write(piece)
                digest.update(piece)
                count += 1
            size = spool.tell()
            spool.seek(0)
            self._add(name, spool, size, digest.hexdigest())
        return count

    def add_file(self, name: str, path: Path) -> None:
        """A file as it is now. It may grow meanwhile, so it is copied first."""
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            self.add_all(name, iter(lambda: file.read(_BLOCK), b""))

    def _add(self, name: str, file: IO[bytes], size: int, digest: str) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        self._archive.addfile(member, file)
        self.sums[name] = (size, digest)


@contextmanager
def writing_archive(target: Path, room: Path) -> Iterator[ArchiveWriter]:
    """An archive that is at `target` when the block ends well, whole and synced, and not at all otherwise."""
    # A name nobody can guess: a link that waits under a known one would be written through.
    temporary = f".{secrets.token_hex(8)}.tmp"
    try:
        with held_directory(target.parent) as held:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=held)
            try:
                with os.fdopen(handle, "wb") as raw:
                    with (
                        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as packed,
                        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
                    ):
                        yield ArchiveWriter(archive, room)
                    raw.flush()
                    os.fsync(raw.fileno())
                place_new(temporary, target.name, held)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=held)
    except OSError as full:
        raise StoreUnavailable(
            f"{target} could not be written: {full.strerror or full}", fix="free some disk space, or choose another directory"
        ) from full


class _Bounded(io.RawIOBase):
    """What is unpacked, up to a limit: a few bytes may stand for very many."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file = file
        self._most = most

    def read(self, size: int = -1) -> bytes:
        if size > EXPORT_MAX_BYTES:
            raise tarfile.ReadError(f"a header of it has {size} bytes")  # only names and such are read at once
        data = self._file.read(size)
        if self._file.tell() > self._most:
            raise tarfile.ReadError(f"it unpacks to more than {self._most} bytes")
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET and offset > self._most:
            raise tarfile.ReadError(f"it unpacks to more than {self._most} bytes")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


class _Archive(tarfile.TarFile):
    """An archive of so many files and no more: each that is passed over stays in memory."""

    passed = 0

    def next(self) -> tarfile.TarInfo | None:
        found = super().next()
        self.passed += found is not None
        if self.passed > MEMBERS_MOST + 1:  # the first one is given twice: when the archive is opened, and again
            raise tarfile.ReadError(f"it holds more than {MEMBERS_MOST} files")
        return found


@contextmanager
def opened_archive(path: Path, *, most: int) -> Iterator[tarfile.TarFile]:
    """An archive for reading. What cannot be read as one is told as InvalidParams."""
    try:
        if not path.is_file():
            raise tarfile.ReadError("it is not a file")  # a pipe would keep the call waiting for its writer
        with open_ordinary(path) as raw, gzip.open(raw, "rb") as packed:
            with _Archive.open(fileobj=_Bounded(packed, most), mode="r:") as archive:
                yield archive
    except (tarfile.TarError, OSError, EOFError, zlib.error, UnicodeError) as broken:
        raise InvalidParams(f"{path.name} is not a readable export: {broken}", fix="give a file that `export` wrote") from broken


def unpack(
    archive: tarfile.TarFile, into: Path, *, keep: Callable[[str], bool], members: int, reserve: int
) -> dict[str, Unpacked]:
    """Every file of an archive with its digest; those to keep are written into a directory under numbers, so that no name in the
    archive names a place. Anything but plain files, each once, is refused."""
    found: dict[str, Unpacked] = {}
    for member in archive:
        if not member.isreg() or member.issparse():
            raise tarfile.ReadError(f"{member.name[:120]!r} is no plain file")
        if member.name in found:
            raise tarfile.ReadError(f"{member.name[:120]!r} is there twice")
        if len(found) >= members:
            raise tarfile.ReadError(f"it holds more than {members} files")
        kept = into / f"{len(found):07d}" if keep(member.name) else None
        room = os.statvfs(into)
        if kept is not None and member.size > room.f_bavail * room.f_frsize - reserve:
            raise StoreUnavailable(f"unpacking needs {member.size} bytes more", fix="free some disk space; nothing was changed")
        held = archive.extractfile(member)
        if held is None:
            raise tarfile.ReadError(f"{member.name[:120]!r} is no plain file")
        digest, size = hashlib.sha256(), 0
        with _keeping(kept) as out:
            while block := held.read(_BLOCK):
                digest.update(block)
                size += len(block)
                out(block)
        found[member.name] = Unpacked(size=size, sha256=digest.hexdigest(), path=kept)
    return found


@contextmanager
def _keeping(path: Path | None) -> Iterator[Callable[[bytes], object]]:
    """What takes the blocks of one file. A disk that is full is no fault of the archive."""
    if path is None:
        yield len
        return
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb", buffering=0) as file:

        def write(block: bytes) -> None:
            try:
                file.write(block)
            except OSError as full:
                raise StoreUnavailable(
                    f"the archive could not be unpacked: {full.strerror or full}", fix="free some disk space; nothing was changed"
                ) from full

        yield write


def check_place(target: Path, *, within: Path) -> None:
    """PathRefused unless a file can be put at a place: below `within` no link and no file stands on the way, and the directory
    that would take it may be written to."""
    for above in reversed([target, *target.parents]):
        if above != within and above.is_relative_to(within) and os.path.lexists(above):
            good = above.is_file() if above == target else above.is_dir()
            if above.is_symlink() or not good:
                raise PathRefused(
                    f"{above} is in the way of a file of the archive", fix="look at what lies there, and move it away"
                )
    taker = next(above for above in target.parents if above.exists())
    if not os.access(taker, os.W_OK | os.X_OK):
        raise PathRefused(f"{taker} cannot be written to", fix="look at who owns it and at its mode; nothing was restored")
