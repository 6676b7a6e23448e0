"""SQLite and its twin in memory are told the same and must answer the same, whatever the order."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hindbrain.domain.errors import StaleWrite
from hindbrain.domain.ledger import breaks
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.port import BrainStore, Edge, Mark, Node
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.stores.values import act, all_entries, erase, put, version

SLUGS = st.sampled_from(["a", "b", "ä", "記憶"])
WORDS = st.lists(st.sampled_from(["port", "host", "記憶", "snake_case", "1338"]), max_size=4)
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
            assert (set(mine.keys), mine.frequencies, mine.total) == (set(theirs.keys), theirs.frequencies, theirs.total)
        assert breaks(all_entries(other), head=other.head()) == []

    def teardown(self) -> None:
        self.twins[1].close()
        self.home.cleanup()


TestTwins = Twins.TestCase
TestTwins.settings = settings(max_examples=15, stateful_step_count=20, deadline=None, database=None)
