"""Shelves: what the review queue reads of one brain. Cards and their links, evidence that changed, values that came back."""

from collections import Counter
from collections.abc import Iterable, Sequence

from hindbrain.domain.card import Card, CardId, EventType, Link, Role, Status
from hindbrain.domain.errors import Rejected
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.domain.stored import stored_json
from hindbrain.engines.review import Shelf, Tried
from hindbrain.policy.contradictions import EVIDENCE_TAGS
from hindbrain.policy.review import RETURNED_DAYS
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_erasure import card_texts
from hindbrain.services.card_evidence import hollow
from hindbrain.services.cards import is_here
from hindbrain.services.evidence import DELETED
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.review_files import changed_files
from hindbrain.stores.port import BrainStore, Where

__all__ = ["shelf_of", "used"]

_DAY_MS = 86_400_000
_PAGE = 5_000
# Acts that bury a value. Without any of them no card can say one, and none has to be read for it.
_BURYING = ("claim.reject", "claim.forget", "evidence.reject", "evidence.forget", "card.forgotten")


def shelf_of(opened: OpenBrain, wanted: Sequence[str], *, now: int) -> tuple[Shelf, int]:
    """One brain as the queue needs it for these kinds, and how many cited files could not be read."""
    store, brain = opened.store, opened.brain
    cards = [card for card in store.each_card() if is_here(brain, card)]
    links: dict[CardId, list[Link]] = {}
    for link in store.links() if cards else ():
        links.setdefault(link.card_id, []).append(link)
    shelf = Shelf(brain=brain.name, shared=brain.root is None, cards=cards, links=links)
    unread = 0
    if "open_gate" in wanted:
        checked = {
            link.evidence_id
            for card in cards
            if card.status is Status.CANDIDATE
            for link in links.get(card.id, ())
            if link.role is Role.VERIFICATION
        }
        shelf.hollow = hollow(store.evidence(list(checked)))
    if "contradiction" in wanted:
        shelf.tagged = _tagged(store)
        shelf.since = _since(store, shelf)
    if "stale" in wanted:
        used = [link for card in cards if card.active for link in links.get(card.id, ()) if link.role is not Role.COUNTEREXAMPLE]
        shelf.lost = _lost(store, [link.evidence_id for link in used if not link.live])
        compared = changed_files(opened, store.evidence([link.evidence_id for link in used if link.live]).values())
        shelf.changed, unread = compared.changed, compared.unread
    if "returned" in wanted:
        shelf.buried = _buried(store, cards)
        shelf.tried = _tried(store, now)
    return shelf, unread


def _tried(store: BrainStore, now: int) -> list[Tried]:
    """Refused attempts to write a rejected value, by who and by which way."""
    since, counted = now - RETURNED_DAYS * _DAY_MS, Counter[tuple[str, str]]()
    last: dict[tuple[str, str], int] = {}
    after = 0
    while entries := store.entries(after=after, limit=_PAGE, act="call.refused"):
        for entry in entries:
            told = stored_json(entry.payload, "ledger")
            if entry.at >= since and told.get("code") == Rejected.code:
                key = (entry.actor, str(told.get("operation")))
                counted[key] += 1
                last[key] = max(last.get(key, 0), entry.at)
        after = entries[-1].seq
    return [
        Tried(actor=actor, operation=operation, times=times, last_at=last[actor, operation])
        for (actor, operation), times in counted.items()
    ]


def _tagged(store: BrainStore) -> list[Evidence]:
    """Rows that somebody marked as speaking against something."""
    found = {row.id: row for tag in EVIDENCE_TAGS for row in store.each_evidence(Where(tag=tag))}
    return list(found.values())


def _since(store: BrainStore, shelf: Shelf) -> set[tuple[CardId, EvidenceId]]:
    """Counterexamples that were linked after their card got its status: nobody has weighed them yet."""
    found = set()
    for card in shelf.cards:
        if card.active and shelf.cited(card, Role.COUNTEREXAMPLE):
            for event in store.card_events(card.id):
                told = stored_json(event.metadata, "card_event")
                if event.type is EventType.LINKED and event.seq > card.status_seq and told.get("role") == Role.COUNTEREXAMPLE:
                    found.add((card.id, EvidenceId(str(told.get("evidence_id")))))
    return found


def used(shelf: Shelf, *, live: bool) -> list[EvidenceId]:
    """What active cards rest on."""
    links = (link for card in shelf.cards if card.active for link in shelf.links.get(card.id, ()))
    return list(dict.fromkeys(link.evidence_id for link in links if link.live is live and link.role is not Role.COUNTEREXAMPLE))


def _lost(store: BrainStore, ids: Sequence[EvidenceId]) -> dict[EvidenceId, str]:
    """How cited rows went: by somebody, with a rejected value, or because their source says something else now."""
    if not ids:
        return {}
    marks = {mark.slug: mark for mark in store.marks(slugs=list(ids), kind=DELETED)}
    made: dict[EvidenceId, str] = {}
    for id_ in ids:
        if (mark := marks.get(id_)) is None:
            made[id_] = "is no longer in its source, which was taken in again"
        else:
            made[id_] = "held a rejected value" if mark.note == "rejected" else f"was deleted by {mark.by}"
    return made


def _buried(store: BrainStore, cards: Iterable[Card]) -> set[CardId]:
    """Cards that say a value with a tombstone."""
    salt = store.meta("salt")
    if not salt or not any(store.entries(act=act, limit=1) for act in _BURYING):
        return set()
    marked: dict[str, set[CardId]] = {}
    for card in cards:
        if card.status is not Status.RETIRED:
            for text in card_texts(card):
                for mark, _, _ in traces_of(text, salt):
                    marked.setdefault(mark, set()).add(card.id)
    held = store.tombstones(list(marked))
    return {card_id for mark in held for card_id in marked[mark]}
