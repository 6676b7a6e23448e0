"""Erasure of cards: what a forgotten row, a rejected value or a forgotten card leaves of knowledge. Human acts, all of them."""

import json
from collections.abc import Callable, Collection, Iterable
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, CardId, EventType, Link, Role, Status, check_move
from hindbrain.domain.errors import HindbrainError, UnknownCard
from hindbrain.domain.evidence import EvidenceId
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.engines.gate import counted
from hindbrain.policy.cards import GATES
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_acts import tell
from hindbrain.services.evidence_guard import row_print, traces_of, values_of
from hindbrain.services.experience.erasing import Value
from hindbrain.services.forgetting import OUT_OF_REACH, Forgetting, walk_sentence
from hindbrain.services.gateway import Gateway, strings_in
from hindbrain.services.missions.erasing import MissionErasure, sentence
from hindbrain.stores.port import Writer

__all__ = ["CardErasure", "card_texts"]

_LOST = "the evidence it rested on was forgotten"
_REJECTED = "what it says was rejected"


def card_texts(card: Card) -> list[str]:
    """Everything somebody wrote into a card."""
    hints = (*card.hints.intent_tags, *card.hints.workflow_bias, *card.hints.tool_needs)
    return [text for text in (card.statement, card.content, card.scope_constraints, card.field, *hints) if text]


def _says(texts: Iterable[str], marks: Collection[str], salt: str) -> bool:
    return any(mark in marks for text in texts for mark, _, _ in traces_of(text, salt))


def _outcome_texts(event: AdoptionEvent) -> list[str]:
    return list(strings_in([event.query, event.note, event.feature, stored_json(event.metadata, "card_event")]))


def holds(card: Card, marks: Collection[str], salt: str) -> bool:
    """Whether a card says a buried value."""
    return _says(card_texts(card), marks, salt)


