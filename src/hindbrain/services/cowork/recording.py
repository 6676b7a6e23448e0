"""Recording: the events of a bus, and the bell that tells others of them. Neither holds the words of a message."""

import secrets
from collections.abc import Callable, Mapping, Sequence

from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import CoworkEvent
from hindbrain.engines.deliveries import preview
from hindbrain.engines.moments import stamped
from hindbrain.policy.cowork import TOLD_IDS
from hindbrain.services.events import Events
from hindbrain.stores.bus_records import Bus
from hindbrain.stores.repository import repository_of

__all__ = ["Recorder"]


def _fresh_id() -> str:
    return f"evt-{secrets.token_hex(8)}"


class Recorder:
    """Makes events with a fresh id and the time of now."""

    def __init__(
        self,
        clock: Callable[[], int],
        events: Events,
        *,
        brain_of: Callable[[str], str | None] = lambda project: None,
        fresh_id: Callable[[], str] = _fresh_id,
    ) -> None:
        self.clock = clock
        self._events = events
        self._brain_of = brain_of
        self._fresh_id = fresh_id
        self._made: dict[str, None] = {}  # ids of this process, oldest first

    def now(self) -> str:
        return stamped(self.clock())

    def event(
        self,
        event_type: str,
        status: str,
        *,
        actor: str | None = None,
        targets: Sequence[str] = (),
        transport: str | None = None,
        message: str | None = None,
        details: Mapping[str, str | None] | None = None,
    ) -> CoworkEvent:
        """One event. Of a message it keeps a preview; details without a value are left out."""
        event_id = self._fresh_id()
        self._made[event_id] = None
        if len(self._made) > TOLD_IDS:
            self._made.pop(next(iter(self._made)), None)
        return CoworkEvent(
            event_id=event_id,
            occurred_at=self.now(),
            event_type=event_type,
            status=status,
            actor_agent_id=actor,
            target_agent_ids=tuple(targets),
            transport=transport,
            message_preview=None if message is None else preview(message),
            details={name: value for name, value in (details or {}).items() if value is not None},
        )

    def made(self, event_id: str) -> bool:
        """Whether this process made an event: then it rings the bell for it by itself."""
        return event_id in self._made

    def published(self, bus: Bus, caller: Caller, act: str, *, agents: Sequence[str], messages: Sequence[str] = ()) -> None:
        """Ring the bell: something changed on a bus, for these agents."""
        self.ring(bus.root, act, agents=agents, messages=messages, session=caller.session)

    def ring(self, project: str, act: str, *, agents: Sequence[str], messages: Sequence[str], session: str | None = None) -> None:
        """Ring the bell, also for what another process did."""
        told = {"kind": "cowork.message" if messages else "cowork.agent", "act": f"cowork.{act}", "project": project}
        told["repository"] = repository_of(project).root
        told["brain"] = self._brain_of(project) or told["repository"]
        self._events.publish({**told, "agents": list(agents), "messages": list(messages)}, session=session)
