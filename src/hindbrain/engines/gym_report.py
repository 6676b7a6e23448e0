"""Reports: a round in numbers, by arm, by fixture and by lane, with what is missing from it and what it never says. Pure; how a
report looks as text or as a page is elsewhere."""

from collections.abc import Iterable, Sequence

import msgspec

from hindbrain.domain.gym import ArmScore, JudgeRuling, LaneResult, LaneScore, Report, Round
from hindbrain.domain.gym_fixture import AnswerKey, LaneRun
from hindbrain.engines.gym_arms import armed
from hindbrain.engines.gym_compare import accepted, value
from hindbrain.engines.gym_metrics import measured
from hindbrain.policy.gym import METRICS, ROUND_NON_CLAIMS, Metric

__all__ = ["arm_cells", "reported", "shown"]

_DASH = "–"  # not measured


def reported(
    asked: Round, keys: dict[str, AnswerKey], results: Iterable[LaneResult], rulings: Sequence[JudgeRuling] = ()
) -> Report:
    """Score every lane that has a result, whenever it was recorded."""
    found = {one.lane_id: one for one in results}
    scores = tuple(
        measured(
            keys[plan.fixture],
            _checked(found[plan.lane_id]),
            lane_id=plan.lane_id,
            rulings=[one for one in rulings if one.lane_id == plan.lane_id],
            injected=found[plan.lane_id].injected,
        )
        for plan in asked.lanes
        if plan.lane_id in found
    )
    missing = tuple(plan.lane_id for plan in asked.lanes if plan.lane_id not in found)
    return Report(
        round_id=asked.round_id,
        created_at=asked.created_at,
        version=asked.version,
        policy_version=asked.policy_version,
        complete=not missing,
        lanes=scores,
        arms=armed(scores),
        by_fixture={info.name: armed(one for one in scores if one.fixture == info.name) for info in asked.fixtures},
        fixtures=asked.fixtures,
        acceptance=accepted(scores),
        non_claims=ROUND_NON_CLAIMS,
        budget=asked.budget,
        change=asked.change,
        missing=missing,
        warnings=tuple(_warnings(asked, scores, missing)),
        judges=tuple(sorted({one.judge for one in rulings})),
    )


def shown(metric: Metric, number: float | None) -> str:
    """A number as people read it."""
    if number is None:
        return _DASH
    if metric.kind == "share":
        return f"{number:.2f}"
    return f"{number:.0f} ms" if metric.kind == "ms" else f"{number:g}" if number == int(number) else f"{number:.1f}"


def arm_cells(arm: ArmScore) -> list[str]:
    """The ten metrics of an arm; a missing time is counted beside the median."""
    cells = []
    for metric in METRICS:
        text = shown(metric, value(arm, metric))
        if metric.kind == "ms" and arm.first_good_finding_ms.missing:
            text += f" ({arm.first_good_finding_ms.missing} without)"
        cells.append(text)
    return cells


def _checked(result: LaneResult) -> LaneRun:
    """A lane that could have known the key does not count, whatever it found."""
    run = result.run
    if not result.leaked:
        return run
    return msgspec.structs.replace(run, valid=False, invalid_reason=f"the key was within its reach: {result.leaked[0]}")


def _warnings(asked: Round, scores: Sequence[LaneScore], missing: Sequence[str]) -> Iterable[str]:
    if missing:
        yield f"incomplete: {len(missing)} of {len(asked.lanes)} lanes have no result ({asked.why or 'not run yet'})"
    for one in scores:
        if not one.valid:
            yield f"{one.lane_id} does not count: {one.invalid_reason}"
        if one.missing_capture:
            yield f"{one.lane_id}: missing capture, the agent recorded no event"
    if waiting := sum(one.extra_unadjudicated for one in scores):
        yield f"{waiting} extra findings are not judged yet, so no precision is reported"
