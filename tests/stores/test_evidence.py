"""The contract of evidence: what every store does with observations, on all three of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.domain.anchor import GLOBAL, Anchor, AnchorKind
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.port import BrainStore, Source, Where, Words
from hindbrain.stores.sql_terms import LARGE
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.vector_port import Shelf
from tests.stores.conftest import BRAIN
from tests.stores.values import act, evidence, found, names, observe, put

REPO = Anchor(kind=AnchorKind.REPO, id="repo:///r/.git")
TREE = Anchor(kind=AnchorKind.WORKTREE, id="worktree:///r", parent=REPO.id)
FULL = evidence(
    "ev_full",
    "ein Satz, 一つの文",
    anchor=TREE,
    source="chat.jsonl",
    source_type=SourceType.CONVERSATION,
    provenance=Provenance.RUNTIME,
    domain=Domain.AGENT,
    field="databases",
    wing="ops",
    room="night",
    tags=("a", 'with "quotes"', "ä"),
    importance=3,
    chunk_index=2,
    normalize_version=1,
    thread="t1",
    position=7,
    message="m1",
    speaker="Ada",
    role="user",
    recorded_by="codex:maker",
    origin="shop (6f1c2c1e)",
    said_at=5,
    added_at=9,
)


def ids(rows: "tuple[Evidence, ...] | list[Evidence]") -> list[str]:
    return [row.id for row in rows]


# --- keeping --------------------------------------------------------------------------------------------------------------


def test_store_a_row_of_evidence_comes_back_as_it_went_in(store: BrainStore) -> None:
    assert observe(store, FULL) == ("ev_full",)

    assert store.evidence([EvidenceId("absent"), FULL.id]) == {FULL.id: FULL}
    assert list(store.each_evidence()) == [FULL]
    assert (store.counts().evidence, store.check(), store.lag()) == (1, (), 0)


def test_store_the_same_observation_is_kept_once(store: BrainStore) -> None:
    observe(store, evidence("a", "one"), evidence("b", "two"))

    again = observe(store, evidence("b", "two", wing="other"), evidence("c", "three"), evidence("c", "three"))

    assert again == ("c",)
    assert ids(list(store.each_evidence())) == ["a", "b", "c"]
    assert store.evidence([EvidenceId("b")])[EvidenceId("b")].wing == ""
    assert store.counts().evidence == 3


@pytest.mark.parametrize("batch", [["a", "a"], ["x"]])
def test_store_an_id_with_another_content_is_refused_and_nothing_is_kept(store: BrainStore, batch: list[str]) -> None:
    observe(store, evidence("x", "first"))

    with pytest.raises(InvalidParams):
        observe(store, *(evidence(name, f"content {number}") for number, name in enumerate(batch)))

    assert (ids(list(store.each_evidence())), store.counts().evidence) == (["x"], 1)


def test_store_deleted_evidence_is_shown_by_no_read_and_can_come_back(store: BrainStore) -> None:
    row = evidence("a", "needle here", thread="t", wing="w")
    observe(store, row, evidence("b", "needle there"))
    turns = list(store.turns(Where(wing="w")))
    assert (store.evidence_at([*turns, 999]), store.evidence_words(turns)) == ({turns[0]: row}, {turns[0]: {"needle", "here"}})

    with store.writing() as writer:
        assert writer.delete_evidence([EvidenceId("absent"), row.id], at=5) == (row.id,)
        assert writer.delete_evidence([row.id], at=6) == ()

    assert found(store, "needle") == ("b",)
    assert (store.evidence([row.id]), store.thread("t", first=0, last=9)) == ({}, ())
    assert (store.evidence_at(turns), store.evidence_words(turns), store.seats(turns)) == ({}, {}, {})
    assert (store.turns(Where(wing="w")), store.counts().evidence, store.check()) == (frozenset(), 1, ())
    assert store.evidence([row.id], deleted=True) == {row.id: replace(row, deleted_at=5)}

    assert observe(store, row) == (row.id,)
    assert found(store, "needle") == ("a", "b")  # the newer first where both score the same
    assert store.evidence([row.id]) == {row.id: row}


def test_store_erased_evidence_is_gone_for_good(store: BrainStore) -> None:
    observe(store, evidence("a", "needle"), evidence("b", "needle"), evidence("c", "hay"))
    with store.writing() as writer:
        writer.delete_evidence([EvidenceId("a")], at=5)

    with store.writing() as writer:
        assert writer.erase_evidence([EvidenceId("a"), EvidenceId("b"), EvidenceId("absent")]) == 2

    assert store.evidence([EvidenceId("a"), EvidenceId("b")], deleted=True) == {}
    assert (found(store, "needle hay"), store.counts().evidence, store.check()) == (("c",), 1, ())


def test_store_a_block_that_raises_keeps_no_evidence(store: BrainStore) -> None:
    def fail() -> None:
        with store.writing() as writer:
            writer.put_evidence([(evidence("a", "needle"), Words(text=["needle"]))])
            writer.put_source(Source(source="s", scope="x", digest="d", normalize_version=1, chunks=1, done=True, at=1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert (found(store, "needle"), store.counts().evidence, store.sources()) == ((), 0, ())


def test_store_a_large_batch_of_evidence_is_one_act(store: BrainStore) -> None:
    rows = [evidence(f"e{number:04}", f"shared only{number}") for number in range(1, 1500)]

    assert observe(store, *rows) == tuple(row.id for row in rows)

    assert list(store.each_evidence()) == rows
    assert (store.counts().evidence, found(store, "only700")) == (1499, ("e0700",))


def test_store_sources_are_noted_per_scope(store: BrainStore) -> None:
    first = Source(source="a.md", scope="w/r", digest="1", normalize_version=1, chunks=3, done=False, at=1)
    other = replace(first, scope="other", done=True)
    with store.writing() as writer:
        writer.put_source(first)
        writer.put_source(other)
        writer.put_source(replace(first, chunks=5, done=True, at=2))

    assert store.sources() == (other, replace(first, chunks=5, done=True, at=2))
    assert store.sources("other") == (other,)


# --- finding --------------------------------------------------------------------------------------------------------------


def test_store_evidence_and_claims_are_searched_apart(store: BrainStore) -> None:
    put(store, "claim", "needle in a claim")
    observe(store, evidence("ev", "needle in an observation"))

    claims, rows = store.find(["needle"], limit=9), store.find(["needle"], limit=9, shelf=Shelf.EVIDENCE)

    assert (claims.total, claims.frequencies) == (1, {"needle": 1})
    assert (rows.total, rows.frequencies) == (1, {"needle": 1})
    assert store.keys(Shelf.CLAIM, (*claims.turns, *rows.turns)) == {claims.turns[0]: "claim"}
    assert store.keys(Shelf.EVIDENCE, (*claims.turns, *rows.turns)) == {rows.turns[0]: "ev"}


def test_store_what_is_found_has_turns_and_falling_scores(store: BrainStore) -> None:
    for number in range(20):
        put(store, f"c{number}", f"filler{number} some words")
    put(store, "twice", "needle needle words")
    put(store, "once", "needle words words")
    observe(store, *(evidence(f"e{number}", f"filler{number} some words") for number in range(20)))
    observe(store, evidence("twice", "needle needle words"), evidence("once", "needle words words"))

    for shelf in Shelf:
        answer = store.find(["needle"], limit=9, shelf=shelf)
        assert names(store, answer, shelf) == ("twice", "once")
        assert answer.scores[0] > answer.scores[1] > 0


SCORED = {
    "a": ("needle words", ""),
    "b": ("needle needle words of a longer text that says more about other things", ""),
    "c": ("other words", "needle in the turn before"),
    "d": ("rare", "needle needle words"),
    **{f"f{number}": (f"filler{number} with words", f"beside{number % 3}") for number in range(30)},
}


@pytest.mark.parametrize("query", ["needle", "needle words", "rare needle beside1", "words with", "absent"])
def test_store_scores_are_bm25_and_the_same_in_every_store(store: BrainStore, query: str) -> None:
    stores = (store, MemoryStore(BRAIN))
    for one in stores:
        for name, (text, near) in SCORED.items():
            observe(one, evidence(name, text), near=near)

    mine, model = (one.find(query.split(), limit=50, shelf=Shelf.EVIDENCE) for one in stores)

    assert (mine.turns, mine.frequencies, mine.total) == (model.turns, model.frequencies, model.total)
    assert mine.scores == pytest.approx(model.scores, rel=1e-6)


def test_store_claims_score_the_same_in_every_store(store: BrainStore) -> None:
    stores = (store, MemoryStore(BRAIN))
    for one in stores:
        for name, (text, _) in SCORED.items():
            put(one, name, text)
        put(one, "a", "needle changed")

    mine, model = (one.find(["needle", "words", "rare"], limit=50) for one in stores)

    assert mine.turns == model.turns
    assert mine.scores == pytest.approx(model.scores, rel=1e-6)


def test_store_the_words_around_a_row_weigh_half(store: BrainStore) -> None:
    fillers = [evidence(f"f{number}", f"filler{number} x y") for number in range(9)]
    observe(store, *fillers)
    observe(store, evidence("beside", "a b c"), near="needle")
    observe(store, evidence("itself", "needle b c"), near="d")

    answer = store.find(["needle"], limit=9, shelf=Shelf.EVIDENCE)

    assert names(store, answer, Shelf.EVIDENCE) == ("itself", "beside")
    itself, beside = answer.turns
    assert store.evidence_words([beside, itself]) == {beside: {"a", "b", "c"}, itself: {"needle", "b", "c"}}


def test_store_neighbours_that_came_later_replace_the_words_around(store: BrainStore) -> None:
    observe(store, evidence("a", "text"), evidence("b", "other"), near="before")
    turns = store.find(["text"], limit=1, shelf=Shelf.EVIDENCE).turns

    with store.writing() as writer:
        writer.put_near({EvidenceId("a"): ["after"], EvidenceId("absent"): ["x"]})

    assert (found(store, "after"), found(store, "before"), found(store, "text")) == (("a",), ("b",), ("a",))
    assert store.find(["text"], limit=1, shelf=Shelf.EVIDENCE).turns == turns
    assert store.check() == ()


PLACES = {
    "wt": evidence("wt", "needle", anchor=TREE, wing="ops", room="r1", tags=("x", "y"), source="a.md", thread="t"),
    "repo": evidence("repo", "needle", anchor=REPO, wing="ops", room="r2", field="databases", provenance=Provenance.RESEARCH),
    "all": evidence("all", "needle", anchor=GLOBAL, domain=Domain.GLOBAL, wing="dev", source_type=SourceType.PROJECT),
}
FILTERS = [
    (Where(), {"wt", "repo", "all"}),
    (Where(wing="ops"), {"wt", "repo"}),
    (Where(wing="ops", room="r2"), {"repo"}),
    (Where(domain="global"), {"all"}),
    (Where(field="databases"), {"repo"}),
    (Where(provenance="research"), {"repo"}),
    (Where(source_type="project"), {"all"}),
    (Where(source="a.md"), {"wt"}),
    (Where(thread="t"), {"wt"}),
    (Where(tag="y"), {"wt"}),
    (Where(tag="z"), set()),
    (Where(anchor_kind="repo"), {"repo"}),
    (Where(anchor_ids=(TREE.id, GLOBAL.id)), {"wt", "all"}),
    (Where(anchor_ids=()), set()),
    (Where(anchor_kind="worktree", anchor_ids=(REPO.id,)), set()),
]


@pytest.mark.req("MIND-056")
@pytest.mark.parametrize(("where", "wanted"), FILTERS)
def test_store_a_filter_restricts_every_read(store: BrainStore, where: Where, wanted: set[str]) -> None:
    observe(store, *PLACES.values())

    assert set(found(store, "needle", where=where)) == wanted
    assert {row.id for row in store.each_evidence(where)} == wanted
    assert set(store.keys(Shelf.EVIDENCE, list(store.turns(where))).values()) == wanted


def test_store_a_seat_tells_where_a_live_row_stands(store: BrainStore) -> None:
    row = evidence("said", "needle", thread="t", position=4, speaker="Ada", role="user")
    observe(store, row, evidence("gone", "needle"))
    turns = store.find(["needle"], limit=9, shelf=Shelf.EVIDENCE).turns
    with store.writing() as writer:
        writer.delete_evidence([EvidenceId("gone")], at=2)

    (seat,) = store.seats([*turns, 999]).values()

    assert (seat.thread, seat.position, seat.message) == ("t", 4, row.message)
    assert seat.voice == ("Ada", "user", row.anchor.kind, row.anchor.id)
    assert store.seats([]) == {}


def seated(store: BrainStore) -> dict[int, tuple[object, ...]]:
    """Where each row stands by `seats`, held against the rows themselves."""
    rows = store.evidence_at(list(range(400)))
    seats = store.seats(list(range(400)))
    known = {
        turn: (row.thread, row.position, row.speaker, row.role, row.anchor.kind, row.anchor.id) for turn, row in rows.items()
    }
    assert {turn: (seat.thread, seat.position, *seat.voice) for turn, seat in seats.items()} == known
    for one, row in rows.items():
        same = {other for other in rows if seats[other].message == seats[one].message}
        assert same == {other for other in rows if rows[other].message == row.message}
        assert bool(seats[one].message) == bool(row.message)
    return known


def test_store_seats_follow_every_row_that_comes_and_goes(store: BrainStore) -> None:
    """However often they are asked: from the second time on they may come from memory."""
    places = [
        evidence(f"e{n}", f"text {n}", thread=f"t{n % 3}" if n % 4 else None, position=n, message=f"m{n % 5}" if n % 5 else "",
                 speaker=f"s{n % 2}", anchor=TREE if n % 6 else REPO)
        for n in range(60)
    ]  # fmt: skip
    assert seated(store) == {}
    observe(store, *places[:30])
    assert len(seated(store)) == len(seated(store)) == 30

    observe(store, *places[30:])
    put(store, "a-claim", "of other words")
    before = seated(store)
    with store.writing() as writer:
        writer.delete_evidence([places[3].id], at=1)
    few = seated(store)
    with store.writing() as writer:
        writer.delete_evidence([one.id for one in places[4:40]], at=2)
    many = seated(store)
    observe(store, *places[3:10])
    back = seated(store)
    with store.writing() as writer:
        writer.erase_evidence([one.id for one in places[:20]])

    assert (len(before), len(few), len(many), len(back), len(seated(store))) == (60, 59, 23, 30, 20)
    assert set(few) < set(before)
    assert max(back) > max(before)  # who comes back has a seat of its own


def test_store_a_filter_restricts_before_anything_is_cut(store: BrainStore) -> None:
    observe(store, *(evidence(f"e{number}", "needle needle", wing="loud") for number in range(50)))
    observe(store, evidence("quiet", "a long text with one needle in it", wing="quiet"))

    answer = store.find(["needle"], limit=1, shelf=Shelf.EVIDENCE, where=Where(wing="quiet"))

    assert (names(store, answer, Shelf.EVIDENCE), answer.total, answer.frequencies) == (("quiet",), 51, {"needle": 51})


def test_store_words_of_a_fifth_of_a_large_shelf_add_nothing(store: BrainStore) -> None:
    rows = [evidence(f"e{number}", f"only{number} {'common' if number % 2 else 'odd'}") for number in range(LARGE)]
    observe(store, *rows)

    assert found(store, "common only8") == ("e8",)
    assert len(found(store, "common", limit=5)) == 5  # unless there is nothing else to go by


def test_store_a_lookup_of_evidence_is_bounded(store: BrainStore) -> None:
    observe(store, *(evidence(f"e{number}", f"only{number} common") for number in range(30)))

    assert found(store, "common only8", within=10) == ("e8",)


# --- threads --------------------------------------------------------------------------------------------------------------


def test_store_a_thread_is_read_in_order(store: BrainStore) -> None:
    rows = [
        evidence(f"p{position}", f"turn {position}", thread="t", position=position, wing=f"w{position % 2}")
        for position in (4, 2, 9, 3)
    ]
    observe(store, *rows, evidence("elsewhere", "x", thread="u", position=3))

    assert ids(store.thread("t", first=2, last=4)) == ["p2", "p3", "p4"]
    assert ids(store.thread("t", first=0, last=99, where=Where(wing="w0"))) == ["p2", "p4"]


# --- copies ---------------------------------------------------------------------------------------------------------------


def test_store_a_backup_has_the_evidence(store: BrainStore, tmp_path: Path) -> None:
    observe(store, FULL, evidence("other", "needle"), near="beside")
    with store.writing() as writer:
        writer.append(act())
        writer.put_near({FULL.id: ["late"]})
        writer.delete_evidence([EvidenceId("other")], at=3)
        writer.put_source(Source(source="s", scope="x", digest="d", normalize_version=1, chunks=1, done=True, at=1))
    (tmp_path / "again").mkdir()
    store.backup(tmp_path / "again" / "brain.db")

    again = SqliteStore(tmp_path / "again", BRAIN)

    assert again.evidence([FULL.id, EvidenceId("other")], deleted=True) == store.evidence(
        [FULL.id, EvidenceId("other")], deleted=True
    )
    assert (again.sources(), again.counts(), again.check()) == (store.sources(), store.counts(), ())
    assert (found(again, "late"), found(again, "beside needle")) == (("ev_full",), ())
    again.close()


def test_store_a_rebuilt_index_finds_the_same_evidence(store: BrainStore) -> None:
    for name, (text, near) in SCORED.items():
        observe(store, evidence(name, text), near=near)
    queries = (["needle"], ["words", "with"], ["beside1", "rare"])
    before = [store.find(words, limit=50, shelf=Shelf.EVIDENCE) for words in queries]

    store.rebuild_index(lambda version: version.text.split())

    assert [store.find(words, limit=50, shelf=Shelf.EVIDENCE) for words in queries] == before


@pytest.mark.req("MIND-202")
def test_mind_202_the_foremost_rows_by_importance_then_newest(store: BrainStore) -> None:
    made = {"ev_a": (0, 1), "ev_b": (5, 1), "ev_c": (5, 9), "ev_d": (0, 9), "ev_e": (5, 9), "ev_f": (2, 3), "ev_g": (4, 1)}
    for name, (importance, at) in made.items():
        observe(store, evidence(name, importance=importance, added_at=at))
    with store.writing() as writer:
        writer.append(act("evidence.delete", subject="evidence"))
        writer.delete_evidence([EvidenceId("ev_g")], at=10)

    order = ["ev_e", "ev_c", "ev_b", "ev_f", "ev_d", "ev_a"]
    assert [row.id for row in store.foremost(10)] == order
    assert [[row.id for row in store.foremost(most)] for most in range(6)] == [order[:most] for most in range(6)]


def test_store_evidence_is_paged_by_when_it_was_added(store: BrainStore) -> None:
    rows = [
        evidence(
            f"ev_{n}",
            f"row {n}",
            anchor=TREE if n % 2 else Anchor(kind=AnchorKind.REPO, id="repo:///s/.git"),
            wing="a" if n < 3 else "b",
            added_at=5 + n // 2,
        )
        for n in range(5)
    ]
    for row in (*rows[3:], *rows[:3]):
        observe(store, row)

    every = store.evidence_page(Where(), limit=9)
    assert ids([row for _, row in every]) == ["ev_4", "ev_2", "ev_3", "ev_1", "ev_0"]  # of one moment: what came last first
    assert store.evidence_page(Where(), limit=9, newest=False) == every[::-1]
    assert store.evidence_page(Where(), limit=2, after=(every[1][1].added_at, every[1][0])) == every[2:4]
    assert ids([row for _, row in store.evidence_page(Where(wing="a"), anchor_id=REPO.id, limit=9)]) == ["ev_1"]
    assert (store.evidence_count(Where()), store.evidence_count(Where(wing="b"))) == (5, 2)
    assert store.evidence_count(Where(), anchor_id=REPO.id) == store.evidence_count(Where(), anchor_id=TREE.id) == 2
