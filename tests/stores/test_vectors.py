"""The contract of vectors: what every store answers about nearness, on all three of them, and the file that SQLite keeps."""

import math
import random
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.domain.evidence import EvidenceId
from hindbrain.stores.port import BrainStore, Words
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.vector_port import Embedded, Shelf
from tests.stores.conftest import BRAIN
from tests.stores.values import act, erase, evidence, observe, put

DIMS = 64
STAMP = "model-a"


def code(*values: int) -> bytes:
    return array("b", (*values, *([0] * (DIMS - len(values))))).tobytes()


def unit(*values: float) -> list[float]:
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in (*values, *([0.0] * (DIMS - len(values))))]


def embedded(turn: int, *values: int, part: int = 0, late: bytes = b"") -> Embedded:
    return Embedded(turn=turn, part=part, raw=code(*reversed(values)), searched=code(*values), late=late)


def turns_of(store: BrainStore, shelf: Shelf = Shelf.EVIDENCE) -> dict[str, int]:
    return {one.key: one.turn for one in store.vectors.pending("nobody", shelf, limit=10**6)}


@pytest.fixture
def three(store: BrainStore) -> dict[str, int]:
    """Rows a, b and c; a and b have vectors."""
    observe(store, evidence("a"), evidence("b"), evidence("c"))
    turns = turns_of(store)
    rows = [embedded(turns["a"], 100, 0, late=b"\x01\x02"), embedded(turns["b"], 100, 100)]
    store.vectors.put(STAMP, Shelf.EVIDENCE, rows)
    return turns


def test_store_units_without_vectors_are_pending(store: BrainStore, three: dict[str, int]) -> None:
    observe(store, evidence("d"))
    put(store, "claim", "text")
    put(store, "pointer", "moved", active=False)

    pending = store.vectors.pending(STAMP, Shelf.EVIDENCE, limit=9)

    assert [one.key for one in pending] == ["c", "d"]
    assert [one.key for one in store.vectors.pending(STAMP, Shelf.EVIDENCE, limit=9, newest=True)] == ["d", "c"]
    assert [one.key for one in store.vectors.pending(STAMP, Shelf.EVIDENCE, limit=1)] == ["c"]
    assert [one.key for one in store.vectors.pending(STAMP, Shelf.CLAIM, limit=9)] == ["claim"]
    assert (store.vectors.missing(STAMP)[Shelf.EVIDENCE], store.vectors.missing(STAMP)[Shelf.CLAIM]) == (2, 1)
    assert store.vectors.missing("other")[Shelf.EVIDENCE] == 4
    assert store.vectors.stamps(Shelf.EVIDENCE) == {STAMP: 2}
    assert store.vectors.stamps(Shelf.CLAIM) == {}


def test_store_what_fills_the_gaps_leaves_none(store: BrainStore, three: dict[str, int]) -> None:
    store.vectors.put(STAMP, Shelf.EVIDENCE, [embedded(three["c"], 1)])

    assert store.vectors.pending(STAMP, Shelf.EVIDENCE, limit=9) == ()
    assert store.vectors.missing(STAMP)[Shelf.EVIDENCE] == 0
    observe(store, evidence("d"))
    assert [one.key for one in store.vectors.pending(STAMP, Shelf.EVIDENCE, limit=9)] == ["d"]


def test_store_the_nearest_units_come_first_with_their_cosines(store: BrainStore, three: dict[str, int]) -> None:
    near = store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0, 0.2), limit=9)

    assert near.turns == (three["a"], three["b"])
    assert near.cosines == pytest.approx((1.0 / math.hypot(1.0, 0.2), 1.2 / math.hypot(1.0, 0.2) / math.sqrt(2)), abs=1e-3)
    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0, 0.2), limit=1).turns == (three["a"],)
    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9, among={three["b"], three["c"]}).turns == (three["b"],)
    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9, among=()).turns == ()
    assert store.vectors.nearest(STAMP, Shelf.CLAIM, unit(1.0), limit=9).turns == ()
    assert store.vectors.nearest("other", Shelf.EVIDENCE, unit(1.0), limit=9).turns == ()


