"""A look at the schema of a database file, before and instead of opening it. Reads; creates, migrates and locks nothing."""

import os
from dataclasses import dataclass
from pathlib import Path

import apsw

from hindbrain.stores.migrations import MIGRATIONS

__all__ = ["LOST", "SUPPORTED", "SchemaLook", "is_lost", "library", "schema_of"]

SUPPORTED = MIGRATIONS[-1].number
LOST = "it is missing or empty, and index.db, which is built from it, is there"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLook:
    """What a file says of itself."""

    path: str
    exists: bool
    version: int | None = None
    error: str | None = None

    @property
    def compatible(self) -> bool:
        """A file that is missing can be made, an older one can be brought forward; a newer or unreadable one is left alone."""
        return self.error is None and (self.version is None or self.version <= SUPPORTED)

    @property
    def behind(self) -> bool:
        """Whether the next ordinary call would change it."""
        return self.error is None and self.version is not None and self.version < SUPPORTED

    def told(self) -> dict[str, object]:
        return {
            "path": self.path,
            "exists": self.exists,
            "schema_version": self.version,
            "compatible": self.compatible,
            "error": self.error,
        }


def is_lost(path: Path) -> bool:
    """Whether brain.db was there once. A brain without it is no new one: an empty one in its place would hide the loss."""
    index = path.with_name("index.db")
    return _size(path) == 0 and _size(index) > 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError:
        return -1  # there is something, and nobody can read it


def schema_of(path: Path) -> SchemaLook:
    """The schema version of a database file, asked of a connection that cannot write."""
    if is_lost(path):
        return SchemaLook(path=str(path), exists=path.exists(), error=LOST)
    if not os.path.lexists(path):
        return SchemaLook(path=str(path), exists=False)
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            version = connection.pragma("user_version")
        finally:
            connection.close()
    except (apsw.Error, OSError) as failure:
        return SchemaLook(path=str(path), exists=True, error=f"{type(failure).__name__}: {failure}")
    return SchemaLook(path=str(path), exists=True, version=version if isinstance(version, int) else None)


def library() -> dict[str, object]:
    """The database library this process runs on."""
    return {
        "sqlite_version": apsw.sqlite_lib_version(),
        "fts5": "ENABLE_FTS5" in apsw.compile_options,
        "vector_extension": None,  # vectors are compared by numpy; no extension of the database is needed
    }
