"""learned.db: what use has taught about a brain's graph. Kept, not derived: it outlives every ingest of the graph itself.

Edges are known by source id, target id and relation, so that they find their way back after a re-ingest. Always local, like
the checkout it is about.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from hindbrain.domain.errors import StoreDamaged
from hindbrain.stores.checked_file import add_checksums, checked_vfs, has_checksums, is_plain, lay_out, plain_name
from hindbrain.stores.sqlite_files import copy_file, create_private, damaged, integrity, set_aside, translated, unusable

__all__ = ["LEARNED_LAYOUT", "Defect", "Drift", "LearnedEdge", "LearnedStore", "Query", "SessionMark"]

EdgeKey = tuple[str, str, str]

_TABLES = """
create table if not exists meta (key text primary key, value text not null) without rowid;
create table if not exists edge (
    source text, target text, relation text, weight real not null, idle integer not null, up integer not null,
    down integer not null, lasting_up integer not null, lasting_down integer not null,
    primary key (source, target, relation)
) without rowid;
create table if not exists active (node text primary key, times integer not null) without rowid;
create table if not exists query (slot integer primary key, number integer, at integer, seeds text, nodes text);
create table if not exists defect (node text, kind text, at integer, agent text);
create index if not exists defect_by_node on defect (node, at);
create table if not exists together (one text, other text, times integer not null, primary key (one, other)) without rowid;
create table if not exists drift (
    number integer primary key, at integer, source text, target text, relation text, before real, after real
);
create table if not exists session (session text primary key, agent text, at integer, nodes integer, edges integer,
    generation integer) without rowid;
"""
_KEPT_SESSIONS = 200

# Every table with its columns and the order in which its rows are told.
LEARNED_LAYOUT: dict[str, tuple[tuple[str, ...], str]] = {
    "meta": (("key", "value"), "key"),
    "edge": (
        ("source", "target", "relation", "weight", "idle", "up", "down", "lasting_up", "lasting_down"),
        "source, target, relation",
    ),
    "active": (("node", "times"), "node"),
    "query": (("slot", "number", "at", "seeds", "nodes"), "slot"),
    "defect": (("node", "kind", "at", "agent"), "node, at, rowid"),
    "together": (("one", "other", "times"), "one, other"),
    "drift": (("number", "at", "source", "target", "relation", "before", "after"), "number"),
    "session": (("session", "agent", "at", "nodes", "edges", "generation"), "session"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedEdge:
    """An edge that was touched: its weight as of the idle count of its source, and what happened to it."""

    source: str
    target: str
    relation: str
    weight: float
    idle: int
    up: int
    down: int
    lasting_up: bool
    lasting_down: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A remembered question: what it started from and what it woke. Its words are not kept: nobody could forget them."""

    at: int
    seeds: tuple[str, ...]
    nodes: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One verdict on a code node: `correct` confirmed a defect, `wrong` was a false alarm, `partial` something between."""

    node: str
    kind: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One change of a weight."""

    at: int
    source: str
    target: str
    relation: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMark:
    """How large the graph was when a session first asked."""

    session: str
    agent: str
    at: int
    nodes: int
    edges: int
    generation: int


