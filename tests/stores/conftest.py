"""One store, on each of the three implementations."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.domain.brain import BrainId
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.port import BrainStore
from hindbrain.stores.sqlite import SqliteStore

BRAIN = BrainId("0195c1a0-0000-7000-8000-000000000001")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BrainStore]:
    """An empty brain."""
    made: BrainStore
    if request.param == "memory":
        made = MemoryStore(BRAIN)
    elif request.param == "sqlite":
        made = SqliteStore(tmp_path / "brain", BRAIN)
    else:
        from hindbrain.stores.postgres import PostgresStore

        made = PostgresStore(request.getfixturevalue("postgres_schema_url"), BRAIN)
    yield made
    made.close()
