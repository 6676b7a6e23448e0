"""Arrival of cards: the one way in for a card that was earned elsewhere, with its status, what it cites and its history.

Only a person brings active cards along: whoever else calls, they arrive as candidates. What happened elsewhere is told as that:
an event of an import says so, and gives nobody a standing here."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import ACTIVE, Card, CardEvent, CardId, EventType, Link, Role, Status
from hindbrain.domain.errors import HindbrainError, HumanNeeded, InvalidParams, Rejected
from hindbrain.domain.evidence import EvidenceId
from hindbrain.domain.ledger import Act
from hindbrain.engines.hygiene import scan
from hindbrain.engines.legacy_cards import Told
from hindbrain.policy.evidence import PATH_MAX, WORD_MAX
from hindbrain.policy.hygiene import HIGH_ENTROPY
from hindbrain.policy.legacy import CITED_MOST
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_acts import card_terms, said, told
from hindbrain.services.card_erasure import card_texts
from hindbrain.services.card_evidence import CardEvidence, carried
from hindbrain.services.evidence_guard import check_word, check_words, row_print, secrets_in, traces_of
from hindbrain.services.gateway import Gateway
from hindbrain.stores.port import Writer

__all__ = ["Arrival", "Arrivals", "Arrived", "plain", "refusal", "shown"]

_BATCH = 100  # cards a transaction: each whole, and commits stay rare


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A card as it stood elsewhere. Its links name evidence of this brain; `unlinked` are those that name none."""

    card: Card
    origin: str  # which program, or export, it comes from
    old_id: str
    reason: str = ""
    links: tuple[Link, ...] = ()
    unlinked: tuple[tuple[str, Role], ...] = ()
    history: tuple[Told, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Arrived:
    """What became of some cards."""

    created: list[CardId] = field(default_factory=list)
    unchanged: list[CardId] = field(default_factory=list)
    as_candidates: list[CardId] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    flagged: list[dict[str, Any]] = field(default_factory=list)
    link_errors: list[dict[str, Any]] = field(default_factory=list)
    links: int = 0
    events: int = 0

    def add(self, other: "Arrived") -> None:
        self.created += other.created
        self.unchanged += other.unchanged
        self.as_candidates += other.as_candidates
        self.refused += other.refused
        self.flagged += other.flagged
        self.link_errors += other.link_errors
        self.links += other.links
        self.events += other.events


def shown(name: str) -> str:
    """The name of a row of elsewhere as an answer may repeat it: whoever wrote that row may have put anything there."""
    secret = any(hit.pattern_class != HIGH_ENTROPY["name"] for hit in scan(name))
    return "(a name that looks like a secret)" if secret else plain(name)[:120]


def plain(text: str) -> str:
    """On one line, and without what a terminal or a reader would obey or could not write."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def refusal(name: str, error: HindbrainError) -> dict[str, Any]:
    """A row of elsewhere that stays out, and why."""
    return {"name": shown(name), "code": error.code, "reason": error.message}


class Arrivals:
    """Takes cards in."""

    def __init__(self, brains: Brains, evidence: CardEvidence, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._evidence = evidence
        self._gateway = gateway
        self._clock = clock

    # -- who may -----------------------------------------------------------------------------------------------------

    @staticmethod
    def active(opened: OpenBrain | None, arrivals: Iterable[Arrival]) -> list[CardId]:
        """The cards among these that would be new here, and active."""
        wanted = [one.card.id for one in arrivals if one.card.status in ACTIVE]
        there = opened.store.cards(wanted) if opened is not None else {}
        return [id_ for id_ in wanted if id_ not in there]

    @staticmethod
    def check_person(caller: Caller, active: Sequence[CardId], *, as_candidates: bool) -> None:
        """A status that was earned elsewhere is taken over by a person, or not at all."""
        if active and not as_candidates and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"{len(active)} card(s) would arrive active, the first is {active[0][:80]}; only a person takes a status over",
                fix="a person runs it in a terminal, or give as_candidates=true and let them be promoted here",
            )

    # -- the way in --------------------------------------------------------------------------------------------------

    def take(
        self,
        caller: Caller,
        opened: OpenBrain,
        arrivals: Sequence[Arrival],
        *,
        as_candidates: bool,
        execute: bool,
        near: OpenBrain | None = None,
        expected: frozenset[EvidenceId] = frozenset(),
        origin: OpenBrain | None = None,
    ) -> Arrived:
        """Take cards in, each whole with its links and history or not at all. One that is there already stays as it is.

        What a global card cites in the project `near` comes with it. A plan counts on the evidence that is `expected`. What the
        brain of their `origin` has buried since stays out."""
        found = Arrived()
        unique = list({one.card.id: one for one in reversed(arrivals)}.values())[::-1]
        known = opened.store.cards([one.card.id for one in unique])
        others = self._of_everybody(opened, [one.card.id for one in unique])
        fresh = []
        for one in unique:
            if one.card.id in known:
                found.unchanged.append(one.card.id)
                continue
            try:
                if one.card.id in others:
                    raise InvalidParams(
                        f"the id {one.card.id} is taken by a card of the medulla", fix="it is there for everybody"
                    )
                fresh.append(self._checked(opened, one, found, origin))
            except HindbrainError as refused:
                found.refused.append(refusal(one.old_id, refused))
        for at in range(0, len(fresh), _BATCH):
            batch = fresh[at : at + _BATCH]
            if execute:
                self._put(caller, opened, batch, found, as_candidates=as_candidates, near=near)
                continue
            cited = [link.evidence_id for one in batch for link in one.links]
            there = expected.union(*(brain.store.evidence(cited) for brain in (opened, near) if brain is not None))
            for one in batch:
                self._count(caller, one, found, there, as_candidates=as_candidates)
        return found

    def _of_everybody(self, opened: OpenBrain, ids: Sequence[CardId]) -> Collection[CardId]:
        """Which ids stand for cards of the medulla, seen from a project: a second one would answer in their place."""
        if opened.brain.root is None or not self._brains.has_medulla():
            return ()
        with self._brains.use(self._brains.home.medulla()) as medulla:
            return medulla.store.cards(ids).keys()

    def _checked(self, opened: OpenBrain, one: Arrival, found: Arrived, origin: OpenBrain | None) -> Arrival:
        """The same checks as for any write. A part of the history that may not be kept stays out by itself."""
        card = one.card
        medulla = opened.brain.root is None
        if (card.anchor.kind is AnchorKind.GLOBAL) != medulla:
            raise InvalidParams(
                f"a card with a {card.anchor.kind.value} anchor does not live in {opened.brain.display_name}",
                fix="import global cards into the medulla, the others into their project",
            )
        if len(one.links) > CITED_MOST:
            raise InvalidParams(f"the card cites {len(one.links)} rows; {CITED_MOST} is the most")
        hints = [word for name in card.hints.__slots__ for word in getattr(card.hints, name)]
        for word in (card.field, card.created_by, *hints):
            check_word(word, "a name", WORD_MAX)
        for path in (card.id, card.anchor.id, card.anchor.parent or "", one.old_id):
            check_word(path, "an id", PATH_MAX)
        texts = [card.statement, card.content, card.scope_constraints or "", one.reason]
        if not (card.statement.strip() or card.content.strip()):
            raise InvalidParams("the card says nothing")
        self._check_texts(opened, texts, [card.field, *hints])
        self._gateway.check_actor(card.created_by)
        whole = [*card_texts(card), f"{card.statement}\n{card.content}"]
        if any(self._buried(brain, whole, card.id) for brain in (opened, origin) if brain is not None):
            raise Rejected("rejected, deleted or forgotten here", fix="a person can lift the rejection in a terminal")
        history = []
        for event in one.history:
            try:
                self._check_texts(opened, [event.reason, json.dumps(event.metadata, ensure_ascii=False)], [])
                self._gateway.check_actor(event.actor)
                if self._buried(opened, [event.reason], ""):
                    raise Rejected("rejected or forgotten here", fix="nothing; the card itself is kept")
                history.append(event)
            except HindbrainError as refused:
                found.refused.append(refusal(f"{one.old_id} {event.type.value}", refused))
        links = []
        for link in one.links:
            try:
                self._check_texts(opened, [link.note], [])
                links.append(link)
            except HindbrainError as refused:
                found.refused.append(refusal(f"{one.old_id} {link.evidence_id}", refused))
        return replace(one, history=tuple(history), links=tuple(links))

    def _check_texts(self, opened: OpenBrain, texts: Iterable[str], names: Iterable[str]) -> None:
        check_words(self._gateway, opened, names, (), site="import")
        for text in texts:
            self._gateway.check_text(text)
            if hits := secrets_in(self._gateway, opened, text, site="import"):
                raise hits[0].refusal

    @staticmethod
    def _buried(opened: OpenBrain, texts: Iterable[str], card_id: str) -> bool:
        salt = opened.store.meta("salt")
        if salt is None:
            return False
        marks = [mark for text in texts for mark, _, _ in traces_of(text, salt)]
        return bool(opened.store.tombstones([*marks, *([row_print(salt, card_id)] if card_id else [])]))

    def _put(
        self,
        caller: Caller,
        opened: OpenBrain,
        arrivals: Sequence[Arrival],
        found: Arrived,
        *,
        as_candidates: bool,
        near: OpenBrain | None,
    ) -> None:
        salt, now = self._gateway.salt(opened), self._clock()
        cited = [link.evidence_id for one in arrivals for link in one.links]
        rows = carried(near.brain, near.store.evidence(cited)) if near is not None else {}
        with opened.store.writing() as writer:
            buried = {id_ for id_, row in rows.items() if self._buried(opened, [row.content], id_)}
            self._evidence.bring(caller, opened, writer, {id_: row for id_, row in rows.items() if id_ not in buried}, salt)
            there = frozenset(writer.observed(cited))
            for one in arrivals:
                if writer.card(one.card.id) is not None:  # somebody else was quicker
                    found.unchanged.append(one.card.id)
                    continue
                card, links = self._count(caller, one, found, there, as_candidates=as_candidates)
                self._write(caller, writer, replace(one, card=card, links=tuple(links)), salt, now)

    @staticmethod
    def _count(
        caller: Caller, one: Arrival, found: Arrived, there: frozenset[EvidenceId], *, as_candidates: bool
    ) -> tuple[Card, list[Link]]:
        """The card and the links as they are kept. The one place where an active status is let in from outside."""
        card = one.card
        if card.status in ACTIVE and (as_candidates or caller.channel is not Channel.HUMAN):
            found.as_candidates.append(card.id)
            card = replace(card, status=Status.CANDIDATE)
        links = [link for link in one.links if link.evidence_id in there]
        missing = [(link.evidence_id, link.role) for link in one.links if link.evidence_id not in there]
        found.link_errors += [
            {"card_id": card.id, "evidence_id": shown(name), "role": role.value, "error": "there is no such evidence here"}
            for name, role in (*one.unlinked, *missing)
        ]
        found.created.append(card.id)
        found.links += len(links)
        found.events += 1 + sum(event.type is not EventType.CREATED for event in one.history)
        found.flagged += [{"name": shown(one.old_id), "flag": flag} for flag in one.flags]
        return card, links

    def _write(self, caller: Caller, writer: Writer, one: Arrival, salt: str, now: int) -> None:
        """The card, then how it came to be: one `created` of this import, then what happened to it elsewhere, in order."""
        born = next((event for event in one.history if event.type is EventType.CREATED), None)
        status = one.card.status
        how = Told(
            type=EventType.CREATED,
            reason=one.reason or (born.reason if born else "") or f"imported from {one.origin}",
            actor=born.actor if born else "",
            at=one.card.created_at,
            before=None,
            after=status,
            metadata=born.metadata if born else {},
        )
        seq = self._event(caller, writer, one, how, salt, now, gives=status)
        card = replace(one.card, version=seq, status_seq=seq)
        writer.put_card(card, terms=card_terms(card))
        self._told(caller, writer, one, how, seq, now)
        for link in one.links:
            writer.put_link(replace(link, card_id=card.id))
        for event in one.history:
            if event.type is not EventType.CREATED:
                self._told(caller, writer, one, event, self._event(caller, writer, one, event, salt, now, gives=None), now)

    def _event(
        self, caller: Caller, writer: Writer, one: Arrival, what: Told, salt: str, now: int, *, gives: Status | None
    ) -> int:
        """The entry of the ledger. Only the first one says which status the card got; what was given elsewhere backs nothing."""
        payload: dict[str, Any] = {
            "tier": one.card.rank.value,
            "imported": True,
            "says": said(salt, one.card),
            "told": told(salt, *_words(one, what)),
        }
        payload |= {"to": gives.value} if gives is not None else {}
        act = Act(
            act=f"card.{what.type.value}",
            subject=one.card.id,
            actor=caller.agent,
            channel=_channel(caller, gives),
            at=now,
            payload=payload,
        )
        return writer.append(act).seq

    @staticmethod
    def _told(caller: Caller, writer: Writer, one: Arrival, what: Told, seq: int, now: int) -> None:
        """The event, as the entry tells it."""
        reason, metadata = _words(one, what)
        writer.put_card_event(
            CardEvent(
                seq=seq,
                card_id=one.card.id,
                type=what.type,
                reason=reason,
                actor=caller.agent,
                channel=_channel(caller, what.after if what.type is EventType.CREATED else None).value,
                at=what.at if what.at is not None else now,
                before=what.before,
                after=what.after,
                metadata=metadata,
            )
        )


def _words(one: Arrival, what: Told) -> tuple[str, str]:
    """The words of an event. Who did it elsewhere stands among them: here it was whoever imports."""
    created = what.type is EventType.CREATED
    more: dict[str, Any] = {"imported": True, "origin": one.origin}
    more |= {"old_id": one.old_id} if created and one.old_id != one.card.id else {}
    more |= {"flags": list(one.flags)} if created and one.flags else {}
    more |= {"actor": what.actor} if what.actor else {}
    more |= {"said": dict(what.metadata)} if what.metadata else {}
    return what.reason or f"imported from {one.origin}", json.dumps(more, sort_keys=True, ensure_ascii=False)


def _channel(caller: Caller, gives: Status | None) -> Channel:
    """An active status is given by the person who imports, and the record says so; all else came by the import."""
    return caller.channel if gives in ACTIVE else Channel.IMPORT
