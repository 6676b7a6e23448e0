"""Reading rows of graph.db: rows to values, words by number, and which terms a lookup can afford."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.graph import Edge, FileFacts, Node
from hindbrain.stores.graph_port import CodeHit
from hindbrain.stores.graph_schema import CHUNK_BITS, FIELDS

__all__ = [
    "Sql",
    "affordable",
    "edge_of",
    "facts_of",
    "hits_of",
    "in_batches",
    "meta_of",
    "node_of",
    "quoted",
    "text_field",
    "words_of",
]

_BATCH = 500  # values in one `in (...)`


class Sql:
    """Statements on one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        # All of it also where no row is expected: a cursor that is not read to its end has not run to its end.
        return self._connection.execute(statement, values).fetchall()

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows).fetchall()


def meta_of(sql: Sql, key: str) -> str | None:
    for (value,) in sql.rows("select value from meta where key = ?", (key,)):
        return str(value)
    return None


def in_batches(sql: Sql, statement: str, values: Collection[int]) -> Iterator[tuple[Any, ...]]:
    """Rows of a statement that ends with `in`, for as many values as there are."""
    rest = list(values)
    for begin in range(0, len(rest), _BATCH):
        batch = rest[begin : begin + _BATCH]
        yield from sql.rows(f"{statement} ({','.join('?' * len(batch))})", batch)


def words_of(sql: Sql, numbers: Collection[int]) -> dict[int, str]:
    return {row[0]: row[1] for row in in_batches(sql, "select id, text from word where id in", numbers)}


def facts_of(row: Sequence[Any]) -> FileFacts:
    path, size, mtime_ns, sha256, language, lines, commits, last_commit, parse = row
    return FileFacts(
        path=path,
        size=size,
        mtime_ns=mtime_ns,
        sha256=sha256,
        language=language,
        lines=lines,
        commits=commits,
        last_commit=last_commit,
        parse=parse,
    )


def node_of(row: Sequence[Any]) -> Node:
    node_id, label, kind, path, first, last, excerpt, namespace, tags, modified, frequency = row
    return Node(
        id=node_id,
        label=label,
        kind=kind,
        path=path,
        line_start=first,
        line_end=last,
        excerpt=excerpt,
        namespace=namespace,
        tags=tuple(tags.split()),
        last_modified=modified,
        change_frequency=frequency,
    )


def edge_of(row: Sequence[Any], ids: Mapping[int, str], words: Mapping[int, str]) -> Edge:
    source, target, relation, flags, weight, causal = row
    return Edge(
        source=ids[source],
        target=ids[target],
        relation=words[relation],
        weight=weight,
        causal=causal,
        bidirectional=bool(flags & 1),
        inhibitory=bool(flags & 2),
    )


def hits_of(sql: Sql, table: str, rows: Sequence[tuple[int, float]]) -> list[CodeHit]:
    """Rows of full text as places in files."""
    chunk = table == "chunks"
    owners = {row >> CHUNK_BITS if chunk else row for row, _ in rows}
    files = {one[0]: one[1:] for one in in_batches(sql, "select id, name, lines, spans from owner where id in", owners)}
    found = []
    for row, score in rows:
        if (file := files.get(row >> CHUNK_BITS if chunk else row)) is None:
            continue
        path, last, spans = file
        first = 1
        if chunk:
            at = (row & ((1 << CHUNK_BITS) - 1)) * 8
            first, last = int.from_bytes(spans[at : at + 4], "little"), int.from_bytes(spans[at + 4 : at + 8], "little")
        found.append(CodeHit(path=path, line_start=first, line_end=last, score=score))
    return found


def text_field(name: str) -> str:
    if name not in FIELDS:
        raise InvalidParams(f"{name!r} is no text of a file", fix=f"ask for one of {', '.join(FIELDS)}")
    return name


def quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def affordable(frequencies: Mapping[str, int], within: int | None) -> list[str]:
    """The terms that are there, the rarest first; with `within`, as many as together touch no more rows, but always one."""
    known = sorted((term for term, count in frequencies.items() if count), key=lambda term: (frequencies[term], term))
    if within is None:
        return known
    chosen: list[str] = []
    for term in known:
        within -= frequencies[term]
        if chosen and within < 0:
            break
        chosen.append(term)
    return chosen
