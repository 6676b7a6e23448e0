"""Rounds of a mission: which criteria its claims meet, what the controller is told when a verification fails, and how a mission
ends. The plant is the connected agent; the steps are those of every task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hindbrain.domain.mission import ControlState, Family, MissionEvent, MissionMode
from hindbrain.domain.task import (
    ExecutionResult,
    OutcomeSummary,
    ReplanMore,
    ReplanRequest,
    SubTaskOutcome,
    SummaryMore,
    ToolCall,
    Verdict,
    VerdictMore,
)
from hindbrain.domain.typed import converted
from hindbrain.engines.course import Course
from hindbrain.engines.directive import accountable
from hindbrain.engines.gradient import Macro, rounded
from hindbrain.engines.imprint import Imprint
from hindbrain.engines.slug import path_entity, tool_space
from hindbrain.engines.solving import AbandonReason, Decision, Standing, accepted, decided
from hindbrain.policy.control import Params
from hindbrain.policy.experience import quantized
from hindbrain.policy.missions import MODES, ROUNDS_MOST

__all__ = ["Round", "control_of", "criteria_verdicts", "dead_imprints", "ended_by", "numbers_of", "round_of", "standing_of"]

_FAILED_CLASSES = {"rejected": "logical", "insufficient_evidence": "environmental", "stale": "environmental"}
_CALLS = 50  # of a round that the controller is shown
_SNIPPET = 200
_PASSED = "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One step of the controller: what it was told and what it decided."""

    request: ReplanRequest
    decision: Decision
    execution: ExecutionResult


def numbers_of(course: Course, params: Params) -> Params:
    """The numbers of a mission: its own deadline, and as many rounds as missions have."""
    return replace(params, time_budget_ms=course.spec.budget.soft_deadline_ms, max_replans=ROUNDS_MOST)


# -- criteria --------------------------------------------------------------------------------------------------------


def _claims_hold(course: Course) -> bool:
    """Something was verified, and nothing that was judged stays unproven."""
    return bool(course.verified) and not any(one.verdict in _FAILED_CLASSES for one in course.claims.values())


def _swept(course: Course) -> bool:
    return course.sweep > course.last_verified > 0


def _plan_first(course: Course) -> bool:
    return "impact" in course.checked


def _tests_pass(course: Course) -> bool:
    return bool(course.tests) and course.tests[-1].outcome == _PASSED


def _all_bound(course: Course) -> bool:
    return bool(course.statements) and all(one in ("bound", "unbound") for one in course.statements.values())


def _released(course: Course) -> bool:
    return {"version", "changelog"} <= course.checked


def _shaken(course: Course) -> bool:
    return bool(course.direct.get("host_handshake"))


# What meets a mode's own criteria, in their order. Criteria that somebody gave are met by claims that name them.
_OF_MODE: Mapping[MissionMode, tuple[Callable[[Course], bool], ...]] = {
    MissionMode.BUG_HUNT: (_claims_hold, _swept),
    MissionMode.REVIEW: (_claims_hold,),
    MissionMode.REFACTOR: (_plan_first, _tests_pass),
    MissionMode.DOCS_DRIFT: (_all_bound,),
    MissionMode.ARCHITECTURE: (_claims_hold,),
    MissionMode.RELEASE: (_tests_pass, _released),
    MissionMode.HOST_RECOVERY: (_shaken,),
    MissionMode.ORIENTATION: (_claims_hold,),
    MissionMode.TASK: (),
}


def criteria_verdicts(course: Course) -> tuple[Verdict, ...]:
    """Each criterion of a mission, judged by what was proven, with the events that show it."""
    own = dict(zip(MODES[course.spec.mode].criteria, _OF_MODE[course.spec.mode], strict=True))
    alone = len(course.spec.criteria) == 1
    found = []
    for one in course.spec.criteria:
        named = [claim for claim in course.verified if one.criterion in claim.criteria_refs]
        rule = own.get(one.criterion) or (_claims_hold if alone else None)
        shown = named or (course.verified if rule is not None and rule(course) else ())
        met = bool(named) or (rule is not None and rule(course))
        ids = tuple(dict.fromkeys(ref for claim in shown for ref in claim.evidence_refs))
        found.append(
            Verdict(criterion=one.criterion, verdict="pass" if met else "fail", mode=one.mode, x=VerdictMore(event_ids=ids))
        )
    return tuple(found)


