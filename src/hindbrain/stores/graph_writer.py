"""The writer of the graph: one transaction that takes in files, forgets others and binds names to what they mean."""

import json
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.graph import Edge, Node
from hindbrain.stores.graph_columns import holders, joined_edges
from hindbrain.stores.graph_port import Bound, Resolution, ResolveFile, Resolver, Written
from hindbrain.stores.graph_read import Sql, meta_of
from hindbrain.stores.graph_rows import EdgeRow, NodeRow, Packed, ReferenceRow, edge_row, node_row, references_of, usable
from hindbrain.stores.graph_schema import CHUNK_BITS, FIELDS, edge_type
from hindbrain.stores.graph_symbols import SymbolTable

__all__ = ["Take"]

BATCH = 4_000  # rows that one executemany gets; larger ones only need more memory
_FILE = (
    "insert into owner (id, kind, name, size, mtime_ns, sha256, language, lines, commits, last_commit, parse, last_modified, "
    "change_frequency, spans) values (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set "
    "size = excluded.size, mtime_ns = excluded.mtime_ns, "
    "sha256 = excluded.sha256, language = excluded.language, lines = excluded.lines, "
    "commits = excluded.commits, last_commit = excluded.last_commit, parse = excluded.parse, "
    "last_modified = excluded.last_modified, change_frequency = excluded.change_frequency, spans = excluded.spans"
)
_NODE = (
    "insert into node (id, ext, label, kind, owner, line_start, line_end, excerpt, namespace, tags, path, last_modified, "
    "change_frequency) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set label = excluded.label, "
    "kind = excluded.kind, line_start = excluded.line_start, line_end = excluded.line_end, excerpt = excluded.excerpt, "
    "namespace = excluded.namespace, tags = excluded.tags, path = excluded.path, last_modified = excluded.last_modified, "
    "change_frequency = excluded.change_frequency"
)
_PACK = (
    "insert or replace into pack (owner, imports, refs, bases, names, inner, outer, resolved, ambiguous, unresolved) "
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(slots=True)
class _Pending:
    """A file whose nodes are written and whose names wait for those of the others."""

    path: str
    edges: list[EdgeRow] | None  # None: as they are stored
    references: bytes
    imports: str
    bases: str
    used: list[str] | None


class Words:
    """Short texts by number, read when they are first asked for."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._known: dict[str, int] = {}
        self._next = int(sql.rows("select coalesce(max(id), 0) + 1 from word")[0][0])
        self._empty = self._next == 1
        self._fresh: list[tuple[int, str]] = []

    def __call__(self, text: str) -> int:
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = self._find(text)
        return number

    def _find(self, text: str) -> int:
        if not self._empty:
            for (number,) in self._sql.rows("select id from word where text = ?", (text,)):
                return int(number)
        self._fresh.append((self._next, text))
        self._next += 1
        return self._next - 1

    def flush(self) -> None:
        self._sql.many("insert into word values (?, ?)", self._fresh)
        self._fresh.clear()


@dataclass(slots=True)
class _Tally:
    files: int = 0
    nodes: int = 0
    edges: int = 0
    resolved: int = 0
    ambiguous: int = 0
    unresolved: int = 0
    truncated: bool = False
    warnings: list[str] = field(default_factory=list)


class Take:
    """One transaction's work. `add` files as they come, `drop` others, then `finish`."""

    def __init__(self, sql: Sql, resolver: Resolver | None, *, most_nodes: int, anew: bool = False) -> None:
        self._sql = sql
        if anew:
            self._wipe()
        self._resolver = resolver
        self._owners: dict[str, int] = dict(sql.rows("select name, id from owner where kind = 0"))
        ((self._next_owner,),) = sql.rows("select coalesce(max(id), 0) + 1 from owner")
        ((self._next_node, self._nodes),) = sql.rows("select coalesce(max(id), 0) + 1, count(*) from node")
        self._from_empty = self._nodes == 0
        self._most = most_nodes
        self._words = Words(sql)
        self._ids: dict[str, int] = {}
        self._taken: set[str] = set()
        self._pending: dict[int, _Pending] = {}
        self._gone: set[int] = set()
        self._names: set[str] = set()  # labels that came or went: who uses them is bound again
        self._symbols = SymbolTable(sql, self._owners, whole=self._from_empty)
        self._rows: list[tuple[Any, ...]] = []
        self._texts: dict[str, list[tuple[int, str]]] = {name: [] for name in FIELDS}
        self.tally = _Tally()

    def _wipe(self) -> None:
        for table in ("owner", "pack", "node", "together", "word"):
            self._sql.rows(f"delete from {table}")
        for name in FIELDS:
            self._sql.rows(f"insert into {name} ({name}) values ('delete-all')")

    # --- files -------------------------------------------------------------------------------------------------------

    def add(self, packed: Packed) -> None:
        """Take in one file in place of what its path gave before."""
        file, nodes, edges, references, imports, bases, used, chunks, names, warnings = packed
        path = file[0]
        owner = self._owners.get(path)
        before = {} if owner is None else self._clear_texts(owner)
        if owner is None:
            owner = self._owners[path] = self._next_owner
            self._next_owner += 1
            self._file_came_or_went(path)
        spans = b"".join(first.to_bytes(4, "little") + last.to_bytes(4, "little") for first, last, _ in chunks)
        self._sql.rows(_FILE, (owner, *file, spans))
        self._put_nodes(owner, nodes, before)
        self._put_texts(owner, chunks, names)
        self._pending[owner] = _Pending(path, edges, references, json.dumps(imports), json.dumps(bases), used)
        self._symbols.put(path, packed)
        self.tally.files += 1
        self.tally.warnings += warnings

    def _clear_texts(self, owner: int) -> dict[str, tuple[int, str]]:
        """Forget the text of a file; what its nodes were: external id -> key, label."""
        ((spans,),) = self._sql.rows("select length(spans) from owner where id = ?", (owner,))
        first = owner << CHUNK_BITS
        self._sql.rows("delete from chunks where rowid between ? and ?", (first, first + spans // 8))
        for name in ("names", "whole"):
            self._sql.rows(f"delete from {name} where rowid = ?", (owner,))
        found = self._sql.rows("select ext, id, label from node where owner = ?", (owner,))
        return {ext: (key, label) for ext, key, label in found}

    def _put_nodes(self, owner: int, nodes: Iterable[NodeRow], before: Mapping[str, tuple[int, str]]) -> None:
        words, left = self._words, dict(before)
        for ext, label, kind, first, last, excerpt, namespace, tags, path, modified, frequency in nodes:
            if ext in self._taken:
                continue  # the first of two equal ids stays
            self._taken.add(ext)
            known = left.pop(ext, None)
            if known is None:
                key = None if self._from_empty else self._key(ext)
                if key is None:
                    if self._nodes >= self._most:
                        self.tally.truncated = True
                        continue
                    key = self._next_node
                    self._next_node += 1
                    self._nodes += 1
                    self.tally.nodes += 1
                if not self._from_empty:
                    self._names.add(label)
            else:
                key = known[0]
                if known[1] != label:
                    self._names |= {label, known[1]}
            self._ids[ext] = key
            row = (key, ext, label, words(kind), owner, first, last, excerpt, words(namespace), words(tags))
            self._rows.append((*row, path, modified, frequency))
        self._forget_nodes(left)
        if len(self._rows) >= BATCH:
            self._flush()

    def _key(self, ext: str) -> int | None:
        key = self._ids.get(ext)
        if key is None and not self._from_empty:
            for (key,) in self._sql.rows("select id from node where ext = ?", (ext,)):
                return int(key)
        return key

    def _forget_nodes(self, nodes: Mapping[str, tuple[int, str]]) -> None:
        for ext, (key, label) in nodes.items():
            self._gone.add(key)
            self._names.add(label)
            self._nodes -= 1
            self._ids.pop(ext, None)
        self._sql.many("delete from node where id = ?", [(key,) for key, _ in nodes.values()])

    def _put_texts(self, owner: int, chunks: Sequence[tuple[int, int, str]], names: str) -> None:
        first = owner << CHUNK_BITS
        kept = self._texts["chunks"]
        kept.extend((first + number, terms) for number, (_, _, terms) in enumerate(chunks))
        self._texts["names"].append((owner, names))
        self._texts["whole"].append((owner, " ".join(terms for _, _, terms in chunks)))
        if len(kept) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        self._words.flush()
        self._sql.many(_NODE, self._rows)
        self._rows.clear()
        for name, rows in self._texts.items():
            self._sql.many(f"insert into {name} (rowid, terms) values (?, ?)", rows)
            rows.clear()

    @property
    def paths(self) -> Collection[str]:
        """Every file as of now."""
        return self._owners.keys()

    def meta(self, key: str) -> str | None:
        return meta_of(self._sql, key)

    def set_meta(self, key: str, value: str) -> None:
        self._sql.rows("insert or replace into meta values (?, ?)", (key, value))

    def touch(self, path: str, *, size: int, mtime_ns: int) -> None:
        """A file with another time and the same content."""
        self._sql.rows("update owner set size = ?, mtime_ns = ? where id = ?", (size, mtime_ns, self._owners[path]))

    def drop(self, paths: Iterable[str]) -> None:
        """Forget files."""
        for path in paths:
            owner = self._owners.pop(path, None)
            if owner is None:
                continue
            self._file_came_or_went(path)
            self._symbols.drop(path)
            self._forget_nodes(self._clear_texts(owner))
            for table, key in (("owner", "id"), ("pack", "owner"), ("together", "owner")):
                self._sql.rows(f"delete from {table} where {key} = ?", (owner,))
            self._pending.pop(owner, None)

    def _file_came_or_went(self, path: str) -> None:
        """Imports name a file by its stem, or by its directory when the file stands for it."""
        if not self._from_empty:
            directory, name = os.path.split(path)
            self._names |= {name, name.partition(".")[0], os.path.basename(directory)}

    # --- other owners ------------------------------------------------------------------------------------------------

    def merge(self, name: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> int:
        """Put what another owner than a file knows; the number of edges whose ends are not both there."""
        found = self._sql.rows("select id from owner where kind = 1 and name = ?", (name,))
        owner = found[0][0] if found else self._next_owner
        if not found:
            self._next_owner += 1
            self._sql.rows("insert into owner (id, kind, name) values (?, 1, ?)", (owner, name))
        before = {e: (k, label) for e, k, label in self._sql.rows("select ext, id, label from node where owner = ?", (owner,))}
        rows = [node_row(node, path=None, modified=None, frequency=None) for node in nodes if usable(node.id)]
        own = [row for row in rows if row[0] in before or self._key(row[0]) is None]
        self._unite([row for row in rows if row[0] not in before and self._key(row[0]) is not None])
        self._put_nodes(owner, own, before)
        self._flush()
        packed, missing = self._packed([edge_row(edge) for edge in edges])
        self._sql.rows(_PACK, (owner, "[]", b"", "[]", b"", packed, b"", 0, 0, 0))
        self.tally.edges += len(packed) // edge_type().itemsize
        return missing

    def _unite(self, rows: Sequence[NodeRow]) -> None:
        """Nodes that a file or another owner knows already: the newer label and both sets of tags."""
        for ext, label, _, _, _, _, _, tags, _, _, _ in rows:
            ((had,),) = self._sql.rows("select w.text from node n join word w on w.id = n.tags where n.ext = ?", (ext,))
            both = self._words(" ".join(dict.fromkeys((*had.split(), *tags.split()))))
            self._sql.rows("update node set label = ?, tags = ? where ext = ?", (label, both, ext))

    def unmerge(self, name: str) -> None:
        for (owner,) in self._sql.rows("select id from owner where kind = 1 and name = ?", (name,)):
            found = self._sql.rows("select ext, id, label from node where owner = ?", (owner,))
            self._forget_nodes({ext: (key, label) for ext, key, label in found})
            self._sql.rows("delete from owner where id = ?", (owner,))
            self._sql.rows("delete from pack where owner = ?", (owner,))

    # --- history -----------------------------------------------------------------------------------------------------

    def history(
        self, commits: Mapping[str, tuple[int, int]], together: Mapping[str, Sequence[tuple[str, int]]], *, below: Collection[str]
    ) -> None:
        """Put what the repository's log says of these paths: number of commits and the last one's time; files that were
        committed with it. Who of them is not named has no history."""
        import numpy as np

        most = math.log1p(max((count for count, _ in commits.values()), default=0)) or 1.0
        known = [(path, self._owners[path], commits.get(path, (0, 0))) for path in below if path in self._owners]
        self._sql.many(
            "update owner set commits = ?, last_commit = ?, change_frequency = ? where id = ?",
            [(count, last, math.log1p(count) / most, owner) for _, owner, (count, last) in known],
        )
        rows = []
        for path, others in together.items():
            pairs = [(self._owners[other], count) for other, count in others if other in self._owners]
            if path in self._owners and pairs:
                rows.append((self._owners[path], np.array(pairs, dtype="<i4").tobytes()))
        self._sql.many("delete from together where owner = ?", [(owner,) for _, owner, _ in known])
        self._sql.many("insert into together values (?, ?)", rows)

    # --- binding names -----------------------------------------------------------------------------------------------

    def finish(self) -> Written:
        """Bind names to nodes, write what is left; what this transaction did."""
        self._flush()
        for owner in self._touched():
            self._pending[owner] = self._stored(owner)
        resolve = self._resolver(self._symbols) if self._resolver is not None else _nothing
        for owner, pending in self._pending.items():
            self._bind(owner, pending, resolve)
        self._words.flush()
        self._cut_loose()
        done = self.tally
        return Written(
            files_parsed=done.files,
            nodes_created=done.nodes,
            edges_created=done.edges,
            references_resolved=done.resolved,
            references_ambiguous=done.ambiguous,
            references_unresolved=done.unresolved,
            truncated=done.truncated,
            warnings=tuple(done.warnings),
        )

    def _touched(self) -> list[int]:
        """Files that were not taken in now but use a name, or point to a node, that came or went."""
        if self._from_empty or not (self._names or self._gone):
            return []
        self._words.flush()
        files = set(self._owners.values()) - self._pending.keys()
        used = self._sql.rows("select owner, names from pack")
        ends = self._sql.rows("select owner, outer from pack")
        touched = holders(((owner, blob) for owner, blob in used), "<i4", (), {self._words(name) for name in self._names})
        touched |= holders(((owner, blob) for owner, blob in ends), edge_type(), ("target",), self._gone)
        return sorted(touched & files)

    def _stored(self, owner: int) -> _Pending:
        """A file's references as they were written when it was last parsed."""
        ((path, references, imports, bases),) = self._sql.rows(
            "select o.name, p.refs, p.imports, p.bases from pack p join owner o on o.id = p.owner where p.owner = ?", (owner,)
        )
        return _Pending(path, None, references, imports, bases, None)

    def _bind(self, owner: int, pending: _Pending, resolve: ResolveFile) -> None:
        import numpy as np

        answer = resolve(pending.path, references_of(pending.references))
        outer, _ = self._packed(answer.edges)
        if pending.edges is None or pending.used is None:
            ((inner, names),) = self._sql.rows("select inner, names from pack where owner = ?", (owner,))
        else:
            inner, _ = self._packed(pending.edges)
            names = np.array([self._words(name) for name in pending.used], dtype="<i4").tobytes()
        counted = (answer.resolved, answer.ambiguous, answer.unresolved)
        row = (owner, pending.imports, pending.references, pending.bases, names, inner, outer, *counted)
        self._sql.rows(_PACK, row)
        self.tally.resolved += answer.resolved
        self.tally.ambiguous += answer.ambiguous
        self.tally.unresolved += answer.unresolved
        self.tally.edges += (len(inner) + len(outer)) // edge_type().itemsize

    def _packed(self, edges: Iterable[EdgeRow]) -> tuple[bytes, int]:
        """Edges between nodes that are there, each once; and how many others there were."""
        import numpy as np

        rows, missing, seen = [], 0, set()
        key, words = self._key, self._words
        for source, target, relation, flags, weight, causal in edges:
            begin, end = key(source), key(target)
            if begin is None or end is None:
                missing += 1
                continue
            row = (begin, end, words(relation), flags)
            if row not in seen:
                seen.add(row)
                rows.append((*row, weight, causal))
        return np.array(rows, dtype=edge_type()).tobytes(), missing

    def _cut_loose(self) -> None:
        """Edges of other owners to nodes that are gone."""
        import numpy as np

        if not self._gone:
            return
        gone = np.array(sorted(self._gone), dtype=np.int32)
        for column in ("inner", "outer"):
            rows = dict(self._sql.rows(f"select owner, {column} from pack"))
            changed = []
            for owner in holders(rows.items(), edge_type(), ("source", "target"), self._gone):
                edges = joined_edges([rows[owner]])
                kept = edges[~(np.isin(edges["target"], gone) | np.isin(edges["source"], gone))]
                changed.append((kept.tobytes(), owner))
            self._sql.many(f"update pack set {column} = ? where owner = ?", changed)


def _nothing(path: str, references: Sequence[ReferenceRow]) -> Resolution:
    """Without a resolver no name means anything."""
    return Bound((), 0, 0, len(references))
