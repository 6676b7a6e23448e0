"""The card part of the port: what a brain's database must do with knowledge, what it cites, its history, and outcomes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from hindbrain.domain.adoption import AdoptionEvent
from hindbrain.domain.card import Card, CardEvent, CardId, Link, Role
from hindbrain.domain.evidence import EvidenceId

__all__ = ["CardFilter", "CardReading", "CardWriting", "FieldCount", "ForeignCard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFilter:
    """Which cards are asked for. None asks for nothing."""

    tier: str | None = None
    status: str | None = None
    domain: str | None = None
    field: str | None = None
    anchor_kind: str | None = None
    anchor_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCount:
    """How much was observed of one subject, and the rows that came first."""

    field: str
    rows: int
    first: tuple[EvidenceId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCard:
    """A knowledge row of another program as it stood there, until it becomes a card. `body` is JSON text."""

    id: str
    body: str
    at: int


class CardWriting(Protocol):
    """The part of a transaction that keeps cards and outcomes."""

    def card(self, card_id: CardId) -> Card | None:
        """A card as this transaction sees it."""
        ...

    def card_links(self, card_id: CardId) -> tuple[Link, ...]:
        """What a card cites as this transaction sees it, in the order in which it was linked."""
        ...

    def put_card(self, card: Card, *, terms: Sequence[str]) -> None:
        """Keep a card as it is now. `terms` are the words it is found by."""
        ...

    def put_link(self, link: Link) -> bool:
        """Cite a row of evidence that is there; False when the card cites it in this role already."""
        ...

    def drop_link(self, card_id: CardId, evidence_id: EvidenceId, role: Role) -> bool:
        """Cite it no longer; False when it was not cited so."""
        ...

    def put_card_event(self, event: CardEvent) -> None:
        """Tell how a card changed. Nothing told is ever changed, unless a person forgets it."""
        ...

    def redact_card_events(self, card_id: CardId, events: Sequence[CardEvent]) -> None:
        """Replace the history of a card by the same without words that a person forgot."""
        ...

    def erase_card(self, card_id: CardId) -> None:
        """Delete a card for good, with what it cites and its history. Outcomes stay."""
        ...

    def put_adoption(self, event: AdoptionEvent) -> None:
        """Keep an outcome. InvalidParams when its id is taken."""
        ...

    def erase_outcomes(self, ids: Sequence[str]) -> None:
        """Delete outcomes for good."""
        ...

    def erase_foreign_cards(self, ids: Sequence[str]) -> None:
        """Delete knowledge rows of another program for good."""
        ...

    def put_foreign_card(self, card: ForeignCard) -> None:
        """Keep a knowledge row of another program; one that is there stays as it is."""
        ...


class CardReading(Protocol):
    """The reads of cards and outcomes."""

    def cards(self, ids: Sequence[CardId]) -> dict[CardId, Card]:
        """Cards by id."""
        ...

    def each_card(self, where: CardFilter | None = None) -> Iterator[Card]:
        """Every card that a filter lets through, by rank, status and id."""
        ...

    def foremost_cards(self, limit: int, *, after: int = 0) -> tuple[Card, ...]:
        """Cards that are neither demoted nor retired by importance, then the last made first, then by id downwards."""
        ...

    def standing(self, *, published: bool = True) -> dict[tuple[str, str], int]:
        """(tier, status) -> how many cards; without `published` only those that are not anchored globally."""
        ...

    def card_words(self) -> dict[CardId, tuple[str, ...]]:
        """The words by which each card is found."""
        ...

    def links(self, *, cards: Sequence[CardId] | None = None, evidence: Sequence[EvidenceId] | None = None) -> tuple[Link, ...]:
        """What cards cite: of these cards, of these rows of evidence, or all; by card and in the order of linking."""
        ...

    def card_events(self, card_id: CardId | None = None) -> tuple[CardEvent, ...]:
        """How a card, or every card, changed; in order."""
        ...

    def adoptions(self, *, track: str | None = None, feature: str | None = None) -> tuple[AdoptionEvent, ...]:
        """Outcomes, in the order in which they were recorded."""
        ...

    def foreign_cards(self) -> tuple[ForeignCard, ...]:
        """Knowledge rows of another program, by id."""
        ...

    def fields(self, *, least: int, samples: int) -> tuple[FieldCount, ...]:
        """Subjects with at least so many live rows of evidence, by name, each with the rows that came first."""
        ...
