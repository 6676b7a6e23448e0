"""Review: the queue of what a person should look at. Reads only; whatever is decided goes through the ordinary operations."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import CardId, EventType
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.domain.stored import stored_json
from hindbrain.engines.review import Cite, Draft, Shelf, opposed, ordered, returned, stale, waiting
from hindbrain.engines.review_choices import KEPT, kept
from hindbrain.policy.review import CITED_MOST, EXCERPT_MAX, KINDS, TEXT_MAX
from hindbrain.services.brains import Brains
from hindbrain.services.evidence import Observations, iso
from hindbrain.services.gateway import recorded
from hindbrain.services.review_files import changed_files
from hindbrain.services.review_shelf import shelf_of, used
from hindbrain.stores.port import BrainStore

__all__ = ["Review"]

_KEY = 16
_ORIGINAL = "is a copy of a row that its project no longer holds"


class Review:
    """`review`."""

    def __init__(self, brains: Brains, observations: Observations, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._observations = observations
        self._clock = clock

    def queue(self, caller: Caller, *, kind: str | None, limit: int, tier: str | None = None) -> dict[str, Any]:
        """What waits for a person, in a fixed order, with how much there is of each kind."""
        wanted = (kind,) if kind else KINDS
        brains = self._observations.readable(caller, tier)
        shelves: list[Shelf] = []
        unread = 0
        for brain in brains:
            with self._brains.use(brain) as opened:
                shelf, missed = shelf_of(opened, wanted, now=self._clock())
                shelves.append(shelf)
                unread += missed
        if "stale" in wanted:
            unread += self._originals(brains, shelves)
        drafts: list[Draft] = []
        capped = False
        if "contradiction" in wanted:
            drafts, capped = opposed(shelves)
        for name, found in (("returned", returned), ("stale", stale), ("open_gate", waiting)):
            drafts += [one for shelf in shelves for one in found(shelf)] if name in wanted else []
        items = self._open(brains, ordered(drafts))
        counts = Counter(one.kind for one, _ in items)
        shown = [self._item(draft, key, self._rows(caller, brains, draft)) for draft, key in items[:limit]]
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

    def _originals(self, brains: Sequence[Brain], shelves: Sequence[Shelf]) -> int:
        """A card of the medulla rests on copies: where the caller's project has the originals, they are looked at too."""
        unread = 0
        for shelf in (one for one in shelves if one.shared):
            copies = used(shelf, live=True)
            for brain in brains if copies else ():
                if brain.root is None:
                    continue
                with self._brains.use(brain) as opened:
                    rows = opened.store.evidence(copies, deleted=True)
                    compared = changed_files(opened, (row for row in rows.values() if row.deleted_at is None))
                gone = {id_: _ORIGINAL for id_, row in rows.items() if row.deleted_at is not None}
                shelf.changed = {**shelf.changed, **compared.changed, **gone}
                unread += compared.unread
        return unread

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

    def _rows(self, caller: Caller, brains: Iterable[Brain], draft: Draft) -> dict[EvidenceId, Evidence]:
        found: dict[EvidenceId, Evidence] = {}
        for brain in brains:
            if ids := [cite.evidence_id for cite in draft.cites if cite.brain == brain.name]:
                with self._brains.use(brain) as opened:
                    rows = opened.store.evidence(ids, deleted=True)
                    # What a candidate of the medulla cites is another project's: only a reviewer reads it.
                    hidden = () if caller.channel is Channel.HUMAN else opened.store.withheld().values()
                    found |= {id_: row for id_, row in rows.items() if id_ not in hidden}
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


def _stood(store: BrainStore) -> set[str]:
    """Keys that a person noted on a card. What anybody else notes counts for nothing."""
    return {
        str(stored_json(event.metadata, "card_event").get(KEPT))
        for event in store.card_events()
        if event.type is EventType.UPDATED and event.channel == Channel.HUMAN.value and KEPT in event.metadata
    }
