"""SQLite and its twin in memory are told the same and must answer the same, whatever the order."""

import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hindbrain.domain.errors import StaleWrite
from hindbrain.domain.evidence import EvidenceId
from hindbrain.domain.ledger import breaks
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.port import BrainStore, Edge, Mark, Node, Where, Words
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.vector_port import Embedded, Shelf
from tests.stores.conftest import BRAIN
from tests.stores.values import act, all_entries, erase, evidence, put, version

SLUGS = st.sampled_from(["a", "b", "ä", "記憶"])
WORDS = st.lists(st.sampled_from(["port", "host", "記憶", "snake_case", "1338"]), max_size=4)
EVIDENCE = st.lists(st.sampled_from(["e1", "e2", "e3", "e4"]), min_size=1, max_size=3)
NODES = st.sets(st.sampled_from("klmn"), max_size=3)


class Twins(RuleBasedStateMachine):
    @initialize()
    def two_empty_brains(self) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.directory = Path(self.home.name) / "brain"
        self.clock = 0
        self.twins: tuple[BrainStore, BrainStore] = (MemoryStore(BRAIN), SqliteStore(self.directory, BRAIN))

    def now(self) -> int:
        self.clock += 1
        return self.clock

    def both(self, act_on: Callable[[BrainStore], object]) -> None:
        """Do the same to each; a refusal must be the same too."""
        answers = []
        for store in self.twins:
            try:
                answers.append(act_on(store))
            except StaleWrite as refused:
                answers.append(refused.message)
        assert answers[0] == answers[1]

    @rule(slug=SLUGS, words=WORDS, active=st.booleans(), created=st.none() | st.integers(0, 3))
    def a_claim_is_put(self, slug: str, words: list[str], active: bool, created: int | None) -> None:
        at = self.now()
        self.both(lambda store: put(store, slug, " ".join(words), at=at, active=active, created=created))

    @rule(slug=SLUGS, number=st.integers(1, 9), expected=st.none() | st.integers(1, 9))
    def a_claim_is_put_from_a_guess(self, slug: str, number: int, expected: int | None) -> None:
        made = version(slug, number, "guess", at=self.now())

        def guess(store: BrainStore) -> None:
            with store.writing() as writer:
                writer.put_claim(made, expected=expected, ended_act="x", terms=["guess"])

        self.both(guess)

    @rule(slug=SLUGS)
    def a_claim_is_ended(self, slug: str) -> None:
        at = self.now()
        for store in self.twins:
            with store.writing() as writer:
                writer.append(act("claim.end", at=at))
                if (live := writer.live(slug)) is not None:
                    writer.end_claim(slug, expected=live.version, at=at, ended_act="claim.end")

    @rule(slug=SLUGS)
    def a_claim_is_erased(self, slug: str) -> None:
        for store in self.twins:
            erase(store, slug)

    @rule(slug=SLUGS, kind=st.sampled_from(["wrong", "right"]), drop=st.booleans())
    def a_mark_is_put_or_dropped(self, slug: str, kind: str, drop: bool) -> None:
        at = self.now()
        for store in self.twins:
            with store.writing() as writer:
                if drop:
                    writer.drop_mark(slug, kind)
                else:
                    writer.put_mark(Mark(slug=slug, kind=kind, at=at, by="a", channel="agent"))

    @rule(owner=st.sampled_from(["inventory", "claim:a", "claim:b"]), ids=NODES, label=st.sampled_from("xy"))
    def a_graph_is_put(self, owner: str, ids: set[str], label: str) -> None:
        nodes = [Node(id=one, kind="file", label=label) for one in ids]
        edges = [Edge(source=one, relation="r", target=label) for one in ids]
        for store in self.twins:
            with store.writing() as writer:
                writer.put_graph(owner, nodes, edges)

    @rule(ids=EVIDENCE, words=WORDS, near=WORDS, wing=st.sampled_from("vw"), position=st.integers(0, 3))
    def evidence_is_put(self, ids: list[str], words: list[str], near: list[str], wing: str, position: int) -> None:
        at = self.now()
        rows = [evidence(one, f"content {one}", wing=wing, thread="t", position=position, added_at=at) for one in ids]

        def keep(store: BrainStore) -> object:
            with store.writing() as writer:
                return writer.put_evidence([(row, Words(text=words, near=near)) for row in rows])

        self.both(keep)

    @rule(ids=EVIDENCE, near=WORDS)
    def neighbours_change(self, ids: list[str], near: list[str]) -> None:
        for store in self.twins:
            with store.writing() as writer:
                writer.put_near({EvidenceId(one): near for one in ids})

    @rule(ids=EVIDENCE, erase=st.booleans())
    def evidence_is_deleted_or_erased(self, ids: list[str], erase: bool) -> None:
        at = self.now()

        def end(store: BrainStore) -> object:
            with store.writing() as writer:
                names = [EvidenceId(one) for one in ids]
                return writer.erase_evidence(names) if erase else writer.delete_evidence(names, at=at)

        self.both(end)

    @rule(shelf=st.sampled_from(list(Shelf)), first=st.integers(-100, 100), second=st.integers(-100, 100))
    def what_is_pending_is_embedded(self, shelf: Shelf, first: int, second: int) -> None:
        for store in self.twins:
            pending = store.vectors.pending("m", shelf, limit=2)
            codes = [array("b", (first, second, one.turn % 100)).tobytes() for one in pending]
            rows = [Embedded(turn=one.turn, raw=code, searched=code) for one, code in zip(pending, codes, strict=True)]
            store.vectors.put("m", shelf, rows)

    @rule()
    def the_index_is_rebuilt(self) -> None:
        self.both(lambda store: store.rebuild_index(lambda version: version.text.split()))

    @rule(lose_index=st.booleans())
    def sqlite_is_opened_again(self, lose_index: bool) -> None:
        self.twins[1].close()
        if lose_index:
            (self.directory / "index.db").unlink()
        self.twins = (self.twins[0], SqliteStore(self.directory, BRAIN))

    @invariant()
    def they_answer_the_same(self) -> None:
        one, other = self.twins
        for name in ("head", "digests", "counts", "marks", "lag", "check"):
            assert getattr(one, name)() == getattr(other, name)(), name
        assert list(one.each_live()) == list(other.each_live())
        assert list(one.ended(limit=99)) == list(other.ended(limit=99))
        assert one.recent(9) == other.recent(9)
        assert one.nodes(list("klmn")) == other.nodes(list("klmn"))
        assert one.neighbours("x", limit=9) == other.neighbours("x", limit=9)
        for at in (1, self.clock // 2, self.clock):
            assert list(one.as_of(at)) == list(other.as_of(at))
        for words in (["port"], ["記憶", "snake_case"], ["guess", "1338", "absent"]):
            mine, theirs = one.find(words, limit=9), other.find(words, limit=9)
            assert (set(mine.turns), mine.frequencies, mine.total) == (set(theirs.turns), theirs.frequencies, theirs.total)
            for where in (None, Where(wing="v"), Where(wing="w", thread="t")):
                mine, theirs = (store.find(words, limit=9, shelf=Shelf.EVIDENCE, where=where) for store in self.twins)
                assert (mine.turns, mine.frequencies, mine.total) == (theirs.turns, theirs.frequencies, theirs.total)
                assert mine.scores == pytest.approx(theirs.scores)
        assert list(one.each_evidence()) == list(other.each_evidence())
        assert one.thread("t", first=1, last=2) == other.thread("t", first=1, last=2)
        assert one.turns(Where(wing="v")) == other.turns(Where(wing="v"))
        self.they_have_the_same_vectors()
        assert breaks(all_entries(other), head=other.head()) == []

    def they_have_the_same_vectors(self) -> None:
        one, other = self.twins
        for shelf in Shelf:
            assert one.vectors.stamps(shelf) == other.vectors.stamps(shelf)
            assert one.vectors.missing("m")[shelf] == other.vectors.missing("m")[shelf]
            for newest in (False, True):
                mine, theirs = (store.vectors.pending("m", shelf, limit=9, newest=newest) for store in self.twins)
                assert mine == theirs
            near, theirs = (store.vectors.nearest("m", shelf, (0.6, 0.0, 0.8), limit=9) for store in self.twins)
            assert dict(zip(near.turns, near.cosines, strict=True)) == pytest.approx(
                dict(zip(theirs.turns, theirs.cosines, strict=True)), abs=1e-6
            )

    def teardown(self) -> None:
        self.twins[1].close()
        self.home.cleanup()


TestTwins = Twins.TestCase
TestTwins.settings = settings(max_examples=15, stateful_step_count=20, deadline=None, database=None)
