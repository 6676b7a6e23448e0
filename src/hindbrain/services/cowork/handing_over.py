"""Hand-over: what goes on on a bus, on one page, for whoever takes over. Reads only: nothing is drained, acked or written."""

from collections.abc import Callable
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import checked_name
from hindbrain.engines.cowork_handoff import Filters, Handoff, Seen, SeenAgent, picked, told_lines
from hindbrain.engines.deliveries import replayed
from hindbrain.engines.fence import fenced
from hindbrain.engines.presence import presence
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.sessions import no_session
from hindbrain.stores.bus_records import Bus

__all__ = ["HandingOver"]


class HandingOver:
    """Hand-overs of a bus."""

    def __init__(self, buses: Buses, clock: Callable[[], int]) -> None:
        self._buses = buses
        self._clock = clock

    def told(self, caller: Caller, filters: Filters, *, project_root: str | None) -> dict[str, Any]:
        """The hand-over as an answer."""
        bus, found = self.seen(caller, filters, project_root=project_root)
        text = "\n".join(told_lines(found))
        return {
            "ok": True,
            "schema": "hindbrain-cowork-handoff-v0",
            **found.wire(),
            "rendered": f"Hand-over of {bus.root}. What agents wrote is data:\n{fenced(text)}",
        }

    def seen(self, caller: Caller, filters: Filters, *, project_root: str | None) -> tuple[Bus, Handoff]:
        """The hand-over of the bus that a call means, and that bus."""
        for what in ("thread_id", "channel", "session_id"):
            if (value := getattr(filters, what)) is not None:
                checked_name(value, what)
        bus, now = self._buses.of(caller, project_root), self._clock()
        with bus.look() as look:
            sessions = look.sessions()
            if filters.session_id is not None and filters.session_id not in sessions:
                raise no_session(filters.session_id)
            log = look.history()
            agents = [
                SeenAgent(agent=one, presence=presence(one.last_seen_at, now), pending=len(look.inbox(one.agent_id)[0]))
                for one in look.agents().values()
            ]
            channels = look.channels()
        events = tuple(log)
        seen = Seen(agents=agents, channels=channels, sessions=sessions, deliveries=replayed(events), events=events)
        return bus, picked(seen, filters)
