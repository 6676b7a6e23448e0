"""The audience of a brain: a person hears of every brain, an agent of its own project and of the medulla."""

import os
from collections.abc import Callable

from hindbrain.domain.brain import MEDULLA, contains
from hindbrain.domain.caller import Caller, Channel
from hindbrain.services.brains import Brains
from hindbrain.services.events import Event
from hindbrain.stores.births import birth_of
from hindbrain.stores.repository import repository_of

__all__ = ["Audience"]


class Audience:
    """Decides which events and findings reach which caller. Labels, agents and ids of another project never reach an agent.

    `wide` is whether this machine lets anybody but a person read across projects."""

    def __init__(self, brains: Brains, *, wide: bool) -> None:
        self._brains = brains
        self._wide = wide

    def reads_all(self, caller: Caller) -> bool:
        """Whether a caller may read about every brain: a person, and a process of the user unless that is switched off."""
        return caller.reads_all_brains(wide=self._wide)

    def names(self, caller: Caller) -> frozenset[str]:
        """The brains whose events an agent may hear."""
        root = caller.root or self._brains.bound_root
        if root is None or self._brains.replaced(root) is not None:  # another repository has the brain of this path
            return frozenset({MEDULLA})
        own = self._brains.name_covering(root) or repository_of(root).root
        return frozenset({MEDULLA, own})

    def hears(self, caller: Caller) -> Callable[[Event], bool]:
        """A filter for the events of one listener. A project that gets its brain while somebody listens is heard from then on."""
        if caller.channel is Channel.HUMAN:
            return self._is_current
        held = [self.names(caller)]

        def heard(event: Event) -> bool:
            brain = str(event.data.get("brain"))
            if brain not in held[0] and caller.root is not None and contains(brain, caller.root):
                held[0] = self.names(caller)
            return brain in held[0] and self._is_current(event)

        return heard

    def owner_of(self, name: str) -> object:
        """Which brain or directory has a name now. Events are kept for a while, and another one may get the name meanwhile."""
        brain = self._brains.home.project(name) if os.path.isabs(name) else None
        if brain is not None:
            return brain.mark
        return birth_of(name) if os.path.isabs(name) else None

    def _is_current(self, event: Event) -> bool:
        return event.owner is None or event.owner == self.owner_of(str(event.data.get("brain")))
