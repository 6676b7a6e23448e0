"""Attempts for tests of the sensors: calls as the tools report them, results, subtasks and manifests."""

import json
from typing import Any

from hindbrain.domain.task import (
    CheckSpec,
    Criterion,
    CriterionMore,
    DispatchManifest,
    ExecutionMore,
    ExecutionResult,
    GapPoint,
    SubTask,
    SubTaskOutcome,
    TaskSpec,
    TaskSpecMore,
    ToolCall,
    Verdict,
    VerdictMore,
)
from hindbrain.engines.showing import Shown
from hindbrain.policy.tools import target_of

__all__ = ["call", "checked", "criterion", "manifest", "outcome", "result", "shown", "subtask"]


def call(n: int, tool: str, given: dict[str, Any], output: str = "", error: str | None = None) -> ToolCall:
    snippet = output[:200]
    return ToolCall(
        call_id=f"c{n}",
        tool=tool,
        input=given,
        target=target_of(given),
        output_snippet=snippet,
        error=error,
        event_id=f"ev{n}",
        rendered=f"{tool}: {json.dumps(given)} → {snippet}",
    )


def shown(n: int, tool: str, given: dict[str, Any], output: str = "", error: str | None = None) -> Shown:
    return Shown(call=call(n, tool, given, output, error), text=output)


def criterion(text: str, mode: str = "verifiable") -> Criterion:
    return Criterion(criterion=text, mode=mode)  # type: ignore[arg-type]


def checked(text: str, kind: str, /, **args: Any) -> Criterion:
    return Criterion(criterion=text, x=CriterionMore(check=CheckSpec(kind=kind, args=args)))  # type: ignore[arg-type]


def subtask(*criteria: Criterion | str, intent: str = "look at the files", subtask_id: str = "s1", context: str = "") -> SubTask:
    made = tuple(one if isinstance(one, Criterion) else criterion(one) for one in criteria)
    return SubTask(subtask_id=subtask_id, parent_task_id="tsk_1", intent=intent, success_criteria=made, context=context)


def result(
    *calls: Shown, output: Any = None, status: str = "completed", uncertainty: str | None = None, attempt: int = 1
) -> ExecutionResult:
    return ExecutionResult(
        subtask_id="s1",
        status=status,  # type: ignore[arg-type]
        output="\n".join(one.text for one in calls) if output is None else output,
        uncertainty=uncertainty,
        tool_calls=tuple(one.call for one in calls),
        x=ExecutionMore(attempt=attempt, outputs={one.call.call_id: one.text for one in calls}),
    )


def outcome(
    subtask_id: str,
    *calls: Shown,
    status: str = "matched",
    output: Any = None,
    intent: str = "look at the files",
    reason: str | None = None,
    attempts: int = 1,
    criteria: tuple[Criterion, ...] = (),
) -> SubTaskOutcome:
    """As the agent validator reports it: every criterion with the calls that it rests on."""
    ids = tuple(one.call.event_id for one in calls)
    passed = status == "matched"
    return SubTaskOutcome(
        subtask_id=subtask_id,
        parent_task_id="tsk_1",
        intent=intent,
        success_criteria=criteria,
        status=status,  # type: ignore[arg-type]
        output="\n".join(one.text for one in calls) if output is None else output,
        failure_reason=reason,
        criteria_verdicts=tuple(
            Verdict(
                criterion=one.criterion,
                mode=one.mode,
                verdict="pass" if passed else "fail",
                failure_class=None if passed else "logical",
                x=VerdictMore(event_ids=ids if passed else ()),
            )
            for one in criteria
        ),
        gap_trajectory=tuple(GapPoint(attempt=n + 1, score=1.0 if passed else 0.0) for n in range(attempts)),
        tool_calls=tuple(one.call for one in calls),
    )


def manifest(
    *subtask_ids: str, criteria: tuple[Criterion, ...], request: str = "list the files", round_: int = 0
) -> DispatchManifest:
    spec = TaskSpec(task_id="tsk_1", intent=request, raw_input=request, x=TaskSpecMore(task_class="list_files"))
    return DispatchManifest(
        task_id="tsk_1",
        subtask_ids=subtask_ids,
        dispatched_at="2026-01-01T00:00:00.000Z",
        task_criteria=criteria,
        task_spec=spec,
    )
