"""Directives: what the next plan must leave alone, which criterion it is about, and why, derived from what failed. Looks at tool
calls for nothing else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hindbrain.domain.control import Loss
from hindbrain.domain.task import SubTaskOutcome
from hindbrain.engines.gradient import Macro, Measured, Urgency, leaning
from hindbrain.engines.targets import normalised_target, parent_scope
from hindbrain.policy.control import Params

__all__ = [
    "Blocks",
    "Tried",
    "accountable",
    "blocks",
    "calls_of",
    "failed_criterion",
    "failing",
    "rationale",
    "tools_of",
    "union",
]


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One tool on one target; without a target where the call had none."""

    tool: str
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What a directive forbids and what it points at. Tools and targets are never both given."""

    tools: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    focus_targets: tuple[str, ...] = ()
    focus_avoid: tuple[str, ...] = ()


def union(known: Sequence[Item], more: Iterable[Item]) -> tuple[Item, ...]:
    """Both without duplicates, in the order of their first appearance."""
    return tuple(dict.fromkeys((*known, *more)))


def failing(outcomes: Sequence[SubTaskOutcome], named: Sequence[str]) -> tuple[SubTaskOutcome, ...]:
    """The subtasks a round failed by: those that ran and failed, and those the gate names. A skipped one did nothing wrong."""
    return tuple(one for one in outcomes if not one.x.skipped and (one.status == "failed" or one.subtask_id in named))


def calls_of(outcomes: Iterable[SubTaskOutcome], workspace: str = "") -> tuple[Tried, ...]:
    """The distinct calls of these subtasks, in order."""
    return union(
        (),
        (
            Tried(tool=call.tool, target=normalised_target(call.target, workspace) or None if call.target else None)
            for outcome in outcomes
            for call in outcome.tool_calls
        ),
    )


def tools_of(outcomes: Iterable[SubTaskOutcome]) -> tuple[str, ...]:
    """The bare names of the tools these subtasks used."""
    return union((), (call.tool for outcome in outcomes for call in outcome.tool_calls))


def blocks(
    macro: Macro,
    urgency: Urgency,
    failed: Sequence[SubTaskOutcome],
    *,
    tools: Sequence[str],
    targets: Sequence[str],
    latest: Sequence[str],
) -> Blocks:
    """What a move forbids. `tools` and `targets` are those of all rounds up to this one, `latest` the targets of this round."""
    match macro:
        case Macro.BREAK_SYMMETRY:
            return Blocks(tools=tools_of(failed))
        case Macro.CHANGE_APPROACH:
            return Blocks(tools=_approach(urgency, failed, tools))
        case Macro.CHANGE_PATH:
            return Blocks(targets=tuple(targets))
        case Macro.REFINE:
            newest = (*targets, *latest)[-1:] if urgency is Urgency.LOW else ()
            avoid = union((), filter(None, map(parent_scope, targets))) if urgency is Urgency.HIGH else ()
            return Blocks(targets=tuple(targets), focus_targets=newest, focus_avoid=avoid)
        case _:
            return Blocks()


def _approach(urgency: Urgency, failed: Sequence[SubTaskOutcome], tools: Sequence[str]) -> tuple[str, ...]:
    """Worsening takes the tools of every round that failed; improving spares those whose surroundings were at fault."""
    if urgency is Urgency.HIGH:
        return union(tools, tools_of(failed))
    if urgency is Urgency.LOW:
        return tools_of(one for one in failed if _logical(one))
    return tools_of(failed)


def _logical(outcome: SubTaskOutcome) -> bool:
    classes = {verdict.failure_class for verdict in outcome.criteria_verdicts if verdict.verdict == "fail"} - {None}
    return "logical" in classes if classes else leaning(outcome.failure_reason or "") != "environmental"


def failed_criterion(measured: Measured, gap: str) -> str:
    """The one that weighs most, the first of equals. A skipped one follows from another and names no direction."""
    real = [failure for failure in measured.failures if not failure.skipped]
    return max(real or measured.failures, key=lambda failure: failure.weight).criterion if measured.failures else gap


def rationale(macro: Macro, loss: Loss, grad_l: float, measured: Measured, gap: str, params: Params) -> str:
    """Why this move, with the numbers that led to it."""
    moved = "at least" if abs(grad_l) >= params.epsilon else "below"
    side = "above" if loss.P > params.rho else "not above"  # noqa: SIM300 - a letter of the formula
    return (
        f"{macro}: D {loss.D:g} is above delta {params.delta:g} and Omega {loss.Omega:g} below theta {params.theta:g}; "
        f"grad_l {grad_l:+g} is {moved} epsilon {params.epsilon:g} in size; P {loss.P:g} is {side} rho {params.rho:g}. "
        f"{len(measured.failures)} criteria not met. Gap: {gap}"
    )


def accountable(
    abandon_reason: str, gate_reason: str, failed: Sequence[SubTaskOutcome], *, process: float, same_plan: bool
) -> str:
    """Whose part failed when a task is given up: a rule, not an opinion."""
    reasons = " ".join(outcome.failure_reason or "" for outcome in failed).lower()
    rules = (
        (abandon_reason == "cancelled", "User"),
        (abandon_reason == "plan_failure", "R2"),
        (gate_reason == "validator_error", "R4b"),
        ("scoring error" in reasons, "R4a"),
        ("executor loop" in reasons, "R3"),
        (process > 0 and same_plan, "R2"),  # the approach was at fault and was not changed
        (gate_reason == "criteria_rejected", "R2"),  # every part was done and the goal was missed
    )
    return next((role for holds, role in rules if holds), "R7")  # the budget went on directions that did not help
