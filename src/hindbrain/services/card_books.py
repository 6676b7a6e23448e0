"""Card books: the usable cards of each warm brain, kept in memory until something about them changes."""

import threading
from weakref import WeakKeyDictionary

from hindbrain.engines.card_match import CardBook
from hindbrain.services.brains import OpenBrain
from hindbrain.services.cards import is_here
from hindbrain.stores.port import BrainStore

__all__ = ["CardBooks"]


class CardBooks:
    """One book for each open brain. The store counts each change of a card, its links and their evidence; so a write of another
    process is noticed too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: WeakKeyDictionary[BrainStore, tuple[int, CardBook]] = WeakKeyDictionary()

    def of(self, opened: OpenBrain) -> CardBook:
        store = opened.store
        turn = store.counts().card_turn
        with self._lock:
            held = self._held.get(store)
        if held is not None and held[0] == turn:
            return held[1]
        cards = [card for card in store.each_card() if is_here(opened.brain, card)]
        book = CardBook(cards, store.card_words(), store.links()) if cards else CardBook((), {}, ())
        with self._lock:
            self._held[store] = (turn, book)
        return book
