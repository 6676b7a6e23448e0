"""Claim files: one directory with its history and locks. Files are the truth for claims: people read, diff and commit them."""

import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.claim import Slug, outdated
from hindbrain.domain.errors import InvalidLabel, PathRefused
from hindbrain.domain.label import slug_of
from hindbrain.policy.limits import CLAIM_MAX_BYTES
from hindbrain.stores.directories import PRIVATE, make_directory
from hindbrain.stores.locks import locked

__all__ = ["ClaimDirectory", "FileFacts", "Staged", "digest_of"]

_ENDING = ".light.md"
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_HISTORY = re.compile(r"([^./]+)\.(\d+)\.light\.md\Z")
_STALE_TEMPORARY_S = 3600
_OPENED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_REPO_DIR = ".hindbrain"  # a directory that a repository carries, and may turn into a link
_HISTORY_NAME, _LOCKS_NAME = ".history", ".locks"
_MOST_BYTES = 4 * CLAIM_MAX_BYTES  # what is read of a file; the rest of a larger one could only be refused


def digest_of(text: str) -> str:
    """What identifies a text: sha256 over its UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What the file system says of a claim file without reading it."""

    slug: Slug
    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A version written and synced under temporary names: putting it in place needs no more room on the disk."""

    live: Path
    archive: Path | None


class ClaimDirectory:
    """`agent-memory/` of one brain."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.history_path = path / _HISTORY_NAME
        self.locks_path = path / _LOCKS_NAME
        self._prefix = f"{path}/"

    def file(self, slug: Slug) -> Path:
        return self.path / f"{slug}.light.md"

    def has(self, slug: Slug) -> bool:
        return self.facts(slug) is not None

    def is_own(self) -> bool:
        """True for a directory that is here itself. A repository may hold a link in its place, into another brain's memory."""
        inner = (self.history_path, self.locks_path)
        return _is_directory(self.path.parent) and _is_directory(self.path) and not any(map(os.path.islink, inner))

    @contextmanager
    def _held(self, *inner: str, make: bool = False) -> Iterator[int]:
        """An open directory: this one, or one inside. No link is followed, also if one replaces a directory meanwhile."""
        own = self.path.parent.name == _REPO_DIR
        first = self.path.parent.parent if own else self.path.parent
        if make and not own:
            make_directory(first)
        held = os.open(first, _OPENED)
        try:
            for name in (*((_REPO_DIR,) if own else ()), self.path.name, *inner):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, PRIVATE, dir_fd=held)
                deeper = os.open(name, _OPENED | os.O_NOFOLLOW, dir_fd=held)
                os.close(held)
                held = deeper
        except OSError as wrong:
            os.close(held)
            if isinstance(wrong, NotADirectoryError) or wrong.errno == errno.ELOOP:
                place = os.path.join(self.path, *inner)
                raise PathRefused(f"{place} is a link, or a file is in its place", fix="replace it by a directory") from wrong
            raise
        try:
            yield held
        finally:
            os.close(held)

    @contextmanager
    def lock(self, slug: Slug, *, wait_s: float) -> Iterator[None]:
        """The one writer of a slug. The lock file stays until its label is forgotten."""
        with self._held(_LOCKS_NAME, make=True) as locks, locked(Path(f"{slug}.lock"), wait_s=wait_s, directory=locks):
            yield

    def mtime_ns(self) -> int:
        """Changes when a file is added, renamed or removed here; 0 when there is no directory."""
        try:
            return os.stat(self.path).st_mtime_ns
        except FileNotFoundError:
            return 0

    def facts(self, slug: Slug) -> FileFacts | None:
        """What is known of a claim's file; None also for a link, a pipe or a directory: those are no claims."""
        try:
            found = os.lstat(f"{self._prefix}{slug}.light.md")
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return FileFacts(slug=slug, mtime_ns=found.st_mtime_ns, size=found.st_size)

    def scan(self) -> Iterator[FileFacts]:
        """Every claim file; names that begin with a dot and other files are not claims."""
        with suppress(FileNotFoundError), self._held() as held, os.scandir(held) as entries:
            for entry in entries:
                slug = _slug_in(entry.name)
                if slug is None or not entry.is_file(follow_symlinks=False):
                    continue
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield FileFacts(slug=slug, mtime_ns=found.st_mtime_ns, size=found.st_size)

    def misnamed(self) -> list[str]:
        """Files that look like claims but whose name no label gives: they are not served, and doctor says so."""
        try:
            names = os.listdir(self.path)
        except FileNotFoundError:
            return []
        return sorted(n for n in names if n.endswith(_ENDING) and not n.startswith(".") and _slug_in(n) is None)

    def read(self, slug: Slug) -> str | None:
        """The file's text; bytes that are not UTF-8 are kept apart as surrogates, so that they can be named."""
        if self.facts(slug) is None:
            return None
        try:
            with self._held() as held, open(_no_detour(self.file(slug).name, held), "rb") as file:
                return file.read(_MOST_BYTES).decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None

    def stage(self, slug: Slug, text: str, *, replaced: str | None) -> Staged:
        """Write and sync the new version, and the archive of the one it replaces, under temporary names."""
        if _is_directory(self.file(slug)):
            raise PathRefused(f"{self.file(slug)} is a directory", fix="move it away; a claim is one file")
        token = secrets.token_hex(6)
        live = self.path / f".{slug}.{token}.new.tmp"
        archive = self.history_path / f".{slug}.{token}.old.tmp" if replaced is not None else None
        try:
            with self._held(_HISTORY_NAME, make=True) as history, self._held() as held:
                _write_synced(live.name, held, text)
                if archive is not None and replaced is not None:
                    _write_synced(archive.name, history, outdated(replaced))
        except BaseException:
            self.unstage(Staged(live=live, archive=archive))
            raise
        return Staged(live=live, archive=archive)

    def unstage(self, staged: Staged) -> None:
        """Nothing was decided: take the temporary files away."""
        with suppress(FileNotFoundError), self._held() as held:
            os.unlink(staged.live.name, dir_fd=held)
        if staged.archive is not None:
            self._unlink_archived(staged.archive)

    def place(self, slug: Slug, staged: Staged, *, at: int) -> Path | None:
        """Put a staged version in place: first the archive of the old one, then the new one. Returns the archive's path."""
        archived = None
        if staged.archive is not None:
            with self._held(_HISTORY_NAME) as history:
                archived = self._free_history_name(slug, at)
                os.replace(staged.archive.name, archived.name, src_dir_fd=history, dst_dir_fd=history)
                os.fsync(history)
        with self._held() as held:
            os.replace(staged.live.name, self.file(slug).name, src_dir_fd=held, dst_dir_fd=held)
            os.fsync(held)
        return archived

    def archive(self, slug: Slug, text: str, *, at: int) -> Path:
        """Keep a version in the history as outdated."""
        with self._held(_HISTORY_NAME, make=True) as history:
            target = self._free_history_name(slug, at)
            temporary = f".{slug}.{secrets.token_hex(6)}.old.tmp"
            try:
                _write_synced(temporary, history, outdated(text))
                os.replace(temporary, target.name, src_dir_fd=history, dst_dir_fd=history)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=history)
                raise
            os.fsync(history)
        return target

    def remove(self, slug: Slug) -> None:
        with suppress(FileNotFoundError), self._held() as held:
            with suppress(FileNotFoundError):
                os.unlink(self.file(slug).name, dir_fd=held)
            os.fsync(held)

    def _unlink_archived(self, path: Path) -> None:
        with suppress(FileNotFoundError), self._held(_HISTORY_NAME) as history:
            os.unlink(path.name, dir_fd=history)

    def erase(self, slug: Slug, which: Callable[[str], bool]) -> int:
        """Remove the versions of a label whose text is meant, live and archived; returns how many files went.

        The lock of the label, which the caller holds, goes with the last of them: its name is the label."""
        gone = self.erase_history(slug, which)
        if self.file(slug).is_symlink():
            self.remove(slug)  # never a claim of ours, but it carries the name
        if (text := self.read(slug)) is not None and which(text):
            self.remove(slug)
            gone += 1
        if not self.has(slug) and not self.history(slug):
            with suppress(FileNotFoundError), self._held(_LOCKS_NAME) as locks:
                os.unlink(f"{slug}.lock", dir_fd=locks)
        return gone

    def erase_history(self, slug: Slug, which: Callable[[str], bool]) -> int:
        """Remove the archived versions of a label whose text is meant; returns how many files went."""
        meant = [path for _, path in self.history(slug) if which(path.read_bytes().decode("utf-8", "replace"))]
        for path in meant:
            self._unlink_archived(path)
        if meant:
            with suppress(FileNotFoundError), self._held(_HISTORY_NAME) as history:
                os.fsync(history)
        return len(meant)

    def history(self, slug: Slug) -> list[tuple[int, Path]]:
        """The archived versions of a label, newest first."""
        found = []
        if self.history_path.is_dir():
            with os.scandir(self.history_path) as entries:
                for entry in entries:
                    match = _HISTORY.match(entry.name)
                    if match and match[1] == slug and entry.is_file(follow_symlinks=False):
                        found.append((int(match[2]), self.history_path / entry.name))
        return sorted(found, reverse=True)

    def sweep(self) -> int:
        """Remove temporary files that a dead writer left more than an hour ago."""
        gone = 0
        for inner in ((), (_HISTORY_NAME,)):
            with suppress(FileNotFoundError, PathRefused), self._held(*inner) as held:
                for name in os.listdir(held):
                    if name.startswith(".") and name.endswith(".tmp") and _is_old(name, held):
                        with suppress(FileNotFoundError):
                            os.unlink(name, dir_fd=held)
                        gone += 1
        return gone

    def _free_history_name(self, slug: Slug, at: int) -> Path:
        while (path := self.history_path / f"{slug}.{at}.light.md").exists():
            at += 1
        return path


def _slug_in(name: str) -> Slug | None:
    """The slug that a file name holds; None for a name that no label gives."""
    slug = name.removesuffix(_ENDING)
    if slug == name:
        return None
    if slug.isascii():
        return slug if _PLAIN.match(slug) else None
    try:
        return slug if slug_of(slug) == slug else None
    except InvalidLabel:
        return None


def _is_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _no_detour(name: str, directory: int) -> int:
    """Open the file itself: no link to another, and no pipe that waits for a writer."""
    return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)


def _is_old(name: str, directory: int) -> bool:
    try:
        return time.time() - os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime > _STALE_TEMPORARY_S
    except FileNotFoundError:
        return False  # its writer is alive and has just put it in place


def _write_synced(name: str, directory: int, text: str) -> None:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=directory)
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