def _claim_verdicts(course: Course) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(
            criterion=claim.claim,
            verdict="fail" if claim.verdict in _FAILED_CLASSES else "pass",
            failure_class=_FAILED_CLASSES.get(claim.verdict),  # type: ignore[arg-type]  # one of the two classes
            evidence="; ".join(claim.missing),
            x=VerdictMore(event_ids=tuple(ref for ref in claim.evidence_refs if ref.startswith("evt_"))),
        )
        for claim in course.claims.values()
        if claim.verdict in _FAILED_CLASSES or claim.verdict == "verified_for_mission"
    )


# -- rounds ----------------------------------------------------------------------------------------------------------


def standing_of(course: Course, params: Params) -> Standing:
    """What the controller knows of a mission: its rounds, taken again."""
    standing = Standing(task_id=course.spec.mission_id, intent=course.spec.task, mission_id=course.spec.mission_id)
    for told in course.rounds:
        if "request" in told:
            standing = decided(standing, converted(told["request"], ReplanRequest), params).after
    return standing


def round_of(course: Course, claim_id: str, events: Sequence[MissionEvent], *, now: int, params: Params) -> Round:
    """A verification that failed ends a round. `events` are those since the round before."""
    numbers = numbers_of(course, params)
    execution = _execution(course, claim_id, events)
    outcome = _outcome(course, claim_id, execution)
    request = _request(course, (outcome,), failed=(claim_id,), now=now)
    decision = decided(standing_of(course, numbers), request, numbers)
    return Round(request=request, decision=decision, execution=execution)


def control_of(decision: Decision, rationale: str = "") -> ControlState:
    """The decision as the mission keeps it."""
    return ControlState(
        round=decision.after.rounds,
        loss=decision.loss,
        grad_l=decision.grad_l,
        prev_directive=decision.before.directive,
        directive=decision.directive,
        blocked_tools=decision.blocks.tools,
        blocked_targets=decision.blocks.targets,
        rationale=rationale,
    )


def ended_by(course: Course, events: Sequence[MissionEvent], *, now: int, params: Params, given_up: str | None) -> Decision:
    """How a mission ends: accepted when all its criteria are met, a success when it is close enough, else given up. `given_up` is
    why its agent gave up, if it did."""
    numbers = numbers_of(course, params)
    standing = standing_of(course, numbers)
    verdicts = criteria_verdicts(course)
    execution = _execution(course, course.spec.mission_id, events)
    if given_up is None and verdicts and all(one.verdict == "pass" for one in verdicts):
        summary = OutcomeSummary(
            task_id=course.spec.mission_id,
            intent=course.spec.task,
            summary="all criteria are met",
            merged_output=None,
            elapsed_ms=_spent(course, now),
            outcomes=(_outcome(course, course.spec.mission_id, execution, verdicts),),
            x=SummaryMore(task_criteria_verdicts=verdicts, task_class=course.spec.mode.value, mission_id=course.spec.mission_id),
        )
        return accepted(standing, summary, numbers)
    outcome = _outcome(course, course.spec.mission_id, execution, verdicts)
    request = _request(course, (outcome,), failed=(course.spec.mission_id,), now=now, why=given_up)
    found = decided(standing, request, numbers)
    if given_up is None and found.loss.D <= numbers.delta:  # noqa: SIM300 - the name is a letter of the formula
        return replace(found, directive=Macro.SUCCESS, abandon_reason=None, accountable=None)
    reason: AbandonReason = "cancelled" if given_up is not None else "recommendation"
    blame = accountable(reason, "", found.failing, process=found.loss.P, same_plan=False)
    return replace(found, directive=Macro.ABANDON, abandon_reason=reason, accountable=blame)


