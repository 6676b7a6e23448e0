"""Host records: what was written into which file of a host, and what that file was before. Kept in the home, private."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from hindbrain.domain.typed import decoded
from hindbrain.stores.atomic import write_text
from hindbrain.stores.home import Home
from hindbrain.stores.locks import locked

__all__ = ["HostRecord", "HostRecords", "digest"]

_LOCK_S = 10.0


def digest(text: str) -> str:
    """The identity of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class HostRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One file that we changed. It is written down before the file is, so that a death in between can be told."""

    path: str  # with every link resolved
    host: str
    of_project: bool
    at: int
    after: str  # digest of what we wrote
    before: str | None = None  # digest of what was there; None: there was no file
    mode: int | None = None
    made: tuple[str, ...] = ()  # directories that were made for it


class HostRecords:
    """The records of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def lock(self) -> AbstractContextManager[None]:
        """One writer of hosts at a time."""
        self._home.make(self._home.hosts_dir)
        return locked(self._home.hosts_dir / ".lock", wait_s=_LOCK_S)

    def of(self, path: Path) -> HostRecord | None:
        """The record of a file. One that cannot be read is none: then only what is ours is taken out."""
        try:
            found = decoded((self._place(path) / "record.json").read_bytes(), HostRecord)
            return found if found.before is None or digest(self.before(found) or "") == found.before else None
        except (OSError, msgspec.DecodeError):
            return None

    def all(self) -> Iterator[HostRecord]:
        """Every record of this home."""
        if not self._home.hosts_dir.is_dir():
            return
        for place in sorted(self._home.hosts_dir.iterdir()):
            try:
                found = decoded((place / "record.json").read_bytes(), HostRecord)
            except (OSError, msgspec.DecodeError):
                continue
            yield found

    def before(self, record: HostRecord) -> str | None:
        """What a file said before us; None: there was none."""
        copy = self.copy_of(record)
        return None if copy is None else copy.read_bytes().decode("utf-8")

    def copy_of(self, record: HostRecord) -> Path | None:
        """Where the copy of what was there lies."""
        return None if record.before is None else self._place(Path(record.path)) / f"before-{record.before[:16]}"

    def put(self, record: HostRecord, before: str | None) -> None:
        """Write down what is about to be written, the copy first."""
        place = self._place(Path(record.path))
        self._home.make(place)
        if before is not None and (copy := self.copy_of(record)) is not None and not copy.exists():
            write_text(copy, before)
        write_text(place / "record.json", msgspec.json.encode(record).decode("utf-8"))

    def forget(self, path: Path) -> None:
        """The file is as it was; nothing is to be taken back any more."""
        shutil.rmtree(self._place(path), ignore_errors=True)

    def _place(self, path: Path) -> Path:
        return self._home.hosts_dir / digest(str(path))[:20]
