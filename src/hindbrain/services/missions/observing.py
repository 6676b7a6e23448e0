"""Observing: calls of Hindbrain's own tools inside a mission are its events, written by the runtime. The agent need not report
them, and cannot leave them out."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, StoreBehind
from hindbrain.domain.mission import AGENT_STARTED, EventType, EvidenceClass, MissionStatus
from hindbrain.engines.mission_faults import is_step, sight
from hindbrain.engines.mission_payload import kept, told
from hindbrain.engines.moments import stamped
from hindbrain.engines.observed_call import observed
from hindbrain.policy.recovery import RECOVERY_STEPS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.handshakes import Handshakes
from hindbrain.services.missions.faults import noted, stepped
from hindbrain.services.missions.log import Draft, MissionLog, Turn
from hindbrain.services.routing import Router

__all__ = ["Observing", "circled"]

LOG = logging.getLogger("hindbrain.missions")


class Observing:
    """Follows calls. What cannot be written is logged: an answer is never lost for it."""

    def __init__(self, brains: Brains, router: Router, log: MissionLog, handshakes: Handshakes) -> None:
        self._brains = brains
        self._router = router
        self._log = log
        self._handshakes = handshakes

    def saw(
        self, caller: Caller, name: str, given: Mapping[str, Any], answer: Mapping[str, Any], ms: int, mission_id: str | None
    ) -> None:
        """A call was answered. It belongs to the mission it names, or to the one active mission of its agent."""
        try:
            # A database of an older release has no active mission, and a doctor's look is not to bring it forward.
            with suppress(StoreBehind), self._brains.looking():
                self._saw(caller, name, given, answer, ms, mission_id)
        except (HindbrainError, OSError) as failure:
            LOG.warning("a call of %s was not written to its mission: %s", name, failure)

    def _saw(
        self, caller: Caller, name: str, given: Mapping[str, Any], answer: Mapping[str, Any], ms: int, mission_id: str | None
    ) -> None:
        brain = self._router.route(caller).brain
        if brain is None:
            return
        with self._brains.use(brain) as opened:
            mine = opened.store.missions(agent=caller.agent, status=MissionStatus.ACTIVE.value, limit=2)
            meant = [one.mission_id for one in mine if mission_id is None or one.mission_id == mission_id]
            if len(meant) != 1:
                return
            if name in RECOVERY_STEPS:
                self._recovering(opened, caller, meant[0], name, given, answer, ms)
                return
            if (seen := observed(name, given, answer)) is None:
                return
            with self._log.turn(opened, caller, meant[0]) as turn:
                turn.add(
                    Draft(
                        event_type=seen.event_type,
                        actor=AGENT_STARTED + caller.agent,
                        tool=name,
                        target=told(seen.target),
                        evidence=seen.evidence,
                        outcome=seen.outcome,
                        duration_ms=max(0, ms),
                        payload=kept(seen.payload),
                    )
                )
                noted(turn, sight(name, given, answer), by=name)
                circled(turn)

    def _recovering(
        self,
        opened: OpenBrain,
        caller: Caller,
        mission: str,
        name: str,
        given: Mapping[str, Any],
        answer: Mapping[str, Any],
        ms: int,
    ) -> None:
        """A call of the recovery plane: what it showed of the runtime, and that it was a step. Mostly there is nothing to say."""
        seen = sight(name, given, answer)
        shaken = self._handshakes.seen_at(caller.session) if name == "session_handshake" else None
        with self._log.reading(opened, mission) as course:
            fresh = shaken is not None and shaken > course.created_at and caller.session not in course.directs_by_target
            if not (fresh or seen.new(course) or seen.over(course) or is_step(course, name, answer)):
                return
        with self._log.turn(opened, caller, mission) as turn:
            noted(turn, seen, by=name, shaken=self._handshakes.since)
            if fresh and shaken is not None and caller.session not in turn.course.directs_by_target:
                payload = {"session_id": caller.session, "handshake_at": stamped(shaken)}
                turn.add(
                    Draft(
                        event_type=EventType.HOST_HANDSHAKE,
                        actor=turn.agent,
                        tool=name,
                        target=caller.session,
                        evidence=EvidenceClass.HOST_HANDSHAKE,
                        payload=payload,
                    )
                )
            stepped(turn, name, answer, ms)


def circled(turn: Turn) -> None:
    """Write down where the mission goes in circles now."""
    for found in turn.course.loops.look():
        draft = Draft(
            event_type=EventType.LOOP_WARNING, target=found.item, failure_class=found.failure_class, payload=found.payload
        )
        turn.add(draft)
