"""graph.db: the graph of one checkout in a file that may always be lost. A damaged one is moved aside and begun anew."""

import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace as replaced
from pathlib import Path

import apsw

from hindbrain.domain.errors import StoreDamaged, StoreUnavailable
from hindbrain.domain.graph import Edge, FileFacts, Node, Parsed
from hindbrain.stores.checked_file import add_checksums, checked_vfs, has_checksums, is_plain, lay_out
from hindbrain.stores.graph_columns import columns, joined_edges
from hindbrain.stores.graph_port import CodeHit, GraphArrays, Resolver, Written
from hindbrain.stores.graph_read import (
    Sql,
    affordable,
    edge_of,
    facts_of,
    hits_of,
    in_batches,
    meta_of,
    node_of,
    quoted,
    text_field,
    words_of,
)
from hindbrain.stores.graph_rows import pack
from hindbrain.stores.graph_schema import PLAIN_VERSION, SCHEMA, VERSION
from hindbrain.stores.graph_writer import Take
from hindbrain.stores.sqlite_files import Turns, create_private, integrity, require_library, set_aside, translated, unusable

__all__ = ["LocalGraph"]

MOST_NODES = 500_000
BUSY_MS = 20_000
TURN_SECONDS = 330.0  # longer than the longest ingest
LOG_BYTES = 4 * 1024 * 1024
CACHE_KIB = 64 * 1024
SPARE = 32  # hits read beyond the limit, so that equal scores are cut in one order
_BROKEN = (apsw.NotADBError, apsw.CorruptError)
_FACTS = "size, mtime_ns, sha256, language, lines, commits, last_commit, parse"


class _Unusable(Exception):
    """The file is missing, damaged or of another release."""


