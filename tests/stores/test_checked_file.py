"""Checksums of derived databases: a changed bit anywhere is found, and a file of a release without them is brought forward."""

import random
from pathlib import Path

import apsw
import pytest

from hindbrain.domain.errors import StoreDamaged
from hindbrain.stores.checked_file import PAGE_BYTES, checked_vfs, has_checksums, is_plain, lay_out
from hindbrain.stores.sqlite_files import integrity, translated


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A closed checked database of some pages, with overflow pages, an index and full text."""
    path = tmp_path / "some.db"
    connection = apsw.Connection(str(path), vfs=checked_vfs())
    lay_out(connection)
    connection.pragma("journal_mode", "wal")
    connection.execute("create table t (id integer primary key, name text unique, body blob) strict")
    connection.execute("create virtual table w using fts5(terms)")
    rng = random.Random(1)
    rows = [(number, f"name {number}", rng.randbytes(rng.choice((10, 200, 9000)))) for number in range(60)]
    connection.executemany("insert into t values (?,?,?)", rows)
    connection.executemany("insert into w (terms) values (?)", [(f"word{number} shared",) for number in range(300)])
    connection.close()
    return path


def _everything(path: Path) -> list[object]:
    with translated(path):
        connection = apsw.Connection(str(path), vfs=checked_vfs())
        try:
            return connection.execute("select * from t").fetchall() + connection.execute("select rowid, terms from w").fetchall()
        finally:
            connection.close()


def test_f34_every_page_of_a_checked_file_ends_with_its_checksum(database: Path) -> None:
    connection = apsw.Connection(str(database), vfs=checked_vfs())

    assert has_checksums(connection)
    assert not is_plain(database)
    assert integrity(database, connection) == ()
    assert database.stat().st_size > 20 * PAGE_BYTES


def test_f34_a_flipped_bit_in_any_page_is_named(database: Path) -> None:
    sound = database.read_bytes()
    before = _everything(database)
    rng, named = random.Random(2), set()
    for page in range(len(sound) // PAGE_BYTES):
        harmed = bytearray(sound)
        harmed[page * PAGE_BYTES + rng.randrange(PAGE_BYTES)] ^= 1 << rng.randrange(8)
        database.write_bytes(harmed)
        try:
            assert _everything(database) == before, "only a page that no answer needs may go unnoticed"
        except StoreDamaged as damage:
            named.add((page, damage.details["path"]))
    assert {path for _, path in named} == {str(database)}
    assert len(named) > 0.8 * len(sound) / PAGE_BYTES


def test_f34_pages_in_each_others_place_are_named(database: Path) -> None:
    sound = database.read_bytes()
    pages = [sound[at : at + PAGE_BYTES] for at in range(0, len(sound), PAGE_BYTES)]
    pages[4], pages[5] = pages[5], pages[4]
    database.write_bytes(b"".join(pages))

    assert "checksum" in integrity(database, apsw.Connection(str(database), vfs=checked_vfs()))[0]
