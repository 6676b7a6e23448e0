"""Importing: a mission that was begun elsewhere goes on here, as a mission of its own. Its events are kept as told, its claims
are candidates, and the guard looks at the workspace before anything else."""

import json
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.mission import EventType
from hindbrain.engines.course import Course
from hindbrain.engines.mission_import import Adopted, adopted, evidence_of
from hindbrain.engines.mission_payload import told
from hindbrain.engines.moments import stamped
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.control import MissionControl
from hindbrain.services.missions.desk import Desk
from hindbrain.services.missions.log import Draft, Turn
from hindbrain.services.missions.proving import Proving
from hindbrain.services.missions.starting import Asked, Starting
from hindbrain.services.missions.telling import Telling, read_file

__all__ = ["Importing"]

_MOST = 20_000_000  # bytes of a state


class Importing:
    """Takes states in."""

    def __init__(self, desk: Desk, starting: Starting, control: MissionControl, proving: Proving, telling: Telling) -> None:
        self._desk = desk
        self._starting = starting
        self._control = control
        self._proving = proving
        self._telling = telling

    def take_in(self, caller: Caller, *, path: str) -> dict[str, Any]:
        """A state file as a mission of the caller."""
        try:
            state = adopted(json.loads(read_file(path, _MOST)))
        except (ValueError, RecursionError) as broken:
            raise InvalidParams("the file is no JSON", fix="give the state file as it was written") from broken
        asked = Asked(
            task=state.task,
            mode=state.mode,
            repo=state.repo,
            budget=state.budget,
            risk=state.risk,
            criteria=state.criteria,
            non_goals=state.non_goals,
        )
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (*(one.text for one in state.claims), *(one.target for one in state.events)))
            looked = self._starting.look(caller, asked)
            begun = self._starting.begin(opened, caller, asked, looked, then=lambda turn: self._written(turn, state))
            self._control.begun(opened, begun.course)
            return self._told(opened, begun.course, state)

    def _written(self, turn: Turn, state: Adopted) -> None:
        note = {"imported_from": told(state.mission_id, 80), "agent": told(state.agent_id, 200), "events": len(state.events)}
        turn.add(Draft(event_type=EventType.NOTE, source="import", target="import", payload=note))
        for one in state.events:
            turn.add(
                Draft(
                    event_type=one.event_type,
                    actor=turn.agent,
                    source="import",
                    tool=one.tool,
                    target=one.target,
                    evidence=evidence_of(one),
                    outcome=one.outcome,
                    failure_class=one.failure_class,
                    duration_ms=one.duration_ms,
                    confidence=one.confidence,
                    payload=one.payload,
                    timestamp=stamped(one.at) if one.at is not None and one.at <= turn.now else None,
                )
            )
        for claim in state.claims:
            self._proving.claim(turn, claim.text, targets=None, criteria=None, refs=None, confidence=claim.confidence)

    def _told(self, opened: OpenBrain, course: Course, state: Adopted) -> dict[str, Any]:
        shown = self._telling.state(opened, course, events=10)
        proven = sum(one.verdict == "verified_for_mission" for one in state.claims)
        text = f"{state.mission_id or 'a mission'} goes on as {course.spec.mission_id}: {len(state.events)} events"
        if proven:
            text += f"\n{proven} claims were verified elsewhere and are candidates here: verify them again"
        return {
            **shown,
            "schema": "hindbrain-mission-import-v1",
            "imported_from": state.mission_id,
            "imported_events": len(state.events),
            "imported_claims": len(state.claims),
            "rendered": f"{text}\n{shown['rendered']}",
        }
