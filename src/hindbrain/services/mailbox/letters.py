"""What is read from letters, put together for one house: the cached reader, the sweep, and the doctor's numbers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindbrain.services.confusion import ConfusionNumbers
from hindbrain.services.mailbox.reading import Reading
from hindbrain.services.mailbox.sweep import Sweep

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["Letters", "put_together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """The readers of letters."""

    reading: Reading
    sweep: Sweep
    numbers: ConfusionNumbers


def put_together(house: "House") -> Letters:
    """The readers of a house. They are kept: what they remember of files saves reading them again."""
    mailbox, settings = house.mailbox, house.settings
    foreign = [name.strip() for name in settings.text("foreign_tools").split(",")]
    reading = Reading(house.home, mailbox.spool, mailbox.room, foreign_tools=foreign)
    sweep = Sweep(house.brains, house.router, reading, mailbox.distribution, wide=settings.flag("all_brains"))
    return Letters(reading=reading, sweep=sweep, numbers=ConfusionNumbers(sweep))
