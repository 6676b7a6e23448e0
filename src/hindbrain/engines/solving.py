"""Solving: one step of the controller as a pure function. What a task has come to and what was just reported give a decision and
what the task has come to then. The same steps are taken live, in a replay and in a tuning."""

from collections.abc import Sequence
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

__all__ = [
    "INIT",
    "AbandonReason",
    "Decision",
    "Reading",
    "Standing",
    "Step",
    "accepted",
    "decided",
    "ended",
    "parts_of",
    "read_round",
    "reading_of",
    "stepped",
]

Part = tuple[tuple[str, ...], int]
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
    outcomes: tuple[SubTaskOutcome, ...] = ()  # of the last round
    reached: tuple[tuple[Part, SubTaskOutcome], ...] = ()  # the parts that matched in any round, each as it matched last
    overridden: tuple[OverriddenRule, ...] = ()
    elapsed_ms: int = 0
    gap: str = ""

    @property
    def best(self) -> tuple[SubTaskOutcome, ...]:
        """The parts of the last round, each as it matched in any round; then the parts that only an earlier round had."""
        matched = dict(self.reached)
        last = tuple(matched.pop(part, one) for part, one in parts_of(self.outcomes).items())
        return (*last, *matched.values())

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that a round that was not taken is decided by: how far, why, when, and what the gate advises."""

    D: float
    P: float
    elapsed_ms: int
    advised_to_stop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a reading leads to, given the loss before it and how many rounds there were."""

    loss: Loss
    grad_l: float
    parts: GradientParts
    worse: int
    macro: Macro
    reason: AbandonReason | None


def parts_of(outcomes: Sequence[SubTaskOutcome]) -> dict[Part, SubTaskOutcome]:
    """Outcomes by what they are about, whichever way a round took: their criteria, or their intent where they have none, and
    their number among outcomes with the same."""
    found: dict[Part, SubTaskOutcome] = {}
    for one in outcomes:
        about = tuple(criterion.criterion for criterion in one.success_criteria) or (one.intent,)
        found[about, sum(known == about for known, _ in found)] = one
    return found


def _reached(
    before: tuple[tuple[Part, SubTaskOutcome], ...], outcomes: Sequence[SubTaskOutcome]
) -> tuple[tuple[Part, SubTaskOutcome], ...]:
    matched = {part: one for part, one in parts_of(outcomes).items() if one.status == "matched"}
    return tuple({**dict(before), **matched}.items())


def stepped(reading: Reading, *, rounds: int, before: Loss | None, worse: int, params: Params) -> Step:
    """The cascade, then the two reasons to stop that it does not know. Neither takes away a result that is good enough."""
    loss = loss_of(reading.D, reading.P, budget_used(rounds, reading.elapsed_ms, params), params)
    grad_l, parts = gradient(loss, before, params)
    worse = worse + 1 if worsening(grad_l, params) else 0
    macro = macro_state(loss, grad_l, params)
    reason: AbandonReason | None = None
    if macro is Macro.ABANDON:
        reason = "budget"
    elif macro is not Macro.SUCCESS and worse >= params.law2_rounds:
        macro, reason = Macro.ABANDON, "law2"
    elif macro is not Macro.SUCCESS and reading.advised_to_stop:
        macro, reason = Macro.ABANDON, "recommendation"
    return Step(loss=loss, grad_l=grad_l, parts=parts, worse=worse, macro=macro, reason=reason)


def read_round(request: ReplanRequest) -> Measured:
    """Distance and process of a round: over its subtasks, or over the task's own criteria when only the whole was not taken."""
    if request.x.reason == "gate_failed":
        return measured(request.outcomes)
    return judged(request.x.task_criteria_verdicts, request.gap_summary, request.x.process)


def reading_of(found: Measured, request: ReplanRequest) -> Reading:
    return Reading(D=found.D, P=found.P, elapsed_ms=request.elapsed_ms, advised_to_stop=request.recommendation == "abandon")


def decided(standing: Standing, request: ReplanRequest, params: Params, workspace: str = "") -> Decision:
    """A round that was not taken."""
    found = read_round(request)
    rounds = standing.rounds + 1
    step = stepped(reading_of(found, request), rounds=rounds, before=standing.loss, worse=standing.worse, params=params)
    loss, grad_l, macro, reason = step.loss, step.grad_l, step.macro, step.reason
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
        worse=step.worse,
        directive=macro,
        tried=tried,
        fingerprints=union(standing.fingerprints, filter(None, (request.x.plan_fingerprint,))),
        outcomes=request.outcomes,
        reached=_reached(standing.reached, request.outcomes),
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
        parts=step.parts,
        urgency=turn,
        measured=found,
        blocks=chosen,
        failing=failed,
        abandon_reason=reason,
        accountable=accountable(reason, request.x.reason, failed, process=found.P, same_plan=same_plan) if reason else None,
    )


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
        reached=_reached(standing.reached, summary.outcomes),
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
