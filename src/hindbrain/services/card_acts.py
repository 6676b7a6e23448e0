"""Acts on cards: every change of a card is one entry of the ledger and one event, in the transaction that makes it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, CardEvent, EventType, Status
from hindbrain.domain.ledger import Act
from hindbrain.engines.text import terms
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import Writer

__all__ = ["REDACTED", "card_terms", "said", "tell", "told"]

REDACTED = "card.redacted"  # words that a person forgot were taken out of the history of a card


def card_terms(card: Card) -> list[str]:
    """The words a card is found by: what it says, its subject, its bounds and its hints."""
    hints = card.hints
    words = [*hints.intent_tags, *hints.workflow_bias, *hints.tool_needs]
    return terms("\n".join([card.statement, card.content, card.field, card.scope_constraints or "", *words]))


def said(salt: str, card: Card) -> str:
    """What the ledger keeps of a card's words and of where they hold: enough to know them again, nothing to read."""
    words = [card.statement, card.content, card.scope_constraints, card.hints.told(), card.field, card.domain.value]
    place = [card.anchor.kind.value, card.anchor.id, card.anchor.parent, card.opt_in]
    return recorded(salt, json.dumps([*words, *place], sort_keys=True, ensure_ascii=False))[:32]


def told(salt: str, reason: str, metadata: str) -> str:
    """What the ledger keeps of the words of an event."""
    return recorded(salt, f"{reason}\x1f{metadata}")[:32]


def tell(
    writer: Writer,
    caller: Caller,
    card: Card,
    kind: EventType,
    *,
    salt: str,
    at: int,
    reason: str,
    before: Status | None = None,
    to: Status | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Card:
    """Record what happens to a card, and keep it as that leaves it: `card` has its words and its place from then on, `to` is the
    status that the act gives it.

    The ledger keeps the card's name, its way and a digest of the words; the words are in the event, which a forget can erase."""
    more = json.dumps(dict(metadata or {}), sort_keys=True, ensure_ascii=False)
    payload: dict[str, Any] = {"tier": card.rank.value, "told": told(salt, reason, more), "says": said(salt, card)}
    payload |= {"from": before.value} if before is not None else {}
    payload |= {"to": to.value} if to is not None else {}
    entry = writer.append(
        Act(act=f"card.{kind.value}", subject=card.id, actor=caller.agent, channel=caller.channel, at=at, payload=payload)
    )
    fresh = replace(card, version=entry.seq, updated_at=at)
    if to is not None:
        fresh = replace(fresh, status=to, status_seq=entry.seq, backed=True)
    writer.put_card(fresh, terms=card_terms(fresh))
    writer.put_card_event(
        CardEvent(
            seq=entry.seq,
            card_id=card.id,
            type=kind,
            reason=reason,
            actor=caller.agent,
            channel=caller.channel.value,
            at=at,
            before=before,
            after=to,
            metadata=more,
        )
    )
    return fresh
