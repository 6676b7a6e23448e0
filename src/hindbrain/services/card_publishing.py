"""Publishing cards: an active card moves one scope outward. Its rank, status and words stay; what it cites goes with it."""

import json
import secrets
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hindbrain.domain.anchor import GLOBAL, LEGACY, Anchor, AnchorKind
from hindbrain.domain.caller import FINISHER, Caller, Channel
from hindbrain.domain.card import Card, CardId, EventType, Link
from hindbrain.domain.errors import GateClosed, HumanNeeded, IllegalMove, InvalidParams, Rejected
from hindbrain.domain.evidence import Domain, Evidence
from hindbrain.engines.card_match import stands
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_evidence import CardEvidence, carried, naming_copies
from hindbrain.services.card_links import CardChange, CardLinks
from hindbrain.services.cards import Cards
from hindbrain.services.evidence_anchor import Anchors
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import Gateway
from hindbrain.services.intents import PUBLISH, CardPublication, intent_of
from hindbrain.stores.port import Intent

__all__ = ["CardPublishing"]

_FROM = {AnchorKind.REPO: AnchorKind.WORKTREE, AnchorKind.GLOBAL: AnchorKind.REPO}


class CardPublishing:
    """What gives a card its scope."""

    def __init__(
        self,
        brains: Brains,
        anchors: Anchors,
        cards: Cards,
        evidence: CardEvidence,
        links: CardLinks,
        gateway: Gateway,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._anchors = anchors
        self._cards = cards
        self._evidence = evidence
        self._links = links
        self._gateway = gateway
        self._clock = clock

    def publish(
        self,
        caller: Caller,
        card_id: str,
        *,
        to: AnchorKind,
        reason: str,
        reviewer: str | None,
        target_anchor_id: str | None,
        cwd: str | None,
        as_global: bool,
    ) -> dict[str, Any]:
        """Move an active card one scope outward: from a checkout to its repository, from there to every project."""
        if not reason.strip():
            raise InvalidParams("reason is empty", fix="say why it holds beyond where it was found")
        brain, card = self._cards.holding(caller, card_id)
        if not card.active:
            raise IllegalMove(f"{card.id} is {card.status.value}; only active cards are published", fix="promote it first")
        if _FROM.get(to) is not card.anchor.kind:
            raise IllegalMove(
                f"a card at {card.anchor.kind.value} cannot be published to {to.value}: worktree leads to repo, repo to global",
                fix="publish one step outward at a time",
            )
        self._links.check(caller, card_id, reason, reviewer or "", site="knowledge.publish")
        if (as_global or reviewer is not None) and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"a reviewer is a person; this call came by the channel {caller.channel.value}",
                fix="ask a person to run it in a terminal: "
                + shlex.join(
                    [
                        *("hindbrain", "knowledge", "publish", card.id, "--to", to.value, "--reason", reason),
                        *(("--as-global",) if as_global else ()),
                    ]
                ),
            )
        with self._brains.use(brain) as opened:
            self._check_rest(card, opened.store.links(cards=[card.id]))
        metadata = {"reviewer": reviewer or caller.agent} if caller.channel is Channel.HUMAN else {}
        copies: tuple[Evidence, ...] = ()
        if to is AnchorKind.GLOBAL:
            fresh, copies = self._to_everybody(caller, card, reason, metadata, target_anchor_id, as_global=as_global)
        else:
            anchor = self._repository(caller, card, target_anchor_id, cwd)
            with self._links.changing(caller, card_id, texts=(reason, reviewer or ""), site="knowledge.publish") as change:
                self._still(change.card, card)
                self._check_rest(change.card, change.links)
                fresh = self._place(caller, change, anchor, change.card.domain, reason, metadata)
        old = card.anchor
        answer = {
            "ok": True,
            "schema": "hindbrain-card-published-v0",
            "card_id": card.id,
            "old_anchor_kind": old.kind.value,
            "old_anchor_id": old.id,
            "old_parent_anchor_id": old.parent,
            "new_anchor_kind": fresh.anchor.kind.value,
            "new_anchor_id": fresh.anchor.id,
            "new_parent_anchor_id": fresh.anchor.parent,
            "domain": fresh.domain.value,
            "rendered": f"published {card.id}: {old.kind.value}:{old.id} -> {fresh.anchor.kind.value}:{fresh.anchor.id}",
        }
        return naming_copies(answer, copies)

    @staticmethod
    def _check_rest(card: Card, links: Sequence[Link]) -> None:
        """What is deleted stays behind when a card is published: a card that rests on it must not stand again without it."""
        if not stands(card, links):
            raise GateClosed(
                f"evidence that {card.id} rests on was deleted; it is in no context",
                fix="restore it, or link other evidence and cite the deleted row no longer",
            )

    @staticmethod
    def _still(now: Card, seen: Card) -> None:
        if (now.status, now.anchor) != (seen.status, seen.anchor):
            raise IllegalMove(f"{now.id} was moved a moment ago", fix="look at it again, then decide")

    def _repository(self, caller: Caller, card: Card, target: str | None, cwd: str | None) -> Anchor:
        """Where it goes: what is named, its own repository, or the one of the directory."""
        if target is not None:
            return Anchor(kind=AnchorKind.REPO, id=target)
        if card.anchor.parent is not None:
            return Anchor(kind=AnchorKind.REPO, id=card.anchor.parent)
        found = self._anchors.scoped(caller, AnchorKind.REPO, cwd=cwd).anchor
        if found.kind is not AnchorKind.REPO or found == LEGACY:
            raise InvalidParams(
                f"{card.id} does not say which repository it belongs to",
                fix="give target_anchor_id, publish a card with a parent anchor, or give a cwd inside a git repository",
            )
        return found

    def _place(
        self, caller: Caller, change: CardChange, anchor: Anchor, domain: Domain, reason: str, metadata: dict[str, Any]
    ) -> Card:
        old = change.card.anchor
        told = metadata | {
            "old_anchor": {"kind": old.kind.value, "id": old.id, "parent": old.parent},
            "new_anchor": {"kind": anchor.kind.value, "id": anchor.id, "parent": anchor.parent},
        }
        change.card = replace(change.card, anchor=anchor, domain=domain)
        return change.tell(caller, EventType.PUBLISHED, reason, told, to=change.card.status)

    def _to_everybody(
        self, caller: Caller, card: Card, reason: str, metadata: dict[str, Any], target: str | None, *, as_global: bool
    ) -> tuple[Card, tuple[Evidence, ...]]:
        """A card goes to the medulla with copies of what it cites; its project keeps a pointer and its history."""
        if target not in (None, GLOBAL.id):
            raise InvalidParams(f"{target!r} is not read by any context", fix=f"leave it out; what is global is {GLOBAL.id}")
        if card.domain is not Domain.GLOBAL and not as_global:
            raise InvalidParams(
                f"a global anchor needs the domain global; {card.id} has {card.domain.value}",
                fix="a person can publish it with as_global, which makes it so",
            )
        brain, _ = self._cards.holding(caller, card.id)
        for text in (reason, *map(str, metadata.values())):
            self._gateway.check_text(text)
        with (
            self._brains.use(brain) as opened,
            self._brains.use(self._brains.home.medulla()) as medulla,
            opened.place.lock(card.id, wait_s=LOCK_WAIT_S),  # whoever wakes the brain meanwhile must not take us for dead
        ):
            self._gateway.check_hygiene(
                medulla, [card.statement, card.content, reason, *map(str, metadata.values())], site="publish"
            )
            salt = self._gateway.salt(medulla)
            if medulla.store.tombstones([m for text in (card.statement, card.content) for m, _, _ in traces_of(text, salt)]):
                raise Rejected("this value was rejected or forgotten in the medulla", fix="a person can lift the rejection")
            intent = Intent(
                id=secrets.token_hex(8), kind=PUBLISH, payload=json.dumps({"card": card.id, "reason": reason}), at=self._clock()
            )
            with opened.store.writing() as writer:
                writer.put_intent(intent)
            try:
                fresh, copies = self._arrive(caller, opened, medulla, card, reason, metadata, salt)
            except BaseException:
                with opened.store.writing() as writer:
                    writer.drop_intent(intent.id)
                raise
            self._leave(caller, opened, card.id, reason, metadata, intent.id)
        return fresh, copies

    def _arrive(
        self,
        caller: Caller,
        opened: OpenBrain,
        medulla: OpenBrain,
        card: Card,
        reason: str,
        metadata: dict[str, Any],
        salt: str,
    ) -> tuple[Card, tuple[Evidence, ...]]:
        cited = opened.store.links(cards=[card.id])
        self._check_rest(card, cited)
        links = [link for link in cited if link.live]
        rows = carried(opened.brain, opened.store.evidence([link.evidence_id for link in links]))
        with medulla.store.writing() as writer:
            if (there := writer.card(card.id)) is not None:
                if not (there.active and _says_the_same(there, card)):
                    raise InvalidParams(f"the id {card.id} is taken in the medulla by another card", fix="distill it anew")
                return there, ()
            copies = self._evidence.bring(caller, medulla, writer, rows, salt)
            moved = replace(card, domain=Domain.GLOBAL)
            change = CardChange(opened=medulla, writer=writer, card=moved, links=(), salt=salt, at=self._clock())
            fresh = self._place(caller, change, GLOBAL, Domain.GLOBAL, reason, metadata)
            for link in links:
                writer.put_link(link)
        return fresh, copies

    def _leave(
        self, caller: Caller, opened: OpenBrain, card_id: CardId, reason: str, metadata: dict[str, Any], intent: str
    ) -> None:
        salt = self._gateway.salt(opened)
        with opened.store.writing() as writer:
            card = writer.card(card_id)
            if card is not None and card.anchor.kind is not AnchorKind.GLOBAL:
                change = CardChange(opened=opened, writer=writer, card=card, links=(), salt=salt, at=self._clock())
                self._place(caller, change, GLOBAL, Domain.GLOBAL, reason, metadata)
            writer.drop_intent(intent)

    def finish(self, opened: OpenBrain) -> int:
        """Complete or drop publications that a dead process left half done; answers how many there were."""
        pending = [intent for intent in opened.store.intents() if intent.kind == PUBLISH]
        for intent in pending:
            if not isinstance(promised := intent_of(intent), CardPublication):
                continue  # the doctor names it
            id_ = CardId(promised.card)
            with opened.place.lock(id_, wait_s=LOCK_WAIT_S):
                if not any(one.id == intent.id for one in opened.store.intents()):
                    continue
                near = opened.store.cards([id_]).get(id_)
                with self._brains.use(self._brains.home.medulla()) as medulla:
                    far = medulla.store.cards([id_]).get(id_)
                if near is not None and far is not None and _says_the_same(far, near):
                    self._leave(FINISHER, opened, id_, promised.reason, {}, intent.id)
                else:
                    with opened.store.writing() as writer:
                        writer.drop_intent(intent.id)
        return len(pending)


def _says_the_same(there: Card, here: Card) -> bool:
    """Whether the medulla has what a project publishes, from a call that came first or died half way."""
    return (there.statement, there.content, there.rank) == (here.statement, here.content, here.rank)
