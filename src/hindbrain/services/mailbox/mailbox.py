"""The mailbox put together: spool, places and distribution of one house."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindbrain.services.mailbox.distribution import Distribution
from hindbrain.services.mailbox.erasing import LetterErasure
from hindbrain.services.mailbox.places import PostRoom
from hindbrain.services.mailbox.spool import Spool

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["Mailbox", "put_together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """What letters need."""

    spool: Spool
    room: PostRoom
    distribution: Distribution
    erasure: LetterErasure


def put_together(house: "House") -> Mailbox:
    """The mailbox of a house."""
    room = PostRoom(house.home, house.brains, house.settings)
    spool = Spool(house.home, house.router, house.gateway, room, house.bell, house.clock)
    distribution = Distribution(house.home, spool, room)
    return Mailbox(spool=spool, room=room, distribution=distribution, erasure=LetterErasure(house.home, distribution))