class LocalGraph:
    """The graph of one brain on this machine. Safe for several threads and processes; one writer at a time."""

    def __init__(self, directory: Path, resolver: Resolver | None = None, *, most_nodes: int = MOST_NODES) -> None:
        require_library(apsw.sqlite_lib_version())
        self.path = directory / "graph.db"
        self._resolver = resolver
        self._most_nodes = most_nodes
        self._turns = Turns(directory / "graph.db.lock")
        self._idle: deque[tuple[apsw.Connection, int]] = deque()
        self._lock = threading.Lock()
        self._arrays: GraphArrays | None = None
        self._closed = False
        with translated(self.path):
            self._give_back(*self._take())

    # --- connections -------------------------------------------------------------------------------------------------

    def _take(self) -> tuple[apsw.Connection, int]:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed", fix="open the brain again")
        while self._idle:
            try:
                connection, file = self._idle.pop()
            except IndexError:
                break
            with suppress(OSError):
                if self.path.stat().st_ino == file:
                    return connection, file
            connection.close()  # another process began the file anew, or somebody removed it
        try:
            return self._opened()
        except _Unusable:
            with self._turns.taken(TURN_SECONDS):
                with suppress(_Unusable):
                    return self._opened()
                if not self._bring_forward():
                    self._begin_anew()
                return self._opened()

    def _opened(self) -> tuple[apsw.Connection, int]:
        if unusable(self.path):
            raise _Unusable
        try:
            file = self.path.stat().st_ino
        except FileNotFoundError as error:
            raise _Unusable from error
        connection = apsw.Connection(str(self.path), vfs=checked_vfs())
        try:
            connection.set_busy_timeout(BUSY_MS)
            if connection.pragma("user_version") != VERSION or connection.pragma("journal_mode") != "wal":
                raise _Unusable
            if not has_checksums(connection):
                raise _Unusable
            connection.pragma("synchronous", "normal")
            connection.pragma("journal_size_limit", LOG_BYTES)
            connection.pragma("cache_size", -CACHE_KIB)
            connection.execute("select value from meta where key = 'generation'").fetchall()
        except (apsw.SQLError, *_BROKEN) as error:
            connection.close()
            raise _Unusable from error
        except BaseException:
            connection.close()
            raise
        return connection, file

    def _bring_forward(self) -> bool:
        """Give a graph of the last release without checksums its checksums; False for any other file, and for a damaged one."""
        if not is_plain(self.path):
            return False
        try:
            add_checksums(self.path)
            connection = apsw.Connection(str(self.path), vfs=checked_vfs())
            try:
                if connection.pragma("user_version") != PLAIN_VERSION:
                    return False
                connection.pragma("user_version", VERSION)
            finally:
                connection.close()
        except (apsw.SQLError, *_BROKEN):
            return False
        return True

    def _begin_anew(self) -> None:
        """Put aside what is there and make an empty file, whole or not at all."""
        aside = set_aside(self.path)
        lost = aside is not None and (aside.is_dir() or aside.lstat().st_size > 0)
        create_private(self.path)
        connection = apsw.Connection(str(self.path), vfs=checked_vfs())
        try:
            lay_out(connection)
            connection.pragma("journal_mode", "wal")
            connection.execute("begin immediate").fetchall()
            for statement in SCHEMA:
                connection.execute(statement).fetchall()
            if lost:
                connection.execute("insert into meta values ('lost', 'damaged')").fetchall()
            connection.execute("commit").fetchall()
        finally:
            connection.close()

    def _give_back(self, connection: apsw.Connection, file: int) -> None:
        if connection.in_transaction:
            connection.execute("rollback").fetchall()
        if self._closed:
            connection.close()
        else:
            self._idle.append((connection, file))

    @contextmanager
    def _borrowed(self) -> Iterator[apsw.Connection]:
        connection, file = self._take()
        try:
            yield connection
        except (apsw.FullError, apsw.IOError, apsw.ReadOnlyError):
            self._give_back(connection, file)  # it can go on reading; on a full disk no new one could be opened
            raise
        except apsw.Error:
            connection.close()
            raise
        except BaseException:
            self._give_back(connection, file)
            raise
        self._give_back(connection, file)

    @contextmanager
    def _reading(self) -> Iterator[Sql]:
        try:
            with translated(self.path), self._borrowed() as connection:
                sql = Sql(connection)
                sql.rows("begin")
                yield sql
        except StoreDamaged:
            self.renew_damaged()
            raise

    def renew_damaged(self) -> None:
        """Put a damaged file aside. Derived data may always be thrown away: the next call finds an empty graph, which needs an
        ingest."""
        with self._turns.taken(TURN_SECONDS), translated(self.path):
            if self.check():  # nobody else has begun anew in the meantime
                self._begin_anew()

    @contextmanager
    def _writing(self) -> Iterator[Sql]:
        try:
            with translated(self.path), self._turns.taken(TURN_SECONDS), self._borrowed() as connection:
                sql = Sql(connection)
                sql.rows("begin immediate")
                yield sql
                sql.rows("commit")
        except StoreDamaged:
            self.renew_damaged()
            raise

    def turn(self, seconds: float) -> AbstractContextManager[bool]:
        """Ask for the only right to write until the block ends; False when another one has it for longer than that."""
        return self._turns.taken(seconds)

    # --- writing -----------------------------------------------------------------------------------------------------

    def put(self, parsed: Iterable[Parsed], *, removed: Collection[str] = (), replace: bool = False) -> Written:
        with self.taking(anew=replace) as take:
            take.drop(removed)
            for one in parsed:
                take.add(pack(one))
            return take.finish()

    @contextmanager
    def taking(self, *, anew: bool = False) -> Iterator[Take]:
        """One transaction of many steps; the generation grows by one. With `anew` everything that was there goes."""
        with self._writing() as sql:
            yield Take(sql, self._resolver, most_nodes=self._most_nodes, anew=anew)
            self._count(sql)

    @staticmethod
    def _count(sql: Sql) -> None:
        size = joined_edges(()).dtype.itemsize
        ((nodes,),) = sql.rows("select count(*) from node")
        ((packed,),) = sql.rows("select coalesce(sum(length(inner) + length(outer)), 0) from pack")
        generation = int(meta_of(sql, "generation") or 0) + 1
        values = (("generation", generation), ("nodes", nodes), ("edges", packed // size))
        sql.many("insert or replace into meta values (?, ?)", [(k, str(v)) for k, v in values])
        sql.rows("delete from meta where key = 'lost'")

    def merge(self, owner: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> Written:
        with self.taking() as take:
            skipped = take.merge(owner, list(nodes), list(edges))
            written = take.finish()
        return replaced(written, edges_skipped=skipped)

    def unmerge(self, prefix: str, *, keep: Collection[str] = ()) -> int:
        """Forget what owners gave whose name begins so; the number of them."""
        gone = [name for name in self.owners(prefix) if name not in keep]
        if gone:
            with self.taking() as take:
                for name in gone:
                    take.unmerge(name)
                take.finish()
        return len(gone)

    def raise_generation(self, least: int) -> int:
        """Never below a number that was told before: a graph that was lost begins where the old one ended."""
        if (now := self.counts()[2]) >= least:
            return now
        self.set_meta("generation", str(least))
        return least

    # --- reading -----------------------------------------------------------------------------------------------------

    def files(self) -> dict[str, FileFacts]:
        with self._reading() as sql:
            rows = sql.rows(f"select name, {_FACTS} from owner where kind = 0 order by name")
        return {row[0]: facts_of(row) for row in rows}

    def counts(self) -> tuple[int, int, int]:
        with self._reading() as sql:
            found = dict(sql.rows("select key, value from meta where key in ('nodes', 'edges', 'generation')"))
        return int(found.get("nodes", 0)), int(found.get("edges", 0)), int(found.get("generation", 0))

    def arrays(self) -> GraphArrays:
        kept, generation = self._arrays, self.counts()[2]
        if kept is not None and kept.generation == generation:
            return kept
        with self._lock:
            if self._arrays is not None and self._arrays.generation == generation:
                return self._arrays
            self._arrays = self._build()
            return self._arrays

    def _build(self) -> GraphArrays:
        with self._reading() as sql:
            generation = int(meta_of(sql, "generation") or 0)
            nodes = sql.rows("select id, ext, label, kind, owner, tags, path, last_modified, change_frequency from node")
            owners = {
                key: (name if kind == 0 else "", modified, frequency)
                for key, kind, name, modified, frequency in sql.rows(
                    "select id, kind, name, last_modified, change_frequency from owner"
                )
            }
            packed = sql.rows("select inner, outer from pack order by owner")
            needed = {row[3] for row in nodes} | {row[5] for row in nodes}
            blobs = [blob for pair in packed for blob in pair]
            import numpy as np

            needed |= set(np.unique(joined_edges(blobs)["relation"]).tolist())
            words = words_of(sql, needed)
        return columns(generation=generation, nodes=nodes, owners=owners, words=words, blobs=blobs)

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        found: dict[str, Node] = {}
        with self._reading() as sql:
            for one in dict.fromkeys(ids):
                for row in sql.rows(
                    "select n.ext, n.label, k.text, coalesce(n.path, case o.kind when 0 then o.name else '' end), n.line_start, "
                    "n.line_end, n.excerpt, s.text, t.text, coalesce(n.last_modified, o.last_modified), "
                    "coalesce(n.change_frequency, o.change_frequency) from node n join owner o on o.id = n.owner "
                    "join word k on k.id = n.kind join word s on s.id = n.namespace join word t on t.id = n.tags "
                    "where n.ext = ?",
                    (one,),
                ):
                    found[one] = node_of(row)
        return found

    def nodes_of(self, path: str) -> tuple[str, ...]:
        """External ids of what one file contributed, in the order of its lines."""
        with self._reading() as sql:
            rows = sql.rows(
                "select n.ext from node n join owner o on o.id = n.owner where o.kind = 0 and o.name = ? "
                "order by n.line_start, n.id",
                (path,),
            )
        return tuple(row[0] for row in rows)

    def owners(self, prefix: str = "") -> tuple[str, ...]:
        """Names of owners other than files that begin so."""
        with self._reading() as sql:
            rows = sql.rows("select name from owner where kind = 1 order by name")
        return tuple(name for (name,) in rows if name.startswith(prefix))

    def owned(self, name: str) -> tuple[str, ...]:
        """External ids of what an owner other than a file holds."""
        with self._reading() as sql:
            rows = sql.rows(
                "select n.ext from node n join owner o on o.id = n.owner where o.kind = 1 and o.name = ? order by n.ext", (name,)
            )
        return tuple(row[0] for row in rows)

    def edges_of(self, node_id: str, *, limit: int) -> tuple[Edge, ...]:
        import numpy as np

        with self._reading() as sql:
            found = sql.rows("select id from node where ext = ?", (node_id,))
            if not found:
                return ()
            key = found[0][0]
            edges = joined_edges(blob for pair in sql.rows("select inner, outer from pack") for blob in pair)
            edges = edges[(edges["source"] == key) | (edges["target"] == key)]
            edges = edges[np.argsort(-edges["weight"], kind="stable")]
            ends = {*edges["source"].tolist(), *edges["target"].tolist()}
            ids = dict(in_batches(sql, "select id, ext from node where id in", ends))
            words = words_of(sql, set(edges["relation"].tolist()))
        rows = [edge_of(row, ids, words) for row in edges.tolist() if row[0] in ids and row[1] in ids]
        return tuple(dict.fromkeys(rows))[:limit]

    def find(self, terms: Sequence[str], *, limit: int, field: str = "chunks", within: int | None = None) -> tuple[CodeHit, ...]:
        table = text_field(field)
        # A term that is given twice counts twice, as the index does it. To count how often each occurs would cost more than this.
        chosen = list(terms) if within is None else affordable(self.frequencies(terms, field=field)[0], within)
        if not chosen or limit <= 0:
            return ()
        statement = f"select rowid, -rank from {table} where {table} match ? order by rank, rowid limit ?"
        with self._reading() as sql:
            rows = sql.rows(statement, (" OR ".join(map(quoted, chosen)), limit + SPARE))
            hits = hits_of(sql, table, rows)
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.line_start))[:limit])

    def frequencies(self, terms: Sequence[str], *, field: str = "chunks") -> tuple[Mapping[str, int], int]:
        table = text_field(field)
        count = f"select count(*) from {table} where {table} match ?"
        found: dict[str, int] = {}
        with self._reading() as sql:
            for term in dict.fromkeys(" ".join(terms).split()):
                ((found[term],),) = sql.rows(count, (quoted(term),))
            if table == "chunks":
                total = "select coalesce(sum(length(spans)) / 8, 0) from owner where kind = 0"
            else:
                total = "select count(*) from owner where kind = 0"
            ((rows,),) = sql.rows(total)
        return found, rows

    def changes(self, paths: Sequence[str]) -> dict[str, tuple[tuple[str, int], ...]]:
        import numpy as np

        found = {}
        with self._reading() as sql:
            for path in dict.fromkeys(paths):
                for (blob,) in sql.rows(
                    "select t.others from together t join owner o on o.id = t.owner where o.kind = 0 and o.name = ?", (path,)
                ):
                    pairs = np.frombuffer(blob, dtype="<i4").reshape(-1, 2).tolist()
                    names = dict(in_batches(sql, "select id, name from owner where id in", {pair[0] for pair in pairs}))
                    found[path] = tuple((names[k], count) for k, count in pairs if k in names)
        return found

    def meta(self, key: str) -> str | None:
        with self._reading() as sql:
            return meta_of(sql, key)

    def set_meta(self, key: str, value: str) -> None:
        with self._writing() as sql:
            sql.rows("insert or replace into meta values (?, ?)", (key, value))

    def check(self) -> tuple[str, ...]:
        """What is wrong with the file; empty when it is sound. Reads all of it and changes nothing."""
        try:
            with translated(self.path):
                return integrity(self.path, self._opened()[0])
        except _Unusable:
            return (f"{self.path.name}: it is missing, damaged or of another release",)

    def close(self) -> None:
        self._closed = True
        while self._idle:
            with suppress(IndexError):
                self._idle.pop()[0].close()
