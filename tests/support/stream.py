"""A recorded stream: messages said on a real bus over a real store, at times that the test sets, and an auditor that reads it."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.audit import AuditEvent
from hindbrain.domain.caller import Channel
from hindbrain.domain.control import DirectiveMore, FinalMore, FinalResult, GradientParts, Loss, PlanDirective
from hindbrain.domain.errors import BoundaryViolation, InvalidParams
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import TYPES, Role
from hindbrain.domain.notes import AuditQuery, AuditReport
from hindbrain.domain.task import (
    CorrectionSignal,
    Criterion,
    DispatchManifest,
    ExecutionMore,
    ExecutionResult,
    GapPoint,
    OutcomeMore,
    Record,
    ReplanRequest,
    SubTask,
    SubTaskOutcome,
    TaskSpec,
    TaskSpecMore,
    ToolCall,
)
from hindbrain.policy.control import DEFAULTS, PATHS, Params
from hindbrain.services.control.auditor import Auditor, Sent
from hindbrain.services.control.bus import Bus
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.tap import Tap
from hindbrain.stores.audit_log import AuditLog
from hindbrain.stores.experience_port import StoredMessage
from hindbrain.stores.port import BrainStore
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN

__all__ = [
    "START",
    "Stream",
    "call",
    "correction",
    "directive",
    "final",
    "manifest",
    "outcome",
    "replan",
    "result",
    "spec",
    "subtask",
]

START = 1_800_000_000_000  # 2027-01-15T08:00:00Z
_WHEN = "2027-01-15T08:00:00.000Z"
_DONE = Criterion(criterion="out.txt exists")


class Stream:
    """One brain's bus with a clock that the test moves, and its auditor."""

    def __init__(self, path: Path, *, numbers: Callable[[str, str], Params] = lambda _, __: DEFAULTS) -> None:
        self.path = path
        self.now = START
        self.counters: dict[str, int] = {}
        self._numbers = numbers
        self.store: BrainStore = SqliteStore(path, BRAIN)
        self.journal = Journal(self.store, written=lambda: self.bus.wake(), retry_s=0.01)
        self.bus = Bus(self.store, self.journal, clock=lambda: self.now, salt="salt")
        self.log = AuditLog(path / "audit")
        self.auditor = self.another()

    def close(self) -> None:
        self.journal.close()
        self.store.close()

    def another(self) -> Auditor:
        """An auditor as a process that just started has it: nothing known but what is on the disk."""

        def counters() -> Mapping[str, int]:
            return self.counters

        log = AuditLog(self.path / "audit")
        return Auditor(self.bus.voice(Role.AUDITOR), Tap(self.store.messages), log, numbers=self._numbers, counters=counters)

    def say(self, *records: Record, sender: Role | None = None, to: Role | None = None, after_ms: int = 0) -> None:
        """Publish records on their own paths, or on another: what the bus refuses is kept, and nobody hears it."""
        for record in records:
            self.now += after_ms
            path = PATHS[TYPES[type(record)]]
            with contextlib.suppress(BoundaryViolation, InvalidParams):
                self.bus.publish(sender or path[0], to or path[1], record, task_id=_task(record))

    def put(self, kind: str, sender: str, to: str, body: str, *, task_id: str | None = None) -> None:
        """Put a row in by hand, past the bus."""
        self.written()
        with self.store.writing() as writer:
            act = Act(act="control.message", subject="task:-", actor="x", channel=Channel.RUNTIME, at=self.now, payload={})
            entry = writer.append(act)
            writer.put_message(
                StoredMessage(
                    seq=entry.seq,
                    id=f"msg_by_hand_{entry.seq}",
                    at=self.now,
                    sender=sender,
                    recipient=to,
                    type=kind,
                    task_id=task_id,
                    body=body,
                )
            )

    def written(self) -> None:
        assert self.journal.drain(20)

    def look(self) -> tuple[Sent, ...]:
        """All that was said is written, then the auditor looks; its own words are written, too."""
        self.written()
        sent = self.auditor.look()
        self.written()
        return sent

    def report(self, since: str | None = None) -> AuditReport:
        """What a person gets who asks."""
        self.say(AuditQuery(query_id=f"q{self.now}", since=since))
        return self.look()[-1].report

    def events(self) -> list[AuditEvent]:
        """Every line of the audit log."""
        return [msgspec.convert(line, AuditEvent) for line in self.log.lines()]

    def seen(self) -> list[AuditEvent]:
        """The lines that tell of messages."""
        return [event for event in self.events() if event.x.of == "message"]

    def anomalies(self) -> list[str]:
        """Every kind that was found, in the order of the log."""
        found = [(event.anomaly, *(kind for kind, _ in event.x.also)) for event in self.events()]
        return [kind.value for kinds in found for kind in kinds if kind.value != "none"]

    def reports(self) -> list[AuditReport]:
        """The reports that went out on the bus."""
        rows = self.store.messages(recipient="User")
        return [
            msgspec.convert(msgspec.json.decode(row.body)["payload"], AuditReport) for row in rows if row.type == "AuditReport"
        ]


