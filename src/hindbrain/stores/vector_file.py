"""Vector file: vectors.db as a file. Made when it is first asked for, moved aside when it is damaged, begun again when it is
another release's. Knows nothing of nearness."""

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import apsw

from hindbrain.domain.errors import StoreDamaged, StoreUnavailable
from hindbrain.stores.checked_file import add_checksums, checked_vfs, has_checksums, is_plain, lay_out
from hindbrain.stores.sqlite_files import SqliteSession, create_private, damaged, integrity, set_aside, translated, unusable

if TYPE_CHECKING:
    from hindbrain.stores.vector_matrix import Matrix

__all__ = ["VectorFile", "healing"]

PLAIN_VERSION = 1  # the last one without checksums; its tables are the same
VERSION = 2
BUSY_MS = 20_000
LOG_BYTES = 4 * 1024 * 1024  # what a log may keep on disk after a checkpoint

_BROKEN = (apsw.NotADBError, apsw.CorruptError, apsw.SQLError)  # the last: a table is missing, so the file is not ours

# What is searched is read as a whole and lies apart from what is read row by row. Ids grow for ever: a reader takes in what is
# above the last it knows. `complete`: every unit up to this turn has vectors. `endings`: how many of brain.db's were followed.
_SCHEMA = (
    "create table collection (id integer primary key autoincrement, stamp text not null, shelf text not null, "
    "units integer not null, complete integer not null, unique (stamp, shelf)) strict",
    "create table searched (id integer primary key autoincrement, collection integer not null, turn integer not null, "
    "part integer not null, vector blob not null, unique (collection, turn, part)) strict",
    "create table told (id integer primary key, raw blob not null, late blob not null) strict",
    "create table mark (one integer primary key check (one = 1), seq integer not null, hash text not null, "
    "endings integer not null) strict",
    "insert into mark values (1, 0, '', 0)",
    f"pragma user_version = {VERSION}",
)


_P = ParamSpec("_P")
_T = TypeVar("_T")
_V = TypeVar("_V", bound="VectorFile")


def healing(method: "Callable[Concatenate[_V, _P], _T]") -> "Callable[Concatenate[_V, _P], _T]":
    """Derived data may always be thrown away: a damaged file is moved aside, and the question asked of an empty one."""

    @wraps(method)
    def answered(self: _V, /, *args: _P.args, **named: _P.kwargs) -> _T:
        try:
            return method(self, *args, **named)
        except StoreDamaged:
            self.move_aside()
        return method(self, *args, **named)

    return answered


class VectorFile(ABC):
    """A file that several threads and processes may use."""

    def __init__(self, path: Path, *, vfs: str | None) -> None:
        self.path = path
        self._vfs = vfs
        self._idle: deque[tuple[apsw.Connection, int]] = deque()
        self.guard = threading.RLock()
        self._file = 0  # the file that was found in order
        self._closed = False
        self.matrices: dict[int, Matrix] = {}  # what is in memory of it

    @abstractmethod
    def settle(self) -> None:
        """A file was found: bring it to what the brain is now."""

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), vfs=checked_vfs(self._vfs))
        connection.set_busy_timeout(BUSY_MS)
        for pragma in ("synchronous = normal", "secure_delete = on", f"journal_size_limit = {LOG_BYTES}"):
            connection.execute(f"pragma {pragma}").fetchall()
        return connection

    def _prepare(self) -> None:
        """A file that is sound and belongs to this brain's present, whatever was there before."""
        create_private(self.path)
        try:
            if is_plain(self.path):
                add_checksums(self.path, base=self._vfs)
            connection = self._connect()
            try:
                if self.path.stat().st_size == 0:
                    lay_out(connection)
                connection.pragma("journal_mode", "wal")
                if connection.pragma("user_version") == PLAIN_VERSION:
                    connection.pragma("user_version", VERSION)
                elif connection.pragma("user_version") != VERSION:
                    self._begin(connection)
                connection.execute("select count(*) from collection, mark limit 1").fetchall()
                if not has_checksums(connection):
                    raise damaged(self.path, "its pages have no checksums")
            finally:
                connection.close()
        except (StoreDamaged, *_BROKEN):
            self.move_aside()
            self._prepare()

    def _begin(self, connection: apsw.Connection) -> None:
        session = SqliteSession(connection)
        session.rows("begin immediate")
        if connection.pragma("user_version") == VERSION:  # another process was first
            session.rows("rollback")
            return
        for (name,) in session.rows("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"):
            session.rows(f"drop table {name}")  # of another release: made again, not converted
        for statement in _SCHEMA:
            session.rows(statement)
        session.rows("commit")

    def move_aside(self) -> None:
        """The next one to ask begins an empty file."""
        with self.guard:
            self._leave()
            set_aside(self.path)

    def _leave(self) -> None:
        while self._idle:
            with suppress(IndexError):
                self._idle.pop()[0].close()
        self.matrices = {}
        self._file = 0

    def _at_hand(self) -> int:
        """Which file there is; a new or another one is looked at first."""
        with self.guard:
            file = 0
            with suppress(OSError):  # not there, or no file at all: it is looked at below
                file = os.stat(self.path).st_ino
            if not file or file != self._file:
                self._leave()
                if unusable(self.path):
                    self.move_aside()
                self._prepare()
                file = self._file = self.path.stat().st_ino
                self.settle()
            return file

    @contextmanager
    def borrowed(self) -> Iterator[SqliteSession]:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed", fix="open the brain again")
        with translated(self.path):
            file = self._at_hand()
            connection = self._take(file)
            try:
                yield SqliteSession(connection)
            except apsw.Error:
                connection.close()
                raise
            except BaseException:
                self._give_back(connection, file)
                raise
            self._give_back(connection, file)

    def _take(self, file: int) -> apsw.Connection:
        with suppress(IndexError):
            connection, its = self._idle.pop()
            if its == file:
                return connection
            connection.close()
        return self._connect()

    def _give_back(self, connection: apsw.Connection, file: int) -> None:
        if connection.in_transaction:
            connection.execute("rollback")
        if self._closed or file != self._file:
            connection.close()
        else:
            self._idle.append((connection, file))

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        with self.borrowed() as session:
            session.rows("begin")
            yield session
            session.rows("commit")

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        with self.borrowed() as session:
            session.rows("begin immediate")
            yield session
            session.rows("commit")

    def check(self) -> tuple[str, ...]:
        """What SQLite says is wrong with the file; empty when it is sound or was never made."""
        if not self.path.exists():
            return ()
        try:
            with translated(self.path):
                self._at_hand()
                return integrity(self.path, self._connect())
        except StoreUnavailable as error:
            return (f"{self.path.name}: {error.message}",)

    def close(self) -> None:
        self._closed = True
        self._leave()
