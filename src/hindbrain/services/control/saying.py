"""What a decision of the controller is said as: the directive, the final result, the notes to memory. Pure; the same is said
whether it steers a task of ours or a mission of a connected agent."""

import uuid
from collections.abc import Sequence
from typing import Any

from hindbrain.domain.control import DirectiveMore, FinalMore, FinalResult, PlanDirective, TaskCost
from hindbrain.domain.notes import MegramMore, MegramNote
from hindbrain.engines.directive import failed_criterion, rationale
from hindbrain.engines.ending import evidence_ids, unmet
from hindbrain.engines.gradient import Macro, failure_class
from hindbrain.engines.imprint import Imprint
from hindbrain.engines.solving import Decision
from hindbrain.policy.control import in_force

__all__ = ["directive_of", "final_of", "notes_of"]

_MEGRAMS = uuid.UUID("6f1c2b3e-3a2d-4a5e-9a41-3f8e5c0d7b21")  # the same message makes the same megrams, however often it is read
_NO_COST = TaskCost()


def directive_of(decision: Decision) -> PlanDirective:
    """What the next plan has to change. Only of a decision that does not end the task."""
    after, params = decision.after, decision.params
    return PlanDirective(
        task_id=after.task_id,
        loss=decision.loss,
        prev_directive=decision.before.directive,
        directive=decision.directive,  # type: ignore[arg-type]  # terminal moves do not come here, and the bus checks
        blocked_tools=decision.blocks.tools,
        blocked_targets=decision.blocks.targets,
        failed_criterion=failed_criterion(decision.measured, after.gap),
        failure_class=failure_class(decision.loss.P),
        budget_pressure=decision.loss.Omega,
        grad_l=decision.grad_l,
        rationale=rationale(Macro(decision.directive), decision.loss, decision.grad_l, decision.measured, after.gap, params),
        x=DirectiveMore(
            round=after.rounds,
            urgency=decision.urgency.value,
            focus_targets=decision.blocks.focus_targets,
            focus_avoid=decision.blocks.focus_avoid,
            grad_parts=decision.parts,
            params=in_force(params),
        ),
    )


def final_of(decision: Decision, *, summary: str, output: Any, cost: TaskCost = _NO_COST) -> FinalResult:
    """The one last message of a task."""
    after, params = decision.after, decision.params
    return FinalResult(
        task_id=after.task_id,
        summary=summary,
        output=output,
        loss=decision.loss,
        grad_l=decision.grad_l,
        replans=after.directed,
        prev_directive=decision.before.directive,
        directive=decision.directive,  # type: ignore[arg-type]  # only terminal moves come here, and the bus checks
        x=FinalMore(
            unmet_criteria=unmet(decision),
            abandon_reason=decision.abandon_reason,
            accountable=decision.accountable,
            evidence_event_ids=evidence_ids(after.best if decision.directive == Macro.ABANDON else after.outcomes),
            cost=cost,
            round=after.rounds,
            grad_parts=decision.parts,
            params=in_force(params),
        ),
    )


def notes_of(learned: Sequence[Imprint], decision: Decision, *, because: str, at: str) -> tuple[MegramNote, ...]:
    """What memory is told. `because` is the id of what led to it, `at` its time."""
    after = decision.after
    return tuple(
        MegramNote(
            id=str(uuid.uuid5(_MEGRAMS, "\n".join((because, one.state, one.space, one.entity)))),
            level=one.level,
            created_at=at,
            space=one.space,
            entity=one.entity,
            content=one.content,
            state=one.state,
            f=one.f,
            sigma=one.sigma,
            k=one.k,
            x=MegramMore(
                writer="R7",
                task_id=after.task_id,
                mission_id=after.mission_id,
                round=after.rounds,
                source_event_id=because,
                loss=decision.loss,
                category=one.category,
            ),
        )
        for one in learned
    )
