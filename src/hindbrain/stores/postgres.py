"""PostgreSQL: the brains of a team in one schema. Row security keeps each transaction inside the brain it names."""

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import psycopg
from psycopg import errors, sql

from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import Busy, InvalidParams, StoreUnavailable
from hindbrain.stores.migrations import MIGRATIONS, Migration
from hindbrain.stores.postgres_schema import ROLE, migrate, prepare_vectors
from hindbrain.stores.postgres_text import PostgresText
from hindbrain.stores.postgres_vectors import PostgresVectors, drop_vectors
from hindbrain.stores.sql_rows import COLUMNS, NUMBERS, REALS, Gone, Row, Session

__all__ = ["PostgresStore"]

Connection = psycopg.Connection[Row]

LOCK_MS = 20_000  # how long a writer waits for the head row of its brain
CONNECT_SECONDS = 10
IDLE_CONNECTIONS = 4  # kept per server, for all brains of this process together
BULK = 20_000  # rows of one statement

_READING = "begin isolation level repeatable read read only"
_WRITING = "begin isolation level read committed read write"


@lru_cache(maxsize=256)
def _translated(statement: str) -> str:
    return statement.replace("%", "%%").replace("?", "%s")


@contextmanager
def _answering() -> Iterator[None]:
    """What the server says, as an error of ours with the next safe step. Never the address: it may hold a password."""
    try:
        yield
    except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure, errors.QueryCanceled) as error:
        raise Busy(f"another writer holds this brain: {error}", fix="try again in a moment") from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise StoreUnavailable(
            f"the database does not let us: {error}", fix="give the user of store_url the right to read and write its schema"
        ) from error
    except psycopg.DataError as error:
        raise InvalidParams(f"the database cannot hold this value: {error}", fix="remove control characters") from error
    except psycopg.IntegrityError as error:
        # No write of ours breaks a rule of the tables: somebody else put something where this belongs.
        raise StoreUnavailable(
            f"the database holds what Hindbrain did not write: {error}",
            fix="hindbrain ledger verify says where; nothing was changed",
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise StoreUnavailable(
            f"the database server does not answer: {error}", fix="check that it runs and that store_url is right"
        ) from error


class _Pool:
    """Connections to one server, shared by the brains of this process: a connection belongs to no brain between calls."""

    _pools: ClassVar[dict[str, "_Pool"]] = {}
    _guard = threading.Lock()

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: deque[Connection] = deque()
        self._users = 0
        self.role: str | None = None
        self.vectors: str | None = None  # where pgvector is

    @classmethod
    def joined_by(cls, url: str, migrations: Sequence[Migration]) -> "_Pool":
        with cls._guard:
            pool = cls._pools.get(url) or _Pool(url)
            if not pool._users:
                pool._prepare(migrations)
            pool._users += 1
            cls._pools[url] = pool
            return pool

    def leave(self) -> None:
        with self._guard:
            self._users -= 1
            if not self._users:
                self._pools.pop(self._url, None)
                self._drain()

    def _prepare(self, migrations: Sequence[Migration]) -> None:
        connection = self._connect()
        try:
            migrate(connection, migrations)
            self.vectors = prepare_vectors(connection)
            self.role = ROLE if _may_become(connection, ROLE) else None
        except BaseException:
            connection.close()
            raise
        self.give_back(connection)

    def _connect(self) -> Connection:
        with_limit = {} if "connect_timeout" in self._url else {"connect_timeout": CONNECT_SECONDS}
        # No prepared statements: behind a pooler in transaction mode they belong to another connection the next time.
        return psycopg.connect(
            self._url,
            autocommit=True,
            prepare_threshold=None,
            client_encoding="UTF8",
            fallback_application_name="hindbrain",
            **with_limit,  # type: ignore[arg-type]  # an integer, as libpq wants it
        )

    def begun(self, preamble: str) -> Connection:
        """A connection in a fresh transaction. One that died while it was idle is replaced, once."""
        with suppress(IndexError):
            connection = self._idle.pop()
            try:
                connection.execute(preamble)
                return connection
            except psycopg.OperationalError:
                if not connection.closed:
                    connection.close()
                    raise
            self._drain()
        connection = self._connect()
        try:
            connection.execute(preamble)
        except BaseException:
            connection.close()
            raise
        return connection

    def give_back(self, connection: Connection) -> None:
        if connection.closed or len(self._idle) >= IDLE_CONNECTIONS:
            connection.close()
        else:
            self._idle.append(connection)

    def _drain(self) -> None:
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()


def _may_become(connection: Connection, role: str) -> bool:
    connection.execute("begin")
    try:
        connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
    except (errors.InsufficientPrivilege, errors.InvalidParameterValue, errors.UndefinedObject):
        return False
    finally:
        connection.execute("rollback")
    return True


class _Session:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        cursor = self.connection.execute(_translated(statement), values)
        return cursor.fetchall() if cursor.description else []

    # COPY is not allowed under row security; arrays are nearly as fast.

    def insert_many(self, table: str, rows: Sequence[Row]) -> None:
        columns = COLUMNS[table]
        statement = f"insert into {table} ({', '.join(columns)}) select * from {_unnested(columns)}"
        self._in_bulk(statement, rows)

    def delete_many(self, table: str, keys: Sequence[str], rows: Sequence[Row]) -> None:
        where = " and ".join(f"{table}.{key} = gone.{key}" for key in keys)
        self._in_bulk(f"delete from {table} using {_unnested(keys)} as gone({', '.join(keys)}) where {where}", rows)

    def update_many(self, table: str, columns: Sequence[str], keys: Sequence[str], rows: Sequence[Row]) -> None:
        names = (*columns, *keys)
        changed = ", ".join(f"{name} = fresh.{name}" for name in columns)
        where = " and ".join(f"{table}.{key} = fresh.{key}" for key in keys)
        self._in_bulk(f"update {table} set {changed} from {_unnested(names)} as fresh({', '.join(names)}) where {where}", rows)

    def _in_bulk(self, statement: str, rows: Sequence[Row]) -> None:
        for start in range(0, len(rows), BULK):
            self.rows(statement, [list(column) for column in zip(*rows[start : start + BULK], strict=True)])


def _unnested(columns: Sequence[str]) -> str:
    return f"unnest({', '.join(f'?::{_type(name)}[]' for name in columns)})"


def _type(column: str) -> str:
    return "bigint" if column in NUMBERS else "double precision" if column in REALS else "text"


class PostgresStore(PostgresText):
    """One brain on a server. Every transaction names its brain; row security holds it to that, also for a superuser."""

    def __init__(
        self, url: str, brain_id: BrainId, *, migrations: Sequence[Migration] = MIGRATIONS, lock_ms: int = LOCK_MS
    ) -> None:
        super().__init__(brain_id)
        with _answering():
            self._pool = _Pool.joined_by(url, migrations)
        role = sql.SQL("set local role {};").format(sql.Identifier(self._pool.role)) if self._pool.role else sql.SQL("")
        # One round trip. SET LOCAL, not set_config: it ends with the transaction, and on Citus it reaches the workers.
        self._scope = (
            sql.SQL("; {} set local app.brain = {}; set local lock_timeout = {}")
            .format(role, sql.Literal(str(brain_id)), sql.Literal(f"{lock_ms}ms"))
            .as_string(None)
        )
        self._closed = False
        self._vectors = PostgresVectors(self, self._pool.vectors)

    @contextmanager
    def _session(self, begin: str) -> Iterator[_Session]:
        if self._closed:
            raise StoreUnavailable("this brain was closed", fix="open the brain again")
        with _answering():
            connection = self._pool.begun(begin + self._scope)
            try:
                yield _Session(connection)
                connection.execute("commit")
            finally:
                if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    with suppress(psycopg.Error):  # the error that brought us here is the one to tell
                        connection.execute("rollback")
                self._pool.give_back(connection)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self._session(_READING) as session:
            yield session

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        with self._session(_WRITING) as session:
            yield session

    @property
    def vectors(self) -> PostgresVectors:
        return self._vectors

    def ending(self, session: Session, gone: Gone) -> int:
        drop_vectors(session, self.brain_id, gone)
        return 0

    @contextmanager
    def dreaming(self) -> Iterator[bool]:
        # The lock ends with its transaction, so it works behind a pooler and goes with a process that dies.
        with self._session(_READING) as session:
            ((mine,),) = session.rows(
                "select pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' dreams ' || ?, 0))", (self.brain_id,)
            )
            yield mine

    # --- copying and closing -----------------------------------------------------------------------------------------

    def backup(self, target: Path) -> None:
        from hindbrain.stores.sqlite_files import write_copy  # a team's process needs SQLite for copies only

        with self._session(_READING) as session:
            write_copy(target, ((table, self._streamed(session.connection, table)) for table in COLUMNS))

    def _streamed(self, connection: Connection, table: str) -> Iterator[Row]:
        with connection.cursor(name=f"copy_{table}") as cursor:
            cursor.execute(f"select {', '.join(COLUMNS[table])} from {table} where brain_id = %s", (self.brain_id,))
            yield from cursor

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._pool.leave()
