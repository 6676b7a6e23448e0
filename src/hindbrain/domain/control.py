"""Control records: how far off a task is, what the controller says to do next, and how it ended."""

from typing import Any, Literal

from msgspec import field

from hindbrain.domain.task import Count, FailureClass, Record, Share, SubTaskOutcome

__all__ = [
    "DirectiveMore",
    "FinalMore",
    "FinalResult",
    "GracefulFailureNote",
    "GracefulFailureRequest",
    "GradientParts",
    "Loss",
    "PlanDirective",
    "PlanFailure",
    "RoleCost",
    "TaskCost",
]


class Loss(Record, frozen=True, kw_only=True):
    """How far off, for which reason, at what cost; and the sum."""

    D: Share
    P: Share
    Omega: Share
    L: float


class GradientParts(Record, frozen=True, kw_only=True):
    D: float = 0.0
    P: float = 0.0
    Omega: float = 0.0


class DirectiveMore(Record, frozen=True, kw_only=True):
    round: Count = 0
    urgency: Literal["low", "normal", "high"] = "normal"
    focus_targets: tuple[str, ...] = ()
    focus_avoid: tuple[str, ...] = ()
    grad_parts: GradientParts = GradientParts()
    params: dict[str, Any] = field(default_factory=dict)


class PlanDirective(Record, frozen=True, kw_only=True):
    task_id: str
    loss: Loss
    prev_directive: str
    directive: Literal["refine", "change_path", "change_approach", "break_symmetry"]
    blocked_tools: tuple[str, ...]
    blocked_targets: tuple[str, ...]
    failed_criterion: str
    failure_class: FailureClass
    budget_pressure: float
    grad_l: float
    rationale: str
    x: DirectiveMore = DirectiveMore()


class RoleCost(Record, frozen=True, kw_only=True):
    role: str
    calls: Count = 0
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    elapsed_ms: Count = 0


class TaskCost(Record, frozen=True, kw_only=True):
    by_role: tuple[RoleCost, ...] = ()
    total_tokens: Count = 0
    sequential_llm_calls: Count = 0
    tool_call_count: Count = 0
    tool_elapsed_ms: Count = 0


class FinalMore(Record, frozen=True, kw_only=True):
    unmet_criteria: tuple[str, ...] = ()
    abandon_reason: Literal["budget", "law2", "recommendation", "plan_failure", "cancelled"] | None = None
    accountable: str | None = None
    evidence_event_ids: tuple[str, ...] = ()
    cost: TaskCost = TaskCost()
    round: Count = 0
    grad_parts: GradientParts = GradientParts()
    params: dict[str, Any] = field(default_factory=dict)


class FinalResult(Record, frozen=True, kw_only=True):
    task_id: str
    summary: str
    output: Any
    loss: Loss
    grad_l: float
    replans: Count
    prev_directive: str
    directive: Literal["accept", "success", "abandon"]
    x: FinalMore = FinalMore()


class PlanFailure(Record, frozen=True, kw_only=True):
    task_id: str
    round: Count
    reason: str
    validator_findings: tuple[str, ...] = ()


class GracefulFailureRequest(Record, frozen=True, kw_only=True):
    task_id: str
    outcomes: tuple[SubTaskOutcome, ...]
    loss: Loss
    deadline_ms: Count = 10_000


class GracefulFailureNote(Record, frozen=True, kw_only=True):
    task_id: str
    partial: tuple[Any, ...]
    next_moves: tuple[str, ...]
