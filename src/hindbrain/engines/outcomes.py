"""Reports on outcomes: counted, reviewed and grouped. They say what was seen and change nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent, Signal
from hindbrain.policy.adoption import HARDENING

__all__ = ["PLURALS", "Picked", "Tally", "analytics", "picked", "recommended", "reviewed"]

# Signals are singular; what counts them is plural where English has one.
PLURALS: dict[Signal, str] = {
    Signal.USED: "used",
    Signal.ACCEPTED: "accepted",
    Signal.REJECTED: "rejected",
    Signal.MISS: "misses",
    Signal.ROLLBACK: "rollbacks",
    Signal.CONTRADICTION: "contradictions",
    Signal.NEUTRAL: "neutral",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How often each signal was seen."""

    counts: Mapping[Signal, int]

    @classmethod
    def of(cls, events: Iterable[AdoptionEvent]) -> "Tally":
        return cls(counts=Counter(event.signal for event in events))

    def __getitem__(self, signal: Signal) -> int:
        return self.counts.get(signal, 0)

    def told(self) -> dict[str, int]:
        return {"total": sum(self.counts.values())} | {name: self[signal] for signal, name in PLURALS.items()}

    def line(self) -> str:
        """In one line: the total, and what is not zero."""
        seen = [f"{name}={self[signal]}" for signal, name in PLURALS.items() if self[signal]]
        return " ".join([f"total={sum(self.counts.values())}", *seen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The outcomes a report is about, oldest first, and whether older ones were left out."""

    events: tuple[AdoptionEvent, ...]
    truncated: bool


def picked(
    events: Sequence[AdoptionEvent],
    *,
    signal: Signal | None = None,
    since: int | None = None,
    until: int | None = None,
    context_hash: str | None = None,
    limit: int | None = None,
) -> Picked:
    """Outcomes that pass every filter; the newest when there are more than `limit`. `since` belongs to the time, `until` not."""
    kept = [
        event
        for event in events
        if signal in (None, event.signal)
        and context_hash in (None, event.context_hash)
        and (since is None or event.at >= since)
        and (until is None or event.at < until)
    ]
    cut = limit is not None and len(kept) > limit
    return Picked(events=tuple(kept[len(kept) - limit :] if limit is not None and cut else kept), truncated=cut)


def reviewed(found: Picked, filters: Mapping[str, Any]) -> dict[str, Any]:
    """What the outcomes say together. Advice: it opens no gate and changes no default."""
    tally = Tally.of(found.events)
    by_feature: dict[str, list[AdoptionEvent]] = {}
    for event in found.events:
        by_feature.setdefault(event.feature, []).append(event)
    conclusion, reasons = _conclusion(tally)
    return {
        "writes": False,
        "filters": dict(filters),
        "total": len(found.events),
        "truncated": found.truncated,
        "stats": tally.told(),
        "features": [{"feature": name, "stats": Tally.of(by_feature[name]).told()} for name in sorted(by_feature)],
        "conclusion": conclusion,
        "reasons": reasons,
    }


def _conclusion(tally: Tally) -> tuple[str, list[str]]:
    against = tally[Signal.REJECTED] + tally[Signal.MISS] + tally[Signal.CONTRADICTION]
    if not sum(tally.counts.values()):
        return "no_evidence", ["nothing was recorded"]
    if tally[Signal.ROLLBACK]:
        return "rollback_risk", [f"taken back {tally[Signal.ROLLBACK]} times: look at these before anything else"]
    weighed = f"accepted {tally[Signal.ACCEPTED]}, rejected, missed or contradicted {against}"
    return ("positive" if tally[Signal.ACCEPTED] >= max(1, against) else "mixed"), [weighed]


def analytics(found: Picked) -> dict[str, Any]:
    """All outcomes by track and feature, each with what to do next."""
    by: dict[tuple[str, str], list[AdoptionEvent]] = {}
    for event in found.events:
        by.setdefault((event.track.value, event.feature), []).append(event)
    groups = []
    for track, feature in sorted(by):
        tally = Tally.of(by[track, feature])
        groups.append({"track": track, "feature": feature, **tally.told(), "recommendation": recommended(tally)})
    return {"writes": False, "total_events": len(found.events), "truncated": found.truncated, "groups": groups}


def recommended(tally: Tally) -> str:
    """What the outcomes of one feature ask for; the first that applies."""
    accepted = tally[Signal.ACCEPTED]
    if tally[Signal.ROLLBACK] or tally[Signal.CONTRADICTION]:
        return "review_before_default_change"
    if tally[Signal.MISS] > accepted:
        return "investigate_misses"
    if tally[Signal.REJECTED] > accepted:
        return "observe_or_rollback"
    return "candidate_for_workflow_hardening" if accepted >= HARDENING else "observe_more_evidence"
