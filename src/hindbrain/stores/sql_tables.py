"""SQL tables: reading all rows of a brain in a stable order, and filling an empty brain with them, for both databases."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice

from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import StaleWrite
from hindbrain.stores.migrations import MIGRATIONS
from hindbrain.stores.sql_rows import COLUMNS, KEYS, Head, Row, Session
from hindbrain.stores.table_port import LAYOUT, Plain, TableSnapshot
from hindbrain.stores.vector_port import Shelf, Vectors

__all__ = ["SqlTables"]

PAGE = 500  # rows read at once; a page of the longest texts stays under a few tens of megabytes
BATCH = 100  # rows of one insert; both databases limit how many values a statement takes


class _Snapshot:
    """The rows as one session sees them."""

    def __init__(self, session: Session, brain_id: BrainId) -> None:
        self._session = session
        self._brain_id = brain_id

    def rows(self, table: str) -> Iterator[Plain]:
        columns, keys = LAYOUT[table], KEYS[table]
        begin = f"select {', '.join(columns)} from {table} where brain_id = ?"
        if not keys:
            yield from self._session.rows(begin, (self._brain_id,))
            return
        places = [columns.index(key) for key in keys]
        names, after = ", ".join(keys), ""
        last: Row = ()
        end = f"order by {names} limit {PAGE}"
        while page := self._session.rows(f"{begin} {after} {end}", (self._brain_id, *last)):
            yield from page
            after = f"and ({names}) > ({', '.join('?' * len(keys))})"
            last = tuple(page[-1][place] for place in places)


class SqlTables(ABC):
    """The part of a store that is read and filled as a whole."""

    brain_id: BrainId

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def read_head(self, session: Session, *, lock: bool = False) -> Head: ...

    @abstractmethod
    def reindex(self) -> None: ...

    @property
    @abstractmethod
    def vectors(self) -> Vectors: ...

    @property
    def schema_version(self) -> int:
        return MIGRATIONS[-1].number

    @contextmanager
    def snapshot(self) -> Iterator[TableSnapshot]:
        with self.reading() as session:
            yield _Snapshot(session, self.brain_id)

    def fill(self, tables: Iterable[tuple[str, Iterable[Plain]]], *, expected: tuple[int, str], keep: Mapping[str, str]) -> None:
        # Vectors are known by the turn of their row, and other rows come to have these turns.
        for stamp in {stamp for shelf in Shelf for stamp in self.vectors.stamps(shelf)}:
            self.vectors.drop(stamp)
        with self.transaction() as session:
            head = self.read_head(session, lock=True)
            if (head.seq, head.hash) != expected:
                raise StaleWrite("something was written here meanwhile", fix="look at what is there now, then try again")
            # History that is only added to refuses to go by itself: a brain that has some is not emptied.
            for table in reversed(list(LAYOUT)):
                if table != "brain_head":
                    session.rows(f"delete from {table} where brain_id = ?", (self.brain_id,))
            for table, rows in tables:
                if table == "brain_head":
                    self._put_head(session, rows)
                else:
                    self._put(session, table, rows)
            self._put(session, "meta", keep.items())
        self.reindex()

    def _put_head(self, session: Session, rows: Iterable[Plain]) -> None:
        """The row that writers queue on is changed, never taken away."""
        changed = ", ".join(f"{name} = ?" for name in LAYOUT["brain_head"])
        for row in rows:
            session.rows(f"update brain_head set {changed} where brain_id = ?", (*row, self.brain_id))

    def _put(self, session: Session, table: str, rows: Iterable[Plain]) -> None:
        columns, left = COLUMNS[table], iter(rows)
        place = f"({', '.join('?' * len(columns))})"
        while batch := list(islice(left, BATCH)):
            values = chain.from_iterable((self.brain_id, *row) for row in batch)
            places = ", ".join([place] * len(batch))
            session.rows(f"insert into {table} ({', '.join(columns)}) values {places}", tuple(values))
