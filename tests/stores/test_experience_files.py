"""Experience in files: all of it or nothing, copies, what the database itself refuses, which index answers, and the twin."""

import hashlib
import json
import multiprocessing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.domain.errors import InvalidParams, UnknownMegram
from hindbrain.domain.experience import (
    EventKind,
    Level,
    MegramEvent,
    MegramId,
    Pair,
)
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.port import BrainStore, MegramFilter, StoredMessage
from hindbrain.stores.postgres import PostgresStore
from hindbrain.stores.sql_experience import POTENTIALS
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.stores.experiences import DAY, NOW, PAIR, befall, forget, held, ids, keep, megram, rebuild, recall, say, settle
from tests.stores.values import act
from tests.stores.workers import die_before_each_statement


@pytest.mark.parametrize(
    "damage",
    [
        "update megram_clock set level = 'C', k = 0, fades_at = null, consolidated_at = 5",
        "update megram_clock set attention = 1, decision = -1, origin = 1",
        "delete from megram_clock",
    ],
)
def test_exp_057_a_clock_that_was_lost_or_changed_is_put_right(tmp_path: Path, damage: str) -> None:
    store = SqliteStore(tmp_path / "brain", BRAIN)
    keep(store, megram(), megram("m2", "abandon"))
    befall(store, "m2", EventKind.PROMOTED_K)
    before = (store.potentials(PAIR, at=NOW), store.faded(at=NOW + 99 * DAY, limit=9), list(store.effective()))

    with store.transaction() as session:
        session.rows(damage)
    assert store.potentials(PAIR, at=NOW) != before[0]

    assert rebuild(store) == 2
    assert (store.potentials(PAIR, at=NOW), store.faded(at=NOW + 99 * DAY, limit=9), list(store.effective())) == before
    store.close()


# --- all or nothing, copies, and what the database itself refuses ----------------------------------------------------------


def test_exp_089_a_transaction_that_fails_leaves_no_part_of_an_experience(store: BrainStore) -> None:
    keep(store, megram("old"))
    before = (store.head(), list(store.effective()), store.unsettled_pairs(limit=9), store.megram_events(), store.messages())

    def fail() -> None:
        with store.writing() as writer:
            entry = writer.append(act("control.message", subject="task:t"))
            writer.put_megram(megram(tags=("a",), pair=Pair(space="new", entity="new")))
            writer.put_megram_event(MegramEvent(megram_id=MegramId("m1"), kind=EventKind.PROMOTED_K, at=NOW))
            writer.recall_megrams([MegramId("old")], at=NOW + 9)
            writer.put_message(
                StoredMessage(seq=entry.seq, id="a", at=1, sender="R7", recipient="R5", type="Megram", task_id="t", body="{}")
            )
            writer.forget_megrams([MegramId("old")], at=NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    after = (store.head(), list(store.effective()), store.unsettled_pairs(limit=9), store.megram_events(), store.messages())
    assert (after, store.megrams_tagged(["a"], limit=9)) == (before, ())


def test_exp_089_a_process_killed_before_any_statement_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    directory = tmp_path / "brain"
    store = SqliteStore(directory, BRAIN)
    keep(store, megram("old", tags=("gone",)))
    store.close()

    worker = multiprocessing.get_context("spawn").Process(target=die_before_each_statement, args=(directory, BRAIN, said))
    worker.start()
    worker.join()

    assert worker.exitcode == 0
    deaths = [json.loads(line) for line in said.read_text().splitlines()]
    changed = {word for death in deaths for word in death["statement"].split()[:3] if word.startswith(("megram", "control"))}
    assert changed >= {"megram", "megram_clock", "megram_tag", "megram_pair", "megram_event", "control_message"}
    assert any(death["statement"] == "commit" for death in deaths)
    before, *_, after = [death["held"] for death in deaths]
    assert before != after
    assert [death["statement"] for death in deaths if death["held"] not in (before, after)] == []
    assert after == {"megrams": ["m1"], "tags": ["m1"], "events": ["promoted_k", "forgotten"], "messages": 1, "entries": 2}


def test_exp_091_a_copy_of_a_brain_has_its_experience(store: BrainStore, tmp_path: Path) -> None:
    keep(store, megram(tags=("a", "b"), days=3), megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0))
    befall(store, "c1", EventKind.DEMOTED, level=Level.K, k=0.05)
    recall(store, "m1")
    settle(store, PAIR, watch=(PAIR,))
    message = say(store, "a")

    (tmp_path / "copy").mkdir()
    store.backup(tmp_path / "copy" / "brain.db")

    copy = SqliteStore(tmp_path / "copy", BRAIN)
    assert list(copy.effective()) == list(store.effective())
    assert copy.potentials(PAIR, at=NOW + DAY).attention == pytest.approx(store.potentials(PAIR, at=NOW + DAY).attention)
    assert (copy.megram_events(), copy.messages()) == (store.megram_events(), (message,))
    assert ids(copy.megrams_tagged(["b"], limit=9)) == ["m1"]
    assert copy.unsettled_pairs(limit=9) == (PAIR,)
    with copy.writing() as writer:
        assert writer.rebuild_clocks() == 0
    assert copy.check() == ()
    copy.close()


