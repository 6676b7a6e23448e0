"""Puts the gym together from the rooms of a house."""

from typing import TYPE_CHECKING

from hindbrain.domain.errors import ModelUnavailable, NotReady
from hindbrain.domain.message import Role
from hindbrain.services.gym.gym import Gym
from hindbrain.services.gym.judging import Opinion

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["put_together"]

_TOKENS = 600


def put_together(house: "House") -> Gym:
    """The gym of a house."""
    if house.lane_opener is None:
        raise NotReady("this process opens no sessions for lanes", fix="run it in a terminal: hindbrain gym run")

    def think(system: str, user: str) -> Opinion | None:
        with house.brains.use(house.home.medulla()) as opened:
            mind = house.runs.mind(opened)
            if mind is None:
                raise ModelUnavailable("no model is set", fix="set model_provider, or judge by reproduction")
            thought = mind.think(Role.META_VALIDATOR, task_id=None, system=system, user=user, schema=Opinion, max_tokens=_TOKENS)
            return thought.data if thought is not None else None

    return Gym(house.home, house.gateway, opener=house.lane_opener, clock=house.clock, think=think)
