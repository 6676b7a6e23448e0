"""A planner with its memory on recording voices: what it is told goes in as the bus delivers it, what it says is read off."""

from collections.abc import Callable, Sequence
from typing import Any

from hindbrain.domain.control import Loss, PlanDirective
from hindbrain.domain.errors import ModelFailed
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MemoryQuery, MemoryResponse
from hindbrain.domain.task import Constraints, Record, SubTask, TaskSpec, TaskSpecMore
from hindbrain.engines.perceiving import perceived
from hindbrain.policy.tools import TOOLS
from hindbrain.services.control.memory_role import Memory, Reader
from hindbrain.services.control.planner import Planner
from hindbrain.services.control.ports import Thought
from tests.support.roles import RecordingVoice, heard

__all__ = ["Desk", "Spoken", "a_directive", "a_spec"]

_ANSWER = MessageType.MEMORY_RESPONSE


def a_spec(text: str, *, task_id: str = "tsk_1", **more: Any) -> TaskSpec:
    """A request as R1 hands it on without a model."""
    seen = perceived(text)
    return TaskSpec(
        task_id=task_id,
        intent=more.pop("intent", seen.intent),
        raw_input=text,
        constraints=Constraints(scope=seen.constraints.scope, deadline=seen.constraints.deadline),
        x=TaskSpecMore(task_class=more.pop("task_class", seen.task_class), **more),
    )


def a_directive(
    kind: str, *, task_id: str = "tsk_1", tools: Sequence[str] = (), targets: Sequence[str] = (), **more: Any
) -> PlanDirective:
    return PlanDirective(
        task_id=task_id,
        loss=Loss(D=1.0, P=0.0, Omega=0.2, L=0.7),
        prev_directive="init",
        directive=kind,  # type: ignore[arg-type]  # one of the list
        blocked_tools=tuple(tools),
        blocked_targets=tuple(targets),
        failed_criterion=more.pop("criterion", "the output is one number"),
        failure_class=more.pop("failure_class", "environmental"),
        budget_pressure=0.2,
        grad_l=0.0,
        rationale=more.pop("rationale", "no signal, surroundings"),
        **more,
    )


class Spoken:
    """A mind that gives these answers in turn, the last one for ever, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Role, str, str]] = []

    def think(self, role: Role, *, task_id: str | None, system: str, user: str, schema: Any = None, **_: Any) -> Thought | None:
        self.asked.append((role, system, user))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is ModelFailed:
            raise ModelFailed("no model answered", fix="set one", role=role.value)
        return None if answer is None else Thought(text="", data=answer, provider="spoken", model="spoken", tier=1)

    def tier(self, role: Role) -> int:
        return 1


class Desk:
    """A planner, and what it said."""

    def __init__(
        self, *, reader: Reader | None = None, answer: Callable[[MemoryQuery], MemoryResponse | None] | None = None, **more: Any
    ) -> None:
        self.voice = RecordingVoice(Role.PLANNER, at=1_767_312_000_000)
        self.planner = Planner(self.voice, tools=TOOLS, **more)
        self._reader, self._answer = reader, answer
        self._seq = 0

    def hear(self, record: Record, **more: Any) -> None:
        self._seq += 1
        self.voice.answers[_ANSWER] = _Endless(self._answered)  # type: ignore[assignment]  # it only gives
        self.planner.hear(heard(record, seq=self._seq, **more))

    def plan(self, text: str, **more: Any) -> list[SubTask]:
        """What a request is planned as."""
        self.hear(a_spec(text, **more))
        return self.newest()

    def replan(self, kind: str, **more: Any) -> list[SubTask]:
        self.hear(a_directive(kind, **more))
        return self.newest()

    def newest(self) -> list[SubTask]:
        """The subtasks of the newest manifest; none when the last thing said was a failure to plan."""
        last = self.voice.log[-1]
        if last.type is MessageType.PLAN_FAILURE:
            return []
        ids = self.voice.last(MessageType.DISPATCH_MANIFEST).subtask_ids
        return [one for one in self.voice.said(MessageType.SUB_TASK) if one.subtask_id in ids]

    def _answered(self, query: Record) -> Record | None:
        assert isinstance(query, MemoryQuery)
        if self._answer is not None:
            return self._answer(query)
        if self._reader is None:
            return MemoryResponse(query_id=query.query_id)
        voice = RecordingVoice(Role.MEMORY)
        Memory(voice, reader=self._reader).hear(heard(query))
        return voice.last(_ANSWER)  # type: ignore[no-any-return]  # a record


class _Endless:
    """A queue that never runs out."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def popleft(self) -> Any:
        return self._answer

    def __bool__(self) -> bool:
        return True
