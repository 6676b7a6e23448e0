"""The contract of missions: what every store does with heads, events and papers."""

import contextlib
import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from hindbrain.domain.errors import InvalidParams, UnknownMission
from hindbrain.stores.mission_port import MissionHead, StoredEvent, StoredPaper
from hindbrain.stores.port import BrainStore
from hindbrain.stores.postgres import PostgresStore
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.stores.values import act


def head(name: str = "msn_a", **more: Any) -> MissionHead:
    values: dict[str, Any] = {
        "agent": "codex",
        "status": "active",
        "mode": "bug_hunt",
        "parent_id": None,
        "created_at": 10,
        "updated_at": 10,
        "seq": 0,
        "hash": "sha256:00",
        "steps": 0,
        "told": "[]",
        "spec": '{"task":"Ein Fehler, 一つ"}',
    }
    return MissionHead(mission_id=name, **(values | more))


def event(seq: int = 1, mission: str = "msn_a", **more: Any) -> StoredEvent:
    values: dict[str, Any] = {"event_id": f"ev_{seq}", "at": 20, "event_type": "file_read", "hash": f"sha256:{seq}"}
    return StoredEvent(mission_id=mission, seq=seq, **(values | {"ledger_seq": seq, "body": '{"a":"ä"}'} | more))


def paper(name: str = "hnd_1", mission: str = "msn_a", **more: Any) -> StoredPaper:
    return StoredPaper(paper_id=name, mission_id=mission, **({"kind": "handoff", "number": 1, "at": 30, "body": "{}"} | more))


def put(store: BrainStore, *values: MissionHead | StoredEvent | StoredPaper) -> None:
    with store.writing() as writer:
        writer.append(act("mission.test", subject="msn_a"))
        for one in values:
            match one:
                case MissionHead():
                    writer.put_mission(one)
                case StoredEvent():
                    writer.put_mission_event(one)
                case StoredPaper():
                    writer.put_mission_paper(one)


def test_store_a_mission_its_events_and_papers_come_back_as_they_were_put(store: BrainStore) -> None:
    late = event(2, event_id="ev_0")
    last = paper("msn_a", kind="proof")
    put(store, head(parent_id="msn_0"), event(), late, paper("hnd_2", number=2), paper(), last)

    assert store.mission("msn_a") == head(parent_id="msn_0")
    assert store.mission_events("msn_a") == (event(), late)
    assert store.mission_events("msn_a", after=1) == (late,)
    assert store.mission_events("msn_a", limit=1) == (event(),)
    assert store.mission_events_named("msn_a", ("ev_0", "ev_9", "ev_0")) == {"ev_0": late}
    assert store.mission_papers("msn_a", kind="handoff") == (paper(), paper("hnd_2", number=2))
    assert (store.mission_papers("msn_a", kind="proof"), store.mission_paper("msn_a")) == ((last,), last)


def test_store_what_is_not_there_is_not_found(store: BrainStore) -> None:
    put(store, head())

    assert (store.mission("msn_b"), store.mission_events("msn_b"), store.mission_paper("hnd_9")) == (None, (), None)
    assert (store.mission_events_named("msn_a", ()), store.mission_papers("msn_a", kind="proof")) == ({}, ())
    assert store.missions(limit=0) == ()


def test_store_missions_are_found_by_agent_status_and_parent_the_latest_first(store: BrainStore) -> None:
    put(
        store,
        head("msn_a", created_at=10),
        head("msn_b", created_at=30, agent="claude", parent_id="msn_a"),
        head("msn_c", created_at=20, status="closed", parent_id="msn_a"),
        head("msn_d", created_at=20),
    )

    def found(**asked: Any) -> list[str]:
        return [one.mission_id for one in store.missions(**asked)]

    assert found() == ["msn_b", "msn_d", "msn_c", "msn_a"]
    assert found(limit=2) == ["msn_b", "msn_d"]
    assert found(agent="codex", status="active") == ["msn_d", "msn_a"]
    assert found(parent_id="msn_a") == ["msn_b", "msn_c"]
    assert found(agent="codex", parent_id="msn_a", status="active") == []
    assert store.missions_like("msn_", limit=3) == ("msn_a", "msn_b", "msn_c")
    assert store.missions_like("msn_c", limit=3) == ("msn_c",)
    assert store.missions_like("msn%", limit=3) == ()


