"""Watching lines: one line for each message of a task, for who looks on. Takes messages in order; knows nothing of terminals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.control import (
    FinalResult,
    GracefulFailureNote,
    GracefulFailureRequest,
    PlanDirective,
    PlanFailure,
)
from hindbrain.domain.message import PAYLOADS, BusMessage, MessageType
from hindbrain.domain.notes import (
    AuditQuery,
    AuditReport,
    Cancel,
    ClarificationAnswer,
    ClarificationRequest,
    ConfirmationAnswer,
    ConfirmationRequest,
    MegramNote,
    MemoryQuery,
    MemoryRecall,
    MemoryResponse,
)
from hindbrain.domain.task import (
    CorrectionSignal,
    DispatchManifest,
    ExecutionResult,
    OutcomeSummary,
    ReplanRequest,
    SubTask,
    SubTaskOutcome,
    TaskSpec,
)
from hindbrain.domain.typed import converted
from hindbrain.policy.control import DEFAULTS, PATHS

__all__ = ["Teller", "WatchLine", "arrow", "decision", "failed", "rendered"]

_TEXT_MOST = 100
_NOT_ITS_KIND = "refused: it is not of its kind"
_KIND_WIDE = max(len(kind.value) for kind in MessageType)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLine:
    """One message, in words. `at` is its time of day, UTC."""

    seq: int
    at: str
    sender: str
    recipient: str
    type: str
    text: str


def rendered(line: WatchLine) -> str:
    """A line as it is printed."""
    path = f"{line.sender}→{line.recipient}"
    return f"{line.at}  {path:<9}  {line.type:<{_KIND_WIDE}}  {line.text}".rstrip()


def failed(record: FinalResult) -> bool:
    """Whether a task failed: the directive says so, and neither a distance nor a text does."""
    return record.directive == "abandon"


def arrow(grad_l: float, epsilon: float) -> str:
    """Up when the loss falls, down when it grows, right when the change is no signal."""
    grad = round(grad_l, 9)
    if abs(grad) < epsilon:
        return "→"
    return "↓" if grad > 0 else "↑"


def decision(record: PlanDirective | FinalResult) -> str:
    """From which state to which, by which numbers, and which way it goes."""
    grad = round(record.grad_l, 2) + 0.0  # no minus before a zero
    epsilon = record.x.params.get("epsilon", DEFAULTS.epsilon)
    loss = record.loss
    return (
        f"{record.prev_directive}→{record.directive} D={loss.D:.2f} P={loss.P:.2f} grad={grad:+.2f} "
        f"Omega={round(loss.Omega * 100, 9):.0f}% {arrow(record.grad_l, epsilon)}"
    )


class Teller:
    """Tells messages in their order. Subtasks are numbered as their plan lists them."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}
        self._plans = 0

    def tell(self, message: BusMessage) -> WatchLine:
        """The line of the next message."""
        return WatchLine(
            seq=message.seq,
            at=message.timestamp[11:19],
            sender=message.sender.value,
            recipient=message.recipient.value,
            type=message.type.value,
            text=self._text(message),
        )

    def _text(self, message: BusMessage) -> str:
        if "refused" in message.payload:
            return _NOT_ITS_KIND
        if PATHS[message.type] != (message.sender, message.recipient):
            return "refused: it may not go there"
        try:
            record = converted(message.payload, PAYLOADS[message.type])
        except msgspec.ValidationError:  # put there past the bus, which takes no such thing
            return _NOT_ITS_KIND
        tell: Callable[[Teller, Any], str] = _TELLING[type(record)]
        return tell(self, record)

    def number(self, subtask_id: str) -> str:
        return self._numbers.get(subtask_id, "?")

    def planned(self, record: DispatchManifest) -> str:
        self._plans += 1
        count = len(record.subtask_ids)
        self._numbers |= {name: f"{place}/{count}" for place, name in enumerate(record.subtask_ids, start=1)}
        return f"plan {self._plans}: {_many(count, 'subtask')}, {_many(len(record.task_criteria), 'criterion', 'criteria')}"

    def subtask(self, record: SubTask) -> str:
        first = record.success_criteria[0].criterion if record.success_criteria else "no criterion"
        return f"{self.number(record.subtask_id)} {_short(record.intent)}; first: {_short(first)}"

    def executed(self, record: ExecutionResult) -> str:
        calls = _many(len(record.tool_calls), "call")
        why = f": {_short(record.uncertainty)}" if record.uncertainty else ""
        return f"{self.number(record.subtask_id)} attempt {record.x.attempt} {record.status}, {calls}{why}"

    def corrected(self, record: CorrectionSignal) -> str:
        told = _short(record.what_was_wrong)
        return f"{self.number(record.subtask_id)} attempt {record.attempt_number}: {told} ({record.failure_class})"

    def outcome(self, record: SubTaskOutcome) -> str:
        last = record.gap_trajectory[-1] if record.gap_trajectory else None
        score = f", score {last.score:.2f}" if last is not None else ""
        unmet = f"; not met: {_short(last.unmet_criteria[0])}" if last is not None and last.unmet_criteria else ""
        skipped = ", skipped" if record.x.skipped else ""
        return f"{self.number(record.subtask_id)} {record.status}{skipped}{score}{unmet}"


