"""SQLite: two files, several processes, and what happens when one of them dies."""

import multiprocessing
import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from hindbrain.domain.errors import Busy, StoreNewer, StoreUnavailable
from hindbrain.domain.ledger import breaks
from hindbrain.stores.checked_file import checked_vfs
from hindbrain.stores.migrations import MIGRATIONS, Migration
from hindbrain.stores.port import Mark, Node
from hindbrain.stores.sql_rows import COLUMNS
from hindbrain.stores.sql_writer import LIVE
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.sqlite_files import Turns, require_library
from hindbrain.stores.vector_port import Shelf
from tests.stores.conftest import BRAIN
from tests.stores.disks import Disk
from tests.stores.releases import RELEASES, old_brain
from tests.stores.values import act, all_entries, erase, evidence, found, names, observe, put, texts, version
from tests.stores.workers import die_between_the_files, write_claims

LATER = Migration(
    number=len(MIGRATIONS) + 1,
    name="meta with a note",
    sqlite=("alter table meta add column note text",),
    postgres=("alter table meta add column note text",),
)
FAILING = replace(LATER, sqlite=(*LATER.sqlite, "this is not sql"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "brain"


@pytest.fixture
def disk(request: pytest.FixtureRequest) -> Iterator[Disk]:
    made = Disk(f"watched-{request.node.name}")
    yield made
    made.unregister()


def opened(directory: Path, **more: object) -> SqliteStore:
    return SqliteStore(directory, BRAIN, **more)  # type: ignore[arg-type]  # the keywords of the constructor


def files_with(directory: Path, *words: str) -> str:
    """Which files hold one of these texts. Another process looks: reading a database file here would drop our own locks."""
    patterns = [part for word in words for part in ("-e", word)]
    return subprocess.run(["grep", "-rlaF", *patterns, str(directory)], capture_output=True, text=True, check=False).stdout


# --- several processes -----------------------------------------------------------------------------------------------------


def test_store_several_processes_write_one_unbroken_chain(directory: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=write_claims, args=(directory, BRAIN, worker, 15)) for worker in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    store = opened(directory)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert store.head()[0] == 60
    assert breaks(all_entries(store), head=store.head()) == []
    assert (store.counts().active_claims, store.lag(), store.check()) == (15, 0, ())
    store.close()


def test_store_a_killed_writer_leaves_an_index_that_heals(directory: Path) -> None:
    reader = opened(directory)
    put(reader, "first", "written before")

    worker = multiprocessing.get_context("spawn").Process(target=die_between_the_files, args=(directory, BRAIN))
    worker.start()
    worker.join()

    assert worker.exitcode == -9
    assert (reader.head()[0], reader.lag()) == (2, 1)
    assert names(reader, reader.find(["moment"], limit=9)) == ("last",)
    assert (reader.lag(), reader.check()) == (0, ())
    reader.close()


def test_store_who_opens_after_a_killed_writer_finds_the_index_healed(directory: Path) -> None:
    worker = multiprocessing.get_context("spawn").Process(target=die_between_the_files, args=(directory, BRAIN))
    worker.start()
    worker.join()

    store = opened(directory)

    assert (store.lag(), names(store, store.find(["moment"], limit=9))) == (0, ("last",))
    store.close()


def test_store_how_common_a_word_is_follows_whoever_writes(directory: Path) -> None:
    mine, theirs = opened(directory), opened(directory)  # as two processes have it: they share nothing but the files
    put(mine, "first", "lock and queue")

    def common() -> list[int]:
        return [store.find(["lock"], limit=9).frequencies["lock"] for store in (mine, theirs)]

    assert common() == [1, 1]
    put(theirs, "second", "lock")
    assert common() == [2, 2]
    put(mine, "second", "queue")
    assert common() == [1, 1]
    mine.rebuild_index(lambda one: ["lock"])  # no act is recorded, and yet the words are others
    assert common() == [2, 2]
    theirs.replace_index()
    erase(theirs, "first")
    assert common() == [1, 1]
    mine.close()
    theirs.close()


def test_store_what_another_process_wrote_is_not_taken_for_damage(directory: Path) -> None:
    mine, theirs = opened(directory), opened(directory)
    put(mine, "first", "lock")
    observe(mine, evidence("one", "lock"))
    assert all(mine.find(["lock"], limit=9, shelf=shelf).turns for shelf in Shelf)

    put(theirs, "second", "lock and queue")
    observe(theirs, evidence("two", "lock and queue"))

    assert mine.check() == ()
    mine.close()
    theirs.close()


def test_store_who_does_not_get_a_turn_in_time_goes_on(tmp_path: Path) -> None:
    mine, theirs = Turns(tmp_path / "lock"), Turns(tmp_path / "lock")

    with theirs.taken(1) as first:
        with mine.taken(0.01) as second:
            assert (first, second) == (True, False)
    with mine.taken(1) as third, mine.taken(1) as again:
        assert (third, again) == (True, True)


def test_store_a_locked_database_is_busy_and_not_broken(directory: Path) -> None:
    store = opened(directory, busy_ms=20)
    other = apsw.Connection(str(directory / "brain.db"))
    other.execute("begin immediate")

    with pytest.raises(Busy) as refused:
        put(store, "a", "b")

    other.execute("rollback")
    other.close()
    assert refused.value.fix
    assert put(store, "a", "b").version == 1
    store.close()


# --- what a disk can do to us --------------------------------------------------------------------------------------------


def test_store_every_acknowledged_write_survives_a_power_cut(directory: Path, disk: Disk, tmp_path: Path) -> None:
    store = opened(directory, vfs=disk.name)
    for number in range(1, 201):
        put(store, f"c{number % 90}", f"text{number} " * 20)
        if number % 20 and number != 1:
            continue
        restored = opened(disk.after_power_cut(tmp_path / f"cut{number}"))
        assert restored.head() == store.head()
        assert restored.digests() == store.digests()
        assert breaks(all_entries(restored), head=restored.head()) == []
        assert names(restored, restored.find([f"text{number}"], limit=9)) == (f"c{number % 90}",)
        assert restored.check() == ()
        restored.close()
    assert "brain.db" in disk.synced  # a checkpoint was among what we went through
    store.close()


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_store_a_write_the_disk_refuses_is_told_and_undone(directory: Path, disk: Disk, error: type[apsw.Error]) -> None:
    store = opened(directory, vfs=disk.name)
    put(store, "kept", "kept")

    def refuse(file: str) -> None:
        raise error("no more")

    disk.before_write = refuse
    with pytest.raises(StoreUnavailable) as refused:
        put(store, "lost", "lost")
    disk.before_write = lambda file: None

    assert refused.value.fix
    assert list(store.digests()) == ["kept"]
    assert put(store, "next", "next").version == 2
    assert store.check() == ()
    store.close()


def test_store_a_place_that_cannot_hold_a_brain_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "brain.db").write_text("this is not a database, and it is not ours to replace")

    for place in ("file", "other"):
        with pytest.raises(StoreUnavailable) as refused:
            opened(tmp_path / place)
        assert refused.value.fix

    assert (tmp_path / "other" / "brain.db").read_text().startswith("this is not a database")


@pytest.mark.parametrize("old", ["3.40.1", "3.51.2"])
def test_store_a_library_that_can_lose_pages_is_refused(old: str) -> None:
    with pytest.raises(StoreUnavailable, match=old):
        require_library(old)
    require_library("3.51.3")


# --- the index is derived ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["missing", "garbage", "truncated"])
def test_conf_06_a_damaged_index_is_moved_aside_and_rebuilt(directory: Path, damage: str) -> None:
    store = opened(directory)
    for number in range(20):
        put(store, f"c{number}", f"shared only{number}")
    before = [store.find(words, limit=30) for words in (["shared"], ["only7"], ["only3", "shared"])]
    store.close()
    index = directory / "index.db"
    if damage == "missing":
        index.unlink()
    else:
        index.write_bytes(b"garbage" * 999 if damage == "garbage" else b"")

    again = opened(directory)

    assert [again.find(words, limit=30) for words in (["shared"], ["only7"], ["only3", "shared"])] == before
    assert (again.lag(), again.check()) == (0, ())
    assert bool(list(directory.glob("index.db.corrupt.*"))) == (damage != "missing")
    again.close()


def test_conf_06_an_index_of_another_release_is_made_again_and_leaves_nothing(directory: Path) -> None:
    store = opened(directory)
    put(store, "a", "some words")
    store.close()
    other = apsw.Connection(str(directory / "index.db"), vfs=checked_vfs())
    other.execute("pragma user_version = 1; drop table mark")
    other.close()

    again = opened(directory)

    assert (names(again, again.find(["words"], limit=9)), again.check()) == (("a",), ())
    assert list(directory.glob("*.corrupt.*")) == []
    again.close()


def test_conf_06_an_index_that_breaks_while_it_is_open_is_replaced(directory: Path) -> None:
    store = opened(directory)
    put(store, "a", "some words")
    broken = apsw.Connection(str(directory / "index.db"))
    broken.execute("delete from words_data")
    broken.close()

    assert names(store, store.find(["words"], limit=9)) == ("a",)
    (directory / "index.db").unlink()
    assert names(store, store.find(["words"], limit=9)) == ("a",)
    assert put(store, "b", "more words").version == 2
    assert names(store, store.find(["words"], limit=9)) == ("b", "a")
    assert (store.lag(), store.check()) == (0, ())
    store.close()


def test_store_an_index_beside_a_restored_brain_follows_it(directory: Path, tmp_path: Path) -> None:
    store = opened(directory)
    put(store, "kept", "kept words")
    store.backup(tmp_path / "copy.db")
    put(store, "later", "later words")
    store.close()
    os.replace(tmp_path / "copy.db", directory / "brain.db")

    restored = opened(directory)
    put(restored, "other", "other words")

    assert names(restored, restored.find(["words"], limit=9)) == ("other", "kept")
    assert names(restored, restored.find(["later"], limit=9)) == ()
    restored.close()


# --- forgetting ------------------------------------------------------------------------------------------------------------


def test_conf_14_a_forgotten_text_is_in_no_file(directory: Path) -> None:
    store = opened(directory)
    for number in range(40):
        put(store, f"c{number}", f"ordinary text {number} " * (number * 3))
    for text in ("zyxquartz first secret", "zyxquartz second " + "vwxmagnolia " * 900):
        with store.writing() as writer:
            entry = writer.append(act(subject="claim:opaque"))
            live = writer.live("qjxlabel")
            made = replace(version("qjxlabel", entry.seq, text), claim_id="opaque")
            writer.put_claim(made, expected=live.version if live else None, ended_act="x", terms=text.split())
            writer.put_mark(Mark(slug="qjxlabel", kind="graded_wrong", at=1, by="a", channel="agent", note="zyxquartz"))
            writer.put_anchors("qjxlabel", {"src/qjxpath.py": "d"})
            writer.put_graph("claim:qjxlabel", [Node(id="n:qjxlabel", kind="claim", label="zyxquartz")], [])
    (directory / "index.db.corrupt.1").write_text("zyxquartz")
    secrets = ("zyxquartz", "vwxmagnolia", "qjxlabel", "qjxpath")
    assert files_with(directory, *secrets) != ""

    erase(store, "qjxlabel")

    assert files_with(directory, *secrets) == ""
    assert store.find(["ordinary"], limit=50).total == 40
    assert (store.meta("store.scrub"), store.check()) == (None, ())
    store.close()


def test_conf_14_a_reader_in_the_way_delays_the_cleaning_to_the_next_opening(directory: Path) -> None:
    store = opened(directory, busy_ms=20)
    put(store, "qjxlabel", "zyxquartz")
    reader = apsw.Connection(str(directory / "brain.db"))
    reader.execute("begin")
    reader.execute("select count(*) from ledger").fetchall()
    erase(store, "qjxlabel")
    assert store.meta("store.scrub") is not None
    reader.execute("commit")

    opened(directory).close()

    assert files_with(directory, "zyxquartz") == ""
    assert store.meta("store.scrub") is None
    reader.close()
    store.close()


# --- the schema ------------------------------------------------------------------------------------------------------------


def test_mind_023_a_database_newer_than_the_program_is_refused_with_both_versions(directory: Path) -> None:
    newer = opened(directory, migrations=(*MIGRATIONS, LATER))
    put(newer, "a", "text")
    newer.close()

    with pytest.raises(StoreNewer) as refused:
        opened(directory)

    assert (refused.value.details["found"], refused.value.details["known"]) == (LATER.number, MIGRATIONS[-1].number)
    again = opened(directory, migrations=(*MIGRATIONS, LATER))
    assert texts(again.each_live()) == ["text"]
    again.close()


def test_mind_023_an_older_database_is_copied_and_brought_forward(directory: Path, tmp_path: Path) -> None:
    store = opened(directory)
    put(store, "a", "text of old")
    store.close()

    migrated = opened(directory, migrations=(*MIGRATIONS, LATER))

    assert (texts(migrated.each_live()), names(migrated, migrated.find(["old"], limit=1)), migrated.check()) == (
        ["text of old"],
        ("a",),
        (),
    )
    (backup,) = directory.glob(f"brain.db.v{MIGRATIONS[-1].number}.*.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    (tmp_path / "old").mkdir()
    os.replace(backup, tmp_path / "old" / "brain.db")
    old = opened(tmp_path / "old")
    assert texts(old.each_live()) == ["text of old"]
    old.close()
    fresh = opened(tmp_path / "fresh", migrations=(*MIGRATIONS, LATER))
    assert schema(migrated) == schema(fresh)
    fresh.close()
    migrated.close()


def test_mind_023_a_migration_that_fails_changes_nothing(directory: Path) -> None:
    store = opened(directory)
    put(store, "a", "text")
    before = schema(store)
    store.close()

    with pytest.raises(apsw.SQLError):
        opened(directory, migrations=(*MIGRATIONS, FAILING))

    store = opened(directory)
    assert (schema(store), texts(store.each_live())) == (before, ["text"])
    store.close()


@pytest.mark.parametrize("released", RELEASES)
def test_mind_023_each_release_migrates_to_the_newest(directory: Path, tmp_path: Path, released: int) -> None:
    new, fresh = opened(old_brain(directory, released)), opened(tmp_path / "fresh")

    assert schema(new) == schema(fresh)
    assert texts(new.each_live()) == [
        "the port is 1339 and not 1338",
        "moved",
        "the port of the bridge is old",
        "記憶 is kept in brain.db",
    ]
    assert names(new, new.find(["port", "1339"], limit=9)) == ("alpha", "delta")
    assert (breaks(all_entries(new), head=new.head()), new.check(), new.lag()) == ([], (), 0)
    assert ([mark.note for mark in new.marks()], new.boot()[0].value, new.meta("salt")) == (["it's so"], '{"a": 1}', "s")
    observe(new, evidence("first", "the port again"))
    assert (found(new, "port"), new.check()) == (("first",), ())
    new.close()
    fresh.close()


def test_mind_023_no_release_is_without_a_brain_to_migrate() -> None:
    assert tuple(migration.number for migration in MIGRATIONS[:-1]) == RELEASES


def schema(store: SqliteStore) -> list[tuple[object, ...]]:
    with store.reading() as session:
        tables = session.rows("select type, name, tbl_name from main.sqlite_master order by 1, 2")
        return tables + [
            row for _, name, _ in tables for row in session.rows("select name, type from pragma_table_info(?)", (name,))
        ]


def test_store_a_copy_has_every_column(directory: Path) -> None:
    store = opened(directory)
    with store.reading() as session:
        tables = [row[0] for row in session.rows("select name from main.sqlite_master where type = 'table'")]
        columns = {table: tuple(row[1] for row in session.rows(f"pragma main.table_info({table})")) for table in tables}
    store.close()

    assert {table: names for table, names in columns.items() if not table.startswith("sqlite_")} == COLUMNS


def test_store_files_are_private(tmp_path: Path) -> None:
    store = opened(tmp_path / "private")
    put(store, "a", "text")

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "private").iterdir()}

    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o700
    assert {"brain.db", "brain.db-wal", "index.db", "index.db-wal", "brain.db.lock"} <= set(modes)
    assert set(modes.values()) == {0o600}
    store.close()


