"""Adoption: what came of it when guidance was used. Events of outcomes, never of intentions."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AdoptionEvent", "Signal", "Track"]


class Track(StrEnum):
    """What kind of guidance an outcome is about."""

    RUNTIME_ADOPTION = "runtime_adoption"
    CARD_CONTEXT = "card_context"
    CARD_EMBEDDING = "card_embedding"
    EVALUATOR = "evaluator"
    RESEARCH_ADAPTER = "research_adapter"


class Signal(StrEnum):
    """What came of it."""

    USED = "used"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    MISS = "miss"
    ROLLBACK = "rollback"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionEvent:
    """One outcome. `seq` is the ledger entry that records it; `metadata` is JSON text."""

    id: str
    seq: int
    track: Track
    signal: Signal
    feature: str
    actor: str
    channel: str
    at: int
    query: str | None = None
    context_hash: str | None = None
    card_id: str | None = None
    evaluator_id: str | None = None
    research_report_id: str | None = None
    note: str | None = None
    metadata: str = "{}"
