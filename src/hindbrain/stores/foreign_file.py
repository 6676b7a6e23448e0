"""Foreign files: a SQLite database of another program, read from a private copy. The original is never opened by SQLite, so it is
neither changed nor waited for, wherever it lies and whoever has it locked."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from hindbrain.domain.errors import Busy, InvalidParams, PathRefused
from hindbrain.policy.legacy import CELL_MAX_BYTES
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["ForeignFile", "Record", "opened_foreign", "readable"]

Record = dict[str, Any]  # column -> None, int, float or text

_MAGIC = b"SQLite format 3\x00"
_BESIDE = ("", "-wal", "-journal")  # what a database may have besides itself that is not in it yet
_TRIES = 5
_ENCODINGS = {"UTF-8": "utf-8", "UTF-16le": "utf-16-le", "UTF-16be": "utf-16-be"}


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What SQLite says about a file that is not ours, as an error with the next safe step."""
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:
        raise InvalidParams(
            f"{path.name} cannot be read as a database: {error}", fix="give a whole database; a backup of it does as well"
        ) from error


class ForeignFile:
    """The copy, open for reading."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self.path = path
        self._connection = connection
        with readable(path):
            self.version = int(connection.pragma("user_version"))
            self._encoding = _ENCODINGS.get(str(connection.pragma("encoding")), "utf-8")
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            self.tables: dict[str, tuple[str, ...]] = {
                str(name): tuple(row[1] for row in connection.execute(f"pragma table_info({_quoted(str(name))})"))
                for (name,) in tables
            }

    def rows(self, table: str, columns: Sequence[str] | None = None, *, tail: str = "") -> Iterator[Record]:
        """Every row of a table, with those of these columns that it has. Text that is no text is read as well as it can be, and a
        value without end is cut one byte beyond the most that is kept."""
        held = [name for name in self.tables.get(table, ()) if columns is None or name in columns]
        if not held:
            return
        cells = ", ".join(
            f"case typeof({_quoted(name)}) when 'text' then substr(cast({_quoted(name)} as blob), 1, {CELL_MAX_BYTES + 1}) "
            f"when 'blob' then substr({_quoted(name)}, 1, {CELL_MAX_BYTES + 1}) else {_quoted(name)} end"
            for name in held
        )
        yield from (dict(zip(held, row, strict=True)) for row in self.asked(f"select {cells} from {_quoted(table)} {tail}"))

    def asked(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement, bytes as text."""
        with readable(self.path):
            for row in self._connection.execute(statement, tuple(values)):
                yield tuple(cell.decode(self._encoding, "replace") if isinstance(cell, bytes) else cell for cell in row)

    def count(self, table: str) -> int:
        if table not in self.tables:
            return 0
        with readable(self.path):
            return len(self._connection.execute(f"select 1 from {_quoted(table)}").fetchall())

    def close(self) -> None:
        self._connection.close()


@contextmanager
def opened_foreign(path: Path, room: Path) -> Iterator[ForeignFile]:
    """A database as it stands now, copied into a private directory of `room`. The copy has no name once it is open, so that no
    text stays behind, not even when the reader is killed."""
    _check(path)
    with tempfile.TemporaryDirectory(prefix=".foreign-", dir=room) as held:
        copy = Path(held, "copy.db")
        _copy(path, copy)
        with readable(path):
            connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            with readable(path):
                # Nothing in a schema that somebody else wrote may call anything while it is read.
                connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
                connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
                connection.pragma("journal_mode", "delete")  # what waits in a log beside the copy goes into it
                connection.pragma("query_only", 1)
            for beside in (*_BESIDE, "-shm"):
                Path(f"{copy}{beside}").unlink(missing_ok=True)
            yield ForeignFile(path, connection)
        finally:
            connection.close()


def _check(path: Path) -> None:
    if not path.exists():
        raise PathRefused(f"{str(path)[:200]!r} does not exist", fix="give a database or the directory it lies in")
    if not path.is_file():
        raise InvalidParams(f"{path.name[:120]!r} is not a file", fix="give a database file")
    with open_ordinary(path) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InvalidParams(f"{path.name[:120]!r} is not a SQLite database", fix="give a database file")


def _copy(path: Path, copy: Path) -> None:
    for _ in range(_TRIES):
        before = _stamp(path)
        for beside in _BESIDE:
            source, target = Path(f"{path}{beside}"), Path(f"{copy}{beside}")
            target.unlink(missing_ok=True)
            try:
                shutil.copyfile(source, target)
            except FileNotFoundError:
                if not beside:
                    raise
        if _stamp(path) == before:
            return
    raise Busy(f"{path.name} is being written by another program", fix="end that program, or give a backup of the database")


def _stamp(path: Path) -> tuple[tuple[int, int] | None, ...]:
    """Size and time of a database and what lies beside it: equal before and after a copy, when nobody wrote."""
    found: list[tuple[int, int] | None] = []
    for beside in _BESIDE:
        try:
            status = os.stat(f"{path}{beside}")
            found.append((status.st_size, status.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return tuple(found)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
