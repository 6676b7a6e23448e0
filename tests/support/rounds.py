"""Rounds for tests of the controller: outcomes and reports with as much in them as a test says, and nothing else."""

from collections.abc import Sequence
from typing import Any

from hindbrain.domain.task import (
    Criterion,
    FailedCriterion,
    GapPoint,
    OutcomeMore,
    OutcomeSummary,
    ReplanMore,
    ReplanRequest,
    SubTaskOutcome,
    SummaryMore,
    ToolCall,
    Verdict,
    VerdictMore,
)

__all__ = ["a_call", "a_fail", "a_pass", "a_request", "a_round", "a_summary", "an_outcome", "trajectory"]


def a_call(tool: str = "shell", target: str | None = "make", **more: Any) -> ToolCall:
    given = {"query": target} if target is not None else {}
    return ToolCall(
        call_id=f"c-{tool}-{target}", tool=tool, input=given, target=target, event_id=f"e-{tool}-{target}", rendered="", **more
    )


def a_fail(name: str, failure_class: Any = "environmental", mode: Any = "verifiable", **more: Any) -> Verdict:
    return Verdict(criterion=name, verdict="fail", failure_class=failure_class, mode=mode, **more)


def a_pass(name: str, *event_ids: str) -> Verdict:
    return Verdict(criterion=name, verdict="pass", x=VerdictMore(event_ids=event_ids))


def trajectory(*failed: Sequence[str]) -> tuple[GapPoint, ...]:
    """One point for each attempt, with the criteria that failed in it."""
    return tuple(
        GapPoint(
            attempt=number,
            score=0.5,
            unmet_criteria=tuple(names),
            failed_criteria=tuple(FailedCriterion(criterion=name) for name in names),
        )
        for number, names in enumerate(failed, start=1)
    )


def an_outcome(*verdicts: Verdict, name: str = "s1", skipped: bool = False, **more: Any) -> SubTaskOutcome:
    """Failed when a verdict is, unless told otherwise."""
    failed = any(verdict.verdict == "fail" for verdict in verdicts)
    values: dict[str, Any] = {
        "status": "failed" if failed else "matched",
        "success_criteria": tuple(Criterion(criterion=verdict.criterion, mode=verdict.mode) for verdict in verdicts),
    }
    return SubTaskOutcome(
        subtask_id=name,
        parent_task_id="t1",
        intent=f"do {name}",
        criteria_verdicts=tuple(verdicts),
        x=OutcomeMore(skipped=skipped),
        **(values | more),
    )


def a_request(*outcomes: SubTaskOutcome, task: str = "t1", ms: int = 0, **more: Any) -> ReplanRequest:
    values: dict[str, Any] = {
        "intent": "build the thing",
        "gap_summary": "it does not work",
        "correction_count": 0,
        "recommendation": "replan",
        "failed_subtasks": tuple(one.subtask_id for one in outcomes if one.status == "failed"),
    }
    extra = {key: more.pop(key) for key in list(more) if key in ReplanMore.__struct_fields__}
    return ReplanRequest(task_id=task, elapsed_ms=ms, outcomes=tuple(outcomes), x=ReplanMore(**extra), **(values | more))


def a_round(distance: float, process: float, ms: int = 0, *, task: str = "t1", calls: Any = (), **more: Any) -> ReplanRequest:
    """A request whose measured D and P are these, to one part in twenty; one subtask failed, with these calls."""
    failed = round(distance * 20)
    logical = round(process * failed)
    verdicts = [a_fail(f"criterion {n}", "logical" if n < logical else "environmental") for n in range(failed)]
    verdicts += [a_pass(f"criterion {n}") for n in range(failed, 20)]
    return a_request(an_outcome(*verdicts, tool_calls=tuple(calls)), task=task, ms=ms, **more)


def a_summary(*outcomes: SubTaskOutcome, task: str = "t1", ms: int = 0, **more: Any) -> OutcomeSummary:
    extra = {key: more.pop(key) for key in list(more) if key in SummaryMore.__struct_fields__}
    values: dict[str, Any] = {"intent": "build the thing", "summary": "built", "merged_output": "a thing"}
    return OutcomeSummary(
        task_id=task,
        elapsed_ms=ms,
        outcomes=outcomes or (an_outcome(a_pass("works", "e1"), output="a thing"),),
        x=SummaryMore(**extra),
        **(values | more),
    )
