"""The contract of the port: what every store answers, on all three of them."""

from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from hindbrain.domain.errors import StaleWrite
from hindbrain.domain.ledger import GENESIS, breaks
from hindbrain.stores.glance import LAST_BEAT, Glance
from hindbrain.stores.port import BootEntry, BrainStore, Counts, Edge, Intent, Mark, Node, Version
from hindbrain.stores.sql_terms import COUNTED
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.values import act, all_entries, erase, names, put, texts, version

# --- the ledger --------------------------------------------------------------------------------------------------------------


def test_store_an_empty_brain_ends_at_genesis(store: BrainStore) -> None:
    assert store.head() == (0, GENESIS)
    assert store.entries() == ()
    assert store.counts() == Counts(active_claims=0, nodes=0, edges=0, generation=0)
    assert (store.lag(), store.check()) == (0, ())


def test_store_acts_form_a_chain(store: BrainStore) -> None:
    with store.writing() as writer:
        first = writer.append(act("claim.put", at=5, label="ä", number=1))
        second = writer.append(act("claim.end", at=6))

    assert (first.seq, first.prev, second.seq, second.prev) == (1, GENESIS, 2, first.hash)
    assert store.entries() == (first, second)
    assert store.head() == (2, second.hash)
    assert breaks(store.entries(), head=store.head()) == []


def test_store_entries_are_asked_for_by_place_subject_and_act(store: BrainStore) -> None:
    with store.writing() as writer:
        for number in range(6):
            name = ("claim.put", "claim.end", "claimant.seen")[number % 3]
            writer.append(act(name, subject=f"claim:{number % 2}"))

    assert [entry.seq for entry in store.entries(after=4)] == [5, 6]
    assert [entry.seq for entry in store.entries(limit=2)] == [1, 2]
    assert [entry.seq for entry in store.entries(subject="claim:1", after=2)] == [4, 6]
    assert [entry.act for entry in store.entries(act="claim.")] == ["claim.put", "claim.end"] * 2
    assert [entry.seq for entry in store.entries(act="claimant")] == [3, 6]
    assert [entry.seq for entry in store.entries(newest=True, limit=2)] == [6, 5]
    assert [entry.seq for entry in store.entries(newest=True, before=5, act="claim.")] == [4, 2, 1]
    assert [entry.seq for entry in store.entries(after=1, before=4, newest=True)] == [3, 2]
    assert store.entries(before=1) == store.entries(before=0) == ()


def test_store_a_transaction_that_fails_leaves_nothing(store: BrainStore) -> None:
    put(store, "kept", "kept word")
    before = (store.head(), store.counts(), list(store.each_live()), store.find(["word"], limit=9))

    def fail() -> None:
        with store.writing() as writer:
            writer.append(act())
            writer.put_claim(version("lost", 2, "lost word"), expected=None, ended_act="x", terms=["lost", "word"])
            writer.end_claim("kept", expected=1, at=2, ended_act="x")
            writer.put_graph("inventory", [Node(id="n", kind="file", label="n")], [])
            writer.set_meta("k", "v")
            writer.add_counts({("recall", "2026-W01"): 1})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert (store.head(), store.counts(), list(store.each_live()), store.find(["word"], limit=9)) == before
    assert (store.meta("k"), store.counters()) == (None, {})
    assert put(store, "next", "next word").version == 2


# --- claims ------------------------------------------------------------------------------------------------------------------


def test_store_a_claim_replaces_the_one_it_was_based_on(store: BrainStore) -> None:
    first = put(store, "port", "the port is 1338", at=10, created=10)
    second = put(store, "port", "the port is 1339", at=20, created=20)

    old, new = store.versions("port")[1], store.versions("port")[0]
    assert store.live(["port", "other"]) == {"port": second}
    assert new == second
    assert (old.text, old.ended_at, old.ended_act) == (first.text, 20, "claim.supersede")
    assert store.digests() == {"port": second.digest}


