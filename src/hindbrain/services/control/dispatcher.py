"""The dispatcher: starts the subtasks of a plan, group by group, and ends those that can no longer run. It decides nothing:
`engines.dispatching` says what is next."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from hindbrain.domain.control import FinalResult
from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import Cancel
from hindbrain.domain.task import DispatchManifest, SubTask, SubTaskOutcome
from hindbrain.engines.dispatching import moves
from hindbrain.services.control.ports import Heard, Voice

__all__ = ["Dispatcher", "Working"]


class Working(Protocol):
    """A subtask on its way."""

    def stop(self) -> None:
        """End it; it says nothing more."""
        ...


@dataclass(slots=True)
class _Plan:
    """The plan of one round, as far as it has come."""

    manifest: DispatchManifest | None = None
    because: Heard | None = None
    outcomes: dict[str, SubTaskOutcome] = field(default_factory=dict)
    working: dict[str, Working] = field(default_factory=dict)


class Dispatcher:
    """One for a task or for many. `voice` is that of R4a: only it may say how a subtask ended, and so for those never begun."""

    hears = frozenset(
        {
            MessageType.SUB_TASK,
            MessageType.DISPATCH_MANIFEST,
            MessageType.SUB_TASK_OUTCOME,
            MessageType.CANCEL,
            MessageType.FINAL_RESULT,
        }
    )

    def __init__(self, voice: Voice, start: Callable[[Heard, str], Working]) -> None:
        if voice is None:
            raise BoundaryViolation("a dispatcher without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._start = start
        self._plans: dict[str, _Plan] = {}
        self._arrived: dict[str, dict[str, Heard]] = {}
        self._ended: set[str] = set()

    def hear(self, heard: Heard) -> None:
        record = heard.record
        if isinstance(record, Cancel | FinalResult):
            self.stop(record.task_id)
        elif isinstance(record, SubTask):
            self._arrived.setdefault(record.parent_task_id, {})[record.subtask_id] = heard
            self._go_on(record.parent_task_id)
        elif isinstance(record, DispatchManifest):
            self._let_go(record.task_id)  # a new round: nothing of the last one is left running
            self._plans[record.task_id] = _Plan(manifest=record, because=heard)
            self._go_on(record.task_id)
        elif isinstance(record, SubTaskOutcome):
            self._came_in(heard, record)

    def stop(self, task_id: str) -> None:
        """End what runs for a task, and start nothing more."""
        self._ended.add(task_id)
        self._let_go(task_id)
        self._arrived.pop(task_id, None)

    def _let_go(self, task_id: str) -> None:
        plan = self._plans.pop(task_id, None)
        for working in plan.working.values() if plan is not None else ():
            working.stop()

    def _came_in(self, heard: Heard, outcome: SubTaskOutcome) -> None:
        plan = self._plans.get(outcome.parent_task_id)
        if plan is None or plan.manifest is None or outcome.subtask_id not in plan.manifest.subtask_ids:
            return
        plan.outcomes.setdefault(outcome.subtask_id, outcome)
        plan.because = heard
        self._go_on(outcome.parent_task_id)

    def _go_on(self, task_id: str) -> None:
        plan = self._plans.get(task_id)
        if plan is None or plan.manifest is None or task_id in self._ended:
            return
        arrived = self._arrived.get(task_id, {})
        subtasks = {name: one.record for name, one in arrived.items() if isinstance(one.record, SubTask)}
        spec = plan.manifest.task_spec
        next_ = moves(plan.manifest, subtasks, plan.outcomes, plan.working)
        for subtask in next_.start:
            message = arrived[subtask.subtask_id].message
            plan.working[subtask.subtask_id] = self._start(
                Heard(message=message, record=subtask), spec.x.task_class if spec is not None else ""
            )
        for outcome in next_.skipped:
            plan.outcomes[outcome.subtask_id] = outcome
            self._voice.say(Role.META_VALIDATOR, outcome, task_id=task_id, because=plan.because)
