"""SQLite files: who may read them, whose turn it is to write, what their errors mean, and whole copies of them."""

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType

import apsw

from hindbrain.domain.errors import Busy, HindbrainError, StoreDamaged, StoreUnavailable
from hindbrain.stores.atomic import sync_directory
from hindbrain.stores.checked_file import PageDamaged
from hindbrain.stores.directories import make_directory
from hindbrain.stores.migrations import COPIES, MIGRATIONS
from hindbrain.stores.sql_rows import COLUMNS, Row

if sys.platform != "win32":
    import fcntl

__all__ = [
    "SqliteSession",
    "Turns",
    "copies_set_aside",
    "copy_file",
    "create_private",
    "damaged",
    "drop_set_aside",
    "integrity",
    "now_ms",
    "require_library",
    "set_aside",
    "translated",
    "unusable",
    "write_copy",
]

OLDEST_LIBRARY = (3, 51, 3)  # before it, a checkpoint beside a writer can lose pages (the WAL-reset bug)


def require_library(version: str) -> None:
    """Refuse a SQLite in which several processes on one file can corrupt it."""
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST_LIBRARY:
        raise StoreUnavailable(
            f"SQLite {version} can lose data when several processes write one file",
            fix=f"install apsw {'.'.join(map(str, OLDEST_LIBRARY))} or newer",
        )


def _told(path: Path, error: apsw.Error) -> HindbrainError | None:
    """What SQLite says, as an error of ours with the next safe step; None for a defect of ours."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Busy(f"{path} is locked by another writer: {error}", fix="try again in a moment")
    if isinstance(error, apsw.ConstraintError):
        # No write of ours breaks a rule of the tables: somebody else put something where this belongs.
        fix = "hindbrain ledger verify says where; nothing was changed"
        return StoreUnavailable(f"{path} holds what Hindbrain did not write: {error}", fix=fix)
    if isinstance(error, apsw.FullError):
        return StoreUnavailable(f"no space left for {path}: {error}", fix="free some disk space; nothing was changed")
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return damaged(error.path if isinstance(error, PageDamaged) else path, error)
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError | apsw.AuthError):
        return StoreUnavailable(f"{path} cannot be written: {error}", fix="check who owns the directory and its mode")
    if isinstance(error, apsw.IOError | apsw.ProtocolError | apsw.NoLFSError | apsw.NoMemError):
        fix = "check the disk; network file systems are not supported"
        return StoreUnavailable(f"the disk did not answer for {path}: {error}", fix=fix)
    return None


def damaged(path: Path, why: object) -> StoreDamaged:
    """A file that cannot be read, as an error that names it. Only brain.db has to come from a copy: all others are derived from
    it or from the checkout, or are kept aside."""
    fix = "run hindbrain doctor --fix; brain.db is another file and holds the memory"
    if path.name == "brain.db":
        copies = sorted(path.parent.glob(COPIES), key=os.path.getmtime)
        place = f"the copy {copies[-1]}" if copies else "a backup of the home or an export; no copy lies beside it"
        fix = f"nothing was changed; restore brain.db from {place}"
    return StoreDamaged(f"{path} is damaged: {why}", fix=fix, path=str(path))


class _Translated:
    """No generator: a question opens dozens of these."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, apsw.Error) and (told := _told(self._path, error)) is not None:
            raise told from error
        if isinstance(error, UnicodeDecodeError):  # a text that Hindbrain did not write
            raise damaged(self._path, error) from error


def translated(path: Path) -> AbstractContextManager[None]:
    """In this block what SQLite says becomes an error of ours with the next safe step."""
    return _Translated(path)


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror or error}", fix="check the disk and who owns the directory") from error


def now_ms() -> int:
    """For names of files only; no row ever gets its time here."""
    return time.time_ns() // 1_000_000


def create_private(path: Path) -> bool:
    """Make an empty file that only its user may read; False when it is there already. SQLite gives its log the same mode."""
    with _disk(path):
        make_directory(path.parent)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        sync_directory(path.parent)
        return True


def integrity(path: Path, connection: apsw.Connection) -> tuple[str, ...]:
    """What is wrong with a database, read through a connection of its own: one that was used before has pages in memory. Closes
    it."""
    try:
        found = connection.execute("pragma integrity_check(10)").fetchall()
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        return (f"{path.name}: {error}",)
    finally:
        connection.close()
    return tuple(f"{path.name}: {line}" for (line,) in found if line != "ok")