def dead_imprints(course: Course) -> tuple[Imprint, ...]:
    """Dead ends of this mission, as what is not to be tried again."""
    f, sigma, k = quantized("change_path")
    inherited = {one.target for one in course.inherited.dead_paths}
    return tuple(
        Imprint(
            space=tool_space(Family.DIRECT_READ.value),
            entity=path_entity(path.target),
            content=f"Dead end in {course.spec.task}: {path.why_ruled_out}",
            state="change_path",
            f=f,
            sigma=sigma,
            k=k,
        )
        for path in course.dead.values()
        if path.target not in inherited
    )


def _spent(course: Course, now: int) -> int:
    """Time, or calls as if they were time: whichever is the larger share."""
    budget = course.spec.budget
    calls = rounded(course.tool_calls / budget.tool_calls_max) * budget.soft_deadline_ms
    return round(max(course.elapsed(now), calls))


def _request(
    course: Course, outcomes: tuple[SubTaskOutcome, ...], *, failed: tuple[str, ...], now: int, why: str | None = None
) -> ReplanRequest:
    verdicts = (*criteria_verdicts(course), *_claim_verdicts(course))
    gap = "; ".join(
        f"{one.criterion}: {one.evidence}" if one.evidence else one.criterion for one in verdicts if one.verdict == "fail"
    )
    return ReplanRequest(
        task_id=course.spec.mission_id,
        intent=course.spec.task,
        gap_summary="; ".join(filter(None, (why, gap))) or "nothing was judged yet",
        failed_subtasks=failed,
        correction_count=len(course.rounds),
        elapsed_ms=_spent(course, now),
        outcomes=outcomes,
        recommendation="replan",
        x=ReplanMore(
            round=len(course.rounds) + 1,
            reason="criteria_rejected",
            task_criteria_verdicts=verdicts,
            task_class=course.spec.mode.value,
            mission_id=course.spec.mission_id,
            process=tuple(course.round_failures),  # type: ignore[arg-type]  # the course keeps classes only
        ),
    )


def _execution(course: Course, subtask_id: str, events: Sequence[MissionEvent]) -> ExecutionResult:
    """What the agent did in a round: each event is a call of a tool, known by its id."""
    done = [one for one in events if one.tool_family not in (Family.MISSION, Family.RECOVERY, Family.OTHER)][-_CALLS:]
    calls = tuple(
        ToolCall(
            call_id=one.event_id,
            tool=one.tool_family.value,
            input={"tool": one.tool} if one.tool else {},
            event_id=one.event_id,
            rendered=f"{one.tool or one.event_type.value} {one.target or ''}".strip(),
            target=one.target,
            output_snippet=str(one.payload.get("output") or "")[:_SNIPPET],
            error=one.outcome.value if one.outcome.value in ("failed", "error", "blocked") else None,
            elapsed_ms=one.duration_ms,
            evidence_class=one.evidence_class.value,
        )
        for one in done
    )
    return ExecutionResult(subtask_id=subtask_id, status="completed", output=None, tool_calls=calls)


def _outcome(
    course: Course, subtask_id: str, execution: ExecutionResult, verdicts: tuple[Verdict, ...] | None = None
) -> SubTaskOutcome:
    claim = course.claims.get(subtask_id)
    own = [one for one in _claim_verdicts(course) if claim is not None and one.criterion == claim.claim]
    found = tuple(own) if verdicts is None else verdicts
    failed = any(one.verdict == "fail" for one in found)
    return SubTaskOutcome(
        subtask_id=subtask_id,
        parent_task_id=course.spec.mission_id,
        intent=claim.claim if claim is not None else course.spec.task,
        success_criteria=course.spec.criteria,
        status="failed" if failed else "matched",
        failure_reason="; ".join(claim.missing) if claim is not None and failed else None,
        criteria_verdicts=found,
        tool_calls=execution.tool_calls,
    )
