"""mempal: its palace.db, of any of its nine schema versions, as plain records. What an older version lacks is given as that
program's own migrations would have given it. Reads only, and knows nothing of what becomes of a record."""

from collections.abc import Iterator
from pathlib import Path

from hindbrain.domain.errors import InvalidParams, StoreNewer
from hindbrain.policy.legacy import MEMPAL_NEWEST
from hindbrain.stores.foreign_file import ForeignFile, Record

__all__ = ["NAME", "MempalFile", "is_mempal"]

NAME = "palace.db"

_ROWS = ("id", "content", "wing")
_LATER: dict[str, object] = {
    "deleted_at": None,
    "importance": 0,
    "memory_kind": "evidence",
    "domain": "project",
    "field": "general",
    "anchor_kind": "repo",
    "anchor_id": "repo://legacy",
    "parent_anchor_id": None,
    "provenance": None,
    "normalize_version": 1,
}
_BRIEF = ("id", "wing", "memory_kind", "domain", "anchor_kind", "deleted_at")


def is_mempal(file: ForeignFile) -> bool:
    """Whether a database is one of mempal's, by what every version of it has."""
    return set(_ROWS) <= set(file.tables.get("drawers", ()))


class MempalFile:
    """One palace.db."""

    kind = "mempal"

    def __init__(self, file: ForeignFile) -> None:
        if not is_mempal(file):
            raise InvalidParams(f"{file.path.name} is not a database of mempal", fix=f"give its {NAME}")
        if file.version > MEMPAL_NEWEST:
            raise StoreNewer(
                f"{file.path.name} has version {file.version} of mempal's schema; {MEMPAL_NEWEST} is the newest known here",
                fix="update Hindbrain; nothing was read",
            )
        self._file = file
        self.path: Path = file.path
        # A file that nobody stamped is of the first version, whatever it is called.
        self.version = file.version or 1
        self._grouped: dict[str, dict[object, list[Record]]] = {}

    def brief(self) -> Iterator[Record]:
        """Every row without what it says."""
        yield from ({**_LATER, **row} for row in self._file.rows("drawers", _BRIEF))

    def rows(self) -> Iterator[Record]:
        """Every row, in the order in which it came."""
        yield from ({**_LATER, **row} for row in self._file.rows("drawers", tail="order by rowid"))

    def facts(self) -> Iterator[Record]:
        yield from self._file.rows("triples", tail="order by rowid")

    def cards(self) -> Iterator[Record]:
        """Every card with what it cites and its history, each in its order."""
        for card in self._file.rows("knowledge_cards", tail="order by rowid"):
            yield card | {"links": self._of(card, "knowledge_evidence_links"), "events": self._of(card, "knowledge_events")}

    def _of(self, card: Record, table: str) -> list[Record]:
        held = self._grouped.get(table)
        if held is None:
            held = {}
            for row in self._file.rows(table, tail="order by rowid"):
                held.setdefault(row.get("card_id"), []).append(row)
            self._grouped[table] = held
        return held.get(card.get("id"), [])

    def outcomes(self) -> Iterator[Record]:
        yield from self._file.rows("runtime_adoption_events", tail="order by rowid")

    def left_out(self) -> dict[str, int]:
        """What has no place here, and how much of it there is."""
        return {name: number for name in ("taxonomy", "tunnels") if (number := self._file.count(name))}
