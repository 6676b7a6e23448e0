"""SQLite: a brain in files of its own. `brain.db` is the truth and is synced at every commit; `index.db` and `vectors.db` are
derived and may be lost."""

import os
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn
from weakref import WeakKeyDictionary

import apsw

from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import Busy, StoreDamaged, StoreUnavailable
from hindbrain.domain.stored import stored_number
from hindbrain.stores.checked_file import attach_name, checked_vfs, has_checksums, is_plain, lay_out
from hindbrain.stores.locks import try_lock
from hindbrain.stores.migrations import COPIES, MIGRATIONS, Migration, copy_name, outstanding
from hindbrain.stores.port import Seat
from hindbrain.stores.schema_look import LOST, is_lost
from hindbrain.stores.seating import KeptSeating
from hindbrain.stores.sql_evidence import LIVE_TURNS
from hindbrain.stores.sql_rows import Gone, Session
from hindbrain.stores.sqlite_files import (
    SqliteSession,
    Turns,
    copy_file,
    create_private,
    damaged,
    drop_set_aside,
    integrity,
    now_ms,
    require_library,
    set_aside,
    translated,
    unusable,
)
from hindbrain.stores.sqlite_text import BROKEN, GLANCE_SECONDS, INDEX, INDEX_VERSION, SqliteText
from hindbrain.stores.vector_port import Shelf, Vectors
from hindbrain.stores.vectors import SqliteVectors

__all__ = ["SqliteStore"]

BUSY_MS = 20_000  # how long SQLite's own lock is waited for; an ingest of a large repository may hold it for seconds
TURN_SECONDS = 10.0  # how long a writer queues before it asks SQLite's lock directly
SCRUB_MS = 5_000  # how long a forget waits for readers to leave the log; after that the next opening does it
LOG_BYTES = 4 * 1024 * 1024  # what a log may keep on disk after a checkpoint
COUNTED_WORDS = 20_000  # that are remembered with how common they are
ENDINGS = "store.endings"  # meta key: how many transactions ended rows, so that the vectors can tell whether they followed
SCRUB = "store.scrub"  # meta key: a claim was erased, and the log may still hold its text

_PRAGMAS = (
    "pragma foreign_keys = on",
    *(
        f"pragma {place}.{setting}"
        for place, sync in (("main", "full"), ("idx", "normal"))
        for setting in (f"synchronous = {sync}", "secure_delete = on", f"journal_size_limit = {LOG_BYTES}")
    ),
)


_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI  # the index is attached by a URI


class _BrokenIndex(Exception):
    """index.db is missing or damaged."""


class _OldIndex(_BrokenIndex):
    """index.db is of another release."""


class _OldSchema(Exception):
    """brain.db is empty, older than this release, or came out of a backup."""


class _Borrowed:
    """A connection for one block; what goes wrong in the block decides whether it is kept. No generator: a question takes dozens
    of these."""

    __slots__ = ("_connection", "_file", "_index", "_store")

    def __init__(self, store: "SqliteStore", *, index: bool = True) -> None:
        self._store = store
        self._index = index  # whether it is asked too

    def __enter__(self) -> apsw.Connection:
        self._connection, self._file = self._store.take(index=self._index)
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # After these SQLite has rolled back and can go on reading; a new connection could not even be opened on a full disk.
        if isinstance(error, apsw.Error) and not isinstance(error, apsw.FullError | apsw.IOError | apsw.ReadOnlyError):
            self._connection.close()
        else:
            self._store.give_back(self._connection, self._file)