@pytest.mark.parametrize("expected", [None, 7])
def test_store_a_write_from_a_stale_read_is_refused(store: BrainStore, expected: int | None) -> None:
    put(store, "port", "the port is 1338")

    def write() -> None:
        with store.writing() as writer:
            writer.append(act())
            writer.put_claim(version("port", 2, "older"), expected=expected, ended_act="x", terms=[])

    with pytest.raises(StaleWrite) as refused:
        write()

    assert refused.value.details["live"] == 1
    assert texts(store.versions("port")) == ["the port is 1338"]
    assert store.head()[0] == 1


def test_store_a_write_on_a_claim_that_is_not_there_is_refused(store: BrainStore) -> None:
    with pytest.raises(StaleWrite), store.writing() as writer:
        writer.put_claim(version("port", 1), expected=1, ended_act="x", terms=[])
    with pytest.raises(StaleWrite), store.writing() as writer:
        writer.end_claim("port", expected=1, at=1, ended_act="x")


def test_store_a_writer_sees_its_own_transaction_and_readers_do_not(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_claim(version("port", 1, "new"), expected=None, ended_act="x", terms=["new"])
        inside, outside = writer.live("port"), store.live(["port"])

    assert inside is not None
    assert (inside.text, outside) == ("new", {})
    assert texts(store.live(["port"]).values()) == ["new"]


def test_store_an_ended_claim_is_history(store: BrainStore) -> None:
    put(store, "port", "the port is 1338", at=10)

    with store.writing() as writer:
        writer.append(act("claim.end", at=30))
        writer.end_claim("port", expected=1, at=30, ended_act="claim.end")

    assert store.live(["port"]) == {}
    assert names(store, store.find(["port"], limit=9)) == ()
    assert [(one.ended_at, one.ended_act) for one in store.versions("port")] == [(30, "claim.end")]
    assert put(store, "port", "again").version == 3


def test_store_every_field_of_a_version_comes_back(store: BrainStore) -> None:
    made = Version(
        slug="ünï-码",
        version=4,
        claim_id="c-1",
        digest="d",
        text="línea 1\r\nline 2\t“quoted” 'x' %s ? 码\n",
        active=False,
        created=None,
        born_at=1_783_209_431_408,
    )

    with store.writing() as writer:
        writer.put_claim(made, expected=None, ended_act="x", terms=["unfound"])

    assert store.versions("ünï-码") == (made,)
    assert names(store, store.find(["unfound"], limit=9)) == ()  # not active, so not found
    assert store.counts().active_claims == 0


def test_store_live_claims_stream_by_slug_while_others_write(store: BrainStore) -> None:
    for number in range(450):
        with store.writing() as writer:
            writer.put_claim(version(f"c{number:03}", 1, str(number)), expected=None, ended_act="x", terms=[])
    put(store, "zz-pointer", active=False)

    stream = store.each_live()
    seen = [next(stream).slug]
    put(store, "c000", "changed behind the reader")
    put(store, "c449", "changed before the reader")
    seen += [one.slug for one in stream]

    assert seen == [*(f"c{number:03}" for number in range(450)), "zz-pointer"]


def test_store_as_of_gives_what_was_live_then(store: BrainStore) -> None:
    put(store, "a", "a1", at=10)
    put(store, "b", "b1", at=15)
    put(store, "a", "a2", at=20)
    with store.writing() as writer:
        writer.end_claim("b", expected=2, at=30, ended_act="claim.end")

    windows = {at: texts(store.as_of(at)) for at in (9, 10, 15, 19, 20, 29, 30, 99)}

    assert windows == {
        9: [],
        10: ["a1"],
        15: ["a1", "b1"],
        19: ["a1", "b1"],
        20: ["a2", "b1"],
        29: ["a2", "b1"],
        30: ["a2"],
        99: ["a2"],
    }


def test_store_ended_versions_come_last_ended_first(store: BrainStore) -> None:
    for at in range(1, 260):
        put(store, f"c{at % 3}", f"text {at}", at=at)

    ended = list(store.ended(limit=230))

    assert [one.ended_at for one in ended] == list(range(259, 29, -1))
    assert all(one.ended_act == "claim.supersede" for one in ended)
    assert list(store.ended(limit=0)) == []


def test_store_recent_claims_are_those_with_a_created_newest_first(store: BrainStore) -> None:
    put(store, "old", created=1)
    put(store, "new", created=3)
    put(store, "same", created=3)
    put(store, "undated")
    put(store, "pointer", active=False, created=9)

    assert [one.slug for one in store.recent(10)] == ["new", "same", "old"]
    assert [one.slug for one in store.recent(1)] == ["new"]


def test_store_claim_ids_lead_to_labels_as_long_as_a_version_is_left(store: BrainStore) -> None:
    put(store, "kept")
    put(store, "gone")
    erase(store, "gone")

    assert store.names(iter(["id-kept", "id-gone", "id-never"])) == {"id-kept": "kept"}


# --- forgetting --------------------------------------------------------------------------------------------------------------


def test_store_an_erased_claim_leaves_nothing_and_its_numbers_are_not_used_again(store: BrainStore) -> None:
    put(store, "other", "other secret")
    for text in ("secret one", "secret two"):
        put(store, "gone", text)
    with store.writing() as writer:
        writer.put_mark(Mark(slug="gone", kind="graded_wrong", at=1, by="a", channel="agent"))
        writer.put_anchors("gone", {"src/a.py": "d"})
        writer.put_graph("claim:gone", [Node(id="n", kind="claim", label="gone")], [Edge(source="n", relation="r", target="o")])

    erase(store, "gone")

    assert (store.versions("gone"), store.live(["gone"]), store.marks(), store.anchors(["gone"])) == ((), {}, (), {})
    assert names(store, store.find(["secret"], limit=9)) == ("other",)
    assert store.counts() == Counts(active_claims=1, nodes=0, edges=0, generation=2)
    with pytest.raises(StaleWrite), store.writing() as writer:
        writer.put_claim(version("gone", 3), expected=None, ended_act="x", terms=[])
    assert put(store, "gone", "back again").version == 5
    assert (store.check(), breaks(all_entries(store), head=store.head())) == ((), [])


def test_store_erasing_what_is_not_there_changes_nothing(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.erase_claim("never")

    assert store.counts() == Counts(active_claims=0, nodes=0, edges=0, generation=0)
    assert put(store, "never").version == 1


def test_store_erasing_some_versions_leaves_the_live_one_and_the_others(store: BrainStore) -> None:
    first, second, third = (put(store, "mixed", f"text {number}", at=number) for number in (1, 2, 3))

    with store.writing() as writer:
        writer.append(act("claim.forget"))
        writer.erase_versions("mixed", [second.version, third.version])

    assert texts(store.versions("mixed")) == ["text 3", "text 1"]
    assert names(store, store.find(["text"], limit=9)) == ("mixed",)
    assert store.counts().active_claims == 1
    with store.writing() as writer:
        writer.end_claim("mixed", expected=third.version, at=4, ended_act="claim.forget")
        writer.erase_versions("mixed", [first.version, third.version])
    assert store.versions("mixed") == ()
    assert (names(store, store.find(["text"], limit=9)), store.counts().active_claims) == ((), 0)
    assert put(store, "mixed", "back again").version > third.version
    assert store.check() == ()


def test_store_tombstones_are_known_until_they_are_lifted(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_tombstone("f1", at=1, by="human", reason="rejected")
        writer.put_tombstone("f1", at=2, by="human", reason="again")
        writer.put_tombstone("f2", at=1, by="human", reason="forgotten")
    with store.writing() as writer:
        lifted = (writer.drop_tombstone("f2"), writer.drop_tombstone("f3"))

    assert lifted == (True, False)
    assert store.tombstones(["f1", "f2", "f3"]) == frozenset({"f1"})
    assert store.tombstones([]) == frozenset()


def test_store_words_beside_an_act_are_replaced_and_the_act_stays(store: BrainStore) -> None:
    mark = Mark(slug="a", kind="graded_wrong", at=1, by="codex", channel="agent", note="private")
    with store.writing() as writer:
        for print_, reason in (("f1", "private"), ("f2", "private"), ("f3", "other")):
            writer.put_tombstone(print_, at=1, by="human", reason=reason)
        writer.put_mark(mark)
    with store.writing() as writer:
        replaced = (writer.redact_tombstones("private", to="[x]"), writer.redact_tombstones("private", to="[x]"))
        writer.redact_mark(replace(mark, note="[x]"))

    assert replaced == (2, 0)
    assert store.tombstone_reasons() == ("[x]", "other")
    assert store.tombstones(["f1", "f2", "f3"]) == frozenset({"f1", "f2", "f3"})
    assert store.marks() == (replace(mark, note="[x]"),)


# --- beside the claims -------------------------------------------------------------------------------------------------------


def test_store_one_mark_per_slug_and_kind(store: BrainStore) -> None:
    wrong = Mark(slug="a", kind="graded_wrong", at=1, by="codex", channel="agent", note="no")
    later = Mark(slug="a", kind="graded_wrong", at=2, by="claude", channel="agent", note="still no")
    right = Mark(slug="b", kind="graded_correct", at=1, by="codex", channel="agent")
    pending = Mark(slug="a", kind="demotion_pending", at=1, by="codex", channel="agent")
    with store.writing() as writer:
        for mark in (wrong, later, right, pending):
            writer.put_mark(mark)

    assert store.marks() == (pending, later, right)
    assert store.marks(slugs=["b", "c"]) == (right,)
    assert store.marks(kind="graded_wrong") == (later,)
    assert store.marks(slugs=[]) == ()
    with store.writing() as writer:
        writer.drop_mark("a", "graded_wrong")
        writer.drop_mark("a", "never")
    assert store.marks(slugs=["a"]) == (pending,)


def test_store_boot_memory_is_kept_by_key(store: BrainStore) -> None:
    first = BootEntry(key="b", value='{"x":1}', tags='["t"]', source_refs="[]", updated_at_ms=1, updated_by_agent="codex")
    other = BootEntry(key="a", value='"ä"', tags="[]", source_refs="[]", updated_at_ms=2, updated_by_agent="claude")
    newer = BootEntry(key="b", value="2", tags="[]", source_refs="[]", updated_at_ms=3, updated_by_agent="claude")
    for entry in (first, other, newer):
        with store.writing() as writer:
            writer.put_boot(entry)

    assert store.boot() == (other, newer)
    with store.writing() as writer:
        assert (writer.drop_boot("b"), writer.drop_boot("b")) == (True, False)
    assert store.boot() == (other,)


def test_store_anchors_are_replaced_as_a_whole(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_anchors("a", {"src/x.py": "d1", "src/y.py": ""})
        writer.put_anchors("b", {"src/x.py": "d1"})
    with store.writing() as writer:
        writer.put_anchors("a", {"src/z.py": "d2"})

    assert store.anchors(["a", "b", "c"]) == {"a": {"src/z.py": "d2"}, "b": {"src/x.py": "d1"}}
    assert store.anchors([]) == {}


def test_store_intents_wait_in_order(store: BrainStore) -> None:
    later, sooner = Intent(id="i1", kind="promote", payload="{}", at=9), Intent(id="i2", kind="promote", payload="{}", at=3)
    with store.writing() as writer:
        writer.put_intent(later)
        writer.put_intent(sooner)

    assert store.intents() == (sooner, later)
    with store.writing() as writer:
        writer.drop_intent("i2")
    assert store.intents() == (later,)


def test_store_meta_keeps_the_last_value(store: BrainStore) -> None:
    for value in ("1", "2"):
        with store.writing() as writer:
            writer.set_meta("salt", value)

    assert (store.meta("salt"), store.meta("pepper")) == ("2", None)


def test_store_counters_add_up(store: BrainStore) -> None:
    for _ in range(3):
        with store.writing() as writer:
            writer.add_counts({("recall", "2026-W46"): 2, ("write", "2026-W46"): 1})
    with store.writing() as writer:
        writer.add_counts({("recall", "2026-W47"): 5})

    assert store.counters() == {("recall", "2026-W46"): 6, ("recall", "2026-W47"): 5, ("write", "2026-W46"): 3}


# --- the graph ---------------------------------------------------------------------------------------------------------------


def node(name: str, label: str = "") -> Node:
    return Node(id=name, kind="file", label=label or name, path=f"src/{name}")


def edge(source: str, target: str, relation: str = "cites") -> Edge:
    return Edge(source=source, relation=relation, target=target)


def test_store_an_owner_replaces_only_its_own_part_of_the_graph(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_graph("inventory", [node("a", "seen"), node("b")], [edge("a", "b")])
        writer.put_graph("claim:c", [node("a", "told"), node("c")], [edge("c", "a"), edge("a", "b")])
    assert store.counts() == Counts(active_claims=0, nodes=3, edges=2, generation=2)

    with store.writing() as writer:
        writer.put_graph("claim:c", [node("c", "renamed")], [])

    assert store.counts() == Counts(active_claims=0, nodes=3, edges=1, generation=3)
    assert store.nodes(["a", "b", "c", "d"]) == {"a": node("a", "seen"), "b": node("b"), "c": node("c", "renamed")}
    assert store.check() == ()


def test_store_the_generation_stays_when_nothing_changed(store: BrainStore) -> None:
    part = ([node("a"), node("b")], [edge("a", "b")])
    for given in (part, ([*part[0], *part[0]], part[1] * 2), part):
        with store.writing() as writer:
            writer.put_graph("inventory", *given)

    assert store.counts().generation == 1


def test_store_a_node_is_described_by_who_saw_it_before_who_told_of_it(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_graph("inventory", [node("a", "seen")], [])
        writer.put_graph("claim:x", [node("a", "told")], [])

    assert store.nodes(["a"])["a"].label == "seen"


def test_store_neighbours_are_edges_in_both_directions(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_graph("inventory", [], [edge("a", "b"), edge("b", "c"), edge("c", "d"), edge("b", "b")])
        writer.put_graph("claim:x", [], [edge("a", "b"), edge("b", "a", "about")])

    assert store.neighbours("b", limit=9) == (edge("a", "b"), edge("b", "a", "about"), edge("b", "b"), edge("b", "c"))
    assert store.neighbours("b", limit=1) == (edge("a", "b"),)
    assert store.neighbours("z", limit=9) == ()


def test_store_the_whole_graph_has_every_node_and_edge_once_by_name(store: BrainStore) -> None:
    with store.writing() as writer:
        writer.put_graph("claim:x", [node("b"), node("a")], [edge("b", "a"), edge("a", "b")])
        writer.put_graph("claim:y", [node("a"), node("c")], [edge("a", "b"), edge("a", "c", "about")])

    nodes, edges = store.whole_graph()

    assert [one.id for one in nodes] == ["a", "b", "c"]
    assert edges == (edge("a", "c", "about"), edge("a", "b"), edge("b", "a"))


# --- full text ---------------------------------------------------------------------------------------------------------------


def test_store_any_of_the_words_finds_and_the_rarer_word_counts_more(store: BrainStore) -> None:
    for number in range(20):
        put(store, f"common{number:02}", "server listens somewhere")
    put(store, "rare", "server speaks quic")
    put(store, "unrelated", "nothing of that")

    found = store.find(["server", "quic", "absent"], limit=50)

    assert names(store, found)[0] == "rare"
    assert len(found.turns) == 21
    assert "unrelated" not in names(store, found)
    assert found.frequencies == {"server": 21, "quic": 1, "absent": 0}
    assert found.total == 22


def test_store_more_matching_words_rank_higher_and_equals_rank_newest_first(store: BrainStore) -> None:
    for slug, text in (("one", "alpha x y"), ("both", "alpha beta z"), ("other", "alpha x y"), ("none", "gamma x y")):
        put(store, slug, text)

    assert names(store, store.find(["alpha", "beta"], limit=9)) == ("both", "other", "one")
    assert names(store, store.find(["alpha", "beta"], limit=2)) == ("both", "other")
    assert names(store, store.find(["alpha"], limit=0)) == ()
    assert names(store, store.find([], limit=9)) == ()


def test_store_a_bounded_lookup_takes_the_rarest_words_and_always_one(store: BrainStore) -> None:
    for number in range(20):
        put(store, f"common{number:02}", "server listens somewhere")
    put(store, "rare", "server speaks quic")
    put(store, "few", "client speaks slowly")

    assert set(names(store, store.find(["server", "speaks", "quic"], limit=50, within=5))) == {"rare", "few"}
    assert len(names(store, store.find(["server"], limit=50, within=5))) == 21
    assert store.find(["server", "quic"], limit=50, within=5).frequencies == {"server": 21, "quic": 1}


ODD_TERMS = ("it's", 'say"so', "c++", "a-b", "or", "not", "near", "%s", "\\", "?")
TERMS = ("snake_case", "übergröße", "база", "記憶", "1338", "naïve", "ﬁ", *ODD_TERMS)


@pytest.mark.parametrize("term", TERMS)
def test_store_a_term_matches_exactly_itself(store: BrainStore, term: str) -> None:
    put(store, "it", f"before {term} after")
    put(store, "part", f"before {term}x x{term} after")

    found = store.find([term], limit=9)

    assert (names(store, found), found.frequencies) == (("it",), {term: 1})


def test_store_only_what_is_live_is_found(store: BrainStore) -> None:
    put(store, "port", "the port was 1338")
    put(store, "port", "the port is 1339")

    assert names(store, store.find(["1338"], limit=9)) == ()
    assert names(store, store.find(["1339"], limit=9)) == ("port",)
    put(store, "port", "moved away", active=False)
    assert names(store, store.find(["1339", "moved"], limit=9)) == ()
    assert store.counts().active_claims == 0


def test_store_a_question_of_many_words_is_answered(store: BrainStore) -> None:
    put(store, "it", "word777")

    assert names(store, store.find([f"word{number}" for number in range(1_000)], limit=9)) == ("it",)


def test_store_a_word_of_very_many_claims_gives_the_newest(store: BrainStore) -> None:
    with store.writing() as writer:
        for number in range(COUNTED + 10):
            writer.put_claim(version(f"c{number}", 1), expected=None, ended_act="x", terms=["everywhere"])

    found = store.find(["everywhere", "nowhere"], limit=3)

    assert names(store, found) == tuple(f"c{COUNTED + 9 - place}" for place in range(3))
    assert found.frequencies["everywhere"] >= COUNTED


def test_store_a_rebuilt_index_answers_the_same(store: BrainStore) -> None:
    for number in range(30):
        put(store, f"c{number}", f"shared word{number % 5} only{number} " * (number % 3 + 1))
    erase(store, "c7")
    questions = (["shared"], ["word3", "only8"], ["word1", "word2", "shared"])
    before = [store.find(question, limit=50) for question in questions]
    told: list[tuple[int, int, str]] = []

    indexed = store.rebuild_index(lambda one: one.text.split(), lambda *step: told.append(step))

    assert indexed == 29
    assert told[-1][:2] == (29, 29)
    assert [store.find(question, limit=50) for question in questions] == before
    assert (store.lag(), store.check()) == (0, ())


def test_store_a_rebuild_takes_the_new_words(store: BrainStore) -> None:
    put(store, "a", "old words")

    store.rebuild_index(lambda one: ["fresh", one.slug])

    assert names(store, store.find(["old"], limit=9)) == ()
    assert names(store, store.find(["fresh"], limit=9)) == ("a",)


# --- together, and elsewhere ---------------------------------------------------------------------------------------------------


def test_store_eight_threads_write_one_unbroken_chain(store: BrainStore) -> None:
    start, failures = Barrier(8), list[Exception]()

    def write(worker: int) -> None:
        try:
            start.wait()
            for number in range(12):
                put(store, f"c{number}", f"worker {worker}")
                store.find([str(worker)], limit=3)
        except Exception as error:  # noqa: BLE001 - carried to the test's own thread
            failures.append(error)

    threads = [Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert store.head()[0] == 96
    assert breaks(all_entries(store), head=store.head()) == []
    assert [len(store.versions(f"c{number}")) for number in range(12)] == [8] * 12
    assert (store.counts().active_claims, store.lag(), store.check()) == (12, 0, ())


def test_store_a_backup_is_a_brain_again(store: BrainStore, tmp_path: Path) -> None:
    put(store, "port", "the port was 1338", at=1)
    put(store, "port", "the port is 1339", at=2, created=2)
    put(store, "gone", "forgotten words")
    erase(store, "gone")
    with store.writing() as writer:
        writer.put_mark(Mark(slug="port", kind="graded_correct", at=1, by="a", channel="agent", note="n"))
        writer.put_tombstone("f", at=1, by="human", reason="r")
        writer.put_boot(BootEntry(key="k", value="1", tags="[]", source_refs="[]", updated_at_ms=1, updated_by_agent="a"))
        writer.put_anchors("port", {"src/a.py": "d"})
        writer.put_graph("inventory", [node("a")], [edge("a", "b")])
        writer.put_intent(Intent(id="i", kind="promote", payload="{}", at=1))
        writer.set_meta("salt", "s")
        writer.add_counts({("recall", "2026-W46"): 2})
    target = tmp_path / "copy" / "brain.db"
    target.parent.mkdir()

    store.backup(target)

    assert [path.name for path in target.parent.iterdir()] == ["brain.db"]
    copy = SqliteStore(target.parent, store.brain_id)
    for name in ("head", "digests", "counts", "marks", "boot", "intents", "counters", "lag", "check"):
        assert getattr(copy, name)() == getattr(store, name)(), name
    assert all_entries(copy) == all_entries(store)
    assert copy.versions("port") == store.versions("port")
    assert copy.find(["port", "1339"], limit=9) == store.find(["port", "1339"], limit=9)
    assert (copy.tombstones(["f"]), copy.anchors(["port"]), copy.meta("salt")) == ({"f"}, {"port": {"src/a.py": "d"}}, "s")
    assert (copy.nodes(["a"]), copy.neighbours("b", limit=9)) == ({"a": node("a")}, (edge("a", "b"),))
    with pytest.raises(StaleWrite), copy.writing() as writer:
        writer.put_claim(version("gone", 3), expected=None, ended_act="x", terms=[])
    copy.close()


# --- a glance ----------------------------------------------------------------------------------------------------------------


def test_store_a_glance_counts_what_the_parts_hold(store: BrainStore) -> None:
    assert store.glance(published=True) == Glance()
    put(store, "first", "one word")
    with store.writing() as writer:
        writer.append(act(at=77))
        writer.put_graph("inventory", [Node(id="n", kind="file", label="n")], [])
        writer.add_counts({("beats", "2026-W01"): 2, ("beats", "2026-W02"): 1})
        writer.set_meta(LAST_BEAT, "66")

    seen = store.glance(published=True)

    assert (seen.seq, seen.claims, seen.nodes, seen.edges) == (store.head()[0], 1, 1, 0)
    assert (seen.changed_at, seen.beat_at, seen.counters) == (77, 66, {"beats": 3})


def test_store_claims_are_paged_in_the_order_they_came(store: BrainStore) -> None:
    for slug, text in (("one", "red apple"), ("two", "red apricot"), ("three", "green pear"), ("four", "red pear")):
        put(store, slug, text)
    put(store, "one", "red apple again")

    every = store.arrivals(limit=9)
    assert [slug for _, slug in every] == ["one", "four", "three", "two"]
    assert store.arrivals(limit=9, newest=False) == every[::-1]
    assert store.arrivals(limit=2, after=every[0][0]) == every[1:3]
    assert [slug for _, slug in store.arrivals(["red"], limit=9)] == ["one", "four", "two"]
    assert [slug for _, slug in store.arrivals(["red"], begun="ap", limit=9)] == ["one", "two"]
    assert [slug for _, slug in store.arrivals(begun="pe", limit=1, newest=False)] == ["three"]
    assert store.arrivals(["red", "green"], limit=9) == store.arrivals(begun="zz", limit=9) == ()
    assert store.version_counts(["one", "two", "none"]) == {"one": 2, "two": 1}
    assert store.version_counts(["one"], until=store.versions("one")[-1].born_at - 1) == {}


def test_store_claims_that_were_live_at_a_time_are_counted(store: BrainStore) -> None:
    put(store, "one", "first", at=10)
    put(store, "two", "second", at=20)
    put(store, "one", "first again", at=30)

    assert [store.active_at(at) for at in (9, 10, 19, 20, 29, 30, 99)] == [0, 1, 1, 2, 2, 2, 2]
