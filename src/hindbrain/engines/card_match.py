"""Card matching: which cards a question is about, by their words and by the evidence they cite. Pure."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hindbrain.domain.card import Card, CardId, Link, Role
from hindbrain.domain.evidence import EvidenceId
from hindbrain.engines.gate import counted
from hindbrain.engines.text import fold
from hindbrain.policy.cards import GATES, LEXICAL_FLOOR, LEXICAL_SHARE, RELEVANCE_DIGITS

__all__ = ["CardBook", "Matched", "mentions", "stands"]


def stands(card: Card, links: Sequence[Link]) -> bool:
    """Whether a card may be used: active, resting on living evidence, and not on less than its gate asked for because some of
    it was deleted. What was imported with less keeps what it has."""
    if not card.active or not any(link.live and link.role is Role.SUPPORTING for link in links):
        return False
    if all(link.live for link in links):
        return True
    have = counted(links)
    return all(have[role] >= need for role, need in GATES[card.rank].needs())


def mentions(card: Card, query: str) -> bool:
    """Whether a card has every word that somebody typed, at least its beginning."""
    wanted = [fold(word) for word in query.split()]
    if not wanted:
        return True
    said = [fold(word) for text in (card.statement, card.content, card.field, card.id) for word in text.split()]
    return all(any(word.startswith(one) for word in said) for one in wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """A card that a question is about, and how much."""

    card: Card
    relevance: float


class CardBook:
    """The usable cards of one brain, ready to be asked."""

    def __init__(self, cards: Iterable[Card], words: Mapping[CardId, Sequence[str]], links: Iterable[Link]) -> None:
        self.links: dict[CardId, list[Link]] = {}
        self.citing: dict[EvidenceId, list[Link]] = {}
        for link in links:
            self.links.setdefault(link.card_id, []).append(link)
            if link.live:
                self.citing.setdefault(link.evidence_id, []).append(link)
        active = [card for card in cards if card.active]
        self.cards = {card.id: card for card in active if stands(card, self.links.get(card.id, ()))}
        self.lost = len(active) - len(self.cards)  # active, but what they rest on is gone
        self._having: dict[str, list[CardId]] = {}
        for id_ in self.cards:
            for word in dict.fromkeys(words.get(id_, ())):
                self._having.setdefault(word, []).append(id_)

    @property
    def fields(self) -> frozenset[str]:
        """Subjects of which something is known."""
        return frozenset(card.field for card in self.cards.values())

    def contested(self, card_id: CardId) -> bool:
        """Whether something that was seen speaks against a card."""
        return any(link.live and link.role is Role.COUNTEREXAMPLE for link in self.links.get(card_id, ()))

    def by_words(self, terms: Sequence[str]) -> dict[CardId, float]:
        """How much of a question's weight each card has in its words, from 0 to 1; what shares next to nothing is left out."""
        weights = {term: self._rarity(term) for term in terms}
        whole = sum(weights.values())
        scored: dict[CardId, float] = {}
        for term, weight in weights.items():
            for id_ in self._having.get(term, ()):
                scored[id_] = scored.get(id_, 0.0) + weight / whole
        least = max(LEXICAL_FLOOR, LEXICAL_SHARE * max(scored.values(), default=0.0))
        return {id_: score for id_, score in scored.items() if score >= least}

    def _rarity(self, term: str) -> float:
        return math.log(1 + (len(self.cards) + 1) / (len(self._having.get(term, ())) + 0.5))

    def by_evidence(self, scores: Mapping[EvidenceId, float]) -> dict[CardId, float]:
        """The best score among what each card cites. What speaks against a card does not lift it."""
        best: dict[CardId, float] = {}
        for id_, score in scores.items():
            for link in self.citing.get(id_, ()):
                if link.card_id in self.cards and link.role is not Role.COUNTEREXAMPLE:
                    best[link.card_id] = max(best.get(link.card_id, 0.0), score)
        return best

    def matched(self, terms: Sequence[str], scores: Mapping[EvidenceId, float]) -> list[Matched]:
        """Every card that a question is about. The measure is coarse on purpose: a write about something else does not
        change the order of an answer."""
        words, cited = self.by_words(terms), self.by_evidence(scores)
        return [
            Matched(card=self.cards[id_], relevance=round(words.get(id_, 0.0) + cited.get(id_, 0.0), RELEVANCE_DIGITS))
            for id_ in _union(words, cited)
        ]


def _union(one: Collection[CardId], other: Collection[CardId]) -> list[CardId]:
    return sorted({*one, *other})
