"""Erasure of reasons: what somebody wrote beside an act, such as why a row was deleted or a card was changed."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hindbrain.domain.caller import Caller
from hindbrain.domain.card import CardEvent, CardId
from hindbrain.domain.ledger import Act
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_acts import REDACTED, told
from hindbrain.services.experience.erasing import Value
from hindbrain.services.forgetting import FORGOTTEN, redacted

__all__ = ["ReasonErasure"]


class ReasonErasure:
    """What `forget` does to the reasons of acts. The acts stay, without the words."""

    name = "reasons"

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Replace every reason and note that holds a forgotten value; answers how many notes, cards and tombstones had one."""
        store = opened.store
        notes = [one for one in store.marks() if value.held_by(one.note)]
        buried = [one for one in store.tombstone_reasons() if value.held_by(one)]
        histories = {card: made for card, events in _histories(opened).items() if (made := _redacted(events, value)) != events}
        if not notes and not buried and not histories:
            return 0
        with store.writing() as writer:
            for mark in notes:
                writer.redact_mark(replace(mark, note=FORGOTTEN))
            for card, events in histories.items():
                writer.redact_card_events(card, events)
                words = {str(one.seq): told(value.salt, one.reason, one.metadata) for one in events}
                writer.append(
                    Act(
                        act=REDACTED,
                        subject=card,
                        actor=caller.agent,
                        channel=caller.channel,
                        at=self._clock(),
                        payload={"words": words},
                    )
                )
            stones = sum(writer.redact_tombstones(reason, to=FORGOTTEN) for reason in buried)
        return len(notes) + len(histories) + stones


def _histories(opened: OpenBrain) -> dict[CardId, list[CardEvent]]:
    found: dict[CardId, list[CardEvent]] = {}
    for event in opened.store.card_events():
        found.setdefault(event.card_id, []).append(event)
    return found


def _redacted(events: Sequence[CardEvent], value: Value) -> list[CardEvent]:
    """A history without the words of a value."""
    made = []
    for event in events:
        reason = FORGOTTEN if value.held_by(event.reason) else event.reason
        made.append(replace(event, reason=reason, metadata=redacted(event.metadata.encode(), value)[0].decode()))
    return made
