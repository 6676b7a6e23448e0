"""Trust in code by its defect history: every verdict counts less the older it is. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from hindbrain.policy.activation import TRUST

__all__ = ["Record", "record"]

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is known of one node; without enough history nothing is, and no number pretends otherwise."""

    defects: int
    false_alarms: int
    partials: int
    score: float | None
    tier: str
    risk: float | None


def record(verdicts: Iterable[tuple[str, int]], *, now: int, min_history: int, half_life_days: float, risk_cap: float) -> Record:
    """The record of one node from its verdicts as (kind, milliseconds)."""
    weights = {"correct": TRUST.defect, "partial": TRUST.partial, "wrong": TRUST.false_alarm}
    kinds = {"correct": 0, "partial": 0, "wrong": 0}
    risk = 1.0
    for kind, at in verdicts:
        kinds[kind] += 1
        risk += weights[kind] * 0.5 ** (max(now - at, 0) / _DAY_MS / half_life_days)
    told = {"defects": kinds["correct"], "false_alarms": kinds["wrong"], "partials": kinds["partial"]}
    if sum(kinds.values()) < max(min_history, 1):
        return Record(**told, score=None, tier="unknown", risk=None)
    risk = min(max(risk, 1.0), risk_cap)
    share = (risk - 1.0) / (risk_cap - 1.0) if risk_cap > 1.0 else 0.0
    score = max(1.0 - share * (1.0 - TRUST.least), TRUST.least)
    tier = "high_risk" if score < TRUST.high_risk else "medium_risk" if score < TRUST.medium_risk else "low_risk"
    return Record(**told, score=score, tier=tier, risk=risk)
