"""The record of cards: what the ledger says happened to them, held against what the brain holds. Changes nothing."""

from typing import Any

from hindbrain.domain.card import Card, CardEvent
from hindbrain.domain.ledger import Break, Entry
from hindbrain.domain.stored import stored_json
from hindbrain.services.card_acts import REDACTED, said, told
from hindbrain.stores.port import BrainStore

__all__ = ["CardRecord"]

_ACT, _FORGOTTEN = "card.", "card.forgotten"


class CardRecord:
    """Cards and events as they are now; `see` takes the entries one by one, `breaks` says where the two differ.

    Made before the head is read: whatever is held has its entry by then. An entry that came later needs no event yet."""

    def __init__(self, store: BrainStore) -> None:
        self._salt = store.meta("salt") or ""
        self._until = store.head()[0]
        self._cards: dict[str, Card] = {card.id: card for card in store.each_card()}
        self._events: dict[int, CardEvent] = {event.seq: event for event in store.card_events()}
        self._words: dict[str, tuple[int, str]] = {}  # card -> the last entry that tells its words
        self._bare: dict[int, str] = {}  # entries without an event -> card
        self._reworded: dict[int, CardEvent] = {}  # events whose words are not those of their entry
        self._found: list[Break] = []

    def see(self, entry: Entry) -> None:
        if not entry.act.startswith(_ACT):
            return
        if entry.act == _FORGOTTEN:
            self._bare = {seq: card for seq, card in self._bare.items() if card != entry.subject}
            self._words.pop(entry.subject, None)
            return
        payload = _payload(entry)
        if entry.act == REDACTED:
            self._redacted(payload)
            return
        if isinstance(words := payload.get("says"), str):
            self._words[entry.subject] = (entry.seq, words)
        event = self._events.pop(entry.seq, None)
        if event is None:
            self._bare[entry.seq] = entry.subject
            return
        if self._differs(entry, event, payload):
            self._found.append(_otherwise(event))
        elif not payload.get("imported") and told(self._salt, event.reason, event.metadata) != payload.get("told"):
            self._reworded[entry.seq] = event

    def _redacted(self, payload: dict[str, Any]) -> None:
        """Events without words that a person forgot: they are held against what the forgetting recorded of them."""
        words = payload.get("words")
        for seq, digest in words.items() if isinstance(words, dict) else ():
            event = self._reworded.get(int(seq)) if seq.isdigit() else None
            if event is not None and told(self._salt, event.reason, event.metadata) == digest:
                del self._reworded[event.seq]

    def _differs(self, entry: Entry, event: CardEvent, payload: dict[str, Any]) -> bool:
        names = (f"{_ACT}{event.type.value}", event.card_id, event.actor, event.channel)
        if names != (entry.act, entry.subject, entry.actor, entry.channel):
            return True
        if payload.get("imported"):
            return False  # what happened elsewhere is told in the words of elsewhere
        way = (event.before.value if event.before else None, event.after.value if event.after else None)
        return way != (payload.get("from"), payload.get("to"))

    def breaks(self) -> list[Break]:
        made = [*self._found, *map(_otherwise, self._reworded.values())]
        made += [
            Break(seq=seq, reason=f"the history of {card} has no event for it")
            for seq, card in self._bare.items()
            if seq <= self._until
        ]
        made += [Break(seq=seq, reason=f"an event of {event.card_id} has no entry") for seq, event in self._events.items()]
        for card in self._cards.values():
            seq, words = self._words.get(card.id, (0, ""))
            if not card.backed:
                made.append(Break(seq=card.status_seq, reason=f"no entry gave {card.id} the status {card.status.value}"))
            if words and seq <= self._until and words != said(self._salt, card):
                made.append(Break(seq=seq, reason=f"what {card.id} says is not what it recorded"))
        return made


def _otherwise(event: CardEvent) -> Break:
    return Break(seq=event.seq, reason=f"the history of {event.card_id} tells it otherwise")


def _payload(entry: Entry) -> dict[str, Any]:
    try:
        held = stored_json(entry.payload, "ledger")
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}