class CardErasure:
    """What `forget` and `reject` do to cards."""

    name = "cards"

    def __init__(
        self,
        brains: Brains,
        gateway: Gateway,
        missions: MissionErasure,
        forgetting: Forgetting,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._forgetting = forgetting
        self._missions = missions
        self._gateway = gateway
        self._clock = clock

    def reach(
        self, caller: Caller, opened: OpenBrain, writer: Writer, ids: Collection[EvidenceId], marks: Collection[str], salt: str
    ) -> list[dict[str, str]]:
        """In the transaction that erases evidence: a card that rested on it alone or says the same goes with it, another one
        cites it no longer, and loses its standing where its gate asked for more than is left."""
        reached = []
        links = opened.store.links(evidence=list(ids))
        for card_id in dict.fromkeys(link.card_id for link in links):
            card = writer.card(card_id)
            if card is None:
                continue
            left = [link for link in writer.card_links(card_id) if link.evidence_id not in ids]
            if holds(card, marks, salt) or not any(link.role is Role.SUPPORTING and link.live for link in left):
                self._erase(caller, writer, card, salt)
                reached.append({"card_id": card.id, "now": "forgotten"})
            else:
                self._unlink(caller, writer, card, [link for link in links if link.card_id == card_id], salt)
                now = self._weigh(caller, writer, writer.card(card_id) or card, left, salt)
                reached.append({"card_id": card.id, "now": now})
        self._sweep(opened, writer, marks, salt)
        return reached

    @staticmethod
    def _sweep(opened: OpenBrain, writer: Writer, marks: Collection[str], salt: str) -> None:
        """What only mentions a buried value: notes of outcomes, and rows of another program that wait to become cards."""
        outcomes = [one.id for one in opened.store.adoptions() if _says(_outcome_texts(one), marks, salt)]
        rows = [one.id for one in opened.store.foreign_cards() if _says(strings_in(json.loads(one.body)), marks, salt)]
        writer.erase_outcomes(outcomes)
        writer.erase_foreign_cards(rows)

    def _erase(self, caller: Caller, writer: Writer, card: Card, salt: str) -> list[str]:
        """A card goes for good; answers what must not come back."""
        now = self._clock()
        writer.append(Act(act="card.forgotten", subject=card.id, actor=caller.agent, channel=caller.channel, at=now, payload={}))
        marks = [*values_of(card.statement, salt), *values_of(card.content, salt), row_print(salt, card.id)]
        for mark in marks:
            writer.put_tombstone(mark, at=now, by=caller.agent, reason="forgotten")
        writer.erase_card(card.id)
        return marks

    def _unlink(self, caller: Caller, writer: Writer, card: Card, gone: Collection[Link], salt: str) -> None:
        for link in gone:
            writer.drop_link(card.id, link.evidence_id, link.role)
            told = {"evidence_id": link.evidence_id, "role": link.role.value}
            tell(writer, caller, card, EventType.UNLINKED, salt=salt, at=self._clock(), reason=_LOST, metadata=told)

    def _weigh(self, caller: Caller, writer: Writer, card: Card, left: Collection[Link], salt: str) -> str:
        have = counted(left)
        if card.active and any(have[role] < need for role, need in GATES[card.rank].needs()):
            self._move(caller, writer, card, Status.DEMOTED, EventType.DEMOTED, _LOST, salt)
            return Status.DEMOTED.value
        return card.status.value

    def _move(self, caller: Caller, writer: Writer, card: Card, to: Status, kind: EventType, reason: str, salt: str) -> None:
        check_move(card.rank, card.status, to)
        tell(writer, caller, card, kind, salt=salt, at=self._clock(), reason=reason, before=card.status, to=to)

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Erase every card that says a forgotten value, and the outcomes that mention it; answers how many."""
        cards = [card for card in opened.store.each_card() if any(map(value.held_by, card_texts(card)))]
        outcomes = [one.id for one in opened.store.adoptions() if any(map(value.held_by, _outcome_texts(one)))]
        rows = [one.id for one in opened.store.foreign_cards() if value.held_in(one.body)]
        if not cards and not outcomes and not rows:
            return 0
        with opened.store.writing() as writer:
            for card in cards:
                if (now := writer.card(card.id)) is not None:
                    self._erase(caller, writer, now, value.salt)
            writer.erase_outcomes(outcomes)
            writer.erase_foreign_cards(rows)
        return len(cards) + len(outcomes) + len(rows)

    def withdraw(self, caller: Caller, opened: OpenBrain, prints: Collection[str]) -> int:
        """Retire every card that says a rejected value; answers how many."""
        salt, marks = self._gateway.salt(opened), frozenset(prints)
        hit = [card for card in opened.store.each_card() if card.status is not Status.RETIRED and holds(card, marks, salt)]
        with opened.store.writing() as writer:
            for card in hit:
                now = writer.card(card.id)
                if now is not None and now.status is not Status.RETIRED:
                    self._move(caller, writer, now, Status.RETIRED, EventType.RETIRED, _REJECTED, salt)
            self._sweep(opened, writer, marks, salt)
        return len(hit)

    def forget_outcome(self, caller: Caller, *, event_id: str, among: Collection[Brain]) -> dict[str, Any]:
        """Erase one outcome for real. The record keeps that there was one."""
        reached = []
        for brain in among:
            with self._brains.use(brain) as opened:
                if any(one.id == event_id for one in opened.store.adoptions()):
                    act = Act(
                        act="adoption.forgotten",
                        subject=event_id,
                        actor=caller.agent,
                        channel=caller.channel,
                        at=self._clock(),
                        payload={},
                    )
                    with opened.store.writing() as writer:
                        writer.append(act)
                        writer.erase_outcomes([event_id])
                    reached.append({"brain": brain.name})
        if not reached:
            raise UnknownCard(f"there is no outcome {event_id[:80]!r} here", fix="hindbrain adoption list shows what there is")
        return {
            "ok": True,
            "schema": "hindbrain-forget-v0",
            "event_id": event_id,
            "reached": reached,
            "unreached": [],
            "rendered": f"Forgot {event_id}.",
        }

    def forget(self, caller: Caller, *, card_id: str, reason: str, among: Collection[Brain]) -> dict[str, Any]:
        """Erase a card for real wherever it is: words, what it cites, its history. Outcomes and the acts stay on record."""
        self._gateway.check_text(reason)
        reached, unreached = [], []
        for brain in among:
            try:
                with self._brains.use(brain) as opened:
                    self._gateway.check_hygiene(opened, [reason], site="forget")
                    salt = self._gateway.salt(opened)
                    with opened.store.writing() as writer:
                        card = writer.card(CardId(card_id))
                        if card is None:
                            continue
                        said = [text for text in (card.statement, card.content) if text]
                        marks = self._erase(caller, writer, card, salt)
                        self._sweep(opened, writer, marks, salt)
                        missions = self._missions.reach(caller, opened, writer, said, marks)
                    cleared = self._missions.cleared(opened, missions).told()
                    reached.append({"brain": brain.name, **cleared, **self._forgetting.walk(caller, opened, said, marks)})
            except (HindbrainError, OSError) as failure:
                unreached.append({"brain": brain.name, "reason": str(failure)})
        if not reached:
            raise UnknownCard(f"there is no card {card_id[:80]!r} here", fix="hindbrain knowledge list shows what there is")
        return {
            "ok": True,
            "schema": "hindbrain-forget-v0",
            "card_id": card_id,
            "reached": reached,
            "unreached": unreached,
            "rendered": f"Forgot {card_id} in {len(reached)} place(s).{sentence(reached)}{walk_sentence(reached)} {OUT_OF_REACH}",
        }
