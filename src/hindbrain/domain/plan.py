"""Plans: what a planner proposes, before it has ids and before anybody has looked at it. Read leniently, for a model may have
written it; what leaves the planner are the closed records of `task`."""

from typing import Any

from msgspec import Struct, field

from hindbrain.domain.task import Criterion, CriterionMore, Mode, Step

__all__ = ["Draft", "DraftCriterion", "Plan", "criteria_of"]


class DraftCriterion(Struct, frozen=True, kw_only=True):
    """A criterion as a plan says it."""

    criterion: str
    mode: Mode = "verifiable"
    x: CriterionMore = CriterionMore()


class Draft(Struct, frozen=True, kw_only=True):
    """One subtask as a plan says it. An id that somebody wrote there is thrown away."""

    intent: str
    success_criteria: tuple[str | DraftCriterion, ...] = ()
    context: str = ""
    deadline: str | None = None
    sequence: int = 1
    tool_hints: tuple[str, ...] = ()
    steps: tuple[Step, ...] | None = None
    subtask_id: Any = None


class Plan(Struct, frozen=True, kw_only=True):
    """What is to hold in the end, and then the subtasks that make it hold."""

    task_criteria: tuple[str | DraftCriterion, ...] = field(default_factory=tuple)
    subtasks: tuple[Draft, ...] = field(default_factory=tuple)


def criteria_of(given: tuple[str | DraftCriterion, ...]) -> tuple[Criterion, ...]:
    """Criteria as they are kept: a plain text is one that can be verified."""
    return tuple(
        Criterion(criterion=one) if isinstance(one, str) else Criterion(criterion=one.criterion, mode=one.mode, x=one.x)
        for one in given
    )