def test_store_cosines_raw_and_late_are_asked_for_by_unit(store: BrainStore, three: dict[str, int]) -> None:
    every = list(three.values())

    cosines = store.vectors.cosines(STAMP, Shelf.EVIDENCE, unit(0.0, 1.0), every)

    assert cosines == pytest.approx({three["a"]: 0.0, three["b"]: math.sqrt(0.5)}, abs=1e-6)
    assert store.vectors.raw(STAMP, Shelf.EVIDENCE, every) == {three["a"]: code(0, 100), three["b"]: code(100, 100)}
    assert store.vectors.late(STAMP, Shelf.EVIDENCE, every) == {three["a"]: b"\x01\x02"}


def test_store_equal_units_come_in_the_order_of_their_turns(store: BrainStore) -> None:
    observe(store, *(evidence(f"e{number}") for number in range(9)))
    turns = sorted(turns_of(store).values())
    store.vectors.put(STAMP, Shelf.EVIDENCE, [embedded(turn, 50, 50) for turn in reversed(turns)])

    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0, 1.0), limit=5).turns == tuple(turns[:5])


def test_store_a_unit_counts_by_its_best_part(store: BrainStore) -> None:
    put(store, "long", "a long claim")
    put(store, "short", "a short one")
    turns = turns_of(store, Shelf.CLAIM)
    rows = [embedded(turns["long"], 0, 100), embedded(turns["long"], 100, 1, part=1), embedded(turns["short"], 100, 60)]
    store.vectors.put(STAMP, Shelf.CLAIM, rows)

    assert store.vectors.nearest(STAMP, Shelf.CLAIM, unit(1.0), limit=9).turns == (turns["long"], turns["short"])
    assert store.vectors.raw(STAMP, Shelf.CLAIM, [turns["long"]]) == {turns["long"]: code(100, 0)}
    assert store.vectors.missing(STAMP)[Shelf.CLAIM] == 0

    store.vectors.put(STAMP, Shelf.CLAIM, [embedded(turns["long"], 0, 100)])  # fewer parts than before: none of the old stays
    assert store.vectors.nearest(STAMP, Shelf.CLAIM, unit(1.0), limit=9).turns == (turns["short"], turns["long"])
    assert store.vectors.stamps(Shelf.CLAIM) == {STAMP: 2}


def test_store_vectors_that_are_put_again_replace_the_old_ones(store: BrainStore, three: dict[str, int]) -> None:
    store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9)
    store.vectors.put(STAMP, Shelf.EVIDENCE, [embedded(three["a"], 0, 100), embedded(three["c"], 90, 10)])

    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(0.0, 1.0), limit=1).turns == (three["a"],)
    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9).turns == (three["c"], three["b"], three["a"])
    assert store.vectors.stamps(Shelf.EVIDENCE) == {STAMP: 3}


def test_store_vectors_of_a_unit_that_ended_are_not_kept(store: BrainStore, three: dict[str, int]) -> None:
    with store.writing() as writer:
        writer.delete_evidence([EvidenceId("c")], at=2)

    store.vectors.put(STAMP, Shelf.EVIDENCE, [embedded(three["c"], 100), embedded(10**9, 100)])

    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9).turns == (three["a"], three["b"])
    assert (store.vectors.stamps(Shelf.EVIDENCE), store.vectors.missing(STAMP)[Shelf.EVIDENCE]) == ({STAMP: 2}, 0)


@pytest.mark.parametrize("erased", [False, True])
def test_conf_14_vectors_go_with_their_evidence(store: BrainStore, three: dict[str, int], erased: bool) -> None:
    store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9)

    with store.writing() as writer:
        writer.append(act("evidence.delete"))
        if erased:
            writer.erase_evidence([EvidenceId("a")])
        else:
            writer.delete_evidence([EvidenceId("a")], at=2)

    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9).turns == (three["b"],)
    assert store.vectors.raw(STAMP, Shelf.EVIDENCE, [three["a"]]) == {}
    assert store.vectors.cosines(STAMP, Shelf.EVIDENCE, unit(1.0), [three["a"]]) == {}
    assert (store.vectors.stamps(Shelf.EVIDENCE), store.vectors.missing(STAMP)[Shelf.EVIDENCE]) == ({STAMP: 1}, 1)


