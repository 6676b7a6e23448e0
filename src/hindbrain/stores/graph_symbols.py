"""Symbols: what every file defines and imports, for the resolver: from this transaction's files first, else from the tables."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.stores.graph_port import About
from hindbrain.stores.graph_read import Sql, words_of
from hindbrain.stores.graph_rows import NodeRow, ReferenceRow
from hindbrain.stores.graph_schema import reference_type

__all__ = ["SymbolTable"]

_INHERITING = ("inherits", "implements")


class SymbolTable:
    """Definitions by name and by file. Reads only what is asked for: a changed file must not cost a look at all others."""

    def __init__(self, sql: Sql, files: Mapping[str, int], *, whole: bool) -> None:
        self._sql = sql
        self._whole = whole  # everything there is comes in this transaction
        self._put: dict[str, About] = {}
        self._fresh: dict[str, list[str]] = {}
        self._read: dict[str, list[str]] = {}
        self.files = files

    def put(
        self,
        path: str,
        language: str,
        nodes: Sequence[NodeRow],
        references: Sequence[ReferenceRow],
        imports: Sequence[tuple[str, str]],
    ) -> None:
        """Take in a file of this transaction."""
        symbols = [(row[0], row[1]) for row in nodes[1:]]
        bases = [(ref[0], ref[1], ref[3]) for ref in references if ref[2] in _INHERITING]
        self._put[path] = About(language, symbols, imports, bases)
        if self._whole:
            for ext, label in symbols:
                self._fresh.setdefault(label, []).append(ext)

    def drop(self, path: str) -> None:
        self._put.pop(path, None)

    def named(self, label: str) -> Sequence[str]:
        if self._whole:
            return self._fresh.get(label, ())
        found = self._read.get(label)
        if found is None:
            rows = self._sql.rows(
                "select n.ext from node n join owner o on o.id = n.owner where n.label = ? and o.kind = 0 "
                "and n.ext <> 'file::' || o.name order by n.ext",
                (label,),
            )
            found = self._read[label] = [row[0] for row in rows]
        return found

    def language(self, path: str) -> str:
        if path in self._put:
            return self._put[path].language
        return self._language(self.files[path])

    def about(self, path: str) -> About:
        found = self._put.get(path)
        if found is None:
            found = self._put[path] = self._stored(self.files[path], path)
        return found

    def _stored(self, owner: int, path: str) -> About:
        import numpy as np

        nodes = self._sql.rows("select id, ext, label from node where owner = ? order by id", (owner,))
        ((imports, refs),) = self._sql.rows("select imports, refs from pack where owner = ?", (owner,))
        rows: Any = np.frombuffer(refs, dtype=reference_type())
        inheriting = [key for key, text in self._words(rows["relation"]).items() if text in _INHERITING]
        rows = rows[np.isin(rows["relation"], inheriting)]
        texts = self._words(rows["name"]) | self._words(rows["qualifier"])
        ids = {key: ext for key, ext, _ in nodes}
        bases = [(ids[s], texts[n], texts[q]) for s, n, q, _, _ in rows.tolist() if s in ids]
        own = f"file::{path}"
        symbols = [(ext, label) for _, ext, label in nodes if ext != own]
        return About(self._language(owner), symbols, [(a, b) for a, b in json.loads(imports)], bases)

    def _words(self, numbers: Any) -> dict[int, str]:
        return words_of(self._sql, set(numbers.tolist()))

    def _language(self, owner: int) -> str:
        ((language,),) = self._sql.rows("select language from owner where id = ?", (owner,))
        return str(language)
