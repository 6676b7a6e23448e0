"""Tables: the rows of a brain as plain values, for whoever carries a whole brain from one database to another. No row says which
brain it belongs to: that is the place where it lies."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from hindbrain.stores.sql_rows import COLUMNS, KEYS

__all__ = ["LAYOUT", "Plain", "TableSnapshot", "Tables"]

Plain = tuple[Any, ...]  # text, whole numbers, numbers, None

# Every table with its columns, in an order in which no row comes before one that it refers to.
LAYOUT: Mapping[str, tuple[str, ...]] = {table: columns[1:] for table, columns in COLUMNS.items() if table in KEYS}


class TableSnapshot(Protocol):
    """One state of a brain."""

    def rows(self, table: str) -> Iterator[Plain]:
        """The rows of a table by its key, with the columns of LAYOUT. Streams."""
        ...


@runtime_checkable
class Tables(Protocol):
    """A store that can be read and filled as a whole."""

    @property
    def schema_version(self) -> int:
        """The number of the last migration that this release knows."""
        ...

    def snapshot(self) -> AbstractContextManager[TableSnapshot]: ...

    def fill(self, tables: Iterable[tuple[str, Iterable[Plain]]], *, expected: tuple[int, str], keep: Mapping[str, str]) -> None:
        """Put these rows in the place of all that is here, in one transaction; StaleWrite if the end of the chain is not
        `expected`. `keep` are notes that stay or are added beside those that come. Fails where history would be lost."""
        ...