def test_store_only_how_far_a_mission_is_can_be_moved(store: BrainStore) -> None:
    put(store, head())
    moved = replace(head(), status="closed", updated_at=99, seq=7, hash="sha256:07", steps=3, told='["x"]')
    other = replace(moved, agent="mallory", mode="task", parent_id="msn_z", created_at=1, spec="{}")
    with store.writing() as writer:
        writer.append(act("mission.test"))
        writer.move_mission(other)
        seen = writer.mission("msn_a")

    assert seen == store.mission("msn_a") == moved


@pytest.mark.parametrize(
    "second",
    [head(), event(1, event_id="ev_new"), event(2, event_id="ev_1"), paper(number=2), paper("hnd_2")],
    ids=["mission", "number", "event id", "paper id", "paper number"],
)
def test_store_nothing_of_a_mission_is_there_twice(store: BrainStore, second: MissionHead | StoredEvent | StoredPaper) -> None:
    put(store, head(), event(), paper())
    before = store.head()

    with pytest.raises(InvalidParams, match="there already"):
        put(store, second)

    assert (store.head(), store.mission_events("msn_a"), store.mission_papers("msn_a", kind="handoff")) == (
        before,
        (event(),),
        (paper(),),
    )


def test_store_two_missions_may_have_events_and_papers_of_one_number(store: BrainStore) -> None:
    put(store, head("msn_a"), head("msn_b"), event(), event(mission="msn_b"), paper(), paper("hnd_b", mission="msn_b"))

    assert store.mission_events("msn_b") == (event(mission="msn_b"),)


def test_store_events_and_papers_belong_to_a_mission(store: BrainStore) -> None:
    for orphan in (event(), paper()):
        with pytest.raises(UnknownMission):
            put(store, orphan)
    with pytest.raises(UnknownMission), store.writing() as writer:
        writer.move_mission(head())

    assert (store.mission_events("msn_a"), store.mission_papers("msn_a", kind="handoff"), store.head()[0]) == ((), (), 0)


def test_store_a_transaction_that_fails_leaves_nothing_of_a_mission(store: BrainStore) -> None:
    put(store, head())

    def cut_off() -> None:
        with store.writing() as writer:
            writer.put_mission_event(event())
            writer.move_mission(replace(head(), seq=1))
            assert writer.mission_events("msn_a") == (event(),)
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="the power went"):
        cut_off()

    assert (store.mission("msn_a"), store.mission_events("msn_a")) == (head(), ())


def test_store_a_copy_of_a_brain_has_its_missions(store: BrainStore, tmp_path: Path) -> None:
    put(store, head(), event(), event(2), paper())
    (tmp_path / "copy").mkdir()
    store.backup(tmp_path / "copy" / "brain.db")

    copy = SqliteStore(tmp_path / "copy", BRAIN)
    assert (copy.mission("msn_a"), copy.mission_events("msn_a")) == (head(), (event(), event(2)))
    assert (copy.mission_paper("hnd_1"), copy.check()) == (paper(), ())
    copy.close()


def _add(directory: Path) -> None:
    store = SqliteStore(directory, BRAIN)
    with store.writing() as writer:
        held = writer.mission("msn_a")
        assert held is not None
        writer.append(act("mission.test"))
        writer.put_mission_event(event(held.seq + 1))
        writer.move_mission(replace(held, seq=held.seq + 1))
    store.close()


def test_aol_041_a_transaction_sees_what_another_process_committed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "brain", BRAIN)
    put(store, head())
    other = multiprocessing.get_context("spawn").Process(target=_add, args=(tmp_path / "brain",))
    other.start()
    other.join()

    with store.writing() as writer:
        held = writer.mission("msn_a")
        seen = [one.seq for one in writer.mission_events("msn_a")]
    store.close()

    assert (other.exitcode, held, seen) == (0, replace(head(), seq=1), [1])


@pytest.mark.parametrize("table", ["mission_event", "mission_paper"])
@pytest.mark.parametrize("verb", ["update {} set body = 'x'", "delete from {}"])
def test_store_a_file_lets_nothing_of_a_mission_be_edited(tmp_path: Path, table: str, verb: str) -> None:
    store = SqliteStore(tmp_path / "brain", BRAIN)
    put(store, head(), event(), paper())
    store.close()
    connection = apsw.Connection(str(tmp_path / "brain" / "brain.db"))
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        connection.execute(verb.format(table))
    connection.close()


