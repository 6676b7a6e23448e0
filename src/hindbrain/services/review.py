"""Review: the queue of what a person should look at. Reads only; whatever is decided goes through the ordinary operations."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import Card, CardId, EventType, Link, Role, Status
from hindbrain.domain.errors import Rejected
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.engines.review import Cite, Draft, Shelf, Tried, opposed, ordered, returned, stale, waiting
from hindbrain.engines.review_choices import KEPT, kept
from hindbrain.policy.contradictions import EVIDENCE_TAGS
from hindbrain.policy.review import CITED_MOST, EXCERPT_MAX, KINDS, RETURNED_DAYS, TEXT_MAX
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_erasure import card_texts
from hindbrain.services.card_evidence import hollow
from hindbrain.services.cards import is_here
from hindbrain.services.evidence import DELETED, Observations, iso
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import recorded
from hindbrain.services.review_files import changed_files
from hindbrain.stores.port import BrainStore, Where

__all__ = ["Review"]

_DAY_MS = 86_400_000
_PAGE = 5_000
_KEY = 16
# Acts that bury a value. Without any of them no card can say one, and none has to be read for it.
_BURYING = ("claim.reject", "claim.forget", "evidence.reject", "evidence.forget", "card.forgotten")


class Review:
    """`review`."""

    def __init__(self, brains: Brains, observations: Observations, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._observations = observations
        self._clock = clock

    def queue(self, caller: Caller, *, kind: str | None, limit: int) -> dict[str, Any]:
        """What waits for a person, in a fixed order, with how much there is of each kind."""
        wanted = (kind,) if kind else KINDS
        brains = self._observations.readable(caller, None)
        shelves: list[Shelf] = []
        unread = 0
        for brain in brains:
            with self._brains.use(brain) as opened:
                shelf, missed = self._shelf(opened, wanted)
                shelves.append(shelf)
                unread += missed
        drafts: list[Draft] = []
        capped = False
        if "contradiction" in wanted:
            drafts, capped = opposed(shelves)
        for name, found in (("returned", returned), ("stale", stale), ("open_gate", waiting)):
            drafts += [one for shelf in shelves for one in found(shelf)] if name in wanted else []
        items = self._open(brains, ordered(drafts))
        counts = Counter(one.kind for one, _ in items)
        shown = [self._item(draft, key, self._rows(brains, draft)) for draft, key in items[:limit]]
        return {
            "ok": True,
            "schema": "hindbrain-review-v0",
            "items": shown,
            "counts": {name: counts[name] for name in KINDS if name in wanted},
            "total": len(items),
            "left_out": max(0, len(items) - limit),
            "capped": capped,
            "unread_files": unread,
        }

    # -- what a brain knows ------------------------------------------------------------------------------------------

    def _shelf(self, opened: OpenBrain, wanted: Sequence[str]) -> tuple[Shelf, int]:
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
            used = [
                link for card in cards if card.active for link in links.get(card.id, ()) if link.role is not Role.COUNTEREXAMPLE
            ]
            shelf.lost = _lost(store, [link.evidence_id for link in used if not link.live])
            compared = changed_files(opened, store.evidence([link.evidence_id for link in used if link.live]).values())
            shelf.changed, unread = compared.changed, compared.unread
        if "returned" in wanted:
            shelf.buried = _buried(store, cards)
            shelf.tried = self._tried(store)
        return shelf, unread

    def _tried(self, store: BrainStore) -> list[Tried]:
        """Refused attempts to write a rejected value, by who and by which way."""
        since, counted = self._clock() - RETURNED_DAYS * _DAY_MS, Counter[tuple[str, str]]()
        last: dict[tuple[str, str], int] = {}
        after = 0
        while entries := store.entries(after=after, limit=_PAGE, act="call.refused"):
            for entry in entries:
                told = json.loads(entry.payload)
                if entry.at >= since and told.get("code") == Rejected.code:
                    key = (entry.actor, str(told.get("operation")))
                    counted[key] += 1
                    last[key] = max(last.get(key, 0), entry.at)
            after = entries[-1].seq
        return [
            Tried(actor=actor, operation=operation, times=times, last_at=last[actor, operation])
            for (actor, operation), times in counted.items()
        ]

    # -- what a person let stand -------------------------------------------------------------------------------------

    def _open(self, brains: Iterable[Brain], drafts: Sequence[Draft]) -> list[tuple[Draft, str]]:
        """Each item with its key, without those that a person let stand as they are."""
        salts: dict[str, str] = {}
        stood: set[str] = set()
        for brain in brains if drafts else ():
            with self._brains.use(brain) as opened:
                salts[brain.name] = opened.store.meta("salt") or ""
                stood |= _stood(opened.store)
        keyed = []
        for draft in drafts:
            ids = [card.id for _, card in draft.cards]
            named = [*ids, f"{draft.tried.actor}\x1f{draft.tried.operation}" if draft.tried else "", draft.state]
            salt = salts[draft.cards[0][0]] if draft.cards else next(iter(salts.values()))
            keyed.append((draft, f"review_{recorded(salt, chr(30).join([draft.kind, *named]))[:_KEY]}"))
        return [(draft, key) for draft, key in keyed if key not in stood]

    # -- on the wire -------------------------------------------------------------------------------------------------

    def _rows(self, brains: Iterable[Brain], draft: Draft) -> dict[EvidenceId, Evidence]:
        found: dict[EvidenceId, Evidence] = {}
        for brain in brains:
            if ids := [cite.evidence_id for cite in draft.cites if cite.brain == brain.name]:
                with self._brains.use(brain) as opened:
                    found |= opened.store.evidence(ids, deleted=True)
        return found

    @staticmethod
    def _item(draft: Draft, key: str, rows: Mapping[EvidenceId, Evidence]) -> dict[str, Any]:
        standing = [kept(draft.cards[0][1], key)] if draft.cards and draft.kind != "returned" else []
        item: dict[str, Any] = {
            "key": key,
            "kind": draft.kind,
            "card_ids": [card.id for _, card in draft.cards],
            "statements": [
                {
                    "card_id": card.id,
                    "statement": card.text[:TEXT_MAX],
                    "tier": card.rank.value,
                    "status": card.status.value,
                    "field": card.field,
                    "brain": brain,
                }
                for brain, card in draft.cards
            ],
            "why": draft.why,
            "settle": draft.settle,
            "citations": _citations(draft.cites, rows),
            "choices": [*draft.choices, *standing],
        }
        if draft.tried is not None:
            item |= {"tried": draft.tried.times, "last_at": iso(draft.tried.last_at)}
        return item


def _citations(cites: Sequence[Cite], rows: Mapping[EvidenceId, Evidence]) -> list[dict[str, Any]]:
    """Some rows of each side, with the beginning of what they say; of what was deleted only the name."""
    made: list[dict[str, Any]] = []
    shown: Counter[CardId | None] = Counter()
    for cite in cites:
        shown[cite.card_id] += 1
        if shown[cite.card_id] > CITED_MOST:
            continue
        row = rows.get(cite.evidence_id)
        living = row is not None and row.deleted_at is None
        made.append(
            {
                "card_id": cite.card_id,
                "evidence_id": cite.evidence_id,
                "role": cite.role,
                "living": living,
                "source_file": row.source if row is not None else None,
                "excerpt": " ".join(row.content.split())[:EXCERPT_MAX] if row is not None and living else None,
            }
        )
    return made


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
                told = json.loads(event.metadata)
                if event.type is EventType.LINKED and event.seq > card.status_seq and told.get("role") == Role.COUNTEREXAMPLE:
                    found.add((card.id, EvidenceId(str(told.get("evidence_id")))))
    return found


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


def _stood(store: BrainStore) -> set[str]:
    """Keys that a person noted on a card. What anybody else notes counts for nothing."""
    return {
        str(json.loads(event.metadata).get(KEPT))
        for event in store.card_events()
        if event.type is EventType.UPDATED and event.channel == Channel.HUMAN.value and KEPT in event.metadata
    }
