"""Attending: who is on the buses of each project right now. Looks only; a bus that cannot be read has nobody to show."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.presence import ONLINE, presence
from hindbrain.services.brains import Brains
from hindbrain.stores.bus_records import Bus
from hindbrain.stores.bus_watch import known_buses
from hindbrain.stores.home import Home

__all__ = ["Attending", "Present"]

LOG = logging.getLogger("hindbrain.cowork")


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """Who is on the buses of a project: everybody that registered, and those that were heard of lately."""

    known: tuple[str, ...] = ()
    online: tuple[str, ...] = ()


class Attending:
    """The buses of a home, by the brains they belong to."""

    def __init__(self, home: Home, brains: Brains, bus_of: Callable[[str], Bus], clock: Callable[[], int]) -> None:
        self._home = home
        self._brains = brains
        self._bus_of = bus_of
        self._clock = clock

    def by_brain(self) -> dict[str, Present]:
        """Who works where, by the names of brains. A checkout belongs to the brain that covers it."""
        now = self._clock()
        found: dict[str, dict[str, bool]] = {}
        for _, project in known_buses(self._home):
            try:
                if (brain := self._brains.covering(project)) is None:
                    continue
                with self._bus_of(project).look() as look:
                    agents = look.agents()
            except (HindbrainError, OSError) as error:
                LOG.warning("the bus of %s was not looked at: %s", project, error)
                continue
            here = found.setdefault(brain.name, {})
            for name, agent in agents.items():
                here[name] = here.get(name, False) or presence(agent.last_seen_at, now) == ONLINE
        return {
            name: Present(known=tuple(sorted(here)), online=tuple(sorted(one for one, there in here.items() if there)))
            for name, here in found.items()
        }