def _task(record: Any) -> str | None:
    return getattr(record, "task_id", None) or getattr(record, "parent_task_id", None)


def spec(task: str = "t1", *, task_class: str = "") -> TaskSpec:
    return TaskSpec(task_id=task, intent="count files", raw_input="count the files", x=TaskSpecMore(task_class=task_class))


def manifest(task: str, *subtasks: str) -> DispatchManifest:
    return DispatchManifest(task_id=task, subtask_ids=subtasks, dispatched_at=_WHEN, task_criteria=(_DONE,))


def subtask(task: str, name: str, sequence: int = 1) -> SubTask:
    return SubTask(subtask_id=name, parent_task_id=task, intent="write out.txt", success_criteria=(_DONE,), sequence=sequence)


def call(tool: str, error: str | None = None) -> ToolCall:
    return ToolCall(call_id=f"c_{tool}", tool=tool, input={"path": "out.txt"}, event_id="ev", rendered=tool, error=error)


def result(name: str, status: Any = "completed", *calls: ToolCall, attempt: int = 1) -> ExecutionResult:
    return ExecutionResult(subtask_id=name, status=status, output="3", tool_calls=calls, x=ExecutionMore(attempt=attempt))


def correction(name: str, failure_class: Any = "logical", attempt: int = 1) -> CorrectionSignal:
    return CorrectionSignal(
        subtask_id=name,
        attempt_number=attempt,
        failed_criterion="out.txt exists",
        failure_class=failure_class,
        what_was_wrong="no such file",
        what_to_do="write it",
    )


def outcome(task: str, name: str, status: Any = "matched", *, attempts: int = 1, skipped: bool = False) -> SubTaskOutcome:
    last = 1.0 if status == "matched" else 0.0
    return SubTaskOutcome(
        subtask_id=name,
        parent_task_id=task,
        intent="write out.txt",
        success_criteria=(_DONE,),
        status=status,
        failure_reason=None if status == "matched" else "no such file",
        gap_trajectory=tuple(
            GapPoint(
                attempt=one,
                score=last if one == attempts else 0.0,
                unmet_criteria=() if one == attempts and status == "matched" else ("out.txt exists",),
            )
            for one in range(1, attempts + 1)
        ),
        x=OutcomeMore(skipped=skipped),
    )


def replan(task: str, *outcomes: SubTaskOutcome, corrections: int = 0) -> ReplanRequest:
    failed = tuple(one.subtask_id for one in outcomes if one.status == "failed")
    return ReplanRequest(
        task_id=task,
        intent="count files",
        gap_summary="no such file",
        failed_subtasks=failed,
        correction_count=corrections,
        elapsed_ms=30_000,
        outcomes=outcomes,
        recommendation="replan",
    )


def _loss(d: float, p: float, omega: float) -> Loss:
    return Loss(D=d, P=p, Omega=omega, L=round(0.6 * d + 0.3 * (1 - omega) * p + 0.4 * omega, 9))


def directive(
    task: str,
    name: Any = "refine",
    *,
    d: float = 0.5,
    p: float = 0.0,
    omega: float = 0.24,
    grad: float = 0.0,
    parts: tuple[float, float] = (0.0, 0.0),
    before: str = "init",
) -> PlanDirective:
    return PlanDirective(
        task_id=task,
        loss=_loss(d, p, omega),
        prev_directive=before,
        directive=name,
        blocked_tools=(),
        blocked_targets=(),
        failed_criterion="out.txt exists",
        failure_class="environmental",
        budget_pressure=omega,
        grad_l=grad,
        rationale="because",
        x=DirectiveMore(round=1, grad_parts=GradientParts(D=parts[0], P=parts[1])),
    )


def final(
    task: str,
    name: Any = "accept",
    *,
    d: float = 0.0,
    grad: float = 0.0,
    before: str = "init",
    parts: tuple[float, float] = (0, 0),
) -> FinalResult:
    return FinalResult(
        task_id=task,
        summary="3 files",
        output="3",
        loss=_loss(d, 0.0, 0.016),
        grad_l=grad,
        replans=0,
        prev_directive=before,
        directive=name,
        x=FinalMore(grad_parts=GradientParts(D=parts[0], P=parts[1])),
    )
