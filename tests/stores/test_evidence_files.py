"""Evidence in SQLite's files: what a crash, a cut or a lost index leaves of it, and what the file itself refuses."""

import multiprocessing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import apsw
import pytest

from hindbrain.domain.anchor import LEGACY
from hindbrain.domain.errors import StoreUnavailable
from hindbrain.domain.evidence import EvidenceId
from hindbrain.stores.port import Found, Where
from hindbrain.stores.seating import KeptSeating
from hindbrain.stores.sql_rows import Row, Session
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.vector_port import Embedded, Shelf
from tests.stores.conftest import BRAIN
from tests.stores.disks import Disk
from tests.stores.test_sqlite import files_with
from tests.stores.values import evidence, found, observe, put
from tests.stores.workers import die_while_observing


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "brain"


@pytest.fixture
def brain(directory: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(directory, BRAIN)
    yield made
    made.close()


@pytest.fixture
def disk(request: pytest.FixtureRequest) -> Iterator[Disk]:
    made = Disk(f"watched-{request.node.name}")
    yield made
    made.unregister()


# --- seats that are kept in memory -----------------------------------------------------------------------------------------


def threads(store: SqliteStore) -> list[str | None]:
    return [seat.thread for _, seat in sorted(store.seats(list(range(200))).items())]


def test_store_seats_in_memory_follow_what_others_write(brain: SqliteStore, directory: Path) -> None:
    other = SqliteStore(directory, BRAIN)
    observe(brain, *(evidence(f"e{n}", "x", thread=f"t{n}") for n in range(50)))
    assert len(threads(brain)) == len(threads(brain)) == 50

    observe(other, evidence("late", "x", thread="late"))
    with other.writing() as writer:
        writer.delete_evidence([EvidenceId("e0")], at=1)
    after_one = threads(brain)
    with other.writing() as writer:
        writer.erase_evidence([EvidenceId(f"e{n}") for n in range(1, 40)])
    other.close()

    assert after_one == [*(f"t{n}" for n in range(1, 50)), "late"]
    assert threads(brain) == [*(f"t{n}" for n in range(40, 50)), "late"]


class Broken:
    """A session whose disk fails at the second page of seats."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pages = 0

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        self._pages += "order by turn" in statement
        if self._pages == 2:
            raise StoreUnavailable("the disk did not answer", fix="check the disk")
        return self._session.rows(statement, values)


def test_store_seats_that_could_not_be_read_to_their_end_are_read_anew(brain: SqliteStore) -> None:
    observe(brain, *(evidence(f"e{n}", "x", thread=f"t{n}") for n in range(9)))
    kept = KeptSeating(BRAIN)
    with brain.reading() as session:
        head = brain.read_head(session)
        with pytest.raises(StoreUnavailable):
            kept.seats(cast(Session, Broken(session)), head, range(99))

        assert len(kept) == 0  # what no mark stands for could be of another database by the next question
        found, all_live = kept.seats(session, head, range(99))

    assert all_live
    assert [seat.thread for seat in found.values()] == [f"t{n}" for n in range(9)]


def test_store_seats_in_memory_are_not_those_of_another_database(tmp_path: Path) -> None:
    """As many rows under the same turns, from a copy that was put back: only the record tells them apart."""
    for name in ("mine", "theirs"):
        store = SqliteStore(tmp_path / name, BRAIN)
        put(store, name, name)
        observe(store, *(evidence(f"{name}{n}", "x", thread=name) for n in range(5)))
        store.close()
    store = SqliteStore(tmp_path / "mine", BRAIN)
    assert threads(store) == threads(store) == ["mine"] * 5
    theirs = apsw.Connection(str(tmp_path / "theirs" / "brain.db"))
    mine = apsw.Connection(str(tmp_path / "mine" / "brain.db"))
    with mine.backup("main", theirs, "main") as copying:
        copying.step()
    for one in (mine, theirs):
        one.close()

    assert threads(store) == ["theirs"] * 5
    store.close()


# --- crashes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.req("CONF-10")
def test_store_every_acknowledged_batch_survives_a_power_cut(directory: Path, disk: Disk, tmp_path: Path) -> None:
    store = SqliteStore(directory, BRAIN, vfs=disk.name)
    for number in range(1, 61):
        observe(store, *(evidence(f"b{number}e{one}", f"batch{number} text{one} " * 9) for one in range(30)))
        if number % 12:
            continue
        restored = SqliteStore(disk.after_power_cut(tmp_path / f"cut{number}"), BRAIN)
        assert restored.counts() == store.counts()
        assert list(restored.each_evidence()) == list(store.each_evidence())
        assert len(found(restored, f"batch{number}")) == 30
        assert restored.check() == ()
        restored.close()
    store.close()


@pytest.mark.parametrize("change", ["put", "near", "delete"])
def test_store_a_writer_killed_between_the_files_leaves_an_index_that_heals(
    brain: SqliteStore, directory: Path, change: str
) -> None:
    observe(brain, evidence("old", "text before"), near="beside")

    worker = multiprocessing.get_context("spawn").Process(target=die_while_observing, args=(directory, BRAIN, change))
    worker.start()
    worker.join()

    assert worker.exitcode == -9
    assert brain.lag() == 1
    wanted = {"put": (("new",), ("old",)), "near": (("old",), ()), "delete": ((), ())}[change]
    assert (found(brain, "moment"), found(brain, "beside")) == wanted
    assert (brain.lag(), brain.check()) == (0, ())


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_store_a_batch_the_disk_refuses_is_told_and_undone(directory: Path, disk: Disk, error: type[apsw.Error]) -> None:
    store = SqliteStore(directory, BRAIN, vfs=disk.name)
    observe(store, evidence("kept", "kept"))

    def refuse(file: str) -> None:
        raise error("no more")

    disk.before_write = refuse
    with pytest.raises(StoreUnavailable):
        observe(store, *(evidence(f"lost{number}", "lost " * 50) for number in range(200)))
    disk.before_write = lambda file: None

    assert [row.id for row in store.each_evidence()] == ["kept"]
    assert observe(store, evidence("next", "next")) == ("next",)
    assert (found(store, "lost"), store.check()) == ((), ())
    store.close()


# --- the index is derived -----------------------------------------------------------------------------------------------------


def answers(store: SqliteStore) -> list[Found]:
    queries = (["shared"], ["only7", "word3"], ["near2", "word1"], ["later", "shared"])
    filters = (None, Where(wing="w1"))
    return [store.find(words, limit=50, shelf=Shelf.EVIDENCE, where=where) for words in queries for where in filters]


@pytest.mark.parametrize("damage", ["missing", "garbage", "truncated"])
def test_conf_06_a_damaged_index_gives_the_same_evidence_in_the_same_order(directory: Path, damage: str) -> None:
    store = SqliteStore(directory, BRAIN)
    for number in range(40):
        observe(
            store,
            evidence(f"e{number}", f"shared only{number} word{number % 7}", wing=f"w{number % 2}"),
            near=f"near{number % 5}",
        )
    with store.writing() as writer:
        writer.put_near({EvidenceId("e3"): ["later"]})
        writer.delete_evidence([EvidenceId("e4")], at=2)
    queries = (["shared"], ["only7", "word3"], ["near2", "word1"], ["later", "shared"])
    before = [
        store.find(words, limit=50, shelf=Shelf.EVIDENCE, where=where) for words in queries for where in (None, Where(wing="w1"))
    ]
    store.close()
    index = directory / "index.db"
    if damage == "missing":
        index.unlink()
    else:
        index.write_bytes(b"garbage" * 999 if damage == "garbage" else b"")

    again = SqliteStore(directory, BRAIN)

    after = [
        again.find(words, limit=50, shelf=Shelf.EVIDENCE, where=where) for words in queries for where in (None, Where(wing="w1"))
    ]
    assert after == before
    assert (again.lag(), again.check()) == (0, ())
    again.close()


def test_conf_06_words_that_break_while_they_are_open_are_replaced(brain: SqliteStore, directory: Path) -> None:
    observe(brain, evidence("a", "some words"))
    broken = apsw.Connection(str(directory / "index.db"))
    broken.execute("delete from evidence_words_data")
    broken.close()

    assert found(brain, "words") == ("a",)
    assert observe(brain, evidence("b", "more words")) == ("b",)
    assert (found(brain, "words"), brain.check()) == (("b", "a"), ())


# --- forgetting ---------------------------------------------------------------------------------------------------------------


def test_conf_14_erased_evidence_is_in_no_file(brain: SqliteStore, directory: Path) -> None:
    observe(brain, *(evidence(f"e{number}", f"ordinary text {number} " * (number + 1)) for number in range(60)))
    secret = evidence("ev_qjxsecret", "zyxquartz " + "vwxmagnolia " * 500, source="qjxsource.md", thread="qjxthread")
    observe(brain, secret, near="zyxnear")
    (unit,) = (one for one in brain.vectors.pending("m", Shelf.EVIDENCE, limit=99) if one.key == secret.id)
    brain.vectors.put("m", Shelf.EVIDENCE, [Embedded(turn=unit.turn, raw=b"zyxraw", searched=b"zyxsea", late=b"zyxlate")])
    (directory / "vectors.db.corrupt.1").write_text("zyxraw")
    words = ("zyxquartz", "vwxmagnolia", "qjx", "zyxnear", "zyxraw", "zyxsea", "zyxlate")
    assert files_with(directory, *words) != ""

    with brain.writing() as writer:
        writer.erase_evidence([secret.id])

    assert files_with(directory, *words) == ""
    assert (brain.counts().evidence, brain.meta("store.scrub"), brain.check()) == (60, None, ())


# --- what the file itself refuses -------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-051", "MIND-064")
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("anchor_kind", "branch"),
        ("anchor_kind", "global"),  # of a row whose domain is project
        ("domain", "team"),
        ("provenance", "rumour"),
        ("source_type", "dream"),
        ("importance", 6),
    ],
)
def test_store_the_file_itself_refuses_a_bad_value(brain: SqliteStore, directory: Path, column: str, value: object) -> None:
    observe(brain, evidence("a", anchor=LEGACY))
    raw = apsw.Connection(str(directory / "brain.db"))

    with pytest.raises(apsw.ConstraintError):
        raw.execute(f"update evidence set {column} = ?", (value,))

    raw.close()


@pytest.mark.req("MIND-064")
def test_store_a_row_forced_past_the_checks_is_told_and_not_shown(brain: SqliteStore, directory: Path) -> None:
    observe(brain, evidence("a"))
    raw = apsw.Connection(str(directory / "brain.db"))
    raw.execute("pragma ignore_check_constraints = on")
    raw.execute("update evidence set anchor_kind = 'global', anchor_id = 'global://default'")
    raw.close()

    with pytest.raises(StoreUnavailable, match="metadata of evidence a"):
        brain.evidence([EvidenceId("a")])
