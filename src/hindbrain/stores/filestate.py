"""File state: which claim files this checkout has, at which version, and how they compared with the database at the last look.

It is a state of one checkout: another clone of the repository has its own. Local, derived, cheap to lose."""

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

__all__ = ["FileState", "KeptOut", "Owed", "Seen"]

VERSION = 2  # a file of a newer version is set aside and filled by the next scan
_TABLES = """
create table seen (
    place text, slug text, mtime_ns integer, size integer, digest text, primary key (place, slug)
) strict, without rowid;
create table place (place text primary key, mtime_ns integer) strict, without rowid;
"""
# Version 2: the row that a file was compared with, writes that were begun, files that are not served, tips that were looked at.
_SECOND = f"""
alter table seen add column row text not null default '';
update seen set row = digest;
create table owed (
    place text, slug text, digest text, removal integer, primary key (place, slug)
) strict, without rowid;
create table kept_out (
    place text, slug text, kind text, at integer, note text, primary key (place, slug)
) strict, without rowid;
create table tip (place text primary key, tips text) strict, without rowid;
pragma user_version = {VERSION};
"""
_ABSENT = -1  # the size of a file that was here once and is not now
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file as it was at the last look, and the digest of the live row it was compared with; empty when there was none."""

    mtime_ns: int
    size: int
    digest: str
    row: str

    def same(self, facts: FileFacts) -> bool:
        return self.mtime_ns == facts.mtime_ns and self.size == facts.size

    @property
    def agreed(self) -> bool:
        return self.digest == self.row

    @property
    def absent(self) -> bool:
        """Return True for a file that was here once and is not now."""
        return self.size == _ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A change of a file that a writer began: it commits the row first. Whoever comes after its death completes it."""

    digest: str
    removal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOut:
    """A file of this checkout that is not served, and why."""

    slug: str
    kind: str
    at: int
    note: str


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
        if db.pragma("user_version") in (0, 1):
            with db:
                if db.pragma("user_version") == 0:  # nobody else was first
                    db.execute(_TABLES).fetchall()
                if db.pragma("user_version") in (0, 1):
                    db.execute(_SECOND).fetchall()
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
        rows = self._rows("select mtime_ns, size, digest, row from seen where place=? and slug=?", (place, slug))
        return next((_seen(row) for row in rows), None)

    def all(self, place: str) -> dict[str, Seen]:
        rows = self._rows("select slug, mtime_ns, size, digest, row from seen where place=?", (place,))
        return {row[0]: _seen(row[1:]) for row in rows}

    def put(
        self, place: str, facts: FileFacts, digest: str, *, row: str | None = None, directory_mtime: int | None = None
    ) -> None:
        """Record a file as it is now. `row` is the digest of the live row if it is another one, empty if there is none."""
        directories = [(place, directory_mtime)] if directory_mtime is not None else []
        seen = (place, facts.slug, facts.mtime_ns, facts.size, digest, digest if row is None else row)
        self._note((_SEEN, [seen]), (_SETTLED, [(place, facts.slug)]), (_PLACE, directories))

    def put_many(self, place: str, rows: Iterable[tuple[FileFacts, str]]) -> None:
        """Record files that agree with their rows."""
        self._note((_SEEN, [(place, one.slug, one.mtime_ns, one.size, digest, digest) for one, digest in rows]))

    def put_absent(self, place: str, slug: str, digest: str) -> None:
        """Record that this checkout does not have the file. `digest` is what it had last, or would have."""
        self._note((_SEEN, [(place, slug, 0, _ABSENT, digest, digest)]))

    def drop(self, place: str, slug: str) -> None:
        self._note(
            ("delete from seen where place=? and slug=?", [(place, slug)]), (_SETTLED, [(place, slug)]), _let_in(place, slug)
        )

    def forget(self, slug: str) -> None:
        """Leave no trace of a label, neither in the log nor in a damaged copy."""
        for table in ("seen", "owed", "kept_out"):
            self._rows(f"delete from {table} where slug=?", (slug,))
        self._rows("pragma wal_checkpoint(truncate)", ())
        drop_set_aside(self.path.parent, self.path.name)

    def owe(self, place: str, slug: str, digest: str, *, removal: bool = False) -> None:
        """Record that a writer is about to commit a row and then to write, or remove, the file with this digest."""
        self._note(("insert or replace into owed values (?,?,?,?)", [(place, slug, digest, int(removal))]))

    def owed(self, place: str, slug: str) -> Owed | None:
        rows = self._rows("select digest, removal from owed where place=? and slug=?", (place, slug))
        return next((Owed(digest=digest, removal=bool(removal)) for digest, removal in rows), None)

    def owing(self, place: str) -> set[str]:
        """Return the labels whose file a writer began to change."""
        return {slug for (slug,) in self._rows("select slug from owed where place=?", (place,))}

    def settle(self, place: str, slug: str) -> None:
        """Nothing is owed any more for a label."""
        self._note((_SETTLED, [(place, slug)]))

    def keep_out(self, place: str, one: KeptOut) -> None:
        """Record that a file of this checkout is not served, and why."""
        self._note(("insert or replace into kept_out values (?,?,?,?,?)", [(place, one.slug, one.kind, one.at, one.note)]))

    def let_in(self, place: str, slug: str) -> None:
        """The file of a label is served again."""
        self._note(_let_in(place, slug))

    def kept_out(self, place: str) -> tuple[KeptOut, ...]:
        """Return the files of this checkout that are not served."""
        rows = self._rows("select slug, kind, at, note from kept_out where place=? order by slug", (place,))
        return tuple(KeptOut(slug=slug, kind=kind, at=at, note=note) for slug, kind, at, note in rows)

    def tips(self, place: str) -> tuple[str, ...] | None:
        """Return the commits of the default branch up to which deletions were looked for; None before the first look."""
        rows = self._rows("select tips from tip where place=?", (place,))
        return tuple(rows[0][0].split()) if rows else None

    def put_tips(self, place: str, tips: Iterable[str]) -> None:
        self._note(("insert or replace into tip values (?,?)", [(place, " ".join(tips))]))

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


_SEEN = "insert or replace into seen values (?,?,?,?,?,?)"
_PLACE = "insert or replace into place values (?,?)"
_SETTLED = "delete from owed where place=? and slug=?"


def _let_in(place: str, slug: str) -> tuple[str, Sequence[Sequence[object]]]:
    return "delete from kept_out where place=? and slug=?", [(place, slug)]


def _seen(row: Sequence[Any]) -> Seen:
    mtime, size, digest, compared = row
    return Seen(mtime_ns=mtime, size=size, digest=digest, row=compared)
