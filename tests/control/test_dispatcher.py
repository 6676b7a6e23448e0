"""The dispatcher: a plan starts when it is whole, runs group by group, and ends early where it must."""

from typing import Any

import msgspec
import pytest

from hindbrain.domain.control import FinalResult, Loss
from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import Cancel
from hindbrain.domain.task import Criterion, DispatchManifest, ExecutionResult, SubTask, SubTaskOutcome, TaskSpec, TaskSpecMore
from hindbrain.engines.dispatching import PRIOR
from hindbrain.policy.control import PATHS
from hindbrain.services.control.dispatcher import Dispatcher
from hindbrain.services.control.ports import Heard
from tests.support.plants import plan
from tests.support.roles import RecordingVoice, heard


class Started:
    def __init__(self, subtask: SubTask) -> None:
        self.subtask = subtask
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


class Desk:
    """A dispatcher whose effectors only note that they began."""

    def __init__(self) -> None:
        self.voice = RecordingVoice(Role.AGENT_VALIDATOR)
        self.started: list[Started] = []
        self.classes: list[str] = []
        self.dispatcher = Dispatcher(self.voice, self._start)

    def _start(self, begun: Heard, task_class: str) -> Started:
        assert isinstance(begun.record, SubTask)
        self.classes.append(task_class)
        self.started.append(Started(begun.record))
        return self.started[-1]

    def hear(self, *records: Any) -> None:
        for record in records:
            assert heard(record).message.type in self.dispatcher.hears
            self.dispatcher.hear(heard(record))

    @property
    def names(self) -> list[str]:
        return [one.subtask.subtask_id for one in self.started]


def sub(name: str, sequence: int = 1, context: str = "", criteria: int = 1) -> SubTask:
    made = tuple(Criterion(criterion=f"{name} holds {n}") for n in range(criteria))
    return plan(subtask_id=name, sequence=sequence, intent=f"do {name}", context=context, criteria=made)


def manifest(*names: str, task: str = "tsk_1") -> DispatchManifest:
    return DispatchManifest(
        task_id=task, subtask_ids=names, dispatched_at="2026-01-01T00:00:00.000Z", task_criteria=(Criterion(criterion="all"),)
    )


def ended(subtask: SubTask, *, output: Any = "", failed: bool = False) -> SubTaskOutcome:
    return SubTaskOutcome(
        subtask_id=subtask.subtask_id,
        parent_task_id="tsk_1",
        intent=subtask.intent,
        success_criteria=subtask.success_criteria,
        status="failed" if failed else "matched",
        output=output,
    )


def test_ctl_017_a_dispatcher_needs_a_voice() -> None:
    with pytest.raises(BoundaryViolation):
        Dispatcher(None, lambda begun, task_class: Started(begun.record))  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 1, 2), (0, 3, 2, 1)])
def test_ctl_083_nothing_starts_before_the_manifest_and_all_its_subtasks_are_there(order: tuple[int, ...]) -> None:
    desk = Desk()
    parts = [sub("a"), sub("b"), sub("c"), manifest("a", "b", "c")]

    for number in order[:-1]:
        desk.hear(parts[number])
        assert desk.names == []
    desk.hear(parts[order[-1]])

    assert desk.names == ["a", "b", "c"]


def test_ctl_051_ctl_084_a_group_starts_together_and_the_next_one_when_all_of_it_ended() -> None:
    desk = Desk()
    a, b, c, d = sub("a"), sub("b"), sub("c", 2), sub("d", 5)
    desk.hear(d, c, b, a, manifest("a", "b", "c", "d"))
    assert desk.names == ["a", "b"]

    desk.hear(ended(b))
    assert desk.names == ["a", "b"]
    desk.hear(ended(b), ended(a))
    assert desk.names == ["a", "b", "c"]
    desk.hear(ended(c))
    assert desk.names == ["a", "b", "c", "d"]
    desk.hear(ended(d))

    assert desk.names == ["a", "b", "c", "d"]
    assert desk.voice.log == []