def test_store_a_closed_brain_says_so(directory: Path) -> None:
    store = opened(directory)
    store.close()

    with pytest.raises(StoreUnavailable):
        store.head()


PLANS = {
    "select slug, digest from claim_version where brain_id = ? and ended_at is null": "COVERING INDEX claim_live",
    f"{LIVE} and slug = ?": "INDEX claim_live",
    f"{LIVE} and slug > ? order by slug limit 200": "INDEX claim_live",
    f"{LIVE} and active = 1 and created is not null order by created desc, slug limit 9": "INDEX claim_recent",
    "select slug from claim_version where brain_id = ? and claim_id in (select value from json_each(?))": "INDEX claim_ids",
    "select text from claim_version where brain_id = ? and turn = ? and ended_at is null and active = 1": "INDEX claim_turn",
    "select text from claim_version where brain_id = ? and ended_at is not null order by ended_at desc": "INDEX claim_ended",
    "select hash from ledger where brain_id = ? and subject = ? and seq > 5 order by seq limit 9": "INDEX ledger_subject",
    "select id, kind from graph_node where brain_id = ? and owner = ?": "INDEX graph_node_owner",
    "select source from graph_edge where brain_id = ? and target = ?": "INDEX graph_edge_target",
    "select content from evidence where brain_id = ? and anchor_kind = ? and anchor_id = ? and deleted_at is null": (
        "INDEX evidence_anchor"  # MIND-052
    ),
    "select content from evidence where brain_id = ? and parent_anchor_id = ? and deleted_at is null": "INDEX evidence_parent",
    "select content from evidence where brain_id = ? and turn = ? and deleted_at is null": "INDEX evidence_turn",
    "select content from evidence where brain_id = ? and turn > ? and deleted_at is null order by turn": "INDEX evidence_turn",
    "select content from evidence where brain_id = ? and thread = ? and position between ? and ? and deleted_at is null "
    "order by position": "INDEX evidence_thread",
    "select content from evidence where brain_id = ? and source = ? and deleted_at is null": "INDEX evidence_source",
    "select turn from evidence where brain_id = ? and changed > turn and changed > ?": "INDEX evidence_changed",
    "select content from evidence where brain_id = ? and id = ?": "INDEX sqlite_autoindex_evidence_1",
}


@pytest.mark.parametrize("statement", PLANS)
def test_store_a_statement_reads_the_index_that_was_made_for_it(directory: Path, statement: str) -> None:
    store = opened(directory)
    with store.reading() as session:
        plan = session.rows(f"explain query plan {statement}", ("x",) * statement.count("?"))
    store.close()

    assert PLANS[statement] in str(plan)
    assert "TEMP B-TREE" not in str(plan)
