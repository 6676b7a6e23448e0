"""Opening: which database holds a brain. A configured address means PostgreSQL, nothing means SQLite files of its own."""

from collections.abc import Callable
from pathlib import Path

from hindbrain.domain.brain import Brain
from hindbrain.domain.errors import ConfigInvalid
from hindbrain.stores.port import BrainStore

__all__ = ["store_opener"]


def store_opener(url: str) -> Callable[[Brain, Path], BrainStore]:
    """The way this home opens its brains."""
    if not url:
        from hindbrain.stores.sqlite import SqliteStore

        return lambda brain, directory: SqliteStore(directory, brain.id)
    if url.startswith(("postgresql://", "postgres://")):
        # The driver takes 150 ms to import: only a home on a server pays for it.
        from hindbrain.stores.postgres import PostgresStore

        return lambda brain, directory: PostgresStore(url, brain.id)
    raise ConfigInvalid(
        "store_url is neither empty nor a postgresql:// address",
        fix="leave store_url empty for SQLite, or give postgresql://user@host/database",
    )