class SqliteStore(SqliteText):
    """One brain in a directory of its own. Safe for several threads and processes."""

    def __init__(
        self,
        directory: Path,
        brain_id: BrainId,
        *,
        migrations: Sequence[Migration] = MIGRATIONS,
        busy_ms: int = BUSY_MS,
        vfs: str | None = None,
    ) -> None:
        super().__init__(brain_id)
        require_library(apsw.sqlite_lib_version())
        self.path = directory / "brain.db"
        self._index_path = directory / "index.db"
        self._migrations = migrations
        self._busy_ms = busy_ms
        self._vfs = vfs
        self._turns = Turns(directory / "brain.db.lock")
        # A connection serves one call at a time. Each is kept with the index file it opened; deque's append and pop are atomic.
        self._idle: deque[tuple[apsw.Connection, int]] = deque()
        # How common words are, for each connection with the state of its index in which they were counted.
        self._counts: WeakKeyDictionary[apsw.Connection, tuple[int, dict[Shelf, dict[str, int]]]] = WeakKeyDictionary()
        self._closed = False
        self._seating = KeptSeating(brain_id)
        self._vectors = SqliteVectors(directory / "vectors.db", self, vfs=vfs)
        if is_lost(self.path):
            raise damaged(self.path, LOST)
        create_private(self.path)
        with translated(self.path), _Borrowed(self) as connection:
            session = SqliteSession(connection)
            current = self.mark(session) == self.end(session)
            unclean = session.rows("select 1 from meta where brain_id = ? and key = ?", (self.brain_id, SCRUB))
        if not current:
            self.heal(TURN_SECONDS)
        if unclean:
            self.erased()

    # --- connections -------------------------------------------------------------------------------------------------

    def _open(self, longest_ms: int = BUSY_MS) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), flags=_FLAGS, vfs=self._vfs)
        connection.set_busy_timeout(min(longest_ms, self._busy_ms))
        return connection

    def _connect(self) -> tuple[apsw.Connection, int]:
        try:
            return self._attached()
        except (_OldSchema, _BrokenIndex):
            with self._turns.taken(TURN_SECONDS):
                self._migrate()
                self._repair_index()
            return self._attached()

    def _attached(self) -> tuple[apsw.Connection, int]:
        """A connection to both files, or the reason why there can be none yet."""
        connection = self._open()
        try:
            session = SqliteSession(connection)
            version, journal = connection.pragma("user_version"), connection.pragma("journal_mode")
            if outstanding(self._migrations, version, str(self.path)) or journal != "wal":
                raise _OldSchema
            if unusable(self._index_path):
                raise _BrokenIndex
            try:
                file = self._index_path.stat().st_ino
                if is_plain(self._index_path):
                    raise _OldIndex
                session.rows("attach ? as idx", (attach_name(self._index_path, self._vfs),))
                ((made_by,),) = session.rows("pragma idx.user_version")
                if made_by != INDEX_VERSION:
                    raise _OldIndex if made_by else _BrokenIndex
                if not has_checksums(connection, "idx"):
                    raise _BrokenIndex
                self.mark(session)
                _look_at_words(session)  # their own tables are looked at when they are first read
            except (FileNotFoundError, ValueError, apsw.SQLError, *BROKEN) as error:
                raise _BrokenIndex from error
            for pragma in _PRAGMAS:
                session.rows(pragma)
            # Closing must not remove the log by its name: after a renewal that name belongs to another index.
            keep = array("i", [1])
            connection.file_control("idx", apsw.SQLITE_FCNTL_PERSIST_WAL, keep.buffer_info()[0])
        except BaseException:
            connection.close()
            raise
        return connection, file

    def take(self, *, index: bool) -> tuple[apsw.Connection, int]:
        """A connection that nobody else has, with the file of its index. Who asks nothing of the index takes any."""
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed", fix="open the brain again")
        while self._idle:
            try:
                connection, file = self._idle.pop()
            except IndexError:
                break
            if not index:
                return connection, file
            with suppress(OSError):
                if os.stat(self._index_path).st_ino == file:
                    return connection, file
            connection.close()  # another process renewed the index, or somebody removed it
        return self._connect()

    def give_back(self, connection: apsw.Connection, file: int) -> None:
        if connection.in_transaction:
            connection.execute("rollback")
        if self._closed:
            connection.close()
        else:
            self._idle.append((connection, file))

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with translated(self.path), _Borrowed(self) as connection:
            connection.execute("begin")
            yield SqliteSession(connection)
            connection.execute("commit")

    @contextmanager
    def asking(self) -> Iterator[Session]:
        with translated(self.path), _Borrowed(self, index=False) as connection:
            yield SqliteSession(connection)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        try:
            with translated(self.path), self._turns.taken(TURN_SECONDS), _Borrowed(self) as connection:
                session = SqliteSession(connection)
                session.rows("begin immediate")
                self.catch_up(session)
                yield session
                session.rows("commit")
        except StoreDamaged as error:
            if self._is_sound():
                self._index_broke(error)
            raise

    def _is_sound(self) -> bool:
        """Whether brain.db itself is in order."""
        connection = self._open()
        try:
            return connection.execute("pragma main.quick_check(1)").fetchall() == [("ok",)]
        except apsw.Error:
            return False
        finally:
            connection.close()

    def _index_broke(self, error: StoreDamaged) -> NoReturn:
        """A write met a damaged index. It was undone; the next one finds a whole index."""
        self.replace_index()
        raise StoreUnavailable(
            f"{self._index_path} was damaged and has been made again; this write was undone", fix="do it once more"
        ) from error.__cause__

    # --- the schema --------------------------------------------------------------------------------------------------

    def _migrate(self) -> None:
        """Bring brain.db to this release. The caller has the writers' turn."""
        connection = self._open()
        try:
            version = connection.pragma("user_version")
            steps = outstanding(self._migrations, version, str(self.path))
            if not steps and connection.pragma("journal_mode") == "wal":
                return  # the index was the reason; who writes at this moment, in this thread even, is not disturbed
            if steps and version:
                copy_file(connection, self.path.with_name(copy_name(now_ms(), version)))
            connection.pragma("journal_mode", "wal")
            session = SqliteSession(connection)
            session.rows("begin immediate")
            for step in steps:
                for statement in step.sqlite:
                    session.rows(statement)
                session.rows(f"pragma user_version = {step.number}")
            session.rows("commit")
        finally:
            connection.close()

    def _repair_index(self) -> None:
        try:
            self._attached()[0].close()  # it was not the index, or somebody else renewed it while we queued
        except _OldIndex:
            self._renew_index(aside=False)  # sound, but of no use to anybody any more
        except _BrokenIndex:
            self._renew_index()

    def _renew_index(self, *, aside: bool = True) -> None:
        """Put the index out of the way and begin an empty one; its mark is behind, so that it is filled from brain.db."""
        if aside:
            set_aside(self._index_path)
        else:
            for name in ("index.db-shm", "index.db-wal", "index.db"):
                self._index_path.with_name(name).unlink(missing_ok=True)
        create_private(self._index_path)
        # Not beside brain.db: in the middle of a write its lock is taken, perhaps by this very thread.
        connection = apsw.Connection(":memory:", flags=_FLAGS, vfs=self._vfs)
        try:
            session = SqliteSession(connection)
            session.rows("attach ? as idx", (attach_name(self._index_path, self._vfs),))
            lay_out(connection, "idx")
            session.rows("pragma idx.journal_mode = wal")
            session.rows("begin immediate")
            for statement in INDEX:
                session.rows(statement)
            session.rows("commit")
        finally:
            connection.close()

    def counted(self, session: Session, shelf: Shelf) -> dict[str, int]:
        assert isinstance(session, SqliteSession)  # noqa: S101 - `reading` made it
        version = session.connection.data_version("idx")
        seen, counts = self._counts.get(session.connection, (None, {}))
        if seen != version:
            counts = {}
            self._counts[session.connection] = (version, counts)
        known = counts.setdefault(shelf, {})
        if len(known) > COUNTED_WORDS:
            known.clear()
        return known

    def seats(self, turns: Sequence[int]) -> dict[int, Seat]:
        if not turns or not self._seating.worthwhile:
            return super().seats(turns)
        with self._seating.lock, self.reading() as session:
            found, all_live = self._seating.seats(session, self.read_head(session), turns)
            if all_live:
                return found
            live = session.rows(f"{LIVE_TURNS} {self.among}", (self.brain_id, self.listed(list(found))))
        return {turn: found[turn] for (turn,) in live}

    def heal(self, seconds: float) -> None:
        """Catch up if it is our turn soon; otherwise a writer is at work, and each writer catches up first."""
        with self._turns.taken(seconds) as mine:
            if mine:
                with self.transaction():
                    pass

    def lag(self) -> int:
        if not self.behind():
            return 0
        with self._turns.taken(GLANCE_SECONDS):
            return self.behind()

    def replace_index(self) -> None:
        """A fresh file, filled from brain.db. Connections to the old one are closed when they are next asked for."""
        with self._turns.taken(TURN_SECONDS):
            with translated(self._index_path):
                self._renew_index()
            self.heal(TURN_SECONDS)

    @property
    def vectors(self) -> Vectors:
        return self._vectors

    def ending(self, session: Session, gone: Gone) -> int:
        ((value,),) = session.rows(
            "insert into meta (brain_id, key, value) values (?, ?, '1') "
            "on conflict do update set value = cast(cast(value as integer) + 1 as text) returning value",
            (self.brain_id, ENDINGS),
        )
        return int(str(value))

    def ended_rows(self, gone: Gone, number: int) -> None:
        # The rows have ended and are durable; what cannot be taken out now is never shown and goes at the next opening.
        with suppress(Busy, StoreUnavailable):
            self._vectors.ended(gone, number)

    def endings(self) -> int:
        return stored_number(self.meta(ENDINGS), "meta")

    def live_units(self) -> tuple[int, dict[Shelf, int]]:
        found = self._asked(
            "select h.active_claims, h.evidence, (select m.value from meta m where m.brain_id = h.brain_id and m.key = ?) "
            "from brain_head h where h.brain_id = ?",
            (ENDINGS, self.brain_id),
        )
        claims, evidence, endings = found[0] if found else (0, 0, None)
        return int(endings or 0), {Shelf.CLAIM: claims, Shelf.EVIDENCE: evidence}

    # --- erasing, copying, checking, closing -------------------------------------------------------------------------

    @contextmanager
    def dreaming(self) -> Iterator[bool]:
        handle = try_lock(self.path.with_name("dream.lock"))
        try:
            yield handle is not None
        finally:
            if handle is not None:
                os.close(handle)

    def erasing(self, session: Session, shelf: Shelf | None) -> None:
        # Deleted words stay in their segments until these are merged, so merge all of them: 0.3 s for 100,000 claims. The
        # secure-delete option of FTS5 would do it at once, but makes each replacement of a claim ten times slower.
        if shelf is not None:
            words = "words" if shelf is Shelf.CLAIM else "evidence_words"
            session.rows(f"insert into idx.{words} ({words}) values ('optimize')")
        session.rows("insert into meta (brain_id, key, value) values (?, ?, '1') on conflict do nothing", (self.brain_id, SCRUB))

    def erased(self) -> None:
        """Deleted rows are overwritten at once; now the logs go, and every copy that was only kept for safety."""
        self._seating.forget()
        drop_set_aside(self.path.parent, self._index_path.name)
        for path in self.path.parent.glob(COPIES):
            path.unlink(missing_ok=True)
        self._vectors.scrub()
        with translated(self.path):
            connection = self._open(SCRUB_MS)
            try:
                logs = SqliteSession(connection)
                logs.rows("attach ? as idx", (attach_name(self._index_path, self._vfs),))
                done = [logs.rows(f"pragma {place}.wal_checkpoint(truncate)")[0][0] == 0 for place in ("main", "idx")]
            finally:
                connection.close()
        if all(done):
            with self.transaction() as session:
                session.rows("delete from meta where brain_id = ? and key = ?", (self.brain_id, SCRUB))

    def backup(self, target: Path) -> None:
        with translated(self.path), _Borrowed(self) as connection:
            copy_file(connection, target)

    def check(self) -> tuple[str, ...]:
        rows = super().check()
        with translated(self.path):
            truth = integrity(self.path, self._open())
        return (*truth, *self._check_index(), *self._vectors.check(), *rows)

    def _check_index(self) -> tuple[str, ...]:
        with translated(self._index_path):
            connection = apsw.Connection(str(self._index_path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=checked_vfs(self._vfs))
            return integrity(self._index_path, connection)

    def reindex(self) -> None:
        if self._check_index():
            self.replace_index()
        else:
            super().reindex()

    def close(self) -> None:
        self._closed = True
        self._vectors.close()
        while self._idle:
            with suppress(IndexError):
                self._idle.pop()[0].close()


def _look_at_words(session: Session) -> None:
    """Read something of each table of words: thereby its connection learns how that is laid out now."""
    for words in ("words", "evidence_words"):
        session.rows(f"select rowid from idx.{words} limit 1")
