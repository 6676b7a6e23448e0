"""Vectors of a brain in SQLite: vectors.db beside index.db. Derived, but dear: hours of a model's work, so it has its own file.

Knows brain.db only by asking its store which rows are live. Nothing needs both files at once: rows end in brain.db first, their
vectors go after that, and a count of such endings says whether all went.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hindbrain.stores.sql_rows import Gone
from hindbrain.stores.sqlite_files import SqliteSession, drop_set_aside
from hindbrain.stores.vector_file import VectorFile, healing
from hindbrain.stores.vector_port import Embedded, Near, Pending, Shelf

if TYPE_CHECKING:
    from hindbrain.stores.vector_matrix import Matrix

__all__ = ["Rows", "SqliteVectors"]

LOADED = 20_000  # rows that are taken into memory at a time
PAGE = 5_000  # units that are compared with their vectors at a time
OVERSHOOT = 8  # more than was asked for, so that a few that ended meanwhile do not leave the answer short

_AMONG = "in (select value from json_each(?))"
_LAST = 2**62  # beyond any turn
_LAST_ID = "coalesce((select seq from sqlite_sequence where name = 'searched'), 0)"  # that was ever given


class Rows(Protocol):
    """What vectors ask the brain's own rows."""

    def keys(self, shelf: Shelf, turns: Sequence[int]) -> dict[int, str]: ...

    def units(self, shelf: Shelf, *, beyond: int, limit: int, newest: bool = False) -> list[tuple[int, str]]:
        """Live rows as (turn, key): those after a turn, or with `newest` those before it, nearest to it first."""
        ...

    def live_units(self) -> tuple[int, dict[Shelf, int]]:
        """How many transactions ended rows, and how many rows of each shelf live."""
        ...

    def endings(self) -> int:
        """How many transactions ended rows."""
        ...

    def head(self) -> tuple[int, str]: ...

    def hash_at(self, seq: int) -> str | None:
        """The hash of an entry of the ledger."""
        ...


