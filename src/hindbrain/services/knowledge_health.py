"""The health of knowledge: cards whose standing nothing backs, and cards that lost what they rest on. Changes nothing."""

from hindbrain.domain.card import ACTIVE, Card, CardId, Link, Role, Status
from hindbrain.engines.gate import judged
from hindbrain.stores.port import BrainStore

__all__ = ["knowledge_health"]

_NAMED = 5  # cards named one by one; the number says how many there are


def knowledge_health(store: BrainStore) -> list[tuple[str, str, str]]:
    """What is wrong with the cards of a brain: kind, text and fix."""
    cards = list(store.each_card())
    if not cards:
        return []
    cited: dict[CardId, list[Link]] = {}
    for link in store.links():
        cited.setdefault(link.card_id, []).append(link)
    found = []
    if forced := [card for card in cards if not card.backed]:
        text = f"no entry of the ledger gave {_names(forced)} the status it has; it counts for nothing"
        found.append(("card_unbacked", text, "hindbrain ledger verify, then restore a backup of brain.db"))
    if bare := [card for card in cards if card.backed and _bare(card, cited.get(card.id, []))]:
        text = f"evidence that {_names(bare)} rests on is gone; it is in no context"
        found.append(("card_evidence_gone", text, f"hindbrain knowledge gate {bare[0].id}"))
    return found


def _bare(card: Card, links: list[Link]) -> bool:
    if card.status in ACTIVE:
        return not judged(card, links, target=card.status, reviewed=True, spared=True).allowed
    return card.status is Status.CANDIDATE and not any(link.live for link in links if link.role is Role.SUPPORTING)


def _names(cards: list[Card]) -> str:
    more = len(cards) - _NAMED
    return ", ".join(card.id for card in cards[:_NAMED]) + (f" and {more} more" if more > 0 else "")
