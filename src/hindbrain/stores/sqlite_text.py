"""SQLite's full text: index.db, one table of words per shelf. Derived: follows brain.db, and is filled from it again when lost.

Nothing needs both files at once: a transaction commits to brain.db first, and the mark in index.db says how far it followed.
"""

import json
import string
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import apsw

from hindbrain.domain.errors import StoreDamaged
from hindbrain.stores.port import Found, Version, Where
from hindbrain.stores.sql import SqlStore
from hindbrain.stores.sql_rows import Head, Row, Session
from hindbrain.stores.sql_terms import COUNTED, NEAR_WEIGHT, affordable, joined
from hindbrain.stores.vector_port import Shelf

__all__ = ["BROKEN", "GLANCE_SECONDS", "INDEX", "INDEX_VERSION", "SqliteText"]

INDEX_VERSION = 3
BROKEN = (apsw.NotADBError, apsw.CorruptError)
GLANCE_SECONDS = 0.05  # how long a reader waits to tell an index that is behind from a commit that is under way
EVIDENCE_COUNTED = 25_000  # where counting stops there: a fifth of 100,000 rows is still told from less; 2 ms at most

# Our terms are words already, so only white space parts them: this tokenizer keeps everything beyond ASCII as it is and is told
# to keep the rest, and a term matches just itself.
_KEPT = string.punctuation.replace("'", "''").replace('"', '""')
_TOKENIZED = f"tokenize = \"ascii tokenchars '{_KEPT}'\""

INDEX = (
    f"create virtual table idx.words using fts5(terms, {_TOKENIZED})",
    f"create virtual table idx.evidence_words using fts5(text, near, content = '', contentless_delete = 1, {_TOKENIZED})",
    "create table idx.mark (one integer primary key check (one = 1), seq integer not null, hash text not null, "
    "turn integer not null) strict",
    "insert into idx.mark values (1, -1, '', -1)",
    f"pragma idx.user_version = {INDEX_VERSION}",
)
_EMPTY = ("delete from idx.words", "insert into idx.evidence_words (evidence_words) values ('delete-all')")

_CLAIMS = "from claim_version where brain_id = ? and ended_at is null and active = 1"
_EVIDENCE = "from evidence where brain_id = ? and deleted_at is null"
_ADD_EVIDENCE = f"insert into idx.evidence_words (rowid, text, near) select turn, terms, near {_EVIDENCE} and terms || near <> ''"


class _Statements(NamedTuple):
    """What is asked of the words of a shelf. Equal scores: the newer row first, however the index was filled."""

    counting: str
    best: str
    newest: str


def _statements(words: str, weights: str, counted: int) -> _Statements:
    matching = f"from idx.{words} where {words} match ?"
    return _Statements(
        f"select count(*) from (select 1 {matching} limit {counted})",
        f"select rowid, bm25({words}{weights}) as score {matching} order by score, rowid desc limit ?",
        f"select rowid, 0.0 {matching} order by rowid desc limit ?",
    )


_WEIGHTS = f", 1.0, {NEAR_WEIGHT}"
_ASK = {
    Shelf.CLAIM: _statements("words", "", COUNTED),
    Shelf.EVIDENCE: _statements("evidence_words", _WEIGHTS, EVIDENCE_COUNTED),
}
# With a filter a row is read before it is ranked. The words come first: `cross` keeps the planner from beginning with the rows.
_FILTERED = (
    f"select e.turn, bm25(evidence_words{_WEIGHTS}) as score from idx.evidence_words f "
    "cross join evidence e on e.brain_id = ? and e.turn = f.rowid and e.deleted_at is null{where} "
    "where evidence_words match ? order by score, e.turn desc limit ?"
)


class _Mark(NamedTuple):
    """A point in the life of a brain: its last entry, and the turn that also grows where nothing is recorded."""

    seq: int
    hash: str
    turn: int


class _Behind(Exception):
    """The index has not followed everything."""


def _distance(end: _Mark, mark: _Mark) -> int:
    """How many acts an index has not followed. One that is ahead saw a commit that came after the head was read."""
    return max(end.seq - mark.seq, 0) if end.seq != mark.seq else int(end.hash != mark.hash or end.turn > mark.turn)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _all_of(words: Sequence[str], begun: str) -> str:
    """What FTS5 is asked for: all of these words, and one that begins so."""
    return " AND ".join([*map(_quoted, words), *([f"{_quoted(begun)} *"] if begun else [])])