def _short(text: str) -> str:
    """A text on one line, without what a terminal would act on."""
    flat = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return flat if len(flat) <= _TEXT_MOST else f"{flat[: _TEXT_MOST - 1]}…"


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _failed_of(outcomes: Sequence[SubTaskOutcome]) -> str:
    return f"{sum(one.status == 'failed' for one in outcomes)}/{len(outcomes)} failed"


def _final(record: FinalResult) -> str:
    unmet = f", {_many(len(record.x.unmet_criteria), 'criterion', 'criteria')} not met" if record.x.unmet_criteria else ""
    return f"{decision(record)} {'failed' if failed(record) else 'done'}{unmet}: {_short(record.summary)}"


def _response(record: MemoryResponse) -> str:
    if record.error is not None:
        return f"failed: {_short(record.error)}"
    action = f", {record.potentials.action}" if record.potentials is not None else ""
    return f"{_many(len(record.sops), 'rule')}, {_many(len(record.megrams), 'megram')}{action}"


def _directive(record: PlanDirective) -> str:
    blocked = (*record.blocked_tools, *record.blocked_targets)
    return decision(record) + (f" without {_short(', '.join(blocked))}" if blocked else "")


_TELLING: dict[type[Any], Callable[[Teller, Any], str]] = {
    TaskSpec: lambda _, record: _short(record.intent),
    DispatchManifest: Teller.planned,
    SubTask: Teller.subtask,
    ExecutionResult: Teller.executed,
    CorrectionSignal: Teller.corrected,
    SubTaskOutcome: Teller.outcome,
    ReplanRequest: lambda _, record: f"{_failed_of(record.outcomes)}: {_short(record.gap_summary)}",
    OutcomeSummary: lambda _, record: f"{_many(len(record.outcomes), 'subtask')} matched: {_short(record.summary)}",
    PlanDirective: lambda _, record: _directive(record),
    FinalResult: lambda _, record: _final(record),
    PlanFailure: lambda _, record: f"round {record.round}: {_short(record.reason)}",
    GracefulFailureRequest: lambda _, record: f"{_failed_of(record.outcomes)}: what was reached, and what next?",
    GracefulFailureNote: lambda _, record: f"{_many(len(record.partial), 'part')}, {_many(len(record.next_moves), 'next move')}",
    MegramNote: lambda _, record: f"{record.state} {_short(record.space)} {_short(record.entity)}",
    MemoryQuery: lambda _, record: _short(f"{record.kind} {record.space} {record.entity}"),
    MemoryResponse: lambda _, record: _response(record),
    MemoryRecall: lambda _, record: (
        f"{_many(record.sops, 'rule')}, {_many(record.recent, 'recent megram')}, {_short(record.action)}"
    ),
    ClarificationRequest: lambda _, record: _short(" ".join(record.questions)),
    ClarificationAnswer: lambda _, record: _short(" ".join(record.answers)),
    ConfirmationRequest: lambda teller, record: f"{teller.number(record.subtask_id)} {record.tool}: {_short(record.action)}?",
    ConfirmationAnswer: lambda _, record: "allowed, once" if record.allowed else "not allowed",
    Cancel: lambda _, record: _short(record.why),
    AuditQuery: lambda _, record: "",
    AuditReport: lambda _, record: f"{record.trigger}: {_many(len(record.anomalies), 'anomaly', 'anomalies')}",
}
