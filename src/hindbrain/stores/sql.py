"""SQL: the statements of the port, written once for both databases. Knows no connection, no lock and no full text."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar

from hindbrain.domain.brain import BrainId
from hindbrain.domain.ledger import GENESIS, Entry
from hindbrain.stores.glance import Glance, glance_of
from hindbrain.stores.port import (
    BootEntry,
    Committed,
    Counts,
    Edge,
    Found,
    Intent,
    Mark,
    Node,
    Progress,
    Version,
    Where,
    Writer,
    unheard,
)
from hindbrain.stores.sql_cards import CardReads
from hindbrain.stores.sql_evidence import EvidenceReads
from hindbrain.stores.sql_experience import ExperienceReads
from hindbrain.stores.sql_missions import MissionReads
from hindbrain.stores.sql_model_calls import ModelCallReads
from hindbrain.stores.sql_rows import COLUMNS, Gone, Head, Row, Session, insert
from hindbrain.stores.sql_tables import SqlTables
from hindbrain.stores.sql_terms import joined
from hindbrain.stores.sql_writer import ENTRY, LIVE, VERSION, SqlWriter, version_of
from hindbrain.stores.vector_port import Shelf, Vectors

__all__ = ["SqlStore"]

PAGE = 200  # rows of one page of a stream: a few hundred kB of claims, and no transaction stays open between pages
CHUNK = 500  # claims whose words are computed again per write transaction, so that other writers get their turn

_CLAIM_TERMS = (
    "select coalesce(sum(length(terms) - length(replace(terms, ' ', '')) + 1), 0) from claim_version "
    "where brain_id = ? and ended_at is null and terms <> ''"
)
_LAST_CODE_POINT = "\U0010ffff"


class SqlStore(EvidenceReads, CardReads, ExperienceReads, ModelCallReads, MissionReads, SqlTables):
    """The reads of the port, and the seams a dialect fills in."""

    row_lock: ClassVar[str] = ""  # what a select adds to lock its row

    def __init__(self, brain_id: BrainId) -> None:
        self.brain_id = brain_id
        self.committed: Committed = unheard

    # --- what a dialect does -----------------------------------------------------------------------------------------

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]:
        """A session that sees one state of the database."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Session]:
        """A session that may write; commits when the block ends well. Who reads the head row in it with a lock has the brain."""

    @abstractmethod
    def listed(self, values: Sequence[object]) -> object:
        """A list as the one parameter that `among` takes."""

    @abstractmethod
    def index_claim(self, session: Session, turn: int, words: str) -> None:
        """Make a claim findable by its words."""

    @abstractmethod
    def unindex_claim(self, session: Session, turn: int) -> None: ...

    @abstractmethod
    def index_evidence(self, session: Session, turns: Sequence[int]) -> None:
        """Make rows findable by the words that stand in them."""

    @abstractmethod
    def unindex_evidence(self, session: Session, turns: Sequence[int]) -> None: ...

    def index_reached(self, session: Session, head: Head) -> None:
        """The index now holds everything up to this entry."""

    def ending(self, session: Session, gone: Gone) -> int:
        """Rows end in this transaction: their vectors go with them, or after it; then it is the ending of this number."""
        return 0

    def ended_rows(self, gone: Gone, number: int) -> None:
        """Rows ended and that is committed: their vectors go now."""

    def erasing(self, session: Session, shelf: Shelf | None) -> None:
        """A row is being erased in this transaction: note that cleaning is due. None: nothing found it by its words."""

    def erased(self) -> None:
        """A row was erased and committed: see that no copy of its text stays behind."""

    @abstractmethod
    def find(
        self,
        terms: Sequence[str],
        *,
        limit: int,
        within: int | None = None,
        shelf: Shelf = Shelf.CLAIM,
        where: Where | None = None,
    ) -> Found: ...

    @abstractmethod
    def worded(
        self, words: Sequence[str], begun: str, *, limit: int, after: int | None, newest: bool
    ) -> tuple[tuple[int, str], ...]:
        """The arrivals that have all of these words, and one that begins so."""

    @property
    @abstractmethod
    def vectors(self) -> Vectors: ...

    @abstractmethod
    def lag(self) -> int: ...

    @abstractmethod
    def put_terms(self, session: Session, chunk: Sequence[tuple[Version, str]]) -> None:
        """Give versions their new terms, as far as they still are live with the same text."""

    @abstractmethod
    def reindex(self) -> None:
        """Drop the text index and fill it from the stored terms."""

    @abstractmethod
    def backup(self, target: Path) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    # --- writing -----------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        with self.transaction() as session:
            writer = SqlWriter(self.brain_id, session, self.read_head(session, lock=True), self)
            yield writer
            writer.finish()
        if writer.recorded:
            self.committed(writer.recorded, tuple(writer.changed))
        if any(writer.gone.values()):
            self.ended_rows(writer.gone, writer.ending)
        if writer.erased:
            self.erased()

    def read_head(self, session: Session, *, lock: bool = False) -> Head:
        statement = (
            f"select {', '.join(COLUMNS['brain_head'][1:])} from brain_head where brain_id = ?{self.row_lock if lock else ''}"
        )
        found = session.rows(statement, (self.brain_id,))
        if not found and lock:
            # Two first writers may meet here; the second waits for the first one's row and then reads it.
            session.rows(f"{insert('brain_head')} on conflict do nothing", (self.brain_id, *Head().values()))
            found = session.rows(statement, (self.brain_id,))
        return Head(*found[0]) if found else Head()

    def rebuild_index(self, terms_of: Callable[[Version], Sequence[str]], progress: Progress | None = None) -> int:
        total, done = self.counts().active_claims, 0
        chunk: list[tuple[Version, str]] = []

        def keep() -> None:
            # Words are computed before the lock is taken; a claim that changed meanwhile already has its new ones.
            with self.transaction() as session:
                self.put_terms(session, chunk)
            chunk.clear()
            if progress is not None:
                progress(done, max(total, done), "words")

        for version in self.each_live():
            if not version.active:
                continue
            chunk.append((version, joined(terms_of(version))))
            done += 1
            if len(chunk) == CHUNK:
                keep()
        if chunk:
            keep()
        with self.transaction() as session:
            self.read_head(session, lock=True)
            session.rows(f"update brain_head set claim_terms = ({_CLAIM_TERMS}) where brain_id = ?", (self.brain_id,) * 2)
        self.reindex()
        return done

    # --- reading -----------------------------------------------------------------------------------------------------

    def head(self) -> tuple[int, str]:
        with self.asking() as session:
            head = self.read_head(session)
        return head.seq, head.hash

    def entries(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
        subject: str | None = None,
        act: str | None = None,
        newest: bool = False,
    ) -> tuple[Entry, ...]:
        where = ["brain_id = ?", "seq > ?"]
        values: list[object] = [self.brain_id, after]
        if before is not None:
            where.append("seq < ?")
            values.append(before)
        if subject is not None:
            where.append("subject = ?")
            values.append(subject)
        if act is not None:
            where.append("act >= ? and act < ?")
            values += [act, act + _LAST_CODE_POINT]
        order = "seq desc" if newest else "seq"
        found = self._asked(
            f"select {ENTRY} from ledger where {' and '.join(where)} order by {order} limit ?", (*values, max(limit, 0))
        )
        names = ENTRY.split(", ")
        return tuple(Entry(**dict(zip(names, row, strict=True))) for row in found)

    def live(self, slugs: Sequence[str]) -> dict[str, Version]:
        if not slugs:
            return {}
        found = self._asked(f"{LIVE} and slug {self.among}", (self.brain_id, self.listed(slugs)))
        return {row[0]: version_of(row) for row in found}

    def words(self, slugs: Sequence[str]) -> dict[str, frozenset[str]]:
        if not slugs:
            return {}
        statement = f"select slug, terms from claim_version where brain_id = ? and ended_at is null and slug {self.among}"
        return {slug: frozenset(terms.split()) for slug, terms in self._asked(statement, (self.brain_id, self.listed(slugs)))}

    def each_live(self) -> Iterator[Version]:
        last = ""
        while page := self._asked(f"{LIVE} and slug > ? order by slug limit {PAGE}", (self.brain_id, last)):
            yield from map(version_of, page)
            last = page[-1][0]

    def digests(self) -> dict[str, str]:
        found = self._asked("select slug, digest from claim_version where brain_id = ? and ended_at is null", (self.brain_id,))
        return dict(found)

    def versions(self, slug: str) -> tuple[Version, ...]:
        found = self._asked(
            f"select {VERSION} from claim_version where brain_id = ? and slug = ? order by version desc", (self.brain_id, slug)
        )
        return tuple(map(version_of, found))

    def names(self, claim_ids: Iterable[str]) -> dict[str, str]:
        found = self._asked(
            f"select distinct claim_id, slug from claim_version where brain_id = ? and claim_id {self.among}",
            (self.brain_id, self.listed(list(claim_ids))),
        )
        return dict(found)

    def as_of(self, at: int) -> Iterator[Version]:
        last: tuple[str, int] = ("", 0)
        while page := self._asked(
            f"select {VERSION} from claim_version where brain_id = ? and (slug, version) > (?, ?) and born_at <= ? "
            f"and (ended_at is null or ended_at > ?) order by slug, version limit {PAGE}",
            (self.brain_id, *last, at, at),
        ):
            yield from map(version_of, page)
            last = (page[-1][0], page[-1][1])

    def ended(self, *, limit: int) -> Iterator[Version]:
        after = ""
        values: Row = ()
        while limit > 0 and (
            page := self._asked(
                f"select {VERSION} from claim_version where brain_id = ? and ended_at is not null {after} "
                "order by ended_at desc, slug desc, version desc limit ?",
                (self.brain_id, *values, min(limit, PAGE)),
            )
        ):
            yield from map(version_of, page)
            limit -= len(page)
            after, values = "and (ended_at, slug, version) < (?, ?, ?)", (page[-1][8], page[-1][0], page[-1][1])

    def arrivals(
        self,
        terms: Sequence[str] = (),
        *,
        begun: str = "",
        limit: int,
        after: int | None = None,
        newest: bool = True,
    ) -> tuple[tuple[int, str], ...]:
        words = list(dict.fromkeys(joined(terms).split()))
        side, order = ("<", "desc") if newest else (">", "asc")
        if not words and not begun:
            said, values = ("", ()) if after is None else (f"and turn {side} ? ", (after,))  # type: str, Row
            found = self._asked(
                "select turn, slug from claim_version where brain_id = ? and ended_at is null and active = 1 "
                f"{said}order by turn {order} limit ?",
                (self.brain_id, *values, max(limit, 0)),
            )
            return tuple((turn, slug) for turn, slug in found)
        return self.worded(words, begun, limit=max(limit, 0), after=after, newest=newest)

    def version_counts(self, slugs: Sequence[str], *, until: int | None = None) -> dict[str, int]:
        born, limit = ("", ()) if until is None else (" and born_at <= ?", (until,))
        found = self._asked(
            f"select slug, count(*) from claim_version where brain_id = ? and slug {self.among}{born} group by slug",
            (self.brain_id, self.listed(slugs), *limit),
        )
        return {slug: int(number) for slug, number in found}

    def active_at(self, at: int) -> int:
        found = self._asked(
            "select count(*) from claim_version where brain_id = ? and active = 1 and born_at <= ? "
            "and (ended_at is null or ended_at > ?)",
            (self.brain_id, at, at),
        )
        return int(found[0][0])

    def arrived(self, channel: str) -> int:
        found = self._asked(
            "select count(*) from claim_version join ledger on ledger.brain_id = claim_version.brain_id "
            "and ledger.seq = claim_version.version where claim_version.brain_id = ? and ended_at is null and channel = ?",
            (self.brain_id, channel),
        )
        return int(found[0][0])

    def recent(self, limit: int) -> tuple[Version, ...]:
        found = self._asked(
            f"{LIVE} and active = 1 and created is not null order by created desc, slug limit ?", (self.brain_id, max(limit, 0))
        )
        return tuple(map(version_of, found))

    def counts(self) -> Counts:
        with self.asking() as session:
            head = self.read_head(session)
        return Counts(
            active_claims=head.active_claims,
            nodes=head.nodes,
            edges=head.edges,
            generation=head.generation,
            evidence=head.evidence,
            card_turn=head.card_turn,
        )

    def glance(self, *, published: bool) -> Glance:
        with self.reading() as session:
            return glance_of(session, self.brain_id, published=published)

    def marks(self, *, slugs: Sequence[str] | None = None, kind: str | None = None) -> tuple[Mark, ...]:
        where = "brain_id = ?"
        values: list[object] = [self.brain_id]
        if slugs is not None:
            where += f" and slug {self.among}"
            values.append(self.listed(slugs))
        if kind is not None:
            where += " and kind = ?"
            values.append(kind)
        found = self._asked(
            f"select slug, kind, at, marked_by, channel, note from mark where {where} order by slug, kind", values
        )
        return tuple(Mark(slug=s, kind=k, at=at, by=by, channel=channel, note=note) for s, k, at, by, channel, note in found)

    def tombstone_reasons(self) -> tuple[str, ...]:
        found = self._asked("select distinct reason from tombstone where brain_id = ? order by reason", (self.brain_id,))
        return tuple(row[0] for row in found)

    def tombstones(self, fingerprints: Sequence[str]) -> frozenset[str]:
        if not fingerprints:
            return frozenset()
        found = self._asked(
            f"select fingerprint from tombstone where brain_id = ? and fingerprint {self.among}",
            (self.brain_id, self.listed(fingerprints)),
        )
        return frozenset(row[0] for row in found)

    def boot(self) -> tuple[BootEntry, ...]:
        names = COLUMNS["boot"][1:]
        found = self._asked(f"select {', '.join(names)} from boot where brain_id = ? order by key", (self.brain_id,))
        return tuple(BootEntry(**dict(zip(names, row, strict=True))) for row in found)

    def anchors(self, slugs: Sequence[str]) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for slug, path, digest in self._asked(
            f"select slug, path, digest from anchor where brain_id = ? and slug {self.among} order by slug, path",
            (self.brain_id, self.listed(slugs)),
        ):
            found.setdefault(slug, {})[path] = digest
        return found

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        # Where owners describe one node differently, the last by name is shown: `inventory`, which saw it, before any claim.
        found = self._asked(
            f"select id, kind, label, path from graph_node where brain_id = ? and id {self.among} order by id, owner",
            (self.brain_id, self.listed(ids)),
        )
        return {row[0]: Node(id=row[0], kind=row[1], label=row[2], path=row[3]) for row in found}

    def neighbours(self, node_id: str, *, limit: int) -> tuple[Edge, ...]:
        found = self._asked(
            "select source, relation, target from graph_edge where brain_id = ? and source = ? union "
            "select source, relation, target from graph_edge where brain_id = ? and target = ? order by 1, 2, 3 limit ?",
            (self.brain_id, node_id, self.brain_id, node_id, max(limit, 0)),
        )
        return tuple(Edge(source=source, relation=relation, target=target) for source, relation, target in found)

    def whole_graph(self) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
        nodes = {
            row[0]: Node(id=row[0], kind=row[1], label=row[2], path=row[3])
            for row in self._asked(
                "select id, kind, label, path from graph_node where brain_id = ? order by id, owner", (self.brain_id,)
            )
        }
        edges = self._asked(
            "select distinct source, relation, target from graph_edge where brain_id = ? order by source, relation, target",
            (self.brain_id,),
        )
        return tuple(nodes.values()), tuple(Edge(source=row[0], relation=row[1], target=row[2]) for row in edges)

    def intents(self) -> tuple[Intent, ...]:
        found = self._asked("select id, kind, payload, at from intent where brain_id = ? order by at, id", (self.brain_id,))
        return tuple(Intent(id=id_, kind=kind, payload=payload, at=at) for id_, kind, payload, at in found)

    def meta(self, key: str) -> str | None:
        found = self._asked("select value from meta where brain_id = ? and key = ?", (self.brain_id, key))
        return str(found[0][0]) if found else None

    def counters(self) -> dict[tuple[str, str], int]:
        found = self._asked("select name, week, value from counter where brain_id = ? order by name, week", (self.brain_id,))
        return {(name, week): value for name, week, value in found}

    # --- what vectors ask ------------------------------------------------------------------------------------------------

    def units(self, shelf: Shelf, *, beyond: int, limit: int, newest: bool = False) -> list[tuple[int, str]]:
        """Live rows as (turn, key): those after a turn, or with `newest` those before it, nearest to it first."""
        key, table = ("slug", "claim_version") if shelf is Shelf.CLAIM else ("id", "evidence")
        live = "ended_at is null and active = 1" if shelf is Shelf.CLAIM else "deleted_at is null"
        side, order = ("<", "desc") if newest else (">", "asc")
        found = self._asked(
            f"select turn, {key} from {table} where brain_id = ? and {live} and turn {side} ? order by turn {order} limit ?",
            (self.brain_id, beyond, limit),
        )
        return [(turn, name) for turn, name in found]

    def hash_at(self, seq: int) -> str | None:
        """The hash of an entry of the ledger."""
        found = self._asked("select hash from ledger where brain_id = ? and seq = ?", (self.brain_id, seq))
        return str(found[0][0]) if found else None

    def check(self) -> tuple[str, ...]:
        with self.reading() as session:
            head = self.read_head(session)
            last = session.rows(
                "select seq, hash from ledger where brain_id = ? order by seq desc limit 1", (self.brain_id,)
            ) or [(0, GENESIS)]
            rows = {
                "active claims": "from claim_version where brain_id = ? and ended_at is null and active = 1",
                "nodes": "from (select distinct id from graph_node where brain_id = ?) as one",
                "edges": "from (select distinct source, relation, target from graph_edge where brain_id = ?) as one",
                "evidence": "from evidence where brain_id = ? and deleted_at is null",
            }
            counted = {noun: session.rows(f"select count(*) {where}", (self.brain_id,))[0][0] for noun, where in rows.items()}
        said = {"active claims": head.active_claims, "nodes": head.nodes, "edges": head.edges, "evidence": head.evidence}
        problems = [
            f"{noun}: the head row says {said[noun]}, there are {number}"
            for noun, number in counted.items()
            if number != said[noun]
        ]
        if last[0] != (head.seq, head.hash):
            problems.append(f"ledger: the head row says entry {head.seq}, the last entry is {last[0][0]}")
        return tuple(problems)
