"""Faults: a runtime mismatch that a mission meets is an event of it, once, and so is its end when it is proven; so are
the steps that are taken. Written by the runtime, whether the agent says so or not."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hindbrain.domain.handshake import Handshake
from hindbrain.domain.mission import EventType, EvidenceClass, Outcome
from hindbrain.engines.diagnosis import DIAGNOSES
from hindbrain.engines.mission_faults import Sight, is_step
from hindbrain.engines.mission_payload import kept
from hindbrain.engines.moments import stamped
from hindbrain.policy.recovery import GUARD_SHOWS, PROOF_BY_LOOK, RECOVERY_STEPS
from hindbrain.services.missions.guard import Looked, guard_payload
from hindbrain.services.missions.log import Draft, Turn

__all__ = ["guarded", "noted", "stepped"]

Shaken = Callable[[int, str], Handshake | None]


def guarded(turn: Turn, looked: Looked, warnings: Sequence[str] = ()) -> None:
    """A look of the guard, as an event, and what it says of the runtime."""
    turn.add(Draft(event_type=EventType.CONTEXT_GUARD, target=".", payload=guard_payload(looked, warnings)))
    noted(turn, Sight(faults=looked.faults, looked_for=GUARD_SHOWS), by="guard", proven=GUARD_SHOWS)


def noted(turn: Turn, sight: Sight, *, by: str, proven: frozenset[str] = PROOF_BY_LOOK, shaken: Shaken | None = None) -> None:
    """Write down what is new and what is over. Only a look that is proof itself, or a later handshake, ends a fault."""
    course = turn.course
    for fault in sight.new(course):
        payload = {
            "diagnosis": fault.name,
            "evidence": kept(dict(fault.evidence)),
            "proof_required": list(DIAGNOSES[fault.name][2]),
            "seen_by": by,
        }
        turn.add(Draft(event_type=EventType.RECOVERY, target=fault.name, outcome=Outcome.NOT_RECOVERED, payload=payload))
    for name in sight.over(course):
        shown = shaken(course.open_faults[name], course.spec.repo) if shaken is not None and name not in proven else None
        if name not in proven and shown is None:
            continue
        payload = {"diagnosis": name, "seen_by": by, "proof": by if shown is None else "host_handshake"}
        if shown is not None:
            payload |= {"session_id": shown.session_id, "handshake_at": stamped(shown.at)}
        turn.add(
            Draft(
                event_type=EventType.RECOVERY,
                target=name,
                outcome=Outcome.RECOVERED,
                evidence=EvidenceClass.HOST_HANDSHAKE if shown is not None else None,
                payload=payload,
            )
        )


def stepped(turn: Turn, name: str, answer: Mapping[str, Any], ms: int) -> None:
    """A step of a recovery that the agent took with a tool of ours. It proves nothing by itself."""
    if not is_step(turn.course, name, answer):
        return
    payload = {"step": name, "mutating": RECOVERY_STEPS[name], "change_id": answer.get("change_id")}
    turn.add(
        Draft(
            event_type=EventType.RECOVERY,
            actor=turn.agent,
            tool=name,
            target=name,
            outcome=Outcome.NOT_RECOVERED,
            duration_ms=max(0, ms),
            payload={key: value for key, value in payload.items() if value is not None},
        )
    )
