"""Effectors on a real bus: R3 and R4a correct each other inside, and only the end of a subtask leaves."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.message import BusMessage, MessageType, Role
from hindbrain.domain.notes import Cancel, ConfirmationAnswer
from hindbrain.domain.task import CheckSpec, Criterion, CriterionMore, DispatchManifest, SubTask
from hindbrain.engines.ending import law_lines
from hindbrain.policy.control import DEFAULTS
from hindbrain.services.control.bus import Bus, decoded
from hindbrain.services.control.dispatcher import Dispatcher
from hindbrain.services.control.effector import Effector, Effectors, EffectorVoice, Silenced
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.loop import Loop
from hindbrain.services.control.ports import Heard
from hindbrain.services.control.tools import Toolbox
from hindbrain.stores.memory import MemoryStore
from tests.stores.conftest import BRAIN
from tests.support.owner import LIMIT_S
from tests.support.plants import Scripted, box, plan
from tests.support.roles import RecordingVoice, heard

INSIDE = {MessageType.EXECUTION_RESULT, MessageType.CORRECTION_SIGNAL}
DONE = json.dumps({"status": "completed", "output": "see the calls", "uncertainty": None})


def call(tool: str, **given: Any) -> str:
    return json.dumps({"tool": tool, "input": given})


def shows(text: str) -> Criterion:
    return Criterion(criterion=f"the output has {text}", x=CriterionMore(check=CheckSpec(kind="contains", args={"text": text})))


class House:
    """A bus with a dispatcher and its effectors, and no other role."""

    def __init__(self) -> None:
        self.store = MemoryStore(BRAIN)
        self.journal = Journal(self.store, written=lambda: self.bus.wake())
        self.bus = Bus(self.store, self.journal, clock=lambda: 1_783_209_431_408, salt="salt")
        self.effectors: list[Effector] = []
        self.loop: Loop | None = None

    def start(self, place: Toolbox, mind: Any = None) -> None:
        made = Effectors(
            listen=lambda name: self.bus.subscribe(name, task_id="tsk_1"),
            voice=self.bus.voice,
            box=place,
            mind=mind,
            numbers=lambda _: DEFAULTS,
            broken=self.broken,
        )

        def start(begun: Heard, task_class: str) -> Effector:
            self.effectors.append(made.start(begun, task_class))
            return self.effectors[-1]

        dispatcher = Dispatcher(self.bus.voice(Role.AGENT_VALIDATOR), start)
        self.loop = Loop(self.bus, "tsk_1", parts={}, dispatcher=dispatcher)
        self.loop.start()

    def broken(self, name: str, failure: Exception) -> None:
        raise AssertionError(name) from failure

    def dispatch(self, *subtasks: SubTask) -> None:
        voice = self.bus.voice(Role.PLANNER)
        for one in subtasks:
            voice.say(Role.EXECUTOR, one, task_id="tsk_1")
        manifest = DispatchManifest(
            task_id="tsk_1",
            subtask_ids=tuple(one.subtask_id for one in subtasks),
            dispatched_at="2026-01-01T00:00:00.000Z",
            task_criteria=(Criterion(criterion="all"),),
        )
        voice.say(Role.META_VALIDATOR, manifest, task_id="tsk_1")

    def outcomes(self, count: int) -> list[Any]:
        """What R4b hears, once so many came."""
        listening = self.bus.subscribe("R4b", task_id="tsk_1", after=0)
        found: list[Any] = []
        while len(found) < count:
            one = listening.next(LIMIT_S)
            assert one is not None, "no outcome came"
            if one.message.type is MessageType.SUB_TASK_OUTCOME:
                found.append(one.record)
        return found

    def log(self) -> list[BusMessage]:
        assert self.journal.drain(LIMIT_S)
        return [decoded(one) for one in self.store.messages(limit=1000)]

    def close(self) -> None:
        if self.loop is not None:
            self.loop.stop(LIMIT_S)
        for effector in self.effectors:
            effector.stop()
            effector.thread.join(LIMIT_S)
        self.journal.close()


@pytest.fixture
def house() -> Iterator[House]:
    made = House()
    yield made
    made.close()


def test_ctl_001_ctl_005_ctl_098_a_failure_is_corrected_inside_and_only_the_end_leaves(house: House, tmp_path: Path) -> None:
    mind = Scripted(call("read", path="a.txt"), DONE, call("read", path="b.txt"), DONE)
    house.start(box(tmp_path, {"a.txt": "nothing", "b.txt": "the needle"}), mind)

    house.dispatch(plan(criteria=(shows("needle"),)))
    (outcome,) = house.outcomes(1)
    log = house.log()

    kinds = [one.type for one in log if one.type is not MessageType.DISPATCH_MANIFEST]
    assert kinds == [
        MessageType.SUB_TASK,
        MessageType.EXECUTION_RESULT,
        MessageType.CORRECTION_SIGNAL,
        MessageType.EXECUTION_RESULT,
        MessageType.SUB_TASK_OUTCOME,
    ]
    outside = [one for one in log if {one.sender, one.recipient} & {Role.PLANNER, Role.META_VALIDATOR, Role.SOLVER}]
    assert not INSIDE & {one.type for one in outside}
    assert outcome.status == "matched"
    assert len(outcome.gap_trajectory) == 2
    assert all(one.recipient is not Role.SOLVER for one in log)


def test_ctl_008_a_match_at_once_is_not_tried_again(house: House, tmp_path: Path) -> None:
    house.start(box(tmp_path, {"a.txt": "needle"}))

    house.dispatch(plan(("read", {"path": "a.txt"}), criteria=(shows("needle"),)))
    house.outcomes(1)
    house.effectors[0].thread.join(LIMIT_S)

    assert [one.type for one in house.log()].count(MessageType.EXECUTION_RESULT) == 1
    assert not house.effectors[0].thread.is_alive()


def test_ctl_009_the_fast_loop_ends_when_closed_used_up_or_broken(house: House, tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "needle"})
    # Three reads of three files, none of which holds what is asked for.
    house.start(place)
    house.dispatch(
        plan(("read", {"path": "a.txt"}), criteria=(shows("needle"),), subtask_id="closed"),
        plan(
            ("read", {"path": "a.txt"}), criteria=(shows("other"),), subtask_id="used", intent="in a.txt", hints=("glob", "read")
        ),
        plan(("run", {"command": "sleep 30", "timeout_s": 1}), criteria=(shows("x"),), subtask_id="late"),
    )

    found = {one.subtask_id: one for one in house.outcomes(3)}

    assert {name: one.status for name, one in found.items()} == {"closed": "matched", "used": "failed", "late": "failed"}
    assert len(found["used"].gap_trajectory) > 1
    assert len(found["late"].gap_trajectory) == 1
    assert "timed out" in found["late"].failure_reason
    for effector in house.effectors:
        effector.thread.join(LIMIT_S)
    assert [one.type for one in house.log()].count(MessageType.SUB_TASK_OUTCOME) == 3


def test_ctl_006_ctl_028_two_subtasks_have_two_effectors_and_each_hears_only_its_own(house: House, tmp_path: Path) -> None:
    house.start(box(tmp_path, {"a.txt": "A", "b.txt": "B"}))
    house.dispatch(
        plan(("read", {"path": "a.txt"}), criteria=(shows("needle"),), subtask_id="s1", intent="read b.txt", hints=("read",)),
        plan(("read", {"path": "b.txt"}), criteria=(shows("B"),), subtask_id="s2"),
    )
    found = {one.subtask_id: one for one in house.outcomes(2)}

    one, two = house.effectors
    assert one is not two
    of_two = (two, two._executor, two._validator, two._executor._tools, two._listening)
    assert not any(
        value is other for part in (one, one._executor, one._validator) for value in vars(part).values() for other in of_two
    )
    assert not any("memory" in name.lower() for effector in (one, two) for name in vars(effector))
    assert [call.target for call in found["s1"].tool_calls] == ["a.txt", "b.txt"]
    assert [call.target for call in found["s2"].tool_calls] == ["b.txt"]
    corrections = [one.payload["subtask_id"] for one in house.log() if one.type is MessageType.CORRECTION_SIGNAL]
    assert set(corrections) == {"s1"}


def test_ctl_051_ctl_084_ctl_085_equal_numbers_overlap_and_the_next_waits_and_is_told(house: House, tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "A"})
    wait = "until [ -f {other} ]; do sleep 0.1; done; echo met"
    house.start(place)
    # Each of the first two waits until the other has begun: one after the other they would never meet.
    house.dispatch(
        plan(
            ("write", {"path": "one", "content": "1"}), ("run", {"command": wait.format(other="two")}), criteria=(shows("met"),)
        ),
        plan(
            ("write", {"path": "two", "content": "2"}),
            ("run", {"command": wait.format(other="one")}),
            criteria=(shows("met"),),
            subtask_id="s2",
        ),
        plan(("glob", {"query": "*"}), criteria=(shows("one"),), subtask_id="s3", sequence=2),
    )

    found = {one.subtask_id: one for one in house.outcomes(3)}
    seqs = {
        (one.type, one.payload["subtask_id"]): one.seq
        for one in house.log()
        if one.type in (MessageType.SUB_TASK_OUTCOME, MessageType.EXECUTION_RESULT)
    }

    assert {one.status for one in found.values()} == {"matched"}
    first = max(seqs[(MessageType.SUB_TASK_OUTCOME, name)] for name in ("s1", "s2"))
    assert first < seqs[(MessageType.EXECUTION_RESULT, "s3")]


def test_ctl_103_a_stopped_act_is_told_to_the_end(house: House, tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "A"})
    house.start(place)
    listening = house.bus.subscribe("person", task_id="tsk_1")
    house.dispatch(plan(("run", {"command": "rm a.txt"}), criteria=(shows("x"),)))

    heard_of = iter(lambda: listening.next(LIMIT_S), None)
    question = next(one for one in heard_of if one.message.type is MessageType.CONFIRMATION_REQUEST)
    record: Any = question.record
    house.bus.voice(Role.USER).say(
        Role.EXECUTOR,
        ConfirmationAnswer(task_id="tsk_1", request_id=record.request_id, allowed=False),
        task_id="tsk_1",
        correlation=question.message.correlation_id,
    )
    (outcome,) = house.outcomes(1)

    (line,) = law_lines([outcome])
    assert line.startswith("[LAW1] run not done, a person refused it: rm a.txt")
    assert outcome.status == "failed"
    assert (tmp_path / "work" / "a.txt").exists()


def test_ctl_087_after_a_cancel_the_effectors_say_nothing_and_their_commands_end(house: House, tmp_path: Path) -> None:
    house.start(box(tmp_path))
    house.dispatch(plan(("run", {"command": "touch begun; sleep 30"}), criteria=(shows("x"),)))
    begun = tmp_path / "work" / "begun"
    waiting = threading.Event()
    while not begun.exists():
        waiting.wait(0.01)

    house.bus.voice(Role.USER).say(Role.SOLVER, Cancel(task_id="tsk_1"), task_id="tsk_1")
    assert house.journal.drain(LIMIT_S)
    while not house.effectors[0]._stopped.is_set():
        waiting.wait(0.01)
    house.effectors[0].thread.join(LIMIT_S)
    log = house.log()

    assert not house.effectors[0].thread.is_alive()
    cancelled = next(one.seq for one in log if one.type is MessageType.CANCEL)
    assert [one.type for one in log if one.seq > cancelled] == []


def test_ctl_087_a_voice_that_was_stopped_reaches_nobody() -> None:
    stopped = threading.Event()
    inner = RecordingVoice(Role.EXECUTOR)
    voice = EffectorVoice(inner, stopped)
    record: Any = heard(plan()).record
    stopped.set()

    with pytest.raises(Silenced):
        voice.say(Role.AGENT_VALIDATOR, record, task_id="tsk_1")
    with pytest.raises(Silenced):
        voice.ask(Role.USER, [record], task_id="tsk_1", answers=MessageType.CONFIRMATION_ANSWER, timeout_s=1)
    assert inner.log == []
