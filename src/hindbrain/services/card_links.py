"""What a card cites and says, changed: link, unlink, edit, annotate. Each is one transaction with its event."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.card import ACTIVE_OF, Card, CardId, EventType, Hints, Link, Role, Status, check_texts
from hindbrain.domain.errors import GateClosed, IllegalMove, InvalidParams, Rejected, UnknownCard, UnknownEvidence
from hindbrain.domain.evidence import EvidenceId
from hindbrain.engines.gate import judged
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_acts import tell
from hindbrain.services.card_evidence import CardEvidence, checked_ids, hollow, naming_copies
from hindbrain.services.cards import Cards
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import Gateway, strings_in
from hindbrain.stores.port import Writer

__all__ = ["CardChange", "CardLinks"]


@dataclass(slots=True)
class CardChange:
    """One change under way: the card as the transaction sees it, and what the change needs."""

    opened: OpenBrain
    writer: Writer
    card: Card
    links: tuple[Link, ...]
    salt: str
    at: int

    def tell(
        self, caller: Caller, kind: EventType, reason: str, metadata: Mapping[str, Any], *, to: Status | None = None
    ) -> Card:
        """Record the change with its event; the card is then as that leaves it."""
        before = self.card.status if to is not None else None
        self.card = tell(
            self.writer,
            caller,
            self.card,
            kind,
            salt=self.salt,
            at=self.at,
            reason=reason,
            before=before,
            to=to,
            metadata=metadata,
        )
        return self.card


class CardLinks:
    """Changes of a card that leave its status alone."""

    def __init__(
        self,
        brains: Brains,
        cards: Cards,
        evidence: CardEvidence,
        gateway: Gateway,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._cards = cards
        self._evidence = evidence
        self._gateway = gateway
        self._clock = clock

    def check(self, caller: Caller, card_id: str, *texts: str, site: str) -> None:
        """What was typed is looked at before anything repeats it."""
        brain, _ = self._cards.holding(caller, card_id)
        for text in texts:
            self._gateway.check_text(text)
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, texts, site=site)

    @contextmanager
    def changing(self, caller: Caller, card_id: str, *, texts: tuple[str, ...], site: str) -> Iterator[CardChange]:
        """The one door to a card that is there: what was typed is checked, then one transaction holds the card."""
        brain, held = self._cards.holding(caller, card_id)
        for text in texts:
            self._gateway.check_text(text)
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, texts, site=site)
            salt = self._gateway.salt(opened)
            with opened.store.writing() as writer:
                card = writer.card(held.id)
                if card is None:
                    raise UnknownCard(f"card {held.id} was forgotten a moment ago", fix="hindbrain knowledge list")
                yield CardChange(
                    opened=opened, writer=writer, card=card, links=writer.card_links(card.id), salt=salt, at=self._clock()
                )

    def link(self, caller: Caller, card_id: str, evidence_id: str, *, role: Role, note: str) -> dict[str, Any]:
        """Cite one more row of evidence."""
        (id_,) = checked_ids([evidence_id], "evidence_id")
        brain, _ = self._cards.holding(caller, card_id)
        with self._brains.use(brain) as near:
            rows = self._evidence.found(caller, near, [id_])
        self._evidence.check_roles(caller, rows, {role: (id_,)})
        with self.changing(caller, card_id, texts=(note,), site="knowledge.link") as change:
            copies = self._evidence.bring(caller, change.opened, change.writer, rows, change.salt)
            fresh = change.writer.put_link(Link(card_id=change.card.id, evidence_id=id_, role=role, note=note, at=change.at))
            if fresh:
                change.tell(caller, EventType.LINKED, note or "linked", {"evidence_id": id_, "role": role.value})
        answer = self._told(change.card, "linked", fresh, f"{id_} as {role.value}", evidence_id=id_, role=role.value)
        return naming_copies(answer, copies)

    def unlink(self, caller: Caller, card_id: str, evidence_id: str, *, role: Role, reason: str) -> dict[str, Any]:
        """Cite a row no longer. An active card keeps what its gate asks for."""
        (id_,) = checked_ids([evidence_id], "evidence_id")
        with self.changing(caller, card_id, texts=(reason,), site="knowledge.unlink") as change:
            if not any(link.evidence_id == id_ and link.role is role for link in change.links):
                raise UnknownEvidence(
                    f"{change.card.id} does not cite {id_} as {role.value}", fix="hindbrain knowledge get shows what it cites"
                )
            self._check_gate(change, id_, role)
            change.writer.drop_link(change.card.id, id_, role)
            change.tell(caller, EventType.UNLINKED, reason or "unlinked", {"evidence_id": id_, "role": role.value})
        return self._told(change.card, "unlinked", True, f"{id_} as {role.value}", evidence_id=id_, role=role.value)

    @staticmethod
    def _check_gate(change: CardChange, id_: EvidenceId, role: Role) -> None:
        card = change.card
        if not card.active or role is Role.COUNTEREXAMPLE:
            return
        left = [link for link in change.links if link.live and (link.evidence_id, link.role) != (id_, role)]
        weak = hollow(change.writer.observed([link.evidence_id for link in left]))
        verdict = judged(card, left, target=ACTIVE_OF[card.rank], reviewed=True, spared=True, hollow=weak)
        if not verdict.allowed:
            raise GateClosed(
                f"without {id_} the active card {card.id} fails its gate: {'; '.join(verdict.reasons)}",
                fix="link other evidence first, or demote the card",
                reasons=list(verdict.reasons),
            )

    def edit(
        self,
        caller: Caller,
        card_id: str,
        *,
        statement: str | None,
        content: str | None,
        scope_constraints: str | None,
        hints: Hints | None,
        reason: str,
    ) -> dict[str, Any]:
        """Say it better. What an active card states stays as it was decided on."""
        given = {"statement": statement, "content": content, "scope_constraints": scope_constraints, "hints": hints}
        changed = {name: value for name, value in given.items() if value is not None}
        if not changed:
            raise InvalidParams("nothing to change", fix="give statement, content, scope_constraints or trigger_hints")
        texts = tuple(text for text in (statement, content, scope_constraints, reason) if text)
        hinted = tuple(word for name in Hints.__slots__ for word in getattr(hints, name)) if hints else ()
        with self.changing(caller, card_id, texts=(*texts, *hinted), site="knowledge.edit") as change:
            card = change.card
            if card.active and {"statement", "content"} & changed.keys():
                raise IllegalMove(
                    f"{card.id} is {card.status.value}; what it states is not edited",
                    fix="demote it, or distill a successor that supersedes it",
                )
            marks = [mark for text in (*texts, *hinted) for mark, _, _ in traces_of(text, change.salt)]
            if change.opened.store.tombstones(list(dict.fromkeys(marks))):
                raise Rejected("this value was rejected or forgotten here", fix="state what holds instead")
            fresh = replace(
                card,
                statement=card.statement if statement is None else statement,
                content=card.content if content is None else content,
                scope_constraints=card.scope_constraints if scope_constraints is None else scope_constraints,
                hints=card.hints if hints is None else hints,
                updated_at=change.at,
            )
            rows = change.writer.observed([link.evidence_id for link in change.links if link.role is Role.SUPPORTING])
            check_texts(fresh.statement, fresh.content, [row.content for row in rows.values()])
            change.card = fresh
            change.tell(caller, EventType.UPDATED, reason or "edited", {"changed": sorted(changed)})
        return self._told(change.card, "edited", True, ", ".join(sorted(changed)), changed=sorted(changed))

    def annotate(self, caller: Caller, card_id: str, *, reason: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Add a remark to a card's history. What happened to a card is told by what was done, never by hand."""
        if not reason.strip():
            raise InvalidParams("reason is empty", fix="say what is to be remembered about this card")
        texts = (reason, *strings_in(dict(metadata)))
        with self.changing(caller, card_id, texts=texts, site="knowledge.annotate") as change:
            change.tell(caller, EventType.UPDATED, reason, metadata)
        return self._told(change.card, "annotated", True, "remark added")

    @staticmethod
    def _told(card: Card, what: str, done: bool, text: str, **more: Any) -> dict[str, Any]:
        return {
            "ok": True,
            "schema": f"hindbrain-card-{what}-v0",
            "card_id": CardId(card.id),
            what: done,
            **more,
            "rendered": f"{card.id}: {text}{'' if done else ' (already so)'}.",
        }