class LearnedStore:
    """One file per brain. Safe for several threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        if unusable(path):
            set_aside(path)
        try:
            self._db = self._opened()
        except StoreDamaged:
            self._db = self._opened_anew()

    def _opened(self) -> apsw.Connection:
        with translated(self.path):
            if is_plain(self.path):
                add_checksums(self.path)
            if not create_private(self.path) and self.path.stat().st_size == 0:
                raise damaged(self.path, "it is empty")
            db = self._connect()
            try:
                if self.path.stat().st_size == 0:
                    lay_out(db)
                db.execute("pragma journal_mode=wal").fetchall()
                db.execute(_TABLES).fetchall()
                if not has_checksums(db):
                    raise damaged(self.path, "its pages have no checksums")
                if wrong := integrity(self.path, self._connect()):
                    raise damaged(self.path, wrong[0])
            except BaseException:
                db.close()
                raise
        return db

    def _connect(self) -> apsw.Connection:
        # A copy that is loaded is attached by a URI: it has no checksums.
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
        db = apsw.Connection(str(self.path), flags=flags, vfs=checked_vfs())
        db.set_busy_timeout(10_000)
        return db

    def _opened_anew(self) -> apsw.Connection:
        """What is there cannot be read. It is kept for whoever can, and a question must not fail for it: begin anew."""
        set_aside(self.path)
        return self._opened()

    @contextmanager
    def writing(self, *, durable: bool) -> Iterator[None]:
        """One transaction. What a caller was told it taught survives a power cut (durable); what a question taught by
        itself survives the process."""
        with self._lock, translated(self.path):
            self._db.execute(f"pragma synchronous={'full' if durable else 'normal'}").fetchall()
            self._db.execute("begin immediate").fetchall()
            try:
                yield
                self._db.execute("commit").fetchall()
            except BaseException:
                self._db.execute("rollback").fetchall()
                raise

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock, translated(self.path):
            return self._db.execute(statement, values).fetchall()

    def check(self) -> tuple[str, ...]:
        """What is wrong with the file; empty when it is sound. Reads all of it and changes nothing."""
        try:
            with translated(self.path):
                return integrity(self.path, self._connect())
        except StoreDamaged as error:
            return (f"{self.path.name}: {error.message}",)

    def _many(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        self._db.executemany(statement, rows).fetchall()

    # -- counters ----------------------------------------------------------------------------------------------------

    def number(self, key: str) -> int:
        found = self._rows("select value from meta where key = ?", (key,))
        return int(found[0][0]) if found else 0

    def set_number(self, key: str, value: int) -> None:
        self._rows("insert or replace into meta values (?, ?)", (key, str(value)))

    @property
    def generation(self) -> int:
        """plasticity_generation: grows with every act of learning, never falls."""
        return self.number("generation")

    @property
    def queries(self) -> int:
        """Learning queries so far."""
        return self.number("queries")

    # -- edges -------------------------------------------------------------------------------------------------------

    def edges(self) -> list[LearnedEdge]:
        found = self._rows("select source, target, relation, weight, idle, up, down, lasting_up, lasting_down from edge")
        return [
            LearnedEdge(
                source=row[0],
                target=row[1],
                relation=row[2],
                weight=float(row[3]),
                idle=int(row[4]),
                up=int(row[5]),
                down=int(row[6]),
                lasting_up=bool(row[7]),
                lasting_down=bool(row[8]),
            )
            for row in found
        ]

    def put_edges(self, edges: Iterable[LearnedEdge]) -> None:
        self._many(
            "insert or replace into edge values (?,?,?,?,?,?,?,?,?)",
            (
                (e.source, e.target, e.relation, e.weight, e.idle, e.up, e.down, int(e.lasting_up), int(e.lasting_down))
                for e in edges
            ),
        )

    def active(self) -> dict[str, int]:
        """node -> in how many learning queries it was active."""
        return {node: int(times) for node, times in self._rows("select node, times from active")}

    def add_active(self, nodes: Iterable[str]) -> None:
        self._many("insert into active values (?, 1) on conflict (node) do update set times = times + 1", ((n,) for n in nodes))

    # -- queries -----------------------------------------------------------------------------------------------------

    def remember(self, query: Query, *, number: int, most: int) -> None:
        values = (number % most, number, query.at, json.dumps(query.seeds), json.dumps(query.nodes))
        self._rows("insert or replace into query values (?,?,?,?,?)", values)

    def remembered(self) -> list[Query]:
        """Newest first."""
        found = self._rows("select at, seeds, nodes from query order by number desc")
        return [
            Query(
                at=int(at),
                seeds=tuple(json.loads(seeds)),
                nodes=tuple((node, float(value)) for node, value in json.loads(nodes)),
            )
            for at, seeds, nodes in found
        ]

    # -- defects and what changes together ---------------------------------------------------------------------------

    def add_defects(self, defects: Iterable[Defect], agent: str) -> None:
        self._many("insert into defect values (?,?,?,?)", ((d.node, d.kind, d.at, agent) for d in defects))

    def defects(self, nodes: Sequence[str] | None = None) -> list[Defect]:
        if nodes is None:
            found = self._rows("select node, kind, at from defect order by node, at, rowid")
        else:
            found = self._rows(
                "select node, kind, at from defect where node in (select value from json_each(?)) order by node, at, rowid",
                (json.dumps(list(nodes)),),
            )
        return [Defect(node=node, kind=kind, at=int(at)) for node, kind, at in found]

    def add_together(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._many(
            "insert into together values (?, ?, 1) on conflict (one, other) do update set times = times + 1",
            (pair for one, other in pairs for pair in ((one, other), (other, one))),
        )

    def together(self, node: str) -> dict[str, int]:
        found = self._rows("select other, times from together where one = ? order by other", (node,))
        return {other: int(times) for other, times in found}

    # -- drift and sessions ------------------------------------------------------------------------------------------

    def add_drifts(self, drifts: Sequence[Drift], *, most: int) -> None:
        self._many(
            "insert into drift (at, source, target, relation, before, after) values (?,?,?,?,?,?)",
            ((d.at, d.source, d.target, d.relation, d.before, d.after) for d in drifts),
        )
        self._rows("delete from drift where number <= (select max(number) from drift) - ?", (most,))

    def drifts(self, since: int) -> list[Drift]:
        names = "at, source, target, relation, before, after"
        found = self._rows(f"select {names} from drift where at >= ? order by number", (since,))
        return [
            Drift(
                at=int(r[0]),
                source=r[1],
                target=r[2],
                relation=r[3],
                before=float(r[4]),
                after=float(r[5]),
            )
            for r in found
        ]

    def mark_session(self, mark: SessionMark) -> None:
        """Note the first question of a session; later ones change nothing."""
        if self._rows("select 1 from session where session = ?", (mark.session,)):
            return
        with self.writing(durable=False):
            values = (mark.session, mark.agent, mark.at, mark.nodes, mark.edges, mark.generation)
            self._rows("insert or ignore into session values (?,?,?,?,?,?)", values)
            self._rows(
                "delete from session where session not in (select session from session order by at desc, session limit ?)",
                (_KEPT_SESSIONS,),
            )

    def sessions(self, agent: str) -> list[SessionMark]:
        """The sessions of one agent, newest first."""
        found = self._rows(
            "select session, agent, at, nodes, edges, generation from session where agent = ? order by at desc, session", (agent,)
        )
        return [
            SessionMark(
                session=r[0],
                agent=r[1],
                at=int(r[2]),
                nodes=int(r[3]),
                edges=int(r[4]),
                generation=int(r[5]),
            )
            for r in found
        ]

    # -- whole copies ------------------------------------------------------------------------------------------------

    def told(self, table: str) -> list[tuple[Any, ...]]:
        """Every row of a table, in its order."""
        columns, order = LEARNED_LAYOUT[table]
        return self._rows(f"select {', '.join(columns)} from {table} order by {order}")

    def fill(self, tables: Iterable[tuple[str, Iterable[tuple[Any, ...]]]]) -> None:
        """Put these rows in the place of all that was learned, in one transaction."""
        with self.writing(durable=True):
            for table in LEARNED_LAYOUT:
                self._db.execute(f"delete from {table}").fetchall()
            for table, rows in tables:
                columns = LEARNED_LAYOUT[table][0]
                self._many(f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})", rows)

    def save(self, target: Path) -> None:
        """A consistent copy as one file."""
        with self._lock:
            copy_file(self._db, target)

    def load(self, source: Path) -> None:
        """Take back the edges, questions and verdicts of a copy; the generation goes on from the larger of the two."""
        after = max(self.generation, 0) + 1
        with self._lock, translated(self.path):
            self._db.execute("attach database ? as saved", (plain_name(source),)).fetchall()
            try:
                with self.writing(durable=True):
                    for table in ("edge", "active", "query", "defect", "together", "drift"):
                        self._db.execute(f"delete from main.{table}").fetchall()
                        self._db.execute(f"insert into main.{table} select * from saved.{table}").fetchall()
                    self._db.execute(
                        "insert or replace into main.meta select key, value from saved.meta where key = 'queries'"
                    ).fetchall()
                    self.set_number("generation", after)
            finally:
                self._db.execute("detach database saved").fetchall()

    def close(self) -> None:
        with self._lock:
            self._db.close()
