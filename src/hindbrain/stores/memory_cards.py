"""Memory's cards: what the databases must do with cards and outcomes, said as plainly as Python can."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hindbrain.domain.adoption import AdoptionEvent
from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.card import ACTIVE, RANKS, Card, CardEvent, CardId, Link, Role, Status, gave
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.domain.ledger import Entry
from hindbrain.domain.stored import stored_json
from hindbrain.stores.memory_evidence import EvidenceState, MemoryEvidenceWriter
from hindbrain.stores.port import CardFilter, FieldCount, ForeignCard, Words
from hindbrain.stores.sql_cards import taken
from hindbrain.stores.sql_terms import joined

__all__ = ["CardState", "MemoryCardReads", "MemoryCardWriter"]

_STATUSES = tuple(Status)
_Key = tuple[CardId, EvidenceId, Role]


def _ends(entry: Entry) -> bool:
    """Whether an entry gave its card another status, or ended the card."""
    return entry.act == "card.forgotten" or "to" in stored_json(entry.payload, "ledger")


@dataclass(slots=True)
class CardState(EvidenceState):
    """What a brain holds of cards and outcomes."""

    ledger: list[Entry] = field(default_factory=list)
    cards: dict[CardId, tuple[Card, tuple[str, ...]]] = field(default_factory=dict)
    links: dict[_Key, tuple[int, Link]] = field(default_factory=dict)  # with the place in the order of linking
    card_events: list[CardEvent] = field(default_factory=list)
    adoptions: dict[str, AdoptionEvent] = field(default_factory=dict)
    foreign_cards: dict[str, ForeignCard] = field(default_factory=dict)
    card_turn: int = 0

    def card(self, card_id: CardId) -> Card | None:
        held = self.cards.get(card_id)
        return replace(held[0], backed=self._backed(held[0])) if held else None

    def _backed(self, card: Card) -> bool:
        entry = self.ledger[card.status_seq - 1] if 0 < card.status_seq <= len(self.ledger) else None
        if entry is None or entry.subject != card.id:
            return False
        told = any((one.seq, one.card_id, one.after) == (entry.seq, card.id, card.status) for one in self.card_events)
        over = any(_ends(one) for one in self.ledger[entry.seq :] if one.subject == card.id)
        return told and not over and gave(entry, rank=card.rank, status=card.status)

    def cited(self, cards: Collection[CardId] | None = None, evidence: Collection[EvidenceId] | None = None) -> list[Link]:
        chosen = [
            (link.card_id, place, link)
            for place, link in self.links.values()
            if (cards is None or link.card_id in cards) and (evidence is None or link.evidence_id in evidence)
        ]
        return [
            replace(link, live=self.evidence[link.evidence_id].row.deleted_at is None)
            for _, _, link in sorted(chosen, key=lambda one: one[:2])
        ]


class MemoryCardWriter(MemoryEvidenceWriter):
    """The part of a transaction that keeps cards and outcomes, and sees what cards cite come and go."""

    def __init__(self, state: CardState) -> None:
        super().__init__(state)
        self._cards = state

    def _note_cited(self, ids: Collection[EvidenceId]) -> None:
        self._cards.card_turn += any(key[1] in ids for key in self._cards.links)

    def put_evidence(self, rows: Sequence[tuple[Evidence, Words]]) -> tuple[EvidenceId, ...]:
        held = self._cards.evidence
        back = {one.id for one, _ in rows if one.id in held and held[one.id].row.deleted_at is not None}
        new = super().put_evidence(rows)
        self._note_cited(back)
        return new

    def _end(self, ids: Collection[EvidenceId]) -> tuple[EvidenceId, ...]:
        ended = super()._end(ids)
        self._note_cited(ended)
        return ended

    def erase_evidence(self, ids: Collection[EvidenceId]) -> int:
        erased = super().erase_evidence(ids)
        self._note_cited(ids)
        self._cards.links = {key: held for key, held in self._cards.links.items() if key[1] not in ids}
        return erased

    def observed(self, ids: Collection[EvidenceId]) -> dict[EvidenceId, Evidence]:
        held = self._cards.evidence
        return {id_: held[id_].row for id_ in dict.fromkeys(ids) if id_ in held and held[id_].row.deleted_at is None}

    def card(self, card_id: CardId) -> Card | None:
        return self._cards.card(card_id)

    def card_links(self, card_id: CardId) -> tuple[Link, ...]:
        return tuple(self._cards.cited(cards=(card_id,)))

    def put_card(self, card: Card, *, terms: Sequence[str]) -> None:
        self._cards.cards[card.id] = (card, tuple(joined(terms).split()))
        self._cards.card_turn += 1

    def put_link(self, link: Link) -> bool:
        key = (link.card_id, link.evidence_id, link.role)
        if key in self._cards.links:
            return False
        self._cards.card_turn += 1
        self._cards.links[key] = (self._cards.card_turn, link)
        return True

    def drop_link(self, card_id: CardId, evidence_id: EvidenceId, role: Role) -> bool:
        gone = self._cards.links.pop((card_id, evidence_id, role), None) is not None
        self._cards.card_turn += gone
        return gone

    def put_card_event(self, event: CardEvent) -> None:
        self._cards.card_events.append(event)

    def redact_card_events(self, card_id: CardId, events: Sequence[CardEvent]) -> None:
        others = [event for event in self._cards.card_events if event.card_id != card_id]
        self._cards.card_events = [*others, *events]

    def erase_card(self, card_id: CardId) -> None:
        state = self._cards
        state.links = {key: held for key, held in state.links.items() if key[0] != card_id}
        state.card_events = [event for event in state.card_events if event.card_id != card_id]
        state.cards.pop(card_id, None)
        state.card_turn += 1

    def erase_outcomes(self, ids: Sequence[str]) -> None:
        self._cards.adoptions = {id_: one for id_, one in self._cards.adoptions.items() if id_ not in ids}

    def erase_foreign_cards(self, ids: Sequence[str]) -> None:
        self._cards.foreign_cards = {id_: one for id_, one in self._cards.foreign_cards.items() if id_ not in ids}

    def put_adoption(self, event: AdoptionEvent) -> None:
        if event.id in self._cards.adoptions:
            raise taken(event.id)
        self._cards.adoptions[event.id] = event

    def put_foreign_card(self, card: ForeignCard) -> None:
        self._cards.foreign_cards.setdefault(card.id, card)


class MemoryCardReads:
    """The reads of cards and outcomes."""

    _state: CardState

    def cards(self, ids: Sequence[CardId]) -> dict[CardId, Card]:
        state = self._state
        return {id_: card for id_ in ids if (card := state.card(id_)) is not None}

    def each_card(self, where: CardFilter | None = None) -> Iterator[Card]:
        state = self._state
        found = [card for id_ in state.cards if (card := state.card(id_)) is not None and _admitted(where, card)]
        yield from sorted(found, key=lambda card: (RANKS.index(card.rank), _STATUSES.index(card.status), card.id))

    def foremost_cards(self, limit: int, *, after: int = 0) -> tuple[Card, ...]:
        standing = [card for card in self.each_card() if card.status not in (Status.DEMOTED, Status.RETIRED)]
        found = sorted(standing, key=lambda card: (card.importance, card.created_at, card.id), reverse=True)
        return tuple(found[max(after, 0) :][: max(limit, 0)])

    def standing(self, *, published: bool = True) -> dict[tuple[str, str], int]:
        cards = (card for card in self.each_card() if published or card.anchor.kind is not AnchorKind.GLOBAL)
        return dict(Counter((card.rank.value, card.status.value) for card in cards))

    def card_words(self) -> dict[CardId, tuple[str, ...]]:
        return {id_: words for id_, (_, words) in sorted(self._state.cards.items())}

    def withheld(self) -> dict[int, EvidenceId]:
        active = [card.id for card in self.each_card() if card.status in ACTIVE]
        cited = {link.evidence_id for link in self._state.cited(active, None)}
        held = self._state.live_evidence()
        return {one.turn: one.row.id for one in held if one.row.origin is not None and one.row.id not in cited}

    def links(self, *, cards: Sequence[CardId] | None = None, evidence: Sequence[EvidenceId] | None = None) -> tuple[Link, ...]:
        return tuple(self._state.cited(cards, evidence))

    def card_events(self, card_id: CardId | None = None) -> tuple[CardEvent, ...]:
        return tuple(event for event in self._state.card_events if card_id in (None, event.card_id))

    def adoptions(self, *, track: str | None = None, feature: str | None = None) -> tuple[AdoptionEvent, ...]:
        found = [one for one in self._state.adoptions.values() if track in (None, one.track) and feature in (None, one.feature)]
        return tuple(sorted(found, key=lambda one: (one.seq, one.id)))

    def foreign_cards(self) -> tuple[ForeignCard, ...]:
        return tuple(one for _, one in sorted(self._state.foreign_cards.items()))

    def fields(self, *, least: int, samples: int) -> tuple[FieldCount, ...]:
        rows = [held.row for held in self._state.live_evidence()]
        counted = Counter(row.field for row in rows)
        return tuple(
            FieldCount(field=name, rows=number, first=tuple(row.id for row in rows if row.field == name)[:samples])
            for name, number in sorted(counted.items())
            if number >= least
        )


def _admitted(where: CardFilter | None, card: Card) -> bool:
    shown = {
        "tier": card.rank.value,
        "status": card.status.value,
        "domain": card.domain.value,
        "field": card.field,
        "anchor_kind": card.anchor.kind.value,
        "anchor_id": card.anchor.id,
    }
    return where is None or all(getattr(where, name) in (None, value) for name, value in shown.items())
