"""Symbols: what every file defines and imports, for the resolver: from this transaction's files first, else from the tables."""

from collections.abc import Mapping, Sequence

from hindbrain.domain.typed import decoder
from hindbrain.stores.graph_port import About
from hindbrain.stores.graph_read import Sql
from hindbrain.stores.graph_rows import BaseRow, Packed

__all__ = ["SymbolTable"]

_pairs = decoder(list[tuple[str, str]])
_bases = decoder(list[BaseRow])


class SymbolTable:
    """Definitions by name and by file. Reads only what is asked for: a changed file must not cost a look at all others."""

    def __init__(self, sql: Sql, files: Mapping[str, int], *, whole: bool) -> None:
        self._sql = sql
        self._whole = whole  # everything there is comes in this transaction
        self._put: dict[str, About] = {}
        self._fresh: dict[str, list[str]] = {}
        self._read: dict[str, list[str]] = {}
        self.files = files

    def put(self, path: str, packed: Packed) -> None:
        """Take in a file of this transaction."""
        symbols = [(row[0], row[1]) for row in packed[1][1:]]
        self._put[path] = About(packed[0][4], symbols, packed[4], packed[5])
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
        nodes = self._sql.rows("select ext, label from node where owner = ? order by id", (owner,))
        ((imports, bases),) = self._sql.rows("select imports, bases from pack where owner = ?", (owner,))
        symbols = [(ext, label) for ext, label in nodes if ext != f"file::{path}"]
        return About(self._language(owner), symbols, _pairs.decode(imports), _bases.decode(bases))

    def _language(self, owner: int) -> str:
        ((language,),) = self._sql.rows("select language from owner where id = ?", (owner,))
        return str(language)