def test_store_a_server_lets_nothing_of_a_mission_be_edited(postgres_schema_url: str) -> None:
    store = PostgresStore(postgres_schema_url, BRAIN)
    put(store, head(), event(), paper())
    for table in ("mission_event", "mission_paper"):
        for verb in (f"update {table} set body = 'x'", f"delete from {table}"):
            with pytest.raises(psycopg.Error, match=f"{table} is append-only"), store.transaction() as session:
                session.rows(verb)
    assert (store.mission_events("msn_a"), store.mission_paper("hnd_1")) == ((event(),), paper())
    store.close()


PLANS = {
    "select seq from mission where brain_id = ? and agent = ? and status = ? order by created_at desc, mission_id desc": (
        "INDEX mission_agent"
    ),
    "select seq from mission where brain_id = ? and parent_id = ? order by created_at desc, mission_id desc": "mission_parent",
    "select seq from mission where brain_id = ? order by created_at desc, mission_id desc limit 9": "INDEX mission_time",
    "select body from mission_event where brain_id = ? and mission_id = ? and seq > ? order by seq": "mission_event_1",
    "select body from mission_event where brain_id = ? and mission_id = ? and event_id = ?": "INDEX mission_event_id",
    "select body from mission_paper where brain_id = ? and mission_id = ? and kind = ? order by number": "mission_paper_number",
}


def test_store_a_statement_about_missions_reads_the_index_that_was_made_for_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "brain", BRAIN)
    with store.reading() as session:
        plans = {one: str(session.rows(f"explain query plan {one}", ("x",) * one.count("?"))) for one in PLANS}
    store.close()

    for statement, index in PLANS.items():
        assert index in plans[statement]
        assert "TEMP B-TREE" not in plans[statement]


def test_store_an_erased_mission_keeps_its_head_and_nothing_it_said(store: BrainStore) -> None:
    said = head(parent_id="msn_0", seq=2, hash="sha256:2", steps=3, told='[{"item":"x"}]')
    put(store, said, event(), event(2), paper(), paper("msn_a", kind="proof"), head("msn_b"), event(1, "msn_b"))

    with store.writing() as writer:
        writer.append(act("mission.erase", subject="msn_a"))
        writer.erase_mission("msn_a", status="abandoned", at=50)

    left = store.mission("msn_a")
    assert left == replace(said, status="abandoned", updated_at=50, told="[]", spec="")
    assert left is not None
    assert left.erased
    assert (store.mission_events("msn_a"), store.mission_paper("hnd_1"), store.mission_paper("msn_a")) == ((), None, None)
    assert (store.mission("msn_b"), store.mission_events("msn_b")) == (head("msn_b"), (event(1, "msn_b"),))
    with store.writing() as writer, pytest.raises(UnknownMission):
        writer.erase_mission("msn_c", status="abandoned", at=50)


def test_store_a_transaction_that_fails_erases_nothing(store: BrainStore) -> None:
    put(store, head(), event(), paper())

    with contextlib.suppress(ZeroDivisionError), store.writing() as writer:
        writer.append(act("mission.erase", subject="msn_a"))
        writer.erase_mission("msn_a", status="abandoned", at=50)
        raise ZeroDivisionError

    assert (store.mission("msn_a"), store.mission_events("msn_a"), store.mission_paper("hnd_1")) == (head(), (event(),), paper())


def holding(place: Path, words: bytes) -> list[str]:
    return [path.name for path in place.rglob("*") if path.is_file() and words in path.read_bytes()]


def test_store_no_byte_of_an_erased_mission_stays_in_a_file(tmp_path: Path) -> None:
    words = b"zebra-in-the-garden"
    store = SqliteStore(tmp_path / "brain.db", BRAIN)
    try:
        long = "zebra-in-the-garden " * 900
        put(store, head(spec=f'{{"task":"{long}"}}', told=f'["{long}"]'), event(body=long), event(2, body=long), paper(body=long))
        assert holding(tmp_path, words)
        with store.writing() as writer:
            writer.append(act("mission.erase", subject="msn_a"))
            writer.erase_mission("msn_a", status="abandoned", at=50)

        assert holding(tmp_path, words) == []
    finally:
        store.close()
