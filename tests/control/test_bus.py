"""The bus: publishing is appending, delivery is by cursor, and every message has one path."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.control import FinalResult, Loss
from hindbrain.domain.errors import BoundaryViolation, InvalidParams
from hindbrain.domain.message import PAYLOADS, TYPES, BusMessage, MessageType, Role
from hindbrain.domain.notes import Cancel, MemoryQuery, MemoryResponse
from hindbrain.domain.task import TaskSpec
from hindbrain.policy.control import PATHS
from hindbrain.services.control.bus import Bus, Subscription
from hindbrain.services.control.journal import Journal
from hindbrain.stores.port import BrainStore
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.support.examples import VALID

SPEC = TaskSpec(task_id="tsk_1", intent="count files", raw_input="count files")


class Line:
    """A bus on a real file, with a clock that stands."""

    def __init__(self, path: Path) -> None:
        self.store: BrainStore = SqliteStore(path, BRAIN)
        self.journal = Journal(self.store, written=lambda: self.bus.wake(), retry_s=0.01)
        self.bus = Bus(self.store, self.journal, clock=lambda: 1_783_209_431_408, salt="salt")

    def close(self) -> None:
        self.journal.close()
        self.store.close()

    def publish(self, record: Any, sender: Role | None = None, to: Role | None = None, task: str = "tsk_1") -> str:
        path = PATHS[TYPES[type(record)]]
        return self.bus.publish(sender or path[0], to or path[1], record, task_id=task).id

    def heard(self, listening: Subscription) -> list[str]:
        """The ids of everything that comes, until nothing does."""
        assert self.journal.drain(20)
        found = []
        while (one := listening.next(0.0)) is not None:
            found.append(one.message.id)
        return found


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    made = Line(tmp_path / "brain")
    yield made
    made.close()


def test_ctl_015_ctl_024_every_message_that_a_role_hears_is_in_the_log_and_readers_do_not_disturb_each_other(line: Line) -> None:
    one, two = line.bus.subscribe("one"), line.bus.subscribe("two")
    said = [line.publish(SPEC), line.publish(Cancel(task_id="tsk_1"))]
    first = line.heard(one)
    more = line.publish(MemoryQuery(query_id="q", kind="C"))

    assert first == said
    assert line.heard(two) == [*said, more]
    assert [stored.id for stored in line.store.messages()] == [*said, more]


def test_ctl_018_ctl_312_a_message_has_its_fields_and_its_place_in_the_ledger(line: Line) -> None:
    line.publish(SPEC)
    line.publish(Cancel(task_id="tsk_1"))
    assert line.journal.drain(20)

    rows = line.store.messages()
    body = json.loads(rows[0].body)
    entries = line.store.entries(act="control.message")

    assert {"schema", "id", "timestamp", "from", "to", "type", "payload", "task_id", "correlation_id", "causation_id"} <= set(
        body
    )
    assert body["timestamp"] == "2026-07-04T23:57:11.408Z"
    assert [row.seq for row in rows] == [entry.seq for entry in entries] == sorted({row.seq for row in rows})
    assert "count files" not in entries[0].payload
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({key: value for key, value in body.items() if key != "from"} | {"seq": 1}, BusMessage)


def test_ctl_019_an_unknown_role_cannot_speak() -> None:
    raw = {"id": "m", "seq": 1, "timestamp": "t", "from": "R9", "to": "R2", "type": "TaskSpec", "payload": {}}

    with pytest.raises(msgspec.ValidationError, match="R9"):
        msgspec.convert(raw, BusMessage)
    assert msgspec.convert(raw | {"from": "R1"}, BusMessage).sender is Role.PERCEIVER


def test_ctl_020_the_kinds_are_those_of_the_catalog_and_each_has_a_record_and_a_path() -> None:
    catalog = (
        "TaskSpec SubTask DispatchManifest ExecutionResult CorrectionSignal SubTaskOutcome ReplanRequest OutcomeSummary "
        "PlanDirective FinalResult Megram MemoryRecall AuditQuery AuditReport MemoryQuery MemoryResponse PlanFailure "
        "GracefulFailureRequest GracefulFailureNote ClarificationRequest ClarificationAnswer ConfirmationRequest "
        "ConfirmationAnswer Cancel"
    )

    assert {kind.value for kind in MessageType} == set(catalog.split())
    assert set(PAYLOADS) == set(PATHS) == set(MessageType)


@pytest.mark.parametrize("kind", list(MessageType), ids=lambda kind: kind.value)
def test_ctl_021_ctl_136_ctl_242_ctl_250_a_message_off_its_path_is_kept_and_heard_by_nobody(
    line: Line, kind: MessageType
) -> None:
    """Each kind once on its path, and from every other role and to every other role."""
    record = msgspec.convert(VALID[kind], PAYLOADS[kind])
    sender, to = PATHS[kind]
    listening = line.bus.subscribe("all")
    allowed = line.publish(record)
    for other in Role:
        if other is not sender:
            with pytest.raises(BoundaryViolation):
                line.publish(record, other, to)
        if other is not to:
            with pytest.raises(BoundaryViolation):
                line.publish(record, sender, other)

    assert line.heard(listening) == [allowed]
    assert len(line.store.messages()) == 1 + 2 * (len(Role) - 1)


def test_ctl_022_ctl_023_a_reader_that_sleeps_holds_nobody_up_and_gets_everything_in_order(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    asleep = line.bus.subscribe("asleep")
    said = [line.publish(MemoryQuery(query_id=str(number), kind="C")) for number in range(1_000)]

    assert line.heard(asleep) == said
    assert [record.message for record in caplog.records if "consumer_lag" in record.message] == [
        "consumer_lag: asleep is more than 256 messages behind"
    ]


def test_ctl_025_who_changes_what_it_heard_changes_nothing(line: Line) -> None:
    one, two = line.bus.subscribe("one"), line.bus.subscribe("two")
    line.publish(SPEC)
    assert line.journal.drain(20)
    before = line.store.messages()

    heard = one.next(5)
    assert heard is not None
    heard.message.payload["intent"] = "something else"
    with pytest.raises(AttributeError):
        heard.record.intent = "something else"  # type: ignore[attr-defined]
    other = two.next(5)

    assert other is not None
    assert other.message.payload["intent"] == "count files"
    assert line.store.messages() == before
    assert not [name for name in dir(one) if name in ("publish", "say", "append", "put")]


def test_ctl_026_messages_of_a_task_come_in_the_order_of_the_ledger_whoever_published(line: Line) -> None:
    listening = line.bus.subscribe("one", task_id="tsk_1")
    threads = [
        threading.Thread(target=lambda task: [line.publish(Cancel(task_id=task), task=task) for _ in range(50)], args=(task,))
        for task in ("tsk_1", "tsk_2", "tsk_1")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert line.journal.drain(20)

    seen = []
    while (one := listening.next(0.0)) is not None:
        seen.append((one.message.task_id, one.message.seq))
    assert len(seen) == len({seq for _, seq in seen}) > 0
    assert {task for task, _ in seen} == {"tsk_1"}
    assert [seq for _, seq in seen] == sorted(seq for _, seq in seen)


def test_ctl_030_ctl_227_ctl_242_a_payload_that_is_not_of_its_kind_is_refused_and_named(line: Line) -> None:
    listening = line.bus.subscribe("one")
    final = FinalResult(
        task_id="tsk_1",
        summary="s",
        output=None,
        loss=Loss(D=0, P=0, Omega=0, L=0),
        grad_l=0,
        replans=0,
        prev_directive="init",
        directive="refine",  # type: ignore[arg-type]
    )

    with pytest.raises(InvalidParams, match="refine"):
        line.publish(final)

    assert line.heard(listening) == []
    kept = json.loads(line.store.messages()[0].body)
    assert (kept["type"], kept["from"]) == ("FinalResult", "R7")
    assert "refine" in kept["payload"]["refused"]


def test_ctl_031_an_answer_is_found_by_its_correlation_and_what_does_not_come_is_none(line: Line) -> None:
    listening = line.bus.subscribe("R5")
    planner, memory = line.bus.voice(Role.PLANNER), line.bus.voice(Role.MEMORY)

    def answers() -> None:
        queries: list[Any] = [listening.next(20) for _ in range(2)]  # both are asked before one is answered
        first = next(query for query in queries if query.record.query_id == "a")
        memory.say(
            Role.PLANNER, MemoryResponse(query_id="a"), task_id="tsk_1", because=first, correlation=first.message.correlation_id
        )

    thread = threading.Thread(target=answers)
    thread.start()
    asked = [MemoryQuery(query_id=name, kind="C") for name in ("a", "b")]
    got = planner.ask(Role.MEMORY, asked, task_id="tsk_1", answers=MessageType.MEMORY_RESPONSE, timeout_s=3.0)
    thread.join()

    assert got == (MemoryResponse(query_id="a"), None)
    kept = [json.loads(row.body) for row in line.store.messages()]
    assert kept[0]["correlation_id"] == kept[2]["correlation_id"] != kept[1]["correlation_id"]
    assert kept[2]["causation_id"] == kept[0]["id"]


def test_ctl_308_what_a_tool_printed_is_kept_without_its_secrets(line: Line) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    line.publish(TaskSpec(task_id="tsk_1", intent="read it", raw_input=f"first line\ntoken = {secret}\nlast line"))
    assert line.journal.drain(20)

    body = line.store.messages()[0].body
    assert secret not in body
    assert json.loads(body)["payload"]["raw_input"].split("\n")[::2] == ["first line", "last line"]
