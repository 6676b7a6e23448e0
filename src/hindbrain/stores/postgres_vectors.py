"""PostgreSQL's vectors: a table beside the rows, which they leave in the same transaction as these.

With pgvector the server compares; without it this process does, with a copy in memory, and says which extension is missing.
"""

import threading
from array import array
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from hindbrain.domain.brain import BrainId
from hindbrain.stores.sql_rows import Gone, Head, Session
from hindbrain.stores.vector_port import Embedded, Near, Pending, Shelf

if TYPE_CHECKING:
    from hindbrain.stores.vector_matrix import Matrix

__all__ = ["PostgresVectors", "drop_vectors"]

LOADED = 20_000  # rows that are taken into memory at a time
OVERSHOOT = 16  # more than was asked for, so that rounding leaves none out

_LIVE = {
    Shelf.CLAIM: ("slug", "claim_version", "u.ended_at is null and u.active = 1"),
    Shelf.EVIDENCE: ("id", "evidence", "u.deleted_at is null"),
}
_MINE = "v.brain_id = ? and v.shelf = ? and v.stamp = ?"


class _Store(Protocol):
    brain_id: BrainId

    def reading(self) -> AbstractContextManager[Session]: ...

    def transaction(self) -> AbstractContextManager[Session]: ...

    def read_head(self, session: Session, *, lock: bool = False) -> Head: ...


def drop_vectors(session: Session, brain_id: str, gone: Gone) -> None:
    """Rows end in this transaction: their vectors too."""
    for shelf, turns in gone.items():
        if turns:
            session.rows(
                "delete from vector where brain_id = ? and shelf = ? and turn = any(?)", (brain_id, shelf.value, list(turns))
            )