def raw(directory: Path, statement: str, *values: object) -> list[Any]:
    connection = apsw.Connection(str(directory / "brain.db"))
    try:
        connection.execute("pragma foreign_keys = on").fetchall()
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A brain on disk with an experience and a message."""
    made = SqliteStore(tmp_path / "brain", BRAIN)
    keep(made, megram(content="the quokka was here", tags=("a",)))
    befall(made, "m1", EventKind.PROMOTED_K)
    say(made, "a", body='{"goal":"find the wombat"}')
    made.close()
    return tmp_path / "brain"


@pytest.mark.parametrize("table", ["megram", "megram_event", "control_message"])
@pytest.mark.parametrize("verb", ["update {} set brain_id = brain_id", "delete from {}"])
def test_exp_054_exp_055_the_database_lets_nothing_stored_be_edited(directory: Path, table: str, verb: str) -> None:
    if table == "megram" and verb.startswith("delete"):
        raw(directory, "delete from megram_tag")
        raw(directory, "delete from megram_clock")
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        raw(directory, verb.format(table))


def test_exp_054_recall_is_kept_apart_and_may_change(directory: Path) -> None:
    before = raw(directory, "select * from megram")
    store = SqliteStore(directory, BRAIN)
    recall(store, "m1", at=NOW + 7)
    assert (held(store).last_recalled_at, held(store).recalls) == (NOW + 7, 1)
    store.close()

    assert raw(directory, "select * from megram") == before
    assert raw(directory, "select last_recalled_at, recalls from megram_clock") == [(NOW + 7, 1)]


_COPY = (
    "insert into megram select brain_id, 'm2', {level}, created_at, space, entity, content, state, {f}, {sigma}, {k}, {writer}, "
)
_REST = "task_id, mission_id, round, source_event_id, loss, category, tags, derived_from, supersedes from megram"
_AS_IS = {"level": "level", "f": "f", "sigma": "sigma", "k": "k", "writer": "writer"}


@pytest.mark.parametrize(
    "change",
    [
        *({"f": "1.1"}, {"f": "-0.1"}, {"f": "null"}, {"sigma": "1.1"}, {"sigma": "-1.1"}, {"k": "-0.1"}),
        *({"level": "'X'"}, {"level": "'C'"}, {"writer": "'R3'"}),
    ],
)
def test_exp_002_exp_008_exp_046_the_database_refuses_what_a_rule_forbids(directory: Path, change: dict[str, str]) -> None:
    with pytest.raises(apsw.ConstraintError):
        raw(directory, (_COPY + _REST).format(**(_AS_IS | change)))
    raw(directory, (_COPY + _REST).format(**_AS_IS))


def test_exp_058_what_was_forgotten_is_in_no_file(directory: Path) -> None:
    def found(word: bytes) -> set[str]:
        return {path.name for path in directory.iterdir() if word in path.read_bytes()}

    assert found(b"quokka")
    assert found(b"wombat")
    store = SqliteStore(directory, BRAIN)
    assert forget(store, "m1") == 1
    with store.writing() as writer:
        writer.erase_messages(["t1"])
    assert (found(b"quokka"), found(b"wombat")) == (set(), set())
    store.close()
    assert raw(directory, "select kind, content_sha256 from megram_event order by seq") == [
        ("promoted_k", None),
        ("forgotten", hashlib.sha256(b"the quokka was here").hexdigest()),
    ]


def plan(directory: Path, statement: str, *values: object) -> str:
    return " / ".join(row[3] for row in raw(directory, f"explain query plan {statement}", *values))


def test_exp_086_each_kind_of_record_of_the_seed_is_found_by_an_index(directory: Path) -> None:
    sums_of_a_pair = plan(directory, POTENTIALS, NOW, NOW, BRAIN, "s", "e")
    assert "COVERING INDEX megram_clock_pair (brain_id=? AND space=? AND entity=?" in sums_of_a_pair
    of_a_pair = "select * from megram_clock where brain_id = ? and space = ? and entity = ? order by created_at desc"
    assert plan(directory, of_a_pair, BRAIN, "s", "e") == (
        "SEARCH megram_clock USING INDEX megram_clock_pair (brain_id=? AND space=? AND entity=?)"
    )
    assert "megram_clock_level (brain_id=? AND level=?)" in plan(
        directory, "select * from megram_clock where brain_id = ? and level = ? order by created_at", BRAIN, "C"
    )
    assert "(brain_id=? AND id=?)" in plan(directory, "select * from megram where brain_id = ? and id = ?", BRAIN, "m1")
    assert "(brain_id=? AND megram_id=?)" in plan(
        directory, "select last_recalled_at from megram_clock where brain_id = ? and megram_id = ?", BRAIN, "m1"
    )


def test_exp_086_every_read_of_the_task_path_and_of_the_dreamer_is_a_search(directory: Path) -> None:
    asked: list[tuple[str, Any]] = []
    store = SqliteStore(directory, BRAIN)
    plain = store._asked

    def noted(statement: str, values: Any) -> Any:
        asked.append((statement, values))
        return plain(statement, values)

    store._asked = noted  # type: ignore[method-assign]  # to see what is asked, not to answer otherwise
    store.potentials(PAIR, at=NOW)
    store.space_potentials("s", at=NOW)
    for where in (MegramFilter(pair=PAIR), MegramFilter(levels=("C",)), MegramFilter(task_id="t"), None):
        list(store.effective(where, limit=3))
    store.megrams([MegramId("m1")])
    store.megrams_like("m", limit=3)
    store.megrams_tagged(["a"], limit=3)
    store.megram_events(MegramId("m1"))
    list(store.pairs())
    store.unsettled_pairs(limit=3)
    store.faded(at=NOW, limit=3)
    store.spent(before=NOW, limit=3)
    store.messages(task_id="t")
    store.messages(recipient="R6")
    store.close()

    assert len(asked) > 15
    for statement, values in asked:
        told = plan(directory, statement, *values)
        # What is sorted or grouped is only what an index found: by tags, or by the time at which entries have faded.
        assert "SCAN m" not in told, (statement, told)
        assert "TEMP B-TREE" not in told or "megram_tag" in statement or "as summed" in statement, (statement, told)


# --- twins -----------------------------------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["m1", "m2", "m3"])
_STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"),
            _NAMES,
            st.sampled_from("MKCT"),
            st.floats(0, 1),
            st.floats(-1, 1),
            st.sampled_from([0.0, 0.05, 0.5, 1e-9, 1e9]),
            st.sampled_from("xy"),
        ),
        st.tuples(st.just("event"), _NAMES, st.sampled_from(sorted(EventKind)), st.sampled_from([None, "M", "K", "C"])),
        st.tuples(st.just("recall"), _NAMES),
        st.tuples(st.just("forget"), _NAMES),
        st.tuples(st.just("settle"), st.sampled_from("xy"), st.booleans()),
    ),
    max_size=14,
)


def told(store: BrainStore, steps: list[tuple[Any, ...]]) -> list[object]:
    """What a store answers to the same steps, one millisecond apart."""
    answers: list[object] = []
    for number, (verb, name, *rest) in enumerate(steps):
        at = NOW + number
        try:
            with store.writing() as writer:
                if verb == "put":
                    level, f, sigma, k, entity = rest
                    made = megram(
                        name,
                        "odd",
                        level=Level(level),
                        f=f,
                        sigma=sigma,
                        k=k if level in "MK" else 0.0,
                        pair=Pair(space="s", entity=entity),
                        created_at=at,
                    )
                    answers.append(writer.put_megram(made))
                elif verb == "event":
                    kind, level = rest
                    event = MegramEvent(
                        megram_id=name, kind=EventKind(kind), at=at, level=Level(level) if level else None, k=0.05
                    )
                    answers.append(writer.put_megram_event(event))
                elif verb == "recall":
                    writer.recall_megrams([name], at=at)
                elif verb == "forget":
                    answers.append(writer.forget_megrams([name], at=at))
                else:
                    pair = Pair(space="s", entity=name)
                    writer.settle_pairs([pair], watch=[pair] if rest[0] else [])
        except (InvalidParams, UnknownMegram) as refused:
            answers.append(refused.message)
    with store.writing() as writer:
        answers.append(writer.rebuild_clocks())
    for later in (0, 1, 3 * DAY, 99 * DAY, 40_000 * DAY):
        found = store.space_potentials("s", at=NOW + later)
        answers += [found.count, pytest.approx(found.attention, abs=1e-9), pytest.approx(found.decision, abs=1e-9)]
        answers += [store.faded(at=NOW + later, limit=9), store.spent(before=NOW + later, limit=9)]
    answers += [list(store.effective(MegramFilter(settled=True))), list(store.pairs()), store.unsettled_pairs(limit=9)]
    return [*answers, store.megram_events(), store.level_counts()]


@settings(max_examples=25, deadline=None, database=None)
@given(steps=_STEPS)
def test_exp_048_the_file_and_its_twin_answer_the_same(tmp_path_factory: pytest.TempPathFactory, steps: Any) -> None:
    file = SqliteStore(tmp_path_factory.mktemp("twin") / "brain", BRAIN)
    try:
        assert told(file, steps) == told(MemoryStore(BRAIN), steps)
    finally:
        file.close()


def test_exp_054_exp_055_a_server_lets_nothing_stored_be_edited(postgres_schema_url: str) -> None:
    store = PostgresStore(postgres_schema_url, BRAIN)
    keep(store, megram())
    befall(store, "m1", EventKind.PROMOTED_K)
    said = say(store, "a")

    def edit(*statements: str) -> None:
        with store.transaction() as session:
            for statement in statements:
                session.rows(statement)

    edit("delete from megram_clock where false")
    for table in ("megram", "megram_event", "control_message"):
        for verb in (f"update {table} set brain_id = brain_id", f"delete from {table}"):
            with pytest.raises(psycopg.Error, match=f"{table} is append-only"):
                edit("delete from megram_clock", verb)
    assert (ids(store.effective()), len(store.megram_events()), store.messages()) == (["m1"], 1, (said,))
    store.close()