def set_aside(path: Path) -> Path | None:
    """Rename a damaged database and its log; returns the new name, None when nothing was there."""
    ending = f".corrupt.{now_ms()}"
    with _disk(path):
        for name in (f"{path.name}-shm", f"{path.name}-wal"):
            with suppress(FileNotFoundError):
                path.with_name(name).rename(path.with_name(name + ending))
        aside = path.with_name(path.name + ending)
        try:
            path.rename(aside)
        except FileNotFoundError:
            return None
    return aside


def copies_set_aside(directory: Path, *names: str) -> list[Path]:
    """Damaged databases that were put out of the way, the newest last; of these names, or of every name."""
    found = [path for path in directory.glob("*.db*.corrupt.*") if not names or path.name.partition(".db")[0] + ".db" in names]
    return sorted(found, key=lambda path: path.name.rpartition(".")[2])


def drop_set_aside(directory: Path, *names: str) -> None:
    """Remove damaged copies of derived databases. A directory that lay in the place of one is somebody else's work and stays."""
    for path in copies_set_aside(directory, *names):
        if not path.is_dir():
            path.unlink(missing_ok=True)


def unusable(path: Path) -> bool:
    """Something is there that can be no database of ours: a directory, a link that leads nowhere, a file we may not touch. Where
    nothing could be put in its place, on a disk that only reads, it is not called so."""
    if not os.path.lexists(path) or not os.access(path.parent, os.W_OK):
        return False
    return not (path.is_file() and os.access(path, os.R_OK | os.W_OK))


class Turns:
    """The writers' queue: fair between processes, and released by the kernel when a holder dies.

    It is only a queue; SQLite's own lock stays the authority. Who does not get a turn in time goes on and asks that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def taken(self, seconds: float) -> Iterator[bool]:
        """True when it really is our turn. A thread that has the turn may take it again."""
        mine = self._threads.acquire(timeout=seconds)
        try:
            if mine and self._depth:
                yield True
                return
            with _disk(self._path):
                handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                first = _flock(handle, seconds)
                self._depth += mine
                yield mine and first
            finally:
                self._depth -= mine
                os.close(handle)
        finally:
            if mine:
                self._threads.release()


def _flock(handle: int, seconds: float) -> bool:
    if sys.platform == "win32":
        return True
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True

    # flock knows no timeout, and polling would lose one's place in the queue. A waiter that is left behind keeps nothing:
    # the lock ends with the handle.
    def wait() -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)

    waiter = threading.Thread(target=wait, daemon=True, name="hindbrain-turn")
    waiter.start()
    waiter.join(seconds)
    return not waiter.is_alive()


class SqliteSession:
    """Statements on one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        # fetchall also where no row is expected: a cursor that is not read to its end has not run to its end.
        return self.connection.execute(statement, values).fetchall()

    def insert_many(self, table: str, rows: Iterable[Row]) -> None:
        columns = COLUMNS[table]
        places = ", ".join("?" * len(columns))
        self.connection.executemany(f"insert into {table} ({', '.join(columns)}) values ({places})", rows).fetchall()

    def delete_many(self, table: str, keys: Sequence[str], rows: Iterable[Row]) -> None:
        where = " and ".join(f"{key} = ?" for key in keys)
        self.connection.executemany(f"delete from {table} where {where}", rows).fetchall()

    def update_many(self, table: str, columns: Sequence[str], keys: Sequence[str], rows: Iterable[Row]) -> None:
        changed, where = (glue.join(f"{name} = ?" for name in names) for glue, names in ((", ", columns), (" and ", keys)))
        self.connection.executemany(f"update {table} set {changed} where {where}", rows).fetchall()


@contextmanager
def _whole(target: Path) -> Iterator[apsw.Connection]:
    """A database that is at `target` when the block ends well, whole and synced, and not at all otherwise."""
    temporary = target.with_name(f".{target.name}.{now_ms()}.tmp")
    create_private(temporary)
    try:
        with translated(target):
            connection = apsw.Connection(str(temporary))
            try:
                yield connection
                # The copy is one file: no log beside it.
                connection.execute("pragma journal_mode = delete").fetchall()
            finally:
                connection.close()
        with _disk(target):
            os.replace(temporary, target)
            sync_directory(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def copy_file(source: apsw.Connection, target: Path) -> None:
    """A consistent copy of an open database, beside its writers."""
    with _whole(target) as copy, copy.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(-1)


def write_copy(target: Path, tables: Iterable[tuple[str, Iterable[Row]]]) -> None:
    """The rows of another store as a brain.db of this release."""
    with _whole(target) as copy:
        session = SqliteSession(copy)
        session.rows("begin immediate")
        for step in MIGRATIONS:
            for statement in step.sqlite:
                session.rows(statement)
        for table, rows in tables:
            session.insert_many(table, rows)
        session.rows(f"pragma user_version = {MIGRATIONS[-1].number}")
        session.rows("commit")
