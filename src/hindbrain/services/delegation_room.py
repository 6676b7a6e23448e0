"""The delegation room: packets and debriefs, put together when somebody asks for them."""

from typing import TYPE_CHECKING

from hindbrain.services.debriefing import Debriefing
from hindbrain.services.delegation import Delegation
from hindbrain.services.delegation_ground import Grounding

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["DelegationRoom"]


class DelegationRoom:
    """One of each."""

    def __init__(self, house: "House") -> None:
        ground = Grounding(house.graphs, lambda: house.graph, house.clock)
        self.packets = Delegation(
            house.brains,
            house.router,
            house.contract,
            house.gateway,
            house.recall,
            house.feeds,
            ground,
            lambda caller: house.standing.playbook(caller, scope=None, available=None, missing=(), observed={}),
            house.clock,
        )
        self.debriefing = Debriefing(
            house.brains,
            house.router,
            house.gateway,
            house.claims,
            house.refusals,
            house.grades,
            ground,
            lambda: house.graph,
            house.clock,
        )