def test_conf_14_vectors_go_with_the_version_of_their_claim(store: BrainStore) -> None:
    for slug in ("changed", "ended", "erased", "kept"):
        made = put(store, slug, "first")
    turns = turns_of(store, Shelf.CLAIM)
    store.vectors.put(STAMP, Shelf.CLAIM, [embedded(turn, 100) for turn in turns.values()])

    put(store, "changed", "second")
    erase(store, "erased")
    with store.writing() as writer:
        live = writer.live("ended")
        assert live is not None
        writer.end_claim("ended", expected=live.version, at=made.born_at + 1, ended_act="claim.end")

    assert store.vectors.nearest(STAMP, Shelf.CLAIM, unit(1.0), limit=9).turns == (turns["kept"],)
    assert [one.key for one in store.vectors.pending(STAMP, Shelf.CLAIM, limit=9)] == ["changed"]
    assert (store.vectors.stamps(Shelf.CLAIM), store.vectors.missing(STAMP)[Shelf.CLAIM]) == ({STAMP: 1}, 1)


def test_store_one_embedder_is_forgotten_without_the_other(store: BrainStore, three: dict[str, int]) -> None:
    store.vectors.put("model-b", Shelf.EVIDENCE, [embedded(three["c"], 100)])
    store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9)

    store.vectors.drop(STAMP)

    assert store.vectors.stamps(Shelf.EVIDENCE) == {"model-b": 1}
    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9).turns == ()
    assert store.vectors.nearest("model-b", Shelf.EVIDENCE, unit(1.0), limit=9).turns == (three["c"],)
    store.vectors.put(STAMP, Shelf.EVIDENCE, [embedded(three["b"], 100)])
    assert store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(1.0), limit=9).turns == (three["b"],)


# --- many rows ------------------------------------------------------------------------------------------------------------


def clustered(rng: random.Random, number: int) -> list[list[int]]:
    centres = [[rng.gauss(0, 1) for _ in range(DIMS)] for _ in range(40)]
    rows = ([value + rng.gauss(0, 0.6) for value in rng.choice(centres)] for _ in range(number))
    return [[max(-127, min(127, round(value * 30))) for value in row] for row in rows]


def test_store_bits_find_nearly_what_comparing_everything_finds() -> None:
    from hindbrain.stores import vector_matrix

    rng = random.Random(5)
    rows = clustered(rng, vector_matrix.EXACT * 3)
    matrix = vector_matrix.Matrix(DIMS)
    codes = [array("b", row).tobytes() for row in rows]
    for start in range(0, len(rows), 5_000):
        matrix.add(range(start, min(start + 5_000, len(rows))), codes[start : start + 5_000])
    hits = 0
    for _ in range(20):
        query = unit(*(value + rng.gauss(0, 12) for value in rng.choice(rows)))
        cosines = vector_matrix.cosines_of(query, codes)
        best = {int(place) for place in (-cosines).argsort(kind="stable")[:10]}
        found = matrix.nearest(query, limit=10)
        hits += len(best & {turn for turn, _ in found})
        assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
        assert dict(found) == {turn: pytest.approx(float(cosines[turn])) for turn, _ in found}
        assert matrix.nearest(query, limit=10) == found

    assert hits / 200 >= 0.98


def test_store_a_mask_and_a_choice_hold_among_many_rows() -> None:
    from hindbrain.stores import vector_matrix

    rng = random.Random(6)
    rows = clustered(rng, vector_matrix.EXACT * 2)
    matrix = vector_matrix.Matrix(DIMS)
    matrix.add(range(len(rows)), [array("b", row).tobytes() for row in rows])
    query = unit(*map(float, rows[17]))
    first = [turn for turn, _ in matrix.nearest(query, limit=20)]
    odd = range(1, len(rows), 2)

    assert first[0] == 17
    assert [turn for turn, _ in matrix.nearest(query, limit=5, among=[*odd, 10**9])] == [turn for turn in first if turn % 2][:5]
    assert [turn for turn, _ in matrix.nearest(query, limit=5, among=first[3:6])] == first[3:6]
    matrix.mask(first[:4])
    assert [turn for turn, _ in matrix.nearest(query, limit=5)] == first[4:9]
    matrix.add([first[0]], [array("b", rows[17]).tobytes()])
    assert [turn for turn, _ in matrix.nearest(query, limit=2)] == [17, first[4]]


# --- SQLite's file --------------------------------------------------------------------------------------------------------


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "brain"


