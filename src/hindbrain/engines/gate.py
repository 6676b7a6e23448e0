"""The gate: what a card lacks for a status. Pure; knows nothing of who asks beyond whether a person does."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.card import Card, Link, Rank, Role, Status
from hindbrain.domain.evidence import EvidenceId
from hindbrain.policy.cards import GATES, MEANINGS, Gate

__all__ = ["Verdict", "counted", "judged", "policy", "requirements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a gate opens, and every reason why not."""

    card: Card
    target: Status
    reasons: tuple[str, ...]
    counts: Mapping[Role, int]

    @property
    def allowed(self) -> bool:
        return not self.reasons

    def told(self) -> dict[str, Any]:
        gate = GATES[self.card.rank]
        return {
            "card_id": self.card.id,
            "tier": self.card.rank.value,
            "status": self.card.status.value,
            "target_status": self.target.value,
            "allowed": self.allowed,
            "reasons": list(self.reasons),
            "requirements": requirements(gate),
            "evidence_counts": {role.value: self.counts[role] for role in Role},
        }


def requirements(gate: Gate) -> dict[str, Any]:
    """A gate as every surface shows it."""
    return {
        "min_supporting_refs": gate.supporting,
        "min_verification_refs": gate.verification,
        "min_teaching_refs": gate.teaching,
        "reviewer_required": gate.reviewer,
        "counterexamples_block": True,
    }


def policy() -> list[dict[str, Any]]:
    """The whole table, in the order in which ranks are read."""
    return [
        {
            "tier": rank.value,
            "target_status": GATES[rank].target.value,
            "requirements": requirements(GATES[rank]),
            "meaning": MEANINGS[rank],
            "why": GATES[rank].why,
        }
        for rank in Rank
    ]


def counted(links: Collection[Link], hollow: Collection[EvidenceId] = ()) -> Counter[Role]:
    """How much a card cites in each role. What the system reports of itself (`hollow`) verifies nothing."""
    return Counter(
        link.role for link in links if link.live and not (link.role is Role.VERIFICATION and link.evidence_id in hollow)
    )


def judged(
    card: Card,
    links: Collection[Link],
    *,
    target: Status,
    reviewed: bool,
    spared: bool = False,
    hollow: Collection[EvidenceId] = (),
) -> Verdict:
    """What a card lacks. `reviewed`: a person stands behind it. `spared`: a person lets its counterexamples pass.

    Evidence that was deleted is no quiet zero: it is named, and closes the gate until it is back or cited no longer."""
    gate, counts = GATES[card.rank], counted(links, hollow)
    if target is not gate.target:
        reasons = [f"no policy leads a {card.rank.value} card to {target.value}; its target is {gate.target.value}"]
        return Verdict(card=card, target=target, reasons=tuple(reasons), counts=counts)
    reasons = [f"{role.value}: have {counts[role]}, need {need}" for role, need in gate.needs() if counts[role] < need]
    if gate.reviewer and not reviewed:
        reasons.append("a human reviewer is required, on the human channel")
    if counts[Role.COUNTEREXAMPLE] and not spared:
        reasons.append(f"counterexamples block: {counts[Role.COUNTEREXAMPLE]}")
    reasons += [
        f"{link.evidence_id}, cited as {link.role.value}, was deleted"
        for link in links
        if not link.live and link.role is not Role.COUNTEREXAMPLE
    ]
    return Verdict(card=card, target=target, reasons=tuple(reasons), counts=counts)