class SqliteVectors(VectorFile):
    """One brain's vectors. The file is made when something is first asked of it."""

    def __init__(self, path: Path, rows: Rows, *, vfs: str | None = None) -> None:
        super().__init__(path, vfs=vfs)
        self._rows = rows

    # --- following the brain -------------------------------------------------------------------------------------------------

    def settle(self, *, doubtful: bool = False) -> None:
        """Take out what ended while nobody followed; everything, when brain.db is not the one these vectors were made for. With
        `doubtful` also where the counts agree."""
        endings = self._rows.endings()
        with self.reading() as session:
            ((seq, digest, followed),) = session.rows("select seq, hash, endings from mark")
            shelves = session.rows("select id, shelf from collection")
        if seq and self._rows.hash_at(seq) != digest:
            with self.writing() as session:
                for table in ("collection", "searched", "told"):
                    session.rows(f"delete from {table}")
                session.rows("update mark set seq = 0, hash = '', endings = ?", (endings,))
            return
        if followed == endings and not doubtful:
            return
        for collection, shelf in shelves:
            turn = -1
            while held := self._turns(collection, above=turn):
                live = self._rows.keys(Shelf(shelf), held)
                with self.writing() as session:
                    _delete(session, collection, [one for one in held if one not in live])
                turn = held[-1]
        with self.writing() as session:
            # Fewer endings than were followed: brain.db came from a backup, and rows live again that had gone with their vectors.
            session.rows("update collection set complete = 0 where exists (select 1 from mark where endings > ?)", (endings,))
            session.rows("update mark set endings = ? where endings = ?", (endings, followed))

    def _turns(self, collection: int, *, above: int) -> list[int]:
        with self.reading() as session:
            found = session.rows(
                "select distinct turn from searched where collection = ? and turn > ? order by turn limit ?",
                (collection, above, PAGE),
            )
        return [turn for (turn,) in found]

    @healing
    def ended(self, gone: Gone, number: int) -> None:
        """Rows of the brain ended, as the ending of this number: their vectors go."""
        if not self.path.exists():
            return
        masked: list[tuple[int, Sequence[int]]] = []
        with self.writing() as session:
            for shelf, turns in gone.items():
                for (collection,) in session.rows("select id from collection where shelf = ?", (shelf.value,)):
                    _delete(session, collection, turns)
                    masked.append((collection, turns))
            # Only this one is counted: one before it that nobody followed is left to who settles, and so is this one then.
            session.rows("update mark set endings = ? where endings = ?", (number, number - 1))
            ((followed,),) = session.rows("select endings from mark")
        for collection, turns in masked:
            if (matrix := self.matrices.get(collection)) is not None:
                with matrix.lock:
                    matrix.mask(turns)
                    if followed >= number == matrix.endings + 1:
                        matrix.endings = number
                if matrix.sparse:
                    self._forget(matrix)

    @healing
    def scrub(self) -> None:
        """See that nothing of erased rows stays behind in the log, nor in copies that were only kept for safety."""
        drop_set_aside(self.path.parent, self.path.name)
        if self.path.exists():
            with self.borrowed() as session:
                self.settle(doubtful=True)
                session.rows("pragma wal_checkpoint(truncate)")

    # --- the port ------------------------------------------------------------------------------------------------------------

    def _collection(self, session: SqliteSession, stamp: str, shelf: Shelf) -> tuple[int, int, int]:
        """Id, number of units and the turn up to which none is missing; zeros when there is nothing of this embedder."""
        found = session.rows("select id, units, complete from collection where stamp = ? and shelf = ?", (stamp, shelf.value))
        return found[0] if found else (0, 0, 0)

    @healing
    def stamps(self, shelf: Shelf) -> dict[str, int]:
        with self.reading() as session:
            found = session.rows(
                "select stamp, units from collection where shelf = ? and units > 0 order by stamp", (shelf.value,)
            )
        return dict(found)

    @healing
    def pending(self, stamp: str, shelf: Shelf, *, limit: int, newest: bool = False) -> tuple[Pending, ...]:
        found = self._first(stamp, shelf, limit, newest=newest)
        if not found and self.missing(stamp)[shelf]:  # what was complete is so no more
            with self.writing() as session:
                session.rows("update collection set complete = 0 where stamp = ? and shelf = ?", (stamp, shelf.value))
            found = self._first(stamp, shelf, limit, newest=newest)
        return tuple(found[: max(limit, 0)])

    def _first(self, stamp: str, shelf: Shelf, limit: int, *, newest: bool) -> list[Pending]:
        found: list[Pending] = []
        for page in self._lacking(stamp, shelf, newest=newest):
            found += page
            if len(found) >= limit:
                break
        return found

    def _lacking(self, stamp: str, shelf: Shelf, *, newest: bool) -> Iterator[list[Pending]]:
        """Units without vectors, page by page of all units that may have none."""
        with self.reading() as session:
            collection, _, complete = self._collection(session, stamp, shelf)
        beyond, first = (_LAST if newest else complete), True
        while page := self._rows.units(shelf, beyond=beyond, limit=PAGE, newest=newest):
            turns = [turn for turn, _ in page if turn > complete]
            with self.reading() as session:
                held = session.rows(
                    "select turn from searched where collection = ? and turn between ? and ?",
                    (collection, min(turns, default=0), max(turns, default=-1)),
                )
            has = {turn for (turn,) in held}
            lacking = [Pending(turn=turn, key=key) for turn, key in page if turn > complete and turn not in has]
            beyond = page[-1][0]
            if collection and first and not newest:
                self._note_complete(collection, lacking[0].turn - 1 if lacking else beyond)
            first = first and not lacking
            yield lacking
            if len(turns) < len(page):
                return

    def _note_complete(self, collection: int, turn: int) -> None:
        """Turns only grow, so what is complete stays so: the next one to ask begins there."""
        with self.writing() as session:
            session.rows("update collection set complete = ? where id = ? and complete < ?", (turn, collection, turn))

    @healing
    def missing(self, stamp: str) -> dict[Shelf, int]:
        followed, units = self._followed_units(stamp)
        endings, live = self._rows.live_units()
        if followed != endings:
            self.settle()  # a process died between the files
            _, units = self._followed_units(stamp)
            _, live = self._rows.live_units()
        if any(units[shelf] > live[shelf] for shelf in Shelf):  # vectors of rows that are gone
            self.settle(doubtful=True)
            _, units = self._followed_units(stamp)
            _, live = self._rows.live_units()
        return {shelf: max(live[shelf] - units[shelf], 0) for shelf in Shelf}

    def _followed_units(self, stamp: str) -> tuple[int, dict[Shelf, int]]:
        """How many endings were followed, and how many units of each shelf have vectors."""
        with self.borrowed() as session:
            found = session.rows("select m.endings, c.shelf, c.units from mark m left join collection c on c.stamp = ?", (stamp,))
        units = {shelf: number for _, shelf, number in found}
        return found[0][0], {shelf: units.get(shelf.value, 0) for shelf in Shelf}

    @healing
    def put(self, stamp: str, shelf: Shelf, rows: Sequence[Embedded]) -> None:
        live = self._rows.keys(shelf, list({row.turn for row in rows}))
        kept = [row for row in rows if row.turn in live]
        head = self._rows.head()
        with self.writing() as session:
            session.rows(
                "insert into collection (stamp, shelf, units, complete) values (?, ?, 0, 0) on conflict do nothing",
                (stamp, shelf.value),
            )
            collection, _, _ = self._collection(session, stamp, shelf)
            _delete(session, collection, list(live))
            for row in sorted(kept, key=lambda row: (row.turn, row.part)):
                ((id_,),) = session.rows(
                    "insert into searched (collection, turn, part, vector) values (?, ?, ?, ?) returning id",
                    (collection, row.turn, row.part, row.searched),
                )
                session.rows("insert into told values (?, ?, ?)", (id_, row.raw, row.late))
            session.rows("update collection set units = units + ? where id = ?", (len(live), collection))
            session.rows("update mark set seq = ?, hash = ?", head)
            # A row that ended since the question; one that ends from now on is taken out after this transaction.
            if late := live.keys() - self._rows.keys(shelf, list(live)).keys():
                _delete(session, collection, list(late))

    def raw(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        return self._told("raw", stamp, shelf, turns)

    def late(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        return self._told("late", stamp, shelf, turns)

    @healing
    def _told(self, column: str, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        with self.borrowed() as session:
            found = session.rows(
                f"select s.turn, t.{column} from searched s join told t on t.id = s.id "
                "where s.collection = (select id from collection where stamp = ? and shelf = ?) "
                f"and s.turn {_AMONG} and s.part = 0 and length(t.{column}) > 0",
                (stamp, shelf.value, json.dumps(list(turns))),
            )
        return dict(found)

    @healing
    def nearest(
        self, stamp: str, shelf: Shelf, query: Sequence[float], *, limit: int, among: Collection[int] | None = None
    ) -> Near:
        matrix = self._matrix(stamp, shelf)
        if matrix is None or limit <= 0:
            return Near(turns=(), cosines=())
        if self._followed(matrix):
            best = matrix.nearest(query, limit=limit, among=among)
            return Near(turns=tuple(turn for turn, _ in best), cosines=tuple(cosine for _, cosine in best))
        while True:
            found = matrix.nearest(query, limit=limit + OVERSHOOT, among=among)
            live = self._rows.keys(shelf, [turn for turn, _ in found])
            ended = [turn for turn, _ in found if turn not in live]
            if len(ended) <= OVERSHOOT or len(found) < limit + OVERSHOOT:
                break
            with matrix.lock:
                matrix.mask(ended)
        if matrix.sparse:
            self._forget(matrix)
        best = [one for one in found if one[0] in live][:limit]
        return Near(turns=tuple(turn for turn, _ in best), cosines=tuple(cosine for _, cosine in best))

    @healing
    def cosines(self, stamp: str, shelf: Shelf, query: Sequence[float], turns: Sequence[int]) -> dict[int, float]:
        matrix = self._matrix(stamp, shelf)
        if matrix is None or not turns:
            return {}
        return matrix.cosines(query, turns if self._followed(matrix) else list(self._rows.keys(shelf, turns)))

    def _forget(self, matrix: "Matrix") -> None:
        """The next question reads what is left."""
        with self.guard:
            self.matrices = {collection: one for collection, one in self.matrices.items() if one is not matrix}

    def _followed(self, matrix: "Matrix") -> bool:
        """Whether what ended since it was read is masked: all of it was ended here."""
        return matrix.endings == self._rows.endings()

    @healing
    def drop(self, stamp: str) -> None:
        if self.check():  # of a damaged file nothing is worth keeping
            self.move_aside()
        with self.writing() as session:
            for (collection,) in session.rows("delete from collection where stamp = ? returning id", (stamp,)):
                self.matrices.pop(collection, None)
                session.rows("delete from told where id in (select id from searched where collection = ?)", (collection,))
                session.rows("delete from searched where collection = ?", (collection,))

    def _matrix(self, stamp: str, shelf: Shelf) -> "Matrix | None":
        """What is in memory, topped up with what this or another process added since."""
        with self.borrowed() as session:
            statement = f"select id, units, {_LAST_ID} from collection where stamp = ? and shelf = ?"
            found = session.rows(statement, (stamp, shelf.value))
        collection, units, last = found[0] if found else (0, 0, 0)
        matrix = self.matrices.get(collection) if units else None
        if not units or (matrix is not None and matrix.reached >= last):
            return matrix
        return self._topped_up(stamp, shelf)

    def _topped_up(self, stamp: str, shelf: Shelf) -> "Matrix | None":
        from hindbrain.stores.vector_matrix import Matrix

        with self.reading() as session:
            collection, units, _ = self._collection(session, stamp, shelf)
            ((last,),) = session.rows(f"select {_LAST_ID}")
            if not units:
                return None
            with self.guard:
                matrix = self.matrices.get(collection)
                if matrix is None:
                    ((size,),) = session.rows("select length(vector) from searched where collection = ? limit 1", (collection,))
                    matrix = self.matrices[collection] = Matrix(size)
                    ((matrix.endings,),) = session.rows("select endings from mark")
            with matrix.lock:
                while matrix.reached < last:
                    page = session.rows(
                        "select id, turn, vector from searched where collection = ? and id > ? order by id limit ?",
                        (collection, matrix.reached, LOADED),
                    )
                    if len(page) == LOADED:  # a unit whose parts a page would divide waits for the next
                        page = [row for row in page if row[1] != page[-1][1]] or page
                    if page:
                        matrix.add([row[1] for row in page], [row[2] for row in page])
                    matrix.reached = page[-1][0] if page else last
        return matrix


def _delete(session: SqliteSession, collection: int, turns: Sequence[int]) -> None:
    """Take out all vectors of units, and count those that had some."""
    listed = (collection, json.dumps(list(turns)))
    session.rows(f"delete from told where id in (select id from searched where collection = ? and turn {_AMONG})", listed)
    gone = session.rows(f"delete from searched where collection = ? and turn {_AMONG} returning turn", listed)
    session.rows("update collection set units = units - ? where id = ?", (len({turn for (turn,) in gone}), collection))
