"""File state: what each claim file looked like when it last agreed with the database. Local, derived, cheap to lose."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import apsw

from hindbrain.domain.errors import StoreDamaged
from hindbrain.stores.checked_file import checked_vfs, has_checksums, is_plain, lay_out
from hindbrain.stores.files import FileFacts
from hindbrain.stores.sqlite_files import create_private, damaged, drop_set_aside, integrity, set_aside, translated, unusable

__all__ = ["FileState", "Seen"]

VERSION = 1  # a file of another version is removed and filled by the next scan
_TABLES = f"""
create table seen (
    place text, slug text, mtime_ns integer, size integer, digest text, primary key (place, slug)
) strict, without rowid;
create table place (place text primary key, mtime_ns integer) strict, without rowid;
pragma user_version = {VERSION};
"""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file as it was at the last agreement."""

    mtime_ns: int
    size: int
    digest: str

    def same(self, facts: FileFacts) -> bool:
        return self.mtime_ns == facts.mtime_ns and self.size == facts.size


class FileState:
    """One small SQLite file per brain, whatever database holds the brain itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        if unusable(path):
            set_aside(path)
        elif is_plain(path):
            _remove(path)
        try:
            self._db = self._open()
        except StoreDamaged:
            self._db = self._open_anew()

    def _open(self) -> apsw.Connection:
        with translated(self.path):
            create_private(self.path)
            db = apsw.Connection(str(self.path), vfs=checked_vfs())
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
        return db

    def _prepare(self, db: apsw.Connection) -> None:
        db.set_busy_timeout(10_000)
        if self.path.stat().st_size == 0:
            lay_out(db)
        db.execute("pragma journal_mode=wal").fetchall()
        db.execute("pragma synchronous=normal").fetchall()
        db.execute("pragma secure_delete=on").fetchall()  # a forgotten label leaves no bytes
        if db.pragma("user_version") == 0:
            with db:
                if db.pragma("user_version") == 0:  # nobody else was first
                    db.execute(_TABLES).fetchall()
        if db.pragma("user_version") != VERSION or not has_checksums(db):
            raise damaged(self.path, "another release or another program wrote it")

    def _open_anew(self) -> apsw.Connection:
        """Nothing here is truth: a damaged file is put aside, and the next scan fills a new one."""
        set_aside(self.path)
        return self._open()

    def _ask(self, read: Callable[[apsw.Connection], _T]) -> _T:
        """The answer of the file; a damaged one is put aside, and an empty one answers."""
        with self._lock:
            try:
                with translated(self.path):
                    return read(self._db)
            except StoreDamaged:
                self._db.close()
                self._db = self._open_anew()
                with translated(self.path):
                    return read(self._db)

    def _rows(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        return self._ask(lambda db: db.execute(statement, values).fetchall())

    def _note(self, *statements: tuple[str, Sequence[Sequence[object]]]) -> None:
        """One write. What a full disk keeps from being noted costs a second look later, never an answer."""

        def write(db: apsw.Connection) -> None:
            with suppress(apsw.FullError, apsw.IOError, apsw.ReadOnlyError), db:
                for statement, rows in statements:
                    db.executemany(statement, rows).fetchall()

        self._ask(write)

    def get(self, place: str, slug: str) -> Seen | None:
        rows = self._rows("select mtime_ns, size, digest from seen where place=? and slug=?", (place, slug))
        return next((Seen(mtime_ns=mtime, size=size, digest=digest) for mtime, size, digest in rows), None)

    def all(self, place: str) -> dict[str, Seen]:
        rows = self._rows("select slug, mtime_ns, size, digest from seen where place=?", (place,))
        return {slug: Seen(mtime_ns=mtime, size=size, digest=digest) for slug, mtime, size, digest in rows}

    def put(self, place: str, facts: FileFacts, digest: str, *, directory_mtime: int | None = None) -> None:
        directories = [(place, directory_mtime)] if directory_mtime is not None else []
        self._note((_SEEN, [_row(place, facts, digest)]), (_PLACE, directories))

    def put_many(self, place: str, rows: Iterable[tuple[FileFacts, str]]) -> None:
        self._note((_SEEN, [_row(place, facts, digest) for facts, digest in rows]))

    def drop(self, place: str, slug: str) -> None:
        self._note(("delete from seen where place=? and slug=?", [(place, slug)]))

    def forget(self, slug: str) -> None:
        """Leave no trace of a label, neither in the log nor in a damaged copy."""
        self._rows("delete from seen where slug=?", (slug,))
        self._rows("pragma wal_checkpoint(truncate)", ())
        drop_set_aside(self.path.parent, self.path.name)

    def directory(self, place: str) -> int | None:
        rows = self._rows("select mtime_ns from place where place=?", (place,))
        return int(rows[0][0]) if rows else None

    def put_directory(self, place: str, mtime_ns: int) -> None:
        self._note((_PLACE, [(place, mtime_ns)]))

    def drop_directory(self, place: str) -> None:
        """A directory went by an act of ours: it is not missed."""
        self._note(("delete from place where place=?", [(place,)]))

    def check(self) -> tuple[str, ...]:
        """What is wrong with the file; empty when it is sound."""
        try:
            return integrity(self.path, self._open())
        except StoreDamaged as error:
            return (f"{self.path.name}: {error.message}",)

    def renew(self) -> None:
        """Put the file aside and begin an empty one."""
        with self._lock:
            self._db.close()
            self._db = self._open_anew()

    def close(self) -> None:
        with self._lock:
            self._db.close()


def _remove(path: Path) -> None:
    """A file of an older release is filled again by the next scan."""
    for name in (f"{path.name}-shm", f"{path.name}-wal", path.name):
        path.with_name(name).unlink(missing_ok=True)


_SEEN = "insert or replace into seen values (?,?,?,?,?)"
_PLACE = "insert or replace into place values (?,?)"


def _row(place: str, facts: FileFacts, digest: str) -> tuple[object, ...]:
    return (place, facts.slug, facts.mtime_ns, facts.size, digest)
