"""A malformed value in any column of brain.db: every call answers in its one shape, and the doctor does not fail."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.support.full_home import directories, fill
from tests.support.reads import arguments, fault_of
from tests.support.world import Kept, World

CALLS = (
    "doctor",
    "north",
    "seek",
    "memory.search",
    "boot_memory",
    "mission.status",
    "story",
    "review",
    "overview",
    "ledger.show",
)
WRONG = {"TEXT": "zzz", "INTEGER": -7, "REAL": -7.5, "BLOB": b"\x00\xff"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kept, str, Path]:
    world = World(tmp_path_factory.mktemp("rows"))
    root = fill(world, model=False, rows=2)
    path = directories(world, root)[0] / "brain.db"
    return Kept(world), root, path


def _columns(path: Path) -> Iterator[tuple[str, str, object]]:
    """Every column of every table that has rows, with a value that Hindbrain does not write into it."""
    connection = apsw.Connection(str(path))
    tables = connection.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").fetchall()
    for (table,) in tables:
        if connection.execute(f"select 1 from {table} limit 1").fetchall():
            for _, column, kind, *_ in connection.execute(f"pragma table_info({table})").fetchall():
                if column != "brain_id":
                    yield table, column, WRONG[kind.upper()]
    connection.close()


def _spoil(path: Path, table: str, column: str, value: object) -> bool:
    """Write the value into one row; False where the rules of the table forbid it."""
    connection = apsw.Connection(str(path))
    try:
        for (trigger,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {trigger}")
        connection.execute(f"update or ignore {table} set {column} = ?", (value,))
    except apsw.ConstraintError:
        return False
    finally:
        connection.close()
    return True


@pytest.mark.parametrize("part", range(4))
def test_l6_a_malformed_value_in_any_column_is_no_traceback(kept: tuple[Kept, str, Path], part: int) -> None:
    made, root, path = kept
    made.again().close()
    spoiled, wrong = 0, []
    for table, column, value in list(_columns(path))[part::4]:
        world = made.again()
        try:
            if not _spoil(path, table, column, value):
                continue
            spoiled += 1
            # The doctor and the first answer of a task always, the other calls in turn.
            for name in (*CALLS[:2], *CALLS[2 + spoiled % 2 :: 2]):
                fault = fault_of(name, world.at(root).call(name, **arguments(name)))
                wrong += [f"{table}.{column}: {name}: {fault}"] if fault else []
        finally:
            world.close()
    assert wrong == []
    assert spoiled > 20
