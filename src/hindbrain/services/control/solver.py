"""R7, the goal gradient solver: turns what the gate reports into one direction, or into the end of the task. It alone ends tasks
and it alone writes experience. It decides by messages only: no clock, no store, no other role."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from hindbrain.domain.control import GracefulFailureNote, GracefulFailureRequest, PlanFailure, TaskCost
from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import Cancel
from hindbrain.domain.task import OutcomeSummary, ReplanRequest
from hindbrain.engines.ending import abandon_summary, law_lines, merged, next_moves, partial_output, success_summary
from hindbrain.engines.gradient import Macro
from hindbrain.engines.imprint import Imprint, imprints
from hindbrain.engines.solving import AbandonReason, Decision, Standing, accepted, decided, ended
from hindbrain.policy.control import GRACEFUL_TIMEOUT_S, NEXT_MOVES, Params
from hindbrain.services.control.ports import Heard, Voice
from hindbrain.services.control.saying import directive_of, final_of, notes_of

__all__ = ["Solver"]

_ENDED_KEPT = 10_000  # ids of tasks that are over, so that a late message does not end one twice


class Numbers(Protocol):
    """Where the numbers in force come from."""

    def of(self, task_class: str) -> Params: ...


def _at_once(work: Callable[[], None]) -> None:
    work()


def _no_cost(task_id: str) -> TaskCost:
    return TaskCost()


class Solver:
    """The controller of the medium loop. Keeps what each task has come to, and forgets it with the task's last message."""

    hears = frozenset({MessageType.REPLAN_REQUEST, MessageType.OUTCOME_SUMMARY, MessageType.PLAN_FAILURE, MessageType.CANCEL})

    def __init__(
        self,
        voice: Voice,
        numbers: Numbers,
        *,
        memory: bool = True,
        workspace: Callable[[str], str] = lambda task_id: "",
        cost: Callable[[str], TaskCost] = _no_cost,
        apart: Callable[[Callable[[], None]], None] = _at_once,
    ) -> None:
        """`apart` runs the end of a task that is given up: it waits for the planner's last words, and other tasks need not."""
        if voice is None:
            raise BoundaryViolation("a controller without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._numbers = numbers
        self._memory = memory
        self._workspace = workspace
        self._cost = cost
        self._apart = apart
        self._lock = threading.Lock()
        self._tasks: dict[str, Standing] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()

    def hear(self, heard: Heard) -> None:
        """Decide on a report. One about a task that is over changes nothing."""
        with self._lock:
            decision = self._decide(heard)
            if decision is None:
                return
            task_id = decision.after.task_id
            if decision.terminal:
                self._tasks.pop(task_id, None)
                self._ended[task_id] = None
                if len(self._ended) > _ENDED_KEPT:
                    self._ended.popitem(last=False)
            else:
                self._direct(decision, heard)
                return
        if decision.directive == Macro.ABANDON:
            self._apart(lambda: self._give_up(decision, heard))
        else:
            self._deliver(decision, heard)

    def _decide(self, heard: Heard) -> Decision | None:
        record = heard.record
        if not isinstance(record, ReplanRequest | OutcomeSummary | PlanFailure | Cancel) or record.task_id in self._ended:
            return None
        standing = self._tasks.get(record.task_id) or Standing(task_id=record.task_id)
        match record:
            case ReplanRequest():
                params = self._numbers.of(record.x.task_class or standing.task_class)
                return decided(standing, record, params, self._workspace(record.task_id))
            case OutcomeSummary():
                return accepted(standing, record, self._numbers.of(record.x.task_class or standing.task_class))
            case PlanFailure():
                return self._end(standing, "plan_failure", "; ".join((record.reason, *record.validator_findings)))
            case Cancel():
                return self._end(standing, "cancelled", record.why)

    def _end(self, standing: Standing, reason: AbandonReason, gap: str) -> Decision:
        return ended(standing, reason, gap, self._numbers.of(standing.task_class))

    def _direct(self, decision: Decision, heard: Heard) -> None:
        """Say what the next plan has to change; then tell memory what was learned."""
        after = decision.after
        self._voice.say(Role.PLANNER, directive_of(decision), task_id=after.task_id, because=heard)
        written = imprints(decision, workspace=self._workspace(after.task_id))
        self._remember(written.imprints, decision, heard)
        self._tasks[after.task_id] = replace(after, written=written.targets, broke_at=written.broke_at)

    def _deliver(self, decision: Decision, heard: Heard) -> None:
        """The task is done, or good enough: its result, with whatever is missing from it."""
        record = heard.record
        if isinstance(record, OutcomeSummary):
            summary = "\n".join((record.summary, *law_lines(record.outcomes)))
            self._finish(decision, heard, summary, record.merged_output, declared=record.x.declarative)
        else:
            self._finish(decision, heard, success_summary(decision), merged(decision.after.outcomes))

    def _give_up(self, decision: Decision, heard: Heard) -> None:
        """The planner may say what was reached and what could be tried; without it a rule does."""
        after = decision.after
        asked = GracefulFailureRequest(
            task_id=after.task_id, outcomes=after.best, loss=decision.loss, deadline_ms=int(GRACEFUL_TIMEOUT_S * 1000)
        )
        (note,) = self._voice.ask(
            Role.PLANNER,
            [asked],
            task_id=after.task_id,
            answers=MessageType.GRACEFUL_FAILURE_NOTE,
            timeout_s=GRACEFUL_TIMEOUT_S,
            because=heard,
        )
        least, most = NEXT_MOVES
        said = tuple(move.strip() for move in note.next_moves if move.strip()) if isinstance(note, GracefulFailureNote) else ()
        told = len(said) >= least and decision.abandon_reason != "cancelled"  # who called it off needs no other way
        moves = said[:most] if told else next_moves(decision)
        self._finish(decision, heard, abandon_summary(decision, moves), partial_output(decision, moves))

    def _finish(self, decision: Decision, heard: Heard, summary: str, output: Any, *, declared: bool = False) -> None:
        """The one last message of a task. What was learned is said before it: whoever waits for the end may close the house."""
        after = decision.after
        written = imprints(decision, output=output, declared=declared, workspace=self._workspace(after.task_id))
        self._remember(written.imprints, decision, heard)
        result = final_of(decision, summary=summary, output=output, cost=self._cost(after.task_id))
        self._voice.say(Role.USER, result, task_id=after.task_id, because=heard)

    def _remember(self, learned: tuple[Imprint, ...], decision: Decision, heard: Heard) -> None:
        if not self._memory:
            return
        for note in notes_of(learned, decision, because=heard.message.id, at=heard.message.timestamp):
            self._voice.say(Role.MEMORY, note, task_id=decision.after.task_id, because=heard)
