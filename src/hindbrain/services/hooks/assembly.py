"""The hooks of a house, put together."""

import os
from typing import TYPE_CHECKING

from hindbrain.services.hooks.brief import Brief
from hindbrain.services.hooks.hooks import Hooks
from hindbrain.services.hooks.saving import Saving
from hindbrain.services.hooks.waiting import Waiting

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["put_together"]


def put_together(house: "House") -> Hooks:
    """One of each part."""

    def user_home() -> str:
        return house.environ.get("HOME") or os.path.expanduser("~")

    return Hooks(
        home=house.home,
        router=house.router,
        recall=house.recall,
        north=house.north,
        brief=Brief(house.router, house.boot, house.wake),
        waiting=Waiting(house.home, house.brains, house.router, lambda: house.cowork.buses, house.clock),
        saving=Saving(house.brains, house.router, house.evidence_ingest, user_home),
        buses=lambda: house.cowork.buses,
        saves=house.settings.text("hooks.save"),
        clock=house.clock,
    )
