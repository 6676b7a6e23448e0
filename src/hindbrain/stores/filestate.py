"""File state: what each claim file looked like when it last agreed with the database. Local, derived, cheap to lose."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from hindbrain.stores.files import FileFacts
from hindbrain.stores.sqlite_files import now_ms, unusable

__all__ = ["FileState", "Seen"]

_TABLES = """
create table if not exists seen (
    place text, slug text, mtime_ns integer, size integer, digest text, primary key (place, slug)
) without rowid;
create table if not exists place (place text primary key, mtime_ns integer) without rowid;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file as it was at the last agreement."""

    mtime_ns: int
    size: int
    digest: str

    def same(self, facts: FileFacts) -> bool:
        return self.mtime_ns == facts.mtime_ns and self.size == facts.size


def _put_away(path: Path) -> None:
    """Nothing here is truth: a broken file goes, for labels are in it, and the next scan fills a new one."""
    if path.is_dir():
        path.rename(path.with_name(f"{path.name}.corrupt.{now_ms()}"))  # no work of ours, so none of our business
        return
    for name in (f"{path.name}-shm", f"{path.name}-wal", path.name):
        path.with_name(name).unlink(missing_ok=True)


class FileState:
    """One small SQLite file per brain, whatever database holds the brain itself."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        if unusable(path):
            _put_away(path)
        try:
            self._db = self._open(path)
        except (apsw.NotADBError, apsw.CorruptError):
            _put_away(path)
            self._db = self._open(path)

    def _open(self, path: Path) -> apsw.Connection:
        fresh = not path.exists()
        db = apsw.Connection(str(path))
        db.set_busy_timeout(10_000)
        db.execute("pragma journal_mode=wal")
        db.execute("pragma synchronous=normal")
        db.execute("pragma secure_delete=on")  # a forgotten label leaves no bytes
        db.execute(_TABLES)
        if fresh:
            path.chmod(0o600)
        return db

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """One write. What a full disk keeps from being noted costs a second look later, never an answer."""
        with self._lock, suppress(apsw.FullError, apsw.IOError, apsw.ReadOnlyError), self._db:
            yield

    def get(self, place: str, slug: str) -> Seen | None:
        with self._lock:
            row = self._db.execute("select mtime_ns, size, digest from seen where place=? and slug=?", (place, slug)).fetchone()
        return Seen(mtime_ns=row[0], size=row[1], digest=row[2]) if row else None

    def all(self, place: str) -> dict[str, Seen]:
        with self._lock:
            rows = list(self._db.execute("select slug, mtime_ns, size, digest from seen where place=?", (place,)))
        return {slug: Seen(mtime_ns=mtime, size=size, digest=digest) for slug, mtime, size, digest in rows}

    def put(self, place: str, facts: FileFacts, digest: str, *, directory_mtime: int | None = None) -> None:
        with self._noting():
            self._db.execute(
                "insert or replace into seen values (?,?,?,?,?)", (place, facts.slug, facts.mtime_ns, facts.size, digest)
            )
            if directory_mtime is not None:
                self._db.execute("insert or replace into place values (?,?)", (place, directory_mtime))

    def put_many(self, place: str, rows: Iterable[tuple[FileFacts, str]]) -> None:
        with self._noting():
            self._db.executemany(
                "insert or replace into seen values (?,?,?,?,?)", [(place, f.slug, f.mtime_ns, f.size, d) for f, d in rows]
            )

    def drop(self, place: str, slug: str) -> None:
        with self._noting():
            self._db.execute("delete from seen where place=? and slug=?", (place, slug))

    def forget(self, slug: str) -> None:
        """Leave no trace of a label, in the log neither."""
        with self._lock:
            self._db.execute("delete from seen where slug=?", (slug,))
            self._db.execute("pragma wal_checkpoint(truncate)").fetchall()

    def directory(self, place: str) -> int | None:
        with self._lock:
            row = self._db.execute("select mtime_ns from place where place=?", (place,)).fetchone()
        return int(row[0]) if row else None

    def put_directory(self, place: str, mtime_ns: int) -> None:
        with self._noting():
            self._db.execute("insert or replace into place values (?,?)", (place, mtime_ns))

    def close(self) -> None:
        with self._lock:
            self._db.close()