@pytest.fixture
def brain(directory: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(directory, BRAIN)
    yield made
    made.close()


def embed_all(store: BrainStore) -> None:
    turns = store.vectors.pending(STAMP, Shelf.EVIDENCE, limit=10**6)
    store.vectors.put(STAMP, Shelf.EVIDENCE, [embedded(one.turn, 100, one.turn % 100) for one in turns])


def nearest(store: BrainStore, *values: float) -> list[str]:
    near = store.vectors.nearest(STAMP, Shelf.EVIDENCE, unit(*values), limit=99)
    keys = store.keys(Shelf.EVIDENCE, near.turns)
    return [keys[turn] for turn in near.turns]


def test_store_what_another_opener_adds_and_ends_is_seen(brain: SqliteStore, directory: Path) -> None:
    observe(brain, evidence("a"), evidence("b"))
    embed_all(brain)
    assert nearest(brain, 1.0) == ["a", "b"]
    other = SqliteStore(directory, BRAIN)

    observe(other, evidence("c"))
    embed_all(other)
    with other.writing() as writer:
        writer.delete_evidence([EvidenceId("a")], at=2)

    assert nearest(brain, 1.0) == ["b", "c"]
    assert brain.vectors.missing(STAMP)[Shelf.EVIDENCE] == 0
    other.close()


@pytest.mark.parametrize("damage", ["missing", "garbage", "empty", "emptied"])
def test_conf_06_damaged_vectors_are_moved_aside_and_missed(brain: SqliteStore, directory: Path, damage: str) -> None:
    observe(brain, evidence("a"), evidence("b"))
    embed_all(brain)
    before = nearest(brain, 1.0)
    brain.close()
    file = directory / "vectors.db"
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes({"garbage": b"garbage" * 999, "empty": b"", "emptied": file.read_bytes()[:4096]}[damage])
        (directory / "vectors.db-wal").unlink(missing_ok=True)

    again = SqliteStore(directory, BRAIN)

    assert again.vectors.missing(STAMP)[Shelf.EVIDENCE] == 2
    assert (nearest(again, 1.0), again.check()) == ([], ())
    embed_all(again)
    assert (nearest(again, 1.0), again.vectors.missing(STAMP)[Shelf.EVIDENCE]) == (before, 0)
    assert bool(list(directory.glob("vectors.db.corrupt.*"))) == (damage in ("garbage", "emptied"))
    again.close()


def test_conf_06_vectors_that_break_while_they_are_open_are_begun_again(brain: SqliteStore, directory: Path) -> None:
    observe(brain, evidence("a"))
    embed_all(brain)
    (directory / "vectors.db").unlink()

    assert brain.vectors.missing(STAMP)[Shelf.EVIDENCE] == 1
    embed_all(brain)
    assert nearest(brain, 1.0) == ["a"]


def test_conf_14_vectors_left_by_a_crash_are_never_shown_and_go_at_the_next_opening(brain: SqliteStore, directory: Path) -> None:
    observe(brain, evidence("a"), evidence("b"))
    embed_all(brain)
    turns = turns_of(brain)
    assert nearest(brain, 1.0) == ["a", "b"]
    # The process died when brain.db had it and vectors.db did not: that is this transaction without what follows it.
    with brain.transaction() as session:
        session.rows("update evidence set deleted_at = 1 where id = 'a'")
        session.rows("update brain_head set evidence = evidence - 1")
        brain.ending(session, {Shelf.EVIDENCE: [turns["a"]]})

    assert nearest(brain, 1.0) == ["b"]
    assert brain.vectors.missing(STAMP)[Shelf.EVIDENCE] == 0
    again = SqliteStore(directory, BRAIN)
    assert again.vectors.stamps(Shelf.EVIDENCE) == {STAMP: 1}
    assert again.vectors.raw(STAMP, Shelf.EVIDENCE, [turns["a"]]) == {}
    again.close()


def test_store_vectors_beside_a_restored_brain_are_not_its_own(brain: SqliteStore, directory: Path, tmp_path: Path) -> None:
    observe(brain, evidence("kept"))
    brain.backup(tmp_path / "copy.db")
    observe(brain, evidence("later"))
    embed_all(brain)
    brain.close()
    (tmp_path / "copy.db").rename(directory / "brain.db")

    restored = SqliteStore(directory, BRAIN)
    with restored.writing() as writer:
        writer.append(act("evidence.ingest", at=7))
        writer.put_evidence([(evidence("other"), Words(text=["x"]))])  # has the turn that `later` had

    assert nearest(restored, 1.0) == []
    assert restored.vectors.missing(STAMP)[Shelf.EVIDENCE] == 2
    restored.close()


def test_store_a_brain_without_vectors_has_no_file_for_them(brain: SqliteStore, directory: Path) -> None:
    observe(brain, evidence("a"))
    with brain.writing() as writer:
        writer.erase_evidence([EvidenceId("a")])

    assert not (directory / "vectors.db").exists()


def test_store_what_is_left_after_a_large_deletion_is_found_at_once() -> None:
    from hindbrain.stores import vector_matrix

    rng = random.Random(8)
    gone, left = vector_matrix.EXACT + 300, 200
    centre = [rng.choice((-60, 60)) for _ in range(DIMS)]

    def like(sign: int, spread: int) -> bytes:
        return array("b", (sign * value + rng.randrange(-spread, spread) for value in centre)).tobytes()

    matrix = vector_matrix.Matrix(DIMS)
    matrix.add(range(gone), [like(1, 5) for _ in range(gone)])
    matrix.add(range(gone, gone + left), [like(1, 60) for _ in range(left)])
    matrix.add(range(gone + left, 2 * gone), [like(-1, 60) for _ in range(gone - left)])
    matrix.mask(range(gone))

    found = [turn for turn, _ in matrix.nearest(unit(*map(float, centre)), limit=100)]

    assert len(found) == 100
    assert set(found) <= set(range(gone, gone + left))
    assert matrix.sparse


def test_store_rows_may_be_masked_while_others_are_compared() -> None:
    from hindbrain.stores import vector_matrix

    rng = random.Random(9)
    matrix = vector_matrix.Matrix(DIMS)
    count = vector_matrix.EXACT // 2
    matrix.add(range(count), [code(*(rng.randrange(-100, 100) for _ in range(8))) for _ in range(count)])
    failed: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                assert all(0 <= turn < count for turn, _ in matrix.nearest(unit(1.0, 0.5), limit=50))
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise to
            failed.append(error)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    for turn in range(count - 60):
        with matrix.lock:
            matrix.mask([turn])
    stop.set()
    for asker in askers:
        asker.join()

    assert failed == []


def test_store_a_row_that_a_backup_brings_back_gets_its_vector_again(brain: SqliteStore, directory: Path, tmp_path: Path) -> None:
    observe(brain, *(evidence(f"e{number}") for number in range(5)))
    embed_all(brain)
    assert brain.vectors.pending(STAMP, Shelf.EVIDENCE, limit=9) == ()  # and up to where none is missing is noted
    brain.backup(tmp_path / "copy.db")
    with brain.writing() as writer:
        writer.delete_evidence([EvidenceId("e2")], at=2)
    brain.close()
    (tmp_path / "copy.db").rename(directory / "brain.db")

    restored = SqliteStore(directory, BRAIN)

    assert restored.vectors.missing(STAMP)[Shelf.EVIDENCE] == 1
    assert [one.key for one in restored.vectors.pending(STAMP, Shelf.EVIDENCE, limit=9)] == ["e2"]
    restored.close()


def test_conf_14_an_ending_that_nobody_followed_is_not_taken_for_another(brain: SqliteStore) -> None:
    observe(brain, evidence("a"), evidence("b"), evidence("c"))
    embed_all(brain)
    turns = turns_of(brain)
    numbers = {}
    for name in ("a", "b"):  # both writers stop between the files; somebody who searches settles the first
        with brain.transaction() as session:
            session.rows("update evidence set deleted_at = 1 where id = ?", (name,))
            session.rows("update brain_head set evidence = evidence - 1")
            numbers[name] = brain.ending(session, {Shelf.EVIDENCE: [turns[name]]})
        if name == "a":
            assert brain.vectors.missing(STAMP)[Shelf.EVIDENCE] == 0

    brain.ended_rows({Shelf.EVIDENCE: [turns["a"]]}, numbers["a"])  # the first goes on, the second died

    observe(brain, evidence("d"))
    assert brain.vectors.missing(STAMP)[Shelf.EVIDENCE] == 1
    assert brain.vectors.raw(STAMP, Shelf.EVIDENCE, [turns["b"]]) == {}
    assert nearest(brain, 1.0) == ["c"]