class PostgresVectors:
    """One brain's vectors on a server. `extension` is the schema in which pgvector is, None where it is not installed."""

    def __init__(self, store: _Store, extension: str | None) -> None:
        self._store = store
        self._extension = extension
        self._guard = threading.Lock()
        self._counted: dict[tuple[str, str, str], tuple[Head, int]] = {}  # what is missing, as of a head
        self._filled: set[tuple[str, str, str]] = set()
        self._matrices: dict[tuple[str, Shelf], Matrix] = {}

    @property
    def degraded(self) -> str | None:
        """What keeps the server from comparing vectors itself; None when nothing does."""
        if self._extension is not None:
            return None
        return "the extension `vector` (pgvector) is not installed in this database: vectors are compared in this process"

    def _of(self, stamp: str, shelf: Shelf) -> tuple[str, str, str]:
        return (self._store.brain_id, shelf.value, stamp)

    def stamps(self, shelf: Shelf) -> dict[str, int]:
        with self._store.reading() as session:
            found = session.rows(
                "select stamp, count(distinct turn) from vector where brain_id = ? and shelf = ? group by stamp order by stamp",
                (self._store.brain_id, shelf.value),
            )
        return dict(found)

    def _lacking(self, shelf: Shelf) -> str:
        _, table, live = _LIVE[shelf]
        has = f"select 1 from vector v where {_MINE} and v.turn = u.turn"
        return f"from {table} u where u.brain_id = ? and {live} and not exists ({has})"

    def pending(self, stamp: str, shelf: Shelf, *, limit: int, newest: bool = False) -> tuple[Pending, ...]:
        order = "desc" if newest else "asc"
        with self._store.reading() as session:
            found = session.rows(
                f"select u.turn, u.{_LIVE[shelf][0]} {self._lacking(shelf)} order by u.turn {order} limit ?",
                (self._store.brain_id, *self._of(stamp, shelf), max(limit, 0)),
            )
        return tuple(Pending(turn=turn, key=key) for turn, key in found)

    def missing(self, stamp: str) -> dict[Shelf, int]:
        with self._store.reading() as session:
            head = self._store.read_head(session)
            return {shelf: self._missing(session, head, stamp, shelf) for shelf in Shelf}

    def _missing(self, session: Session, head: Head, stamp: str, shelf: Shelf) -> int:
        mine = self._of(stamp, shelf)
        at, number = self._counted.get(mine, (None, 0))
        if at != head:  # asked with every question, and counting a hundred thousand rows is not free
            ((number,),) = session.rows(f"select count(*) {self._lacking(shelf)}", (self._store.brain_id, *mine))
            self._counted[mine] = (head, int(number))
        return int(number)

    def put(self, stamp: str, shelf: Shelf, rows: Sequence[Embedded]) -> None:
        brain, kind, _ = mine = self._of(stamp, shelf)
        _, table, live = _LIVE[shelf]
        turns = sorted({row.turn for row in rows})
        with self._store.transaction() as session:
            # The head row keeps those who end rows away until this is committed. `added` comes from its counter and so grows in
            # the order of commits, also when the last row was taken out.
            last = self._store.read_head(session, lock=True).turn
            found = session.rows(
                f"select turn from {table} u where u.brain_id = ? and {live} and u.turn = any(?)", (brain, turns)
            )
            alive = {turn for (turn,) in found}
            session.rows("delete from vector v where " + _MINE + " and v.turn = any(?)", (*mine, turns))
            kept = sorted((row for row in rows if row.turn in alive), key=lambda row: (row.turn, row.part))
            session.rows(
                "insert into vector (brain_id, shelf, stamp, turn, part, added, raw, searched, late) select ?, ?, ?, fresh.* "
                "from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bytea[], ?::bytea[], ?::bytea[]) as fresh",
                (
                    *(brain, kind, stamp, [row.turn for row in kept], [row.part for row in kept]),
                    [last + place for place in range(1, len(kept) + 1)],
                    *([row.raw for row in kept], [row.searched for row in kept], [row.late for row in kept]),
                ),
            )
            session.rows("update brain_head set turn = ? where brain_id = ?", (last + len(kept), brain))
            if self._extension is not None:
                self._embed(session, mine, kept)

    def _embed(self, session: Session, mine: tuple[str, str, str], rows: Sequence[Embedded]) -> None:
        """The same values as the type that the server compares: whole numbers up to 127 are exact in a half float."""
        session.rows(
            f"update vector v set embedding = fresh.value::{self._type()} "
            "from unnest(?::bigint[], ?::bigint[], ?::text[]) as fresh(turn, part, value) "
            f"where {_MINE} and v.turn = fresh.turn and v.part = fresh.part",
            ([row.turn for row in rows], [row.part for row in rows], [_literal(row.searched) for row in rows], *mine),
        )

    def _fill(self, stamp: str, shelf: Shelf) -> None:
        """Once per process: rows that were kept while the server had no pgvector get their value of its type."""
        mine = self._of(stamp, shelf)
        while mine not in self._filled:
            with self._store.transaction() as session:
                found = session.rows(
                    f"select v.turn, v.part, v.searched from vector v where {_MINE} and v.embedding is null limit ?",
                    (*mine, LOADED),
                )
                self._embed(session, mine, [Embedded(turn=t, part=p, raw=b"", searched=searched) for t, p, searched in found])
            if not found:
                self._filled.add(mine)

    def _type(self) -> str:
        return f"{self._extension}.halfvec"

    def raw(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        return self._told("raw", stamp, shelf, turns)

    def late(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        return self._told("late", stamp, shelf, turns)

    def _told(self, column: str, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        with self._store.reading() as session:
            found = session.rows(
                f"select v.turn, v.{column} from vector v "
                f"where {_MINE} and v.turn = any(?) and v.part = 0 and length(v.{column}) > 0",
                (*self._of(stamp, shelf), list(turns)),
            )
        return dict(found)

    def nearest(
        self, stamp: str, shelf: Shelf, query: Sequence[float], *, limit: int, among: Collection[int] | None = None
    ) -> Near:
        if limit <= 0 or (among is not None and not among):
            return Near(turns=(), cosines=())
        found = (
            self._by_server(stamp, shelf, query, limit, among)
            if self._extension
            else self._here(stamp, shelf, query, limit, among)
        )
        return Near(turns=tuple(turn for turn, _ in found), cosines=tuple(cosine for _, cosine in found))

    def _by_server(
        self, stamp: str, shelf: Shelf, query: Sequence[float], limit: int, among: Collection[int] | None
    ) -> list[tuple[int, float]]:
        only, values = ("and v.turn = any(?)", (list(among),)) if among is not None else ("", ())
        self._fill(stamp, shelf)
        with self._store.reading() as session:
            found = session.rows(
                f"select v.turn, min(v.embedding operator({self._extension}.<=>) ?::{self._type()}) as far "
                f"from vector v where {_MINE} {only} group by v.turn order by far, v.turn limit ?",
                (_literal_of(query), *self._of(stamp, shelf), *values, limit + OVERSHOOT),
            )
        # A question in half floats is off by a ten-thousandth: enough to choose by, and the chosen are compared as elsewhere.
        cosines = self.cosines(stamp, shelf, query, [turn for turn, _ in found])
        return sorted(cosines.items(), key=lambda one: (-one[1], one[0]))[:limit]

    def _here(
        self, stamp: str, shelf: Shelf, query: Sequence[float], limit: int, among: Collection[int] | None
    ) -> list[tuple[int, float]]:
        matrix = self._matrix(stamp, shelf)
        while matrix is not None:
            found = matrix.nearest(query, limit=limit, among=among)
            live = self.cosines(stamp, shelf, query, [turn for turn, _ in found])
            ended = [turn for turn, _ in found if turn not in live]
            if not ended:
                return found
            with matrix.lock:
                matrix.mask(ended)
        return []

    def cosines(self, stamp: str, shelf: Shelf, query: Sequence[float], turns: Sequence[int]) -> dict[int, float]:
        from hindbrain.stores.vector_matrix import cosines_of  # numpy takes 90 ms: only who searches pays

        with self._store.reading() as session:
            rows = session.rows(
                f"select v.turn, v.searched from vector v where {_MINE} and v.turn = any(?)",
                (*self._of(stamp, shelf), list(turns)),
            )
        found: dict[int, float] = {}
        for (turn, _), cosine in zip(rows, cosines_of(query, [row[1] for row in rows]) if rows else (), strict=True):
            found[turn] = max(found.get(turn, -1.0), float(cosine))
        return found

    def drop(self, stamp: str) -> None:
        with self._store.transaction() as session:
            # The counter grows with everything that changes what is missing.
            session.rows("update brain_head set turn = turn + 1 where brain_id = ?", (self._store.brain_id,))
            session.rows("delete from vector where brain_id = ? and stamp = ?", (self._store.brain_id, stamp))
        with self._guard:
            for key in [key for key in self._matrices if key[0] == stamp]:
                del self._matrices[key]

    def _matrix(self, stamp: str, shelf: Shelf) -> "Matrix | None":
        """What is in memory, topped up with what this or another process added since."""
        from hindbrain.stores.vector_matrix import Matrix

        mine = self._of(stamp, shelf)
        with self._store.reading() as session:
            ((last, size),) = session.rows(f"select max(v.added), max(length(v.searched)) from vector v where {_MINE}", mine)
            if last is None:
                return None
            with self._guard:
                matrix = self._matrices.get((stamp, shelf))
                if matrix is None or matrix.reached > last:  # dropped and begun again by another process
                    matrix = self._matrices[stamp, shelf] = Matrix(size)
            with matrix.lock:
                while matrix.reached < last:
                    page = session.rows(
                        "select v.added, v.turn, v.searched from vector v "
                        f"where {_MINE} and v.added > ? order by v.added limit ?",
                        (*mine, matrix.reached, LOADED),
                    )
                    if len(page) == LOADED:  # a unit whose parts a page would divide waits for the next
                        page = [row for row in page if row[1] != page[-1][1]] or page
                    matrix.add([row[1] for row in page], [row[2] for row in page])
                    matrix.reached = page[-1][0] if page else last
        return matrix


def _literal(row: bytes) -> str:
    return str(array("b", row).tolist())


def _literal_of(query: Sequence[float]) -> str:
    return "[" + ",".join(format(float(value), ".8g") for value in query) + "]"
