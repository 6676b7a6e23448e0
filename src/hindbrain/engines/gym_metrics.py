"""Metrics of a lane: the ten numbers, and those around them, from its events, its findings and the private key. Pure; the same
stream gives the same numbers, whenever it was recorded."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hindbrain.domain.gym import FindingStanding, Injected, JudgeRuling, LaneLoop, LaneScore
from hindbrain.domain.gym_fixture import AnswerKey, GymFamily, LaneRun
from hindbrain.domain.handover import Covered, Inheritance
from hindbrain.domain.mission import AGENT_STARTED, EventType, Family, MissionEvent, Route
from hindbrain.engines.gym_findings import precision, standings
from hindbrain.engines.gym_verdict import claim_verdicts, scored
from hindbrain.engines.handover import covers
from hindbrain.engines.mission_loops import LoopWatch
from hindbrain.engines.moments import milliseconds
from hindbrain.engines.repeats import Repeats, repeated_work
from hindbrain.policy.gym import STEPS, STEPS_OF
from hindbrain.policy.missions import COUNTED_OUT, GRADES

__all__ = ["adherence", "caught", "false_close", "first_good", "measured", "rate", "verdicts", "watched"]

_E = EventType
_DIGITS = 9
_FAILED = frozenset({"rejected", "insufficient_evidence"})
_RETRIEVED = frozenset({Family.GRAPH, Family.LITERAL_SEARCH, Family.DIRECT_READ})
_WRONG = "wrong_workspace_binding"
_DRIFT = "context_drift"


def measured(
    key: AnswerKey,
    run: LaneRun,
    *,
    lane_id: str = "",
    rulings: Iterable[JudgeRuling] = (),
    injected: Sequence[Injected] = (),
) -> LaneScore:
    """All numbers of one lane."""
    found = standings(key, run.findings, rulings)
    seeds = {one.seed_id for one in found if one.standing == "seeded"}
    told = tuple(verdicts(run.events))
    failed = sum(one in _FAILED for one in told)
    closes = [one for one in run.events if _closes(one)]
    reasons = [why for one in closes if (why := false_close(one, run, found))]
    family = scored(key, run)
    again, watch = _repeats(run), watched(run)
    claims = claim_verdicts(key, run)
    states = len(key.expects["states"]) if key.family is GymFamily.HOST_RECOVERY else 0
    right = round((family.score or 0.0) * states)
    hit = sum(caught(one.events) for one in injected)
    tools = Counter(one.tool_family.value for one in run.events if _tool(one))
    required, done = _steps(run)
    extras = [one for one in found if one.standing.startswith("extra")]
    return LaneScore(
        lane_id=lane_id or f"{run.fixture}.{run.lane}.1",
        fixture=run.fixture,
        family=key.family,
        lane=run.lane,
        arm=run.arm,
        agent=run.agent,
        valid=run.valid,
        completed=run.completed,
        missing_capture=not any(one.actor.startswith(AGENT_STARTED) for one in run.events),
        invalid_reason=run.invalid_reason,
        note=run.note,
        duration_ms=max(0, run.ended_ms - run.started_ms),
        seeded=len(key.seeds),
        matched=len(seeds),
        seeded_recall=rate(len(seeds), len(key.seeds)),
        first_good_finding_ms=first_good(key, run, found),
        direct_evidence_count=sum(GRADES[one.evidence_class] == "direct" for one in run.events),
        graph_call_count=sum(one.tool_family is Family.GRAPH for one in run.events),
        repeated_search_count=watch.repeated,
        loop_warnings=tuple(
            LaneLoop(rule=one.rule, action=one.action, item=one.item, message=one.message) for one in watch.look()
        ),
        verdicts=len(told),
        verdicts_failed=failed,
        claim_rejection_rate=rate(failed, len(told)),
        closes=len(closes),
        false_closes=len(reasons),
        false_close_rate=rate(len(reasons), len(closes)),
        false_close_reasons=tuple(reasons),
        injections=len(injected),
        injections_caught=hit,
        workspace_drift_catch_rate=rate(hit, len(injected)),
        child_actions=again.counted if again is not None else 0,
        child_repeats=again.covered if again is not None else 0,
        handoff_resumability=round(run.completed * (1 - again.share), _DIGITS) if again is not None else None,
        states=states,
        states_right=right,
        host_recovery_correctness=rate(right, states),
        claims=claims.claims if claims is not None else 0,
        claims_true=claims.true if claims is not None else 0,
        claims_verified=claims.verified if claims is not None else 0,
        claims_verified_true=claims.verified_true if claims is not None else 0,
        verdict_precision=rate(claims.verified_true, claims.verified) if claims is not None else None,
        verdict_recall=rate(claims.verified_true, claims.true) if claims is not None else None,
        family_score=family.score,
        family_says=family.says,
        tool_calls=tools.total(),
        tool_calls_by_family=dict(sorted(tools.items())),
        steps_required=required,
        steps_done=done,
        adherence=adherence(required, done),
        findings=found,
        extra=len(extras),
        extra_unadjudicated=sum(one.standing == "extra_unadjudicated" for one in extras),
        precision=precision(found),
        events=len(run.events),
    )


def rate(part: int, whole: int) -> float | None:
    """A share; None where there is nothing to have a share of."""
    return round(part / whole, _DIGITS) if whole else None


def first_good(key: AnswerKey, run: LaneRun, found: Sequence[FindingStanding]) -> int | None:
    """Milliseconds from the agent's first event to its first right finding: a planted defect, or without a key the first claim
    that was verified by direct evidence."""
    events = (*run.parent_events, *run.events)  # the work of both agents, where one took over from the other
    began = next((at for one in events if one.actor.startswith(AGENT_STARTED) and (at := _at(one)) is not None), None)
    if began is None:
        return None
    if key.seeds:
        right = {one.finding_id for one in found if one.standing == "seeded"}
        times = [one.at_ms for one in run.findings if one.finding_id in right]
    else:
        times = [at for one in events if _proven(one) and (at := _at(one)) is not None]
    # A finding from before the first event was not recorded as it happened: then there is no time to tell.
    return min(times) - began if times and min(times) >= began else None


def verdicts(events: Iterable[MissionEvent]) -> Iterator[str]:
    """The verdict of every verification, in order."""
    for one in events:
        if one.event_type is _E.VERIFY and (said := _claim(one).get("verdict") or one.payload.get("verdict")):
            yield str(said)


def watched(run: LaneRun) -> LoopWatch:
    """Where a lane went in circles, by the same watch for every lane, whether it had a mission that warned it or not."""
    before = _covered(run.parent_events) if run.mission_id is not None else ()
    watch = LoopWatch(Route.BALANCED, Inheritance(covered=before))
    for one in run.events:
        if one.event_type is _E.LOOP_WARNING:
            continue  # a warning that was given is still one
        if one.event_type is not _E.CONTEXT_GUARD or "guard" in one.payload:  # an agent's own word names no place
            watch.note(one)
    return watch


def false_close(close: MissionEvent, run: LaneRun, found: Sequence[FindingStanding]) -> str:
    """Why a close is false; empty when it is not. Without a mission every finding is a claim that the lane closes on."""
    wrong = {one.statement for one in found if one.standing == "extra_refuted"}
    before = [one for one in run.events if one.seq < close.seq]
    claims = {str(said["claim_id"]): said for one in before if one.event_type is _E.VERIFY and (said := _claim(one))}
    verified = [one for one in claims.values() if one.get("verdict") == "verified_for_mission"]
    stated = {str(one.get("claim")) for one in verified} if run.mission_id is not None else wrong
    ids = {one.finding_id for one in found if one.standing == "extra_refuted"}
    proven = {one.statement for one in run.findings if one.finding_id in ids and one.claim in stated}
    if refuted := sorted((wrong & stated) | proven):
        return f"a claim that was judged wrong stands: {refuted[0]}"
    skipped = close.payload.get("open") or ()
    if skipped and not any(one.event_type is _E.DISSENT and one.target == "close" for one in before):
        return f"a required step was skipped without dissent: {skipped[0]}"
    direct = {one.event_id for one in before if GRADES[one.evidence_class] == "direct"}
    for one in verified:
        if one.get("criteria_refs") and not direct & {str(ref).removeprefix("event:") for ref in one.get("evidence_refs", ())}:
            return f"criterion {one['criteria_refs'][0]} is reported met without a direct event"
    return ""


def caught(events: Sequence[MissionEvent]) -> bool:
    """Whether a wrong binding was noticed before something retrieved under it was used as evidence."""
    retrieved: set[str] = set()
    for one in events:
        guard = one.payload.get("guard") or {}
        if one.event_type is _E.CONTEXT_GUARD and (
            guard.get("classification") == _WRONG or any(str(said).startswith(_DRIFT) for said in one.payload.get("warnings", ()))
        ):
            return True
        if one.tool_family in _RETRIEVED:
            retrieved.add(one.event_id)
        used = {str(ref).removeprefix("event:") for ref in _claim(one).get("evidence_refs", ())}
        if one.event_type is _E.VERIFY and used & retrieved:
            return False
    return False


def adherence(required: Sequence[str], done: Sequence[str]) -> float | None:
    """The share of the work loop that was really walked; None for lanes that were not asked to."""
    return rate(len(set(required) & set(done)), len(required))


def _steps(run: LaneRun) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if run.arm not in STEPS_OF:
        return (), ()
    required = (*STEPS, "handoff") if run.parent_events or "handoff" in run.steps else STEPS
    return required, tuple(one for one in required if one in run.steps)


def _repeats(run: LaneRun) -> Repeats | None:
    """What the second agent did again; None where nobody was before it."""
    return repeated_work(_covered(run.parent_events), run.events) if run.parent_events else None


def _covered(events: Iterable[MissionEvent]) -> tuple[Covered, ...]:
    return tuple(one for event in events if event.actor.startswith(AGENT_STARTED) and (one := covers(event)) is not None)


def _tool(event: MissionEvent) -> bool:
    return event.actor.startswith(AGENT_STARTED) and event.event_type not in COUNTED_OUT


def _closes(event: MissionEvent) -> bool:
    return event.event_type is _E.CLOSE and event.payload.get("status", "closed") == "closed"


def _claim(event: MissionEvent) -> dict[str, Any]:
    found = event.payload.get("claim")
    return found if isinstance(found, dict) else {}


def _proven(event: MissionEvent) -> bool:
    said = _claim(event)
    return (
        event.event_type is _E.VERIFY and said.get("verdict") == "verified_for_mission" and said.get("evidence_grade") == "direct"
    )


def _at(event: MissionEvent) -> int | None:
    return milliseconds(event.timestamp)