def test_ctl_085_a_group_is_told_what_the_groups_before_gave() -> None:
    desk = Desk()
    a, b, c = sub("a"), sub("b", 2, context="background"), sub("c", 3)
    desk.hear(a, b, c, manifest("a", "b", "c"), ended(a, output="seven files"), ended(b, output={"n": 7}))

    first, second, third = (one.subtask.context for one in desk.started)

    assert first == ""
    assert second.startswith(f"background\n\n{PRIOR}")
    assert "seven files" in second
    assert "do a" in second
    assert "seven files" in third
    assert '{"n": 7}' in third


def test_ctl_085_what_was_given_before_is_cut_when_it_is_too_long() -> None:
    desk = Desk()
    a, b = sub("a"), sub("b", 2)
    desk.hear(a, b, manifest("a", "b"), ended(a, output="x" * 100_000))

    assert 8_000 < len(desk.started[1].subtask.context) < 8_200


def test_ctl_086_after_a_failed_group_all_later_subtasks_end_without_being_tried() -> None:
    desk = Desk()
    a, a2, b, c = sub("a"), sub("a2"), sub("b", 2, criteria=2), sub("c", 3)
    desk.hear(a, a2, b, c, manifest("a", "a2", "b", "c"), ended(a, failed=True))
    assert desk.voice.log == []
    desk.hear(ended(a2))

    skipped: list[SubTaskOutcome] = desk.voice.said(MessageType.SUB_TASK_OUTCOME)
    assert [(one.subtask_id, one.status, one.failure_reason) for one in skipped] == [
        ("b", "failed", "skipped: dependency a failed"),
        ("c", "failed", "skipped: dependency a failed"),
    ]
    assert [(one.verdict, one.failure_class) for one in skipped[0].criteria_verdicts] == [("fail", None), ("fail", None)]
    assert all(one.tool_calls == () and one.x.skipped for one in skipped)
    assert desk.names == ["a", "a2"]
    desk.hear(*skipped)  # they come back by the bus
    assert len(desk.voice.log) == 2


def test_ctl_087_a_cancelled_task_stops_what_runs_and_starts_nothing_more() -> None:
    desk = Desk()
    a, b = sub("a"), sub("b", 2)
    desk.hear(a, b, manifest("a", "b"), Cancel(task_id="tsk_1"), ended(a), manifest("a", "b"), a)

    assert desk.names == ["a"]
    assert desk.started[0].stopped
    assert desk.voice.log == []


def test_ctl_087_a_finished_task_leaves_nothing_running() -> None:
    desk = Desk()
    final = FinalResult(
        task_id="tsk_1",
        summary="",
        output=None,
        loss=Loss(D=1, P=0, Omega=0, L=0.6),
        grad_l=0,
        replans=0,
        prev_directive="init",
        directive="abandon",
    )
    desk.hear(sub("a"), manifest("a"), final)

    assert desk.started[0].stopped


def test_ctl_084_a_new_round_starts_its_own_subtasks_and_late_news_of_the_last_are_nothing_to_it() -> None:
    desk = Desk()
    a, b, c = sub("a"), sub("b"), sub("c", 2)
    desk.hear(a, manifest("a"), b, c, manifest("b", "c"), ended(a, failed=True))

    assert desk.names == ["a", "b"]
    assert desk.started[0].stopped
    desk.hear(ended(b))
    assert desk.names == ["a", "b", "c"]


def test_ctl_007_no_message_goes_from_one_effector_to_another() -> None:
    inside = {Role.EXECUTOR, Role.AGENT_VALIDATOR}
    between = {kind for kind, path in PATHS.items() if set(path) <= inside}

    # Both name the subtask they belong to, and an effector passes on only its own.
    assert between == {MessageType.EXECUTION_RESULT, MessageType.CORRECTION_SIGNAL}
    with pytest.raises(BoundaryViolation):
        RecordingVoice(Role.EXECUTOR).say(Role.EXECUTOR, ExecutionResult(subtask_id="other", status="completed"), task_id="tsk_1")


def test_effectors_get_the_class_of_their_task_so_that_its_numbers_hold() -> None:
    desk = Desk()
    spec = TaskSpec(task_id="tsk_1", intent="count", raw_input="count", x=TaskSpecMore(task_class="count_files"))

    desk.hear(sub("a"), msgspec.structs.replace(manifest("a"), task_spec=spec))

    assert desk.classes == ["count_files"]
