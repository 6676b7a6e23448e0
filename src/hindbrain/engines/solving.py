"""Solving: one step of the controller as a pure function. What a task has come to and what was just reported give a decision and
what the task has come to then. The same steps are taken live, in a replay and in a tuning."""

from dataclasses import dataclass, replace
from typing import Literal

from hindbrain.domain.control import GradientParts, Loss
from hindbrain.domain.task import OutcomeSummary, OverriddenRule, ReplanRequest, SubTaskOutcome
from hindbrain.engines.directive import Blocks, Tried, accountable, blocks, calls_of, failing, union
from hindbrain.engines.gradient import (
    Macro,
    Measured,
    Urgency,
    budget_used,
    gradient,
    judged,
    loss_of,
    macro_state,
    measured,
    urgency,
    worsening,
)
from hindbrain.policy.control import Params

__all__ = ["INIT", "AbandonReason", "Decision", "Standing", "accepted", "decided", "ended"]

AbandonReason = Literal["budget", "law2", "recommendation", "plan_failure", "cancelled"]
INIT = "init"
_STILL, _FREE = GradientParts(), Blocks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the controller knows of one task between rounds. It ends with the task."""

    task_id: str
    intent: str = ""
    task_class: str = ""
    mission_id: str | None = None
    rounds: int = 0  # requests to replan, this one included
    directed: int = 0  # of them, those that were answered with a directive
    loss: Loss | None = None
    worse: int = 0  # worsening rounds in a row
    directive: str = INIT
    tried: tuple[Tried, ...] = ()  # every call of a failing subtask, by first failure
    written: tuple[str, ...] = ()  # targets that memory was told of
    broke_at: float | None = None  # the distance at a break of symmetry whose credit is still open
    fingerprints: tuple[str, ...] = ()
    outcomes: tuple[SubTaskOutcome, ...] = ()
    overridden: tuple[OverriddenRule, ...] = ()
    elapsed_ms: int = 0
    gap: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        return union((), (one.target for one in self.tried if one.target))

    @property
    def tools(self) -> tuple[str, ...]:
        return union((), (one.tool for one in self.tried))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a round came to. `before` and `after` are the task's standing on both sides of it."""

    before: Standing
    after: Standing
    directive: str
    params: Params  # the numbers it was made with
    loss: Loss
    grad_l: float = 0.0
    parts: GradientParts = _STILL
    urgency: Urgency = Urgency.NORMAL
    measured: Measured
    blocks: Blocks = _FREE
    failing: tuple[SubTaskOutcome, ...] = ()
    abandon_reason: AbandonReason | None = None
    accountable: str | None = None

    @property
    def terminal(self) -> bool:
        return self.directive in ("accept", "success", "abandon")


def decided(standing: Standing, request: ReplanRequest, params: Params, workspace: str = "") -> Decision:
    """A round that was not taken."""
    found = (
        measured(request.outcomes)
        if request.x.reason == "gate_failed"
        else judged(request.x.task_criteria_verdicts, request.gap_summary)
    )
    rounds = standing.rounds + 1
    loss = loss_of(found.D, found.P, budget_used(rounds, request.elapsed_ms, params), params)
    grad_l, parts = gradient(loss, standing.loss, params)
    worse = standing.worse + 1 if worsening(grad_l, params) else 0
    macro, reason = _macro(loss, grad_l, worse, request, params)
    failed = failing(request.outcomes, request.failed_subtasks)
    calls = calls_of(failed, workspace)
    tried = union(standing.tried, calls)
    turn = urgency(grad_l, params)
    after = replace(
        standing,
        intent=request.intent,
        task_class=request.x.task_class or standing.task_class,
        mission_id=request.x.mission_id or standing.mission_id,
        rounds=rounds,
        loss=loss,
        worse=worse,
        directive=macro,
        tried=tried,
        fingerprints=union(standing.fingerprints, filter(None, (request.x.plan_fingerprint,))),
        outcomes=request.outcomes,
        overridden=request.x.overridden,
        elapsed_ms=request.elapsed_ms,
        gap=request.gap_summary,
    )
    chosen = blocks(
        macro,
        turn,
        failed,
        tools=after.tools,
        targets=after.targets,
        latest=[one.target for one in calls if one.target],
    )
    if macro not in (Macro.ABANDON, Macro.SUCCESS):
        after = replace(after, directed=standing.directed + 1)
    same_plan = bool(request.x.plan_fingerprint) and request.x.plan_fingerprint in standing.fingerprints
    return Decision(
        before=standing,
        after=after,
        directive=macro,
        params=params,
        loss=loss,
        grad_l=grad_l,
        parts=parts,
        urgency=turn,
        measured=found,
        blocks=chosen,
        failing=failed,
        abandon_reason=reason,
        accountable=accountable(reason, request.x.reason, failed, process=found.P, same_plan=same_plan) if reason else None,
    )


def _macro(loss: Loss, grad_l: float, worse: int, request: ReplanRequest, params: Params) -> tuple[Macro, AbandonReason | None]:
    """The cascade, then the two reasons to stop that it does not know. Neither takes away a result that is good enough."""
    macro = macro_state(loss, grad_l, params)
    if macro is Macro.ABANDON:
        return macro, "budget"
    if macro is not Macro.SUCCESS:
        if worse >= params.law2_rounds:
            return Macro.ABANDON, "law2"
        if request.recommendation == "abandon":
            return Macro.ABANDON, "recommendation"
    return macro, None


def accepted(standing: Standing, summary: OutcomeSummary, params: Params) -> Decision:
    """A round that the gate took: nothing is missing, whatever it cost."""
    found = Measured(D=0.0, P=0.0)
    loss = loss_of(0.0, 0.0, budget_used(standing.rounds, summary.elapsed_ms, params), params)
    grad_l, parts = gradient(loss, standing.loss, params)
    after = replace(
        standing,
        intent=summary.intent,
        task_class=summary.x.task_class or standing.task_class,
        mission_id=summary.x.mission_id or standing.mission_id,
        loss=loss,
        directive="accept",
        outcomes=summary.outcomes,
        overridden=summary.x.overridden,
        elapsed_ms=summary.elapsed_ms,
        gap="",
    )
    return Decision(
        before=standing,
        after=after,
        directive="accept",
        params=params,
        loss=loss,
        grad_l=grad_l,
        parts=parts,
        urgency=urgency(grad_l, params),
        measured=found,
    )


def ended(standing: Standing, reason: AbandonReason, gap: str, params: Params) -> Decision:
    """A task that is over without a round: no plan could be made, or the person called it off. Judged by what is known."""
    found = measured(standing.outcomes)
    known = standing.loss or loss_of(found.D, found.P, budget_used(standing.rounds, standing.elapsed_ms, params), params)
    after = replace(standing, loss=known, directive=Macro.ABANDON, gap=gap or standing.gap)
    return Decision(
        before=standing,
        after=after,
        directive=Macro.ABANDON,
        params=params,
        loss=known,
        measured=found,
        failing=failing(standing.outcomes, ()),
        abandon_reason=reason,
        accountable=accountable(reason, "", (), process=known.P, same_plan=False),
    )
