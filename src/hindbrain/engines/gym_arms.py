"""Arms: lanes of one way of working, put together. Lanes of two arms are never mixed; a lane that is not valid counts for none.
Pure."""

from collections.abc import Iterable, Sequence

from hindbrain.domain.gym import ArmScore, LaneScore, Median
from hindbrain.domain.gym_fixture import Arm
from hindbrain.engines.gym_metrics import rate

__all__ = ["armed", "pooled"]

_DIGITS = 9
_COUNTS = ("direct_evidence_count", "graph_call_count", "repeated_search_count", "tool_calls")


def armed(scores: Iterable[LaneScore]) -> tuple[ArmScore, ...]:
    """Every arm there is, in the order of the arms."""
    by: dict[Arm, list[LaneScore]] = {}
    for one in scores:
        by.setdefault(one.arm, []).append(one)
    return tuple(pooled(arm, by[arm]) for arm in Arm if arm in by)


def pooled(arm: Arm, scores: Sequence[LaneScore]) -> ArmScore:
    """One arm: parts and wholes are added up before they are divided, times have a median."""
    valid = [one for one in scores if one.valid]
    ended = [one for one in valid if one.completed]
    seeded, matched = sum(one.seeded for one in ended), sum(one.matched for one in ended)
    sums = {name: sum(getattr(one, name) for one in valid) for name in _COUNTS}
    resumed = [one.handoff_resumability for one in valid if one.handoff_resumability is not None]
    required = sum(len(one.steps_required) for one in valid)
    waiting, named = sum(one.extra_unadjudicated for one in valid), [found for one in valid for found in one.findings]
    wrong = sum(found.standing == "extra_refuted" for found in named)
    return ArmScore(
        arm=arm,
        lanes=len(scores),
        completed=len(ended),
        invalid=len(scores) - len(valid),
        missing_capture=sum(one.missing_capture for one in scores),
        fixtures=tuple(sorted({one.fixture for one in scores})),
        seeded=seeded,
        matched=matched,
        seeded_recall=rate(matched, seeded),
        first_good_finding_ms=_median([one.first_good_finding_ms for one in valid]),
        duration_ms=_median([one.duration_ms for one in valid]),
        direct_evidence_count=sums["direct_evidence_count"],
        graph_call_count=sums["graph_call_count"],
        repeated_search_count=sums["repeated_search_count"],
        tool_calls=sums["tool_calls"],
        per_lane={name: round(total / len(valid), _DIGITS) if valid else None for name, total in sums.items()},
        claim_rejection_rate=_rate(valid, "verdicts_failed", "verdicts"),
        false_close_rate=_rate(valid, "false_closes", "closes"),
        workspace_drift_catch_rate=_rate(valid, "injections_caught", "injections"),
        handoff_resumability=round(sum(resumed) / len(resumed), _DIGITS) if resumed else None,
        host_recovery_correctness=_rate(valid, "states_right", "states"),
        adherence=rate(sum(len(one.steps_done) for one in valid), required),
        claims=sum(one.claims for one in valid),
        verdict_precision=_rate(valid, "claims_verified_true", "claims_verified"),
        verdict_recall=_rate(valid, "claims_verified_true", "claims_true"),
        extra=sum(one.extra for one in valid),
        extra_unadjudicated=waiting,
        precision=round(1 - wrong / len(named), _DIGITS) if named and not waiting else None,
    )


def _rate(scores: Sequence[LaneScore], part: str, whole: str) -> float | None:
    return rate(sum(getattr(one, part) for one in scores), sum(getattr(one, whole) for one in scores))


def _median(values: Sequence[int | None]) -> Median:
    known = sorted(one for one in values if one is not None)
    half = len(known) // 2
    middle = (known[half] + known[~half]) / 2 if known else None
    return Median(median=middle, measured=len(known), missing=len(values) - len(known))
