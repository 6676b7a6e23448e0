"""Acts on cards: every change of a card is one entry of the ledger and one event, in the transaction that makes it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, CardEvent, EventType, Status
from hindbrain.domain.ledger import Act
from hindbrain.engines.text import terms
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import Writer

__all__ = ["card_terms", "said", "tell", "told"]


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
    after: Status | None = None,
    metadata: Mapping[str, Any] | None = None,
    actor: str | None = None,
    put: Callable[[int], None] | None = None,
) -> int:
    """Record what happens to a card; answers the number of the entry. `put` gets that number and writes the card itself. `card`
    is the card with the words and the place that the act leaves it with.

    The ledger keeps the card's name, its way and a digest of the words; the words are in the event, which a forget can erase."""
    more = json.dumps(dict(metadata or {}), sort_keys=True, ensure_ascii=False)
    payload: dict[str, Any] = {"tier": card.rank.value, "told": told(salt, reason, more), "says": said(salt, card)}
    payload |= {"from": before.value} if before is not None else {}
    payload |= {"to": after.value} if after is not None else {}
    by = actor or caller.agent
    entry = writer.append(
        Act(act=f"card.{kind.value}", subject=card.id, actor=by, channel=caller.channel, at=at, payload=payload)
    )
    if put is not None:
        put(entry.seq)
    writer.put_card_event(
        CardEvent(
            seq=entry.seq,
            card_id=card.id,
            type=kind,
            reason=reason,
            actor=by,
            channel=caller.channel.value,
            at=at,
            before=before,
            after=after,
            metadata=more,
        )
    )
    return entry.seq
