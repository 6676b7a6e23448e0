"""SQL cards: knowledge, what it cites, its history, and outcomes, in statements that both databases understand."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from operator import attrgetter
from typing import ClassVar

from hindbrain.domain.adoption import AdoptionEvent, Signal, Track
from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.brain import BrainId
from hindbrain.domain.card import RANKS, Card, CardEvent, CardId, EventType, Hints, Link, Rank, Role, Status, gave
from hindbrain.domain.errors import HindbrainError, InvalidParams, StoreUnavailable
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.domain.ledger import Entry
from hindbrain.domain.stored import malformed_row, stored_json
from hindbrain.stores.port import CardFilter, FieldCount, ForeignCard
from hindbrain.stores.sql_rows import COLUMNS, Head, Row, Session, TextIndex, insert, upsert
from hindbrain.stores.sql_terms import joined
from hindbrain.stores.vector_port import Shelf

__all__ = ["CardReads", "CardWriter", "adoption_values", "card_values", "event_values", "link_values", "taken"]

ERASING = "erasing"  # the note under which history may go

_SHOWN = COLUMNS["card"][1:-1]
_ENTRY = COLUMNS["ledger"][1:]
# The entry that gave the status stands beside the row, if the history has its event and no later entry gave another status or
# ended the card: a status that was forced in by other means, or taken from the past, has none.
_CARD = (
    f"select {', '.join(f'c.{name}' for name in _SHOWN)}, {', '.join(f'l.{name}' for name in _ENTRY)} from card c "
    "left join ledger l on l.brain_id = c.brain_id and l.seq = c.status_seq and l.subject = c.id "
    "and exists (select 1 from card_event e where e.brain_id = c.brain_id and e.seq = c.status_seq "
    "and e.card_id = c.id and e.to_status = c.status) "
    "and not exists (select 1 from ledger n where n.brain_id = c.brain_id and n.subject = c.id and n.seq > c.status_seq "
    """and (n.act = 'card.forgotten' or n.payload like '%"to":%')) where c.brain_id = ?"""
)
_ORDER = "order by " + " ".join(["case c.tier", *(f"when '{rank.value}' then {at}" for at, rank in enumerate(RANKS))]) + " end"
_STATUS = " ".join(["case c.status", *(f"when '{one.value}' then {at}" for at, one in enumerate(Status))]) + " end"
_LINK = (
    "select k.card_id, k.evidence_id, k.role, k.note, k.at, e.deleted_at from card_link k "
    "join evidence e on e.brain_id = k.brain_id and e.id = k.evidence_id where k.brain_id = ?"
)
_EVENT = f"select {', '.join(COLUMNS['card_event'][1:])} from card_event where brain_id = ?"
_ADOPTION = COLUMNS["adoption_event"][1:]
_adoption_values: Callable[[AdoptionEvent], Row] = attrgetter(*_ADOPTION)
_gave = lru_cache(maxsize=8192)(gave)  # asked of every card whenever one of them changed; entries never do
_FILTER = ("tier", "status", "domain", "field", "anchor_kind", "anchor_id")


def taken(event_id: str) -> InvalidParams:
    """The refusal of a second outcome under one id."""
    return InvalidParams(f"the id {event_id[:80]} is taken", fix="leave the id out, or give another")


def card_values(card: Card) -> Row:
    """The columns of a card up to its words, without the brain."""
    hints = card.hints.told()
    return (
        *(card.id, card.statement, card.content, card.rank.value, card.status.value, card.domain.value, card.field),
        *(card.anchor.kind.value, card.anchor.id, card.anchor.parent, card.scope_constraints),
        *(json.dumps(hints, ensure_ascii=False, sort_keys=True) if hints else None, card.importance, int(card.opt_in)),
        *(card.derived_from, card.supersedes, card.created_by, card.created_at, card.updated_at, card.version, card.status_seq),
    )


def _card_of(row: Row) -> Card:
    """A row as a value; a row that breaks a rule of the domain was not written by us, and is told and not shown."""
    held, given = dict(zip(_SHOWN, row, strict=False)), dict(zip(_ENTRY, row[len(_SHOWN) :], strict=True))
    try:
        rank, status = Rank(held["tier"]), Status(held["status"])
        return Card(
            id=CardId(held["id"]),
            statement=held["statement"],
            content=held["content"],
            rank=rank,
            status=status,
            domain=Domain(held["domain"]),
            field=held["field"],
            anchor=Anchor(kind=AnchorKind(held["anchor_kind"]), id=held["anchor_id"], parent=held["parent_anchor_id"]),
            scope_constraints=held["scope_constraints"],
            hints=Hints.of(stored_json(held["trigger_hints"], "card") if held["trigger_hints"] else None),
            importance=held["importance"],
            opt_in=bool(held["opt_in"]),
            derived_from=held["derived_from"],
            supersedes=held["supersedes"],
            created_by=held["created_by"],
            created_at=held["created_at"],
            updated_at=held["updated_at"],
            version=held["version"],
            status_seq=held["status_seq"],
            backed=given["seq"] is not None and _gave(Entry(**given), rank=rank, status=status),
        )
    except (HindbrainError, ValueError) as error:
        raise StoreUnavailable(
            f"the metadata of card {held['id']} is not valid: {error}", fix="restore the brain from a backup of brain.db"
        ) from error


def link_values(link: Link, place: int) -> Row:
    return (link.card_id, link.evidence_id, link.role.value, link.note, link.at, place)


def _link_of(row: Row) -> Link:
    card_id, evidence_id, role, note, at, deleted_at = row
    return Link(card_id=card_id, evidence_id=evidence_id, role=Role(role), note=note, at=at, live=deleted_at is None)


def event_values(event: CardEvent) -> Row:
    return (
        *(event.seq, event.card_id, event.type.value, event.before, event.after, event.reason, event.actor, event.channel),
        *(event.metadata, event.at),
    )


def _event_of(row: Row) -> CardEvent:
    seq, card_id, kind, before, after, reason, actor, channel, metadata, at = row
    try:
        type_, earlier, later = EventType(kind), Status(before) if before else None, Status(after) if after else None
    except ValueError as wrong:
        raise malformed_row("card_event") from wrong
    return CardEvent(
        seq=seq,
        card_id=card_id,
        type=type_,
        before=earlier,
        after=later,
        reason=reason,
        actor=actor,
        channel=channel,
        metadata=metadata,
        at=at,
    )


def adoption_values(event: AdoptionEvent) -> Row:
    return tuple(str(value) if isinstance(value, Track | Signal) else value for value in _adoption_values(event))


def _adoption_of(row: Row) -> AdoptionEvent:
    held = dict(zip(_ADOPTION, row, strict=True))
    return AdoptionEvent(**{**held, "track": Track(held["track"]), "signal": Signal(held["signal"])})


class CardWriter:
    """The part of a write transaction that keeps cards and outcomes."""

    _session: Session
    _index: TextIndex
    _brain: BrainId
    head: Head
    erased: bool

    def card(self, card_id: CardId) -> Card | None:
        found = self._session.rows(f"{_CARD} and c.id = ?", (self._brain, card_id))
        return _card_of(found[0]) if found else None

    def card_links(self, card_id: CardId) -> tuple[Link, ...]:
        return tuple(map(_link_of, self._session.rows(f"{_LINK} and k.card_id = ? order by k.place", (self._brain, card_id))))

    def put_card(self, card: Card, *, terms: Sequence[str]) -> None:
        self._session.rows(upsert("card", "id"), (self._brain, *card_values(card), joined(terms)))
        self.head.card_turn += 1

    def put_link(self, link: Link) -> bool:
        made = self._session.rows(
            f"{insert('card_link')} on conflict do nothing returning place",
            (self._brain, *link_values(link, self.head.card_turn + 1)),
        )
        self.head.card_turn += bool(made)
        return bool(made)

    def drop_link(self, card_id: CardId, evidence_id: EvidenceId, role: Role) -> bool:
        gone = self._session.rows(
            "delete from card_link where brain_id = ? and card_id = ? and evidence_id = ? and role = ? returning place",
            (self._brain, card_id, evidence_id, role.value),
        )
        self.head.card_turn += bool(gone)
        return bool(gone)

    def put_card_event(self, event: CardEvent) -> None:
        self._session.rows(insert("card_event"), (self._brain, *event_values(event)))

    def redact_card_events(self, card_id: CardId, events: Sequence[CardEvent]) -> None:
        self._erase("card_event", "card_id", [card_id])
        for event in events:
            self.put_card_event(event)

    def erase_card(self, card_id: CardId) -> None:
        for table, key in (("card_link", "card_id"), ("card_event", "card_id"), ("card", "id")):
            self._erase(table, key, [card_id])
        self.head.card_turn += 1

    def erase_outcomes(self, ids: Sequence[str]) -> None:
        self._erase("adoption_event", "id", ids)

    def erase_foreign_cards(self, ids: Sequence[str]) -> None:
        self._erase("foreign_card", "id", ids)

    def _erase(self, table: str, key: str, ids: Sequence[str]) -> None:
        """Rows go while the note stands that lets history go; it is gone again before anybody else can see it."""
        if not ids:
            return
        self._session.rows(upsert("meta", "key"), (self._brain, ERASING, table))
        self._session.delete_many(table, ("brain_id", key), [(self._brain, id_) for id_ in ids])
        self._session.rows("delete from meta where brain_id = ? and key = ?", (self._brain, ERASING))
        self._index.erasing(self._session, Shelf.CLAIM)
        self.erased = True

    def put_adoption(self, event: AdoptionEvent) -> None:
        made = self._session.rows(
            f"{insert('adoption_event')} on conflict do nothing returning id", (self._brain, *adoption_values(event))
        )
        if not made:
            raise taken(event.id)

    def put_foreign_card(self, card: ForeignCard) -> None:
        self._session.rows(f"{insert('foreign_card')} on conflict do nothing", (self._brain, card.id, card.body, card.at))


class CardReads(ABC):
    """The reads of cards and outcomes."""

    brain_id: BrainId
    among: ClassVar[str]

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def listed(self, values: Sequence[object]) -> object: ...

    @abstractmethod
    def _asked(self, statement: str, values: Sequence[object]) -> list[Row]: ...

    def cards(self, ids: Sequence[CardId]) -> dict[CardId, Card]:
        if not ids:
            return {}
        found = {
            row[0]: _card_of(row) for row in self._asked(f"{_CARD} and c.id {self.among}", (self.brain_id, self.listed(ids)))
        }
        return {id_: found[id_] for id_ in ids if id_ in found}

    def each_card(self, where: CardFilter | None = None) -> Iterator[Card]:
        said, values = "", []  # type: str, list[object]
        for name in _FILTER:
            if where is not None and (wanted := getattr(where, name)) is not None:
                said += f" and c.{name} = ?"
                values.append(wanted)
        yield from map(_card_of, self._asked(f"{_CARD}{said} {_ORDER}, {_STATUS}, c.id", (self.brain_id, *values)))

    def foremost_cards(self, limit: int, *, after: int = 0) -> tuple[Card, ...]:
        found = self._asked(
            f"{_CARD} and c.status not in ('demoted', 'retired') "
            "order by c.importance desc, c.created_at desc, c.id desc limit ? offset ?",
            (self.brain_id, max(limit, 0), max(after, 0)),
        )
        return tuple(map(_card_of, found))

    def standing(self, *, published: bool = True) -> dict[tuple[str, str], int]:
        only = "" if published else "and anchor_kind <> 'global' "
        found = self._asked(
            f"select tier, status, count(*) from card where brain_id = ? {only}group by tier, status", (self.brain_id,)
        )
        return {(tier, status): number for tier, status, number in found}

    def card_words(self) -> dict[CardId, tuple[str, ...]]:
        found = self._asked("select id, terms from card where brain_id = ? order by id", (self.brain_id,))
        return {id_: tuple(terms.split()) for id_, terms in found}

    def links(self, *, cards: Sequence[CardId] | None = None, evidence: Sequence[EvidenceId] | None = None) -> tuple[Link, ...]:
        said, values = "", []  # type: str, list[object]
        for name, wanted in (("card_id", cards), ("evidence_id", evidence)):
            if wanted is not None:
                said += f" and k.{name} {self.among}"
                values.append(self.listed(wanted))
        return tuple(map(_link_of, self._asked(f"{_LINK}{said} order by k.card_id, k.place", (self.brain_id, *values))))

    def card_events(self, card_id: CardId | None = None) -> tuple[CardEvent, ...]:
        said, values = (" and card_id = ?", (card_id,)) if card_id is not None else ("", ())
        return tuple(map(_event_of, self._asked(f"{_EVENT}{said} order by seq", (self.brain_id, *values))))

    def adoptions(self, *, track: str | None = None, feature: str | None = None) -> tuple[AdoptionEvent, ...]:
        said, values = "", []  # type: str, list[object]
        for name, wanted in (("track", track), ("feature", feature)):
            if wanted is not None:
                said += f" and {name} = ?"
                values.append(wanted)
        found = self._asked(
            f"select {', '.join(_ADOPTION)} from adoption_event where brain_id = ?{said} order by seq, id",
            (self.brain_id, *values),
        )
        return tuple(map(_adoption_of, found))

    def foreign_cards(self) -> tuple[ForeignCard, ...]:
        found = self._asked("select id, body, at from foreign_card where brain_id = ? order by id", (self.brain_id,))
        return tuple(ForeignCard(id=id_, body=body, at=at) for id_, body, at in found)

    def fields(self, *, least: int, samples: int) -> tuple[FieldCount, ...]:
        live = "from evidence e where e.brain_id = ? and e.deleted_at is null"
        named = self._asked(
            f"select e.field, count(*) {live} and e.field <> 'general' group by e.field order by e.field", (self.brain_id,)
        )
        # Most rows have no subject in particular; they are counted by what is left.
        ((total,),) = self._asked("select coalesce(max(evidence), 0) from brain_head where brain_id = ?", (self.brain_id,))
        counted = dict(named) | {"general": total - sum(number for _, number in named)}
        made = []
        for name, number in sorted(counted.items()):
            if number >= least:
                # The name is in the statement so that the partial index can serve it.
                only = "= 'general'" if name == "general" else "<> 'general' and e.field = ?"
                values = (self.brain_id,) if name == "general" else (self.brain_id, name)
                first = self._asked(f"select e.id {live} and e.field {only} order by e.turn limit {int(samples)}", values)
                made.append(FieldCount(field=name, rows=number, first=tuple(row[0] for row in first)))
        return tuple(made)
