"""Proving: conclusions of a mission, registered and judged. What a reference is worth the witness finds out; what it proves an
engine decides; a verification that fails ends a round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.errors import InvalidParams, UnknownMission
from hindbrain.domain.mission import EventType, EvidenceClass, MissionClaim, MissionEvent, Outcome, VerifyResult
from hindbrain.domain.mission_comparison import SecondReading
from hindbrain.engines.course import Course
from hindbrain.engines.mission_evidence import judged, sources_of
from hindbrain.engines.mission_rounds import Round
from hindbrain.engines.moments import stamped
from hindbrain.engines.second_reading import question, read_again
from hindbrain.policy.non_claims import STANDING
from hindbrain.policy.proof import AS_COMPARED
from hindbrain.services.missions.control import MissionControl
from hindbrain.services.missions.desk import chosen
from hindbrain.services.missions.log import Draft, MissionLog, Turn, new_id
from hindbrain.services.missions.second_reader import ReaderNeeded
from hindbrain.services.missions.surroundings import existing, may_read
from hindbrain.services.missions.witness import Witness

__all__ = ["Judged", "Proving"]

_OUTCOMES = {"verified_for_mission": Outcome.HYPOTHESIS_SUPPORTED, "rejected": Outcome.HYPOTHESIS_REFUTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict, the event that records it, and the round it ended, if it failed."""

    result: VerifyResult
    event: MissionEvent
    round: Round | None


class Proving:
    """Claims of missions."""

    def __init__(self, log: MissionLog, witness: Witness, control: MissionControl) -> None:
        self._log = log
        self._witness = witness
        self._control = control

    def claim(
        self,
        turn: Turn,
        text: str,
        *,
        targets: Sequence[str] | None,
        criteria: list[str] | None,
        refs: Sequence[str] | None,
        confidence: float | None,
    ) -> MissionClaim:
        """Register a candidate."""
        if not text.strip():
            raise InvalidParams("the claim is empty", fix="say in a sentence what holds")
        claim = MissionClaim(
            claim_id=new_id("clm", turn.now),
            claim=text.strip(),
            created_at=stamped(turn.now),
            targets=self._witness.targets(turn.course, targets or ()),
            criteria_refs=_criteria(turn.course, criteria),
            evidence_refs=tuple(refs or ()),
            confidence_reported=confidence,
        )
        turn.add(
            Draft(
                event_type=EventType.CLAIM,
                actor=turn.agent,
                source="agent",
                target=claim.claim_id,
                confidence=confidence,
                payload={
                    "claim": msgspec.to_builtins(claim),
                    "existing": list(existing(turn.course.spec.repo, claim.targets) if may_read(turn) else ()),
                },
            )
        )
        return claim

    def verify(
        self,
        turn: Turn,
        told: str,
        *,
        label: str,
        refs: Sequence[str] | None,
        targets: Sequence[str] | None,
        criteria: list[str] | None,
        confidence: float | None,
        read: tuple[str, SecondReading] | None = None,
        second: bool = False,
    ) -> Judged:
        """Judge a claim by id, or a text: one that was not registered is registered by this. With a `second` reader a claim that
        is shown raises ReaderNeeded, until `read` holds the question and its answer."""
        kind = EvidenceClass(chosen([one.value for one in EvidenceClass], label, "evidence_class"))
        claim = self._named(turn.course, told) or self.claim(
            turn, told, targets=targets, criteria=criteria, refs=refs, confidence=confidence
        )
        if (thrashed := turn.course.loops.thrashed(claim.claim_id)) is not None:
            raise InvalidParams(f"{thrashed.message}", fix="read or run something that bears on it first", rule=thrashed.rule)
        claim = msgspec.structs.replace(
            claim,
            targets=self._witness.targets(turn.course, targets) if targets else claim.targets,
            criteria_refs=_criteria(turn.course, criteria) or claim.criteria_refs,
        )
        given = tuple(refs) if refs else claim.evidence_refs
        resolved = self._witness.references(turn, given, label=kind, targets=claim.targets)
        found = judged(claim, resolved, label=kind, mode=turn.course.spec.mode, changed=self._witness.changed(turn))
        if second and found.verdict == "verified_for_mission":
            asked = question(claim.claim, sources_of(resolved))
            if read is None or read[0] != asked:
                raise ReaderNeeded(asked)
            found = read_again(found, read[1])
        after = found.applied(claim, stamp=stamped(turn.now), reported=confidence)
        return self._written(
            turn, after, found.result(turn.course.spec.mission_id, claim.claim_id, (*STANDING, AS_COMPARED)), given, confidence
        )

    def _written(
        self, turn: Turn, claim: MissionClaim, result: VerifyResult, refs: tuple[str, ...], confidence: float | None
    ) -> Judged:
        course = turn.course
        payload: dict[str, Any] = {"claim": msgspec.to_builtins(claim), "references": list(refs), "verdict": claim.verdict}
        made: Round | None = None
        if claim.verdict in ("rejected", "insufficient_evidence"):
            before, course.claims[claim.claim_id] = course.claims.get(claim.claim_id), claim
            made = self._control.round(turn.opened, course, claim.claim_id, self._since(turn), turn.now)
            if before is not None:
                course.claims[claim.claim_id] = before  # the event below tells it, as it does when it is read again
            payload["control"] = msgspec.to_builtins(self._control.state(made))
            payload["round"] = {"request": msgspec.to_builtins(made.request)}
        event = turn.add(
            Draft(
                event_type=EventType.VERIFY,
                target=claim.claim_id,
                outcome=_OUTCOMES.get(claim.verdict, Outcome.INCONCLUSIVE),
                confidence=confidence,
                payload=payload,
            )
        )
        return Judged(result=result, event=event, round=made)

    def _since(self, turn: Turn) -> tuple[MissionEvent, ...]:
        """Events since the last round ended, those of this turn too."""
        last = int(turn.course.rounds[-1]["seq"]) if turn.course.rounds else 0
        kept = {one.seq: one for one in self._log.events(turn.opened, turn.course.spec.mission_id, after=last)}
        kept |= {one.seq: one for one in turn.made if one.seq > last}
        return tuple(kept[seq] for seq in sorted(kept))

    @staticmethod
    def _named(course: Course, told: str) -> MissionClaim | None:
        if told.startswith("clm_"):
            if (found := course.claims.get(told)) is None:
                raise UnknownMission(f"there is no claim {told[:64]!r} in this mission", fix="see mission status")
            return found
        text = told.strip()
        return next((one for one in course.claims.values() if one.claim == text), None)


def _criteria(course: Course, named: list[str] | None) -> tuple[str, ...]:
    """Criteria by their text or their number."""
    known = [one.criterion for one in course.spec.criteria]
    numbers = {str(number): text for number, text in enumerate(known, 1)}
    found = []
    for one in named or ():
        if one in numbers:
            found.append(numbers[one])
        elif one in known:
            found.append(one)
        else:
            raise InvalidParams(
                f"{one[:80]!r} is no criterion of this mission", fix="name one by its text or its number", criteria=known
            )
    return tuple(dict.fromkeys(found))
