"""Audit facts: what the auditor takes from a message, checked again and without a word that somebody wrote. Decides nothing."""

from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.audit import Facts
from hindbrain.domain.control import FinalResult, Loss, PlanDirective
from hindbrain.domain.message import PAYLOADS, MessageType
from hindbrain.domain.notes import AuditQuery, AuditReport
from hindbrain.domain.task import (
    CorrectionSignal,
    DispatchManifest,
    ExecutionResult,
    Record,
    ReplanRequest,
    SubTask,
    SubTaskOutcome,
    TaskSpec,
    ToolCall,
)
from hindbrain.domain.typed import converted
from hindbrain.engines.slug import class_print
from hindbrain.policy.tools import TOOLS

__all__ = ["Seen", "facts_of", "named"]

_NAME_MOST = 80
_ELSEWHERE = "its body cannot be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A message as the tap gives it: the columns as they stand, and its payload where that can be read."""

    id: str
    seq: int
    at: int
    sender: str
    recipient: str
    type: str
    task_id: str | None = None
    correlation_id: str | None = None
    payload: dict[str, Any] | None = None


def named(text: str) -> str:
    """A name that somebody gave, short and without what a terminal would act on."""
    return "".join(one if one.isprintable() else "?" for one in text)[:_NAME_MOST]


def facts_of(seen: Seen) -> Facts:
    """What counts of a message. One that does not fit its kind is told by where it does not."""
    if seen.payload is None:
        return Facts(task=_task(seen), wrong=_ELSEWHERE)
    if "refused" in seen.payload:
        return Facts(task=_task(seen), wrong=_place(str(seen.payload["refused"])))
    try:
        record = converted(seen.payload, PAYLOADS[MessageType(seen.type)])
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as wrong:
        return Facts(task=_task(seen), wrong=_place(str(wrong)))
    return _of(record, seen)


def _task(seen: Seen) -> str | None:
    return named(seen.task_id) if seen.task_id else None


def _place(why: str) -> str:
    """Where a payload is wrong. The reason itself quotes what stood there, which may be anything."""
    _, found, place = why.rpartition(" - at `")
    return named(place.rstrip("`")) if found else "$"


def _of(record: Record, seen: Seen) -> Facts:
    task = _task(seen)
    match record:
        case TaskSpec():
            return Facts(task=named(record.task_id), task_class=class_print(record.x.task_class))
        case DispatchManifest():
            task_class = class_print(record.task_spec.x.task_class) if record.task_spec is not None else None
            listed = tuple(map(named, record.subtask_ids))
            return Facts(task=named(record.task_id), subtasks=listed, task_class=task_class, round=record.x.round)
        case SubTask():
            return Facts(task=named(record.parent_task_id), subtask=named(record.subtask_id))
        case ExecutionResult():
            return Facts(
                task=task,
                subtask=named(record.subtask_id),
                status=record.status,
                attempts=record.x.attempt,
                contradicts=_contradicted(record.tool_calls) if record.status == "completed" else None,
            )
        case CorrectionSignal():
            return Facts(task=task, subtask=named(record.subtask_id), failure_class=record.failure_class)
        case SubTaskOutcome():
            return Facts(
                task=named(record.parent_task_id),
                subtask=named(record.subtask_id),
                status=record.status,
                attempts=max(1, len(record.gap_trajectory)),
                skipped=record.x.skipped,
            )
        case ReplanRequest():
            return Facts(task=named(record.task_id), corrections=record.correction_count, round=record.x.round)
        case PlanDirective() | FinalResult():
            return _decision(record, record.loss)
        case AuditQuery():
            since, correlation = record.since, seen.correlation_id
            return Facts(
                query=named(record.query_id),
                since=named(since) if since else None,
                correlation=named(correlation) if correlation else None,
            )
        case AuditReport():
            return Facts(report=named(record.report_id))
        case _:
            return Facts(task=task)


def _decision(record: PlanDirective | FinalResult, loss: Loss) -> Facts:
    """Its numbers as they are compared everywhere: rounded to nine decimals."""
    parts = record.x.grad_parts
    return Facts(
        task=named(record.task_id),
        directive=record.directive,
        round=record.x.round,
        D=round(loss.D, 9),
        P=round(loss.P, 9),
        Omega=round(loss.Omega, 9),
        L=round(loss.L, 9),
        grad_l=round(record.grad_l, 9),
        part_d=round(parts.D, 9),
        part_p=round(parts.P, 9),
    )


def _contradicted(calls: tuple[ToolCall, ...]) -> str | None:
    """The tool whose last changing call failed. One that nobody knows counts as changing: a new name hides no failure."""
    changing = [call for call in calls if call.tool not in TOOLS or TOOLS[call.tool].mutating]
    return named(changing[-1].tool) if changing and changing[-1].error else None
