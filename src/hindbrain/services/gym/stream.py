"""Streams of lanes: one event for every use of a tool, on paper for a lane without a mission, in its mission for one with it."""

from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.gym_fixture import Finding
from hindbrain.domain.mission import AGENT_STARTED, EventType, MissionEvent, Outcome, Phase
from hindbrain.domain.typed import converted
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import EVENTS
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.probing import Probed
from hindbrain.services.gym.toolbox import Told

__all__ = ["MissionStream", "PaperStream"]

_RECORDED = frozenset({EventType.SEMANTIC_SEARCH, EventType.IMPACT})


class PaperStream:
    """Events in the form of a mission's, without one."""

    def __init__(self, lane: str, agent: str, clock: Callable[[], int]) -> None:
        self._lane, self._agent, self._clock = lane, agent, clock
        self.events: list[MissionEvent] = []

    def told(self, told: Told) -> str:
        """One use of a tool."""
        return self.add(told.event_type, told.target, told.outcome, told.payload, tool=told.tool, duration_ms=told.duration_ms)

    def found(self, finding: Finding) -> str:
        """A finding is announced."""
        where = f"{finding.path}:{finding.line}" if finding.line else finding.path
        return self.add(EventType.CLAIM, where, Outcome.NOTED, {"finding_id": finding.finding_id})

    def add(
        self,
        kind: EventType,
        target: str,
        outcome: Outcome,
        payload: Mapping[str, Any],
        *,
        tool: str | None = None,
        duration_ms: int = 0,
    ) -> str:
        """Put one event at the end."""
        seq = len(self.events) + 1
        rule = EVENTS[kind]
        self.events.append(
            MissionEvent(
                event_id=f"evt_{seq}",
                mission_id=self._lane,
                seq=seq,
                timestamp=stamped(self._clock()),
                actor=f"{AGENT_STARTED}{self._agent}",
                source="agent",
                phase=Phase.VERIFY,
                event_type=kind,
                tool_family=rule.family,
                evidence_class=rule.evidence,
                outcome=outcome,
                tool=tool,
                target=target,
                duration_ms=duration_ms,
                payload=dict(payload),
            )
        )
        return f"evt_{seq}"


class MissionStream:
    """Events told to a mission. What the runtime makes of each is the mission's affair."""

    def __init__(self, session: LaneSession, mission_id: str) -> None:
        self._session = session
        self.mission_id = mission_id
        self.refused: list[str] = []

    def told(self, told: Told) -> str:
        """One use of a tool. What is asked of Hindbrain itself the runtime records without being told."""
        if told.event_type in _RECORDED:
            return ""
        if told.ran is not None:  # the lane is the host of its agent: it tells the command that it ran itself
            return self.taken(self._session.call("mission.heard", payload=_hooked(told.ran, told.duration_ms)))
        answer = self._session.call(
            "mission.event",
            mission_id=self.mission_id,
            event_type=told.event_type.value,
            target=told.target,
            outcome=told.outcome.value,
            tool=told.tool,
            payload=dict(told.payload),
            duration_ms=told.duration_ms,
        )
        return self.taken(answer)

    def taken(self, answer: dict[str, Any]) -> str:
        """The event's id; what was refused is kept."""
        if not answer.get("ok"):
            error = answer.get("error") or {}
            self.refused.append(f"{error.get('code')}: {error.get('message')}")
            return ""
        return str(answer.get("event_id") or "")

    def events(self) -> tuple[MissionEvent, ...]:
        """All events of the mission as they are kept."""
        answer = self._session.call("mission.export", mission_id=self.mission_id, format="events")
        return tuple(converted(one, MissionEvent) for one in answer.get("data") or ())


def _hooked(probed: Probed, duration_ms: int) -> dict[str, Any]:
    ran = probed.ran
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": list(probed.command)},
        "tool_response": {
            "stdout": ran.output,
            "stderr": "",
            "interrupted": ran.status is None,
            **({"exit_code": ran.status} if ran.status is not None else {}),
            "duration_ms": duration_ms,
        },
    }