class SqliteText(SqlStore):
    """The words of a brain and how they are searched. Knows no file and no connection."""

    among = "in (select value from json_each(?))"
    tagged = "exists (select 1 from json_each(iif(json_valid(e.tags), e.tags, '[]')) as tag where tag.value = ?)"

    def listed(self, values: Sequence[object]) -> object:
        return json.dumps(list(values), ensure_ascii=False)

    @abstractmethod
    def heal(self, seconds: float) -> None:
        """Catch up, if it is our turn within that time."""

    @abstractmethod
    def counted(self, session: Session, shelf: Shelf) -> dict[str, int]:
        """How common words are, as far as that was asked since the index last changed. Who counts more adds it here."""

    @abstractmethod
    def replace_index(self) -> None:
        """A fresh file, filled from brain.db."""

    # --- following what is written -------------------------------------------------------------------------------------------

    def index_claim(self, session: Session, turn: int, words: str) -> None:
        session.rows("insert into idx.words (rowid, terms) values (?, ?)", (turn, words))

    def unindex_claim(self, session: Session, turn: int) -> None:
        session.rows("delete from idx.words where rowid = ?", (turn,))

    def index_evidence(self, session: Session, turns: Sequence[int]) -> None:
        session.rows(f"{_ADD_EVIDENCE} and turn {self.among} order by turn", (self.brain_id, self.listed(turns)))

    def unindex_evidence(self, session: Session, turns: Sequence[int]) -> None:
        session.rows(f"delete from idx.evidence_words where rowid {self.among}", (self.listed(turns),))

    def index_reached(self, session: Session, head: Head) -> None:
        session.rows("update idx.mark set seq = ?, hash = ?, turn = ?", (head.seq, head.hash, head.turn))

    def mark(self, session: Session) -> _Mark:
        """How far the index followed."""
        return _Mark(*session.rows("select seq, hash, turn from idx.mark")[0])

    def end(self, session: Session) -> _Mark:
        """How far the brain is."""
        head = self.read_head(session)
        return _Mark(head.seq, head.hash, head.turn)

    def catch_up(self, session: Session) -> None:
        """Inside a write transaction: give the index what a killed writer or a power cut kept from it."""
        end, mark = self.end(session), self.mark(session)
        if end == mark:
            return
        known = session.rows("select hash from ledger where brain_id = ? and seq = ?", (self.brain_id, mark.seq))
        if mark.turn > end.turn or (mark.seq > 0 and known != [(mark.hash,)]):
            # The mark is no part of this chain: brain.db came from elsewhere, and its turns are other rows.
            for statement in _EMPTY:
                session.rows(statement)
        self._catch_up_claims(session)
        self._catch_up_evidence(session, mark.turn)
        session.rows("update idx.mark set seq = ?, hash = ?, turn = ?", end)

    def _catch_up_claims(self, session: Session) -> None:
        brain = (self.brain_id,)
        session.rows(f"delete from idx.words where rowid in (select rowid from idx.words except select turn {_CLAIMS})", brain)
        session.rows(
            f"insert into idx.words (rowid, terms) select turn, terms {_CLAIMS} and terms <> '' "
            "and turn not in (select rowid from idx.words) order by turn",
            brain,
        )

    def _catch_up_evidence(self, session: Session, since: int) -> None:
        session.rows(
            "delete from idx.evidence_words where rowid in (select rowid from idx.evidence_words "
            f"except select turn {_EVIDENCE} and not (changed > turn and changed > ?))",
            (self.brain_id, since),
        )
        session.rows(f"{_ADD_EVIDENCE} and turn not in (select rowid from idx.evidence_words) order by turn", (self.brain_id,))

    def behind(self) -> int:
        """How many acts the index has not followed yet; one that cannot even tell is made again first."""
        try:
            return self._behind()
        except StoreDamaged:
            self.replace_index()
        return self._behind()

    def _behind(self) -> int:
        with self.reading() as session:
            return _distance(self.end(session), self.mark(session))

    def put_terms(self, session: Session, chunk: Sequence[tuple[Version, str]]) -> None:
        for version, words in chunk:
            session.rows(
                "update claim_version set terms = ? where brain_id = ? and slug = ? and version = ? and digest = ? "
                "and ended_at is null and terms <> ?",
                (words, self.brain_id, version.slug, version.version, version.digest, words),
            )

    def reindex(self) -> None:
        """Fill the index anew in place; only a file that cannot even be emptied is replaced."""
        try:
            with self.transaction() as session:
                for statement in (*_EMPTY, "update idx.mark set seq = -1, hash = '', turn = -1"):
                    session.rows(statement)
                self.catch_up(session)
        except StoreDamaged:
            self.replace_index()

    # --- searching -------------------------------------------------------------------------------------------------------------

    def find(
        self,
        terms: Sequence[str],
        *,
        limit: int,
        within: int | None = None,
        shelf: Shelf = Shelf.CLAIM,
        where: Where | None = None,
    ) -> Found:
        words = list(dict.fromkeys(joined(terms).split()))
        try:
            try:
                return self._find(shelf, words, limit, within, where, current=True)
            except _Behind:
                self.heal(GLANCE_SECONDS)
                return self._find(shelf, words, limit, within, where)
        except (apsw.SQLError, StoreDamaged):
            # The first: a table of the index is missing or of no known form. A defect of ours would fail the second time too.
            # Derived data may always be thrown away; if it was brain.db that is damaged, the second try says so.
            self.replace_index()
        return self._find(shelf, words, limit, within, where)

    def worded(
        self, words: Sequence[str], begun: str, *, limit: int, after: int | None, newest: bool
    ) -> tuple[tuple[int, str], ...]:
        side, order = ("<", "desc") if newest else (">", "asc")
        said, values = ("", ()) if after is None else (f"and f.rowid {side} ? ", (after,))  # type: str, Row
        statement = (
            "select f.rowid, v.slug from idx.words f cross join claim_version v on v.brain_id = ? and v.turn = f.rowid "
            f"and v.ended_at is null and v.active = 1 where words match ? {said}order by f.rowid {order} limit ?"
        )
        found = self._from_words(statement, (self.brain_id, _all_of(words, begun), *values, limit))
        return tuple((turn, slug) for turn, slug in found)

    def _from_words(self, statement: str, values: Row) -> list[Row]:
        """Rows of a statement over the words of claims; an index that cannot be asked is made again first."""
        if self.behind():
            self.heal(GLANCE_SECONDS)
        try:
            with self.reading() as session:
                return session.rows(statement, values)
        except (apsw.SQLError, StoreDamaged):
            self.replace_index()
        with self.reading() as session:
            return session.rows(statement, values)

    def _find(
        self,
        shelf: Shelf,
        words: Sequence[str],
        limit: int,
        within: int | None,
        where: Where | None,
        *,
        current: bool = False,
    ) -> Found:
        """What the index finds; with `current` it must not be behind."""
        ask = _ASK[shelf]
        found: list[Row] = []
        with self.reading() as session:
            head = self.read_head(session)
            mark = self.mark(session)  # the first look at the index decides which state of it this session sees
            if current and _distance(_Mark(head.seq, head.hash, head.turn), mark):
                raise _Behind
            total = head.active_claims if shelf is Shelf.CLAIM else head.evidence
            known = self.counted(session, shelf)
            for word in words:
                if word not in known:
                    known[word] = int(session.rows(ask.counting, (_quoted(word),))[0][0])
            frequencies = {word: known[word] for word in words}
            chosen = affordable(frequencies, within, total=None if shelf is Shelf.CLAIM else total)
            query = " OR ".join(map(_quoted, chosen))
            said, values = self.conditions(where) if shelf is Shelf.EVIDENCE else ("", [])
            if chosen and limit > 0 and said:
                found = session.rows(_FILTERED.format(where=said), (self.brain_id, *values, query, limit))
            elif chosen and limit > 0:
                # A word of thousands of rows ranks nothing: the newest of them are as good, and found at once.
                plain = len(chosen) == 1 and frequencies[chosen[0]] >= COUNTED
                found = session.rows(ask.newest if plain else ask.best, (query, limit))
        return Found(
            turns=tuple(row[0] for row in found),
            scores=tuple(-row[1] or 0.0 for row in found),
            frequencies=frequencies,
            total=total,
        )
