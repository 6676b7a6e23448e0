"""Flight records as they are asked for: made from the events, never from the file beside them."""

from typing import Any

import msgspec

from hindbrain.domain.handover import FlightRecord
from hindbrain.engines.flight import recorded, trace_of
from hindbrain.engines.flight_report import answers, rendered
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.log import MissionLog

__all__ = ["Flights"]


class Flights:
    """Reads flights. A mission that is over has one too."""

    def __init__(self, log: MissionLog) -> None:
        self._log = log

    def records(self, opened: OpenBrain, mission_id: str) -> tuple[FlightRecord, ...]:
        """Every record of a mission."""
        with self._log.reading(opened, mission_id) as course:
            return recorded(course.spec, self._log.events(opened, mission_id, limit=course.seq))

    def told(self, opened: OpenBrain, mission_id: str, *, records: int = 50) -> dict[str, Any]:
        """The four answers, and the last of the records."""
        with self._log.reading(opened, mission_id) as course:
            events = self._log.events(opened, mission_id, limit=course.seq)
            made = recorded(course.spec, events)
            said = answers(course, events)
            return {
                "ok": True,
                "schema": "hindbrain-flight-report-v1",
                "mission_id": mission_id,
                "trace_id": trace_of(course.spec),
                "event_count": course.seq,
                **said,
                "records": [msgspec.to_builtins(one) for one in made[max(0, len(made) - records) :]],
                "rendered": rendered(course, said, made[-1] if made else None),
            }
