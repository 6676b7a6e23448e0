"""Evaluator advice: what an evaluator thinks of a card, as a report. It depends on the request alone and decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.adoption import Signal
from hindbrain.domain.card import Rank, Status
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.adoption import Record, planned
from hindbrain.policy.adoption import SURFACES

__all__ = ["Request", "advised"]

_SURFACE = SURFACES["evaluator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an evaluator says of one subject."""

    evaluator_id: str
    subject_kind: str
    subject_id: str
    proposed_action: str
    evidence_refs: tuple[str, ...] = ()
    counterexample_refs: tuple[str, ...] = ()
    risk_notes: tuple[str, ...] = ()
    note: str | None = None

    @classmethod
    def of(
        cls,
        *,
        evidence_refs: Sequence[str] | None,
        counterexample_refs: Sequence[str] | None,
        risk_notes: Sequence[str] | None,
        note: str | None,
        **named: str,
    ) -> "Request":
        """A request as it was written: blank entries are dropped, a blank name is refused."""
        for name, value in named.items():
            if not value.strip():
                raise InvalidParams(f"{name} is blank", fix=f"say who or what it is with --{name.replace('_', '-')}")
        return cls(
            evidence_refs=_kept(evidence_refs),
            counterexample_refs=_kept(counterexample_refs),
            risk_notes=_kept(risk_notes),
            note=(note or "").strip() or None,
            **{name: value.strip() for name, value in named.items()},
        )


def _kept(given: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(one.strip() for one in given or () if one.strip())


def advised(request: Request) -> dict[str, Any]:
    """The report on a request. The first rule that applies gives the recommendation."""
    asks_for_a_law = request.subject_kind == Rank.DAO_TIAN and Status.CANONICAL.value in request.proposed_action
    reasons = [f"counterexample cited: {one}" for one in request.counterexample_refs]
    reasons += [f"risk: {one}" for one in request.risk_notes]
    if reasons:
        recommendation = "do_not_promote"
    elif not request.evidence_refs:
        recommendation, reasons = "needs_evidence", ["no evidence is cited"]
    elif asks_for_a_law:
        recommendation = "requires_human_review"
    else:
        recommendation = "advisory_support"
    if request.evidence_refs:
        reasons.append(f"evidence cited: {len(request.evidence_refs)}")
    if asks_for_a_law:
        reasons.append("only a person makes a dao_tian card canonical")
    reasons.append("advice has no authority: the gate of the card decides")
    subject = {
        "subject_kind": request.subject_kind,
        "subject_id": request.subject_id,
        "proposed_action": request.proposed_action,
        "recommendation": recommendation,
    }
    record = Record.of(
        _SURFACE.track,
        Signal.USED,
        _SURFACE.feature,
        query=f"{request.subject_kind}:{request.subject_id} {request.proposed_action}",
        evaluator_id=request.evaluator_id,
        note=request.note,
        metadata=subject,
    )
    return {
        "writes": False,
        "evaluator_id": request.evaluator_id,
        **subject,
        "lifecycle_authority": False,
        "deterministic_gate_required": True,
        "requires_human_review": asks_for_a_law,
        "evidence_refs": list(request.evidence_refs),
        "counterexample_refs": list(request.counterexample_refs),
        "risk_notes": list(request.risk_notes),
        "note": request.note,
        "reasons": reasons,
        "adoption_capture": planned(record),
        "rendered": "\n".join(
            [f"{recommendation}: {request.subject_kind} {request.subject_id}", *(f"- {one}" for one in reasons)]
        ),
    }
