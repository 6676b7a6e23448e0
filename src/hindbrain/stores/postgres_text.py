"""PostgreSQL's full text: the words are a column that the server computes from the stored terms, in the same transaction.

Searching happens in functions of the schema, because under row security alone a text search may not use its index.
"""

import json
from collections.abc import Sequence

from hindbrain.stores.port import Found, Version, Where
from hindbrain.stores.sql import SqlStore
from hindbrain.stores.sql_evidence import where_values
from hindbrain.stores.sql_rows import Row, Session
from hindbrain.stores.sql_terms import COUNTED, affordable, joined, rarity
from hindbrain.stores.vector_port import Shelf

__all__ = ["PostgresText"]

EVIDENCE_COUNTED = 25_000  # as in SQLite: a fifth of 100,000 rows is still told from less

_COUNT = {
    Shelf.CLAIM: ("hindbrain_frequencies", COUNTED),
    Shelf.EVIDENCE: ("hindbrain_evidence_frequencies", EVIDENCE_COUNTED),
}
_NEWEST = {
    Shelf.CLAIM: "select slug, turn, 0.0 from claim_version where brain_id = ? and ended_at is null and active = 1 ",
    Shelf.EVIDENCE: "select id, turn, 0.0 from evidence where brain_id = ? and deleted_at is null ",
}
_LIVE_CLAIMS = "from claim_version where brain_id = ? and ended_at is null and active = 1"
_ASKED = "?, ?::text[]::tsquery[], ?::text[], ?::float8[], ?::float8"
_BEST = {
    Shelf.CLAIM: f"select slug, turn, score from hindbrain_find_claims({_ASKED}, ?)",
    Shelf.EVIDENCE: f"select id, turn, score from hindbrain_find_evidence({_ASKED}, ?::jsonb, ?)",
}


class PostgresText(SqlStore):
    """The words of a brain and how they are searched. Knows no connection."""

    row_lock = " for update"
    among = "= any(?)"
    tagged = "jsonb_exists(e.tags::jsonb, ?)"

    def listed(self, values: Sequence[object]) -> object:
        return list(values)

    def index_claim(self, session: Session, turn: int, words: str) -> None:
        """The row has its words already."""

    def unindex_claim(self, session: Session, turn: int) -> None:
        """A row that ends loses its terms, and its words with them."""

    def index_evidence(self, session: Session, turns: Sequence[int]) -> None:
        """The rows have their words already."""

    def unindex_evidence(self, session: Session, turns: Sequence[int]) -> None:
        """As with claims."""

    def lag(self) -> int:
        return 0

    def put_terms(self, session: Session, chunk: Sequence[tuple[Version, str]]) -> None:
        session.rows(
            "update claim_version set terms = fresh.terms from unnest(?::text[], ?::bigint[], ?::text[], ?::text[]) "
            "as fresh(slug, version, digest, terms) where brain_id = ? and claim_version.slug = fresh.slug "
            "and claim_version.version = fresh.version and claim_version.digest = fresh.digest and ended_at is null "
            "and claim_version.terms <> fresh.terms",
            (
                [version.slug for version, _ in chunk],
                [version.version for version, _ in chunk],
                [version.digest for version, _ in chunk],
                [words for _, words in chunk],
                self.brain_id,
            ),
        )

    def reindex(self) -> None:
        """Nothing to fill: the words followed the terms."""

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
        found: list[Row] = []
        filtered = where_values(where) if where is not None and shelf is Shelf.EVIDENCE else {}
        with self.reading() as session:
            head = self.read_head(session)
            total = head.active_claims if shelf is Shelf.CLAIM else head.evidence
            frequencies = self._frequencies(session, shelf, words)
            chosen = affordable(frequencies, within, total=None if shelf is Shelf.CLAIM else total)
            if chosen and limit > 0 and len(chosen) == 1 and frequencies[chosen[0]] >= COUNTED and not filtered:
                # A word of thousands of rows ranks nothing: the newest of them are as good, and found at once.
                statement = f"{_NEWEST[shelf]} and words @@ ?::tsquery order by turn desc limit ?"
                found = session.rows(statement, (self.brain_id, _quoted(chosen[0]), limit))
            elif chosen and limit > 0:
                size = head.claim_terms if shelf is Shelf.CLAIM else head.evidence_terms
                asked = (
                    *(self.brain_id, list(map(_quoted, chosen)), chosen),
                    *([rarity(total, frequencies[word]) for word in chosen], max(size, 1) / max(total, 1)),
                )
                only = (json.dumps(filtered),) if shelf is Shelf.EVIDENCE else ()
                found = session.rows(_BEST[shelf], (*asked, *only, limit))
        return Found(
            turns=tuple(row[1] for row in found),
            scores=tuple(float(row[2]) for row in found),
            frequencies=frequencies,
            total=total,
        )

    def worded(
        self, words: Sequence[str], begun: str, *, limit: int, after: int | None, newest: bool
    ) -> tuple[tuple[int, str], ...]:
        side, order = ("<", "desc") if newest else (">", "asc")
        said, values = ("", ()) if after is None else (f"and turn {side} ? ", (after,))  # type: str, Row
        statement = f"select turn, slug {_LIVE_CLAIMS} and words @@ ?::tsquery {said}order by turn {order} limit ?"
        with self.reading() as session:
            found = session.rows(statement, (self.brain_id, _all_of(words, begun), *values, limit))
        return tuple((turn, slug) for turn, slug in found)

    def _frequencies(self, session: Session, shelf: Shelf, words: Sequence[str]) -> dict[str, int]:
        if not words:
            return {}
        function, most = _COUNT[shelf]
        numbers: dict[int, int] = dict(
            session.rows(
                f"select place, n from {function}(?, ?::text[]::tsquery[], ?)", (self.brain_id, list(map(_quoted, words)), most)
            )
        )
        return {word: numbers[place] for place, word in enumerate(words, start=1)}


def _all_of(words: Sequence[str], begun: str) -> str:
    """What PostgreSQL is asked for: all of these words, and one that begins so."""
    return " & ".join([*map(_quoted, words), *([f"{_quoted(begun)}:*"] if begun else [])])


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
