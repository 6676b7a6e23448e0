"""Cards: knowledge looked at. What there is, how it stands, how it came about, and what it lacks. Reads only."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import ACTIVE_OF, Card, CardEvent, CardId, Link, Role, Status
from hindbrain.domain.errors import InvalidParams, UnknownCard
from hindbrain.engines.card_match import mentions
from hindbrain.engines.gate import judged, policy
from hindbrain.engines.review_choices import rejection
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_evidence import hollow
from hindbrain.services.card_wire import event_row, refs, stability, wire_card
from hindbrain.services.evidence import Observations
from hindbrain.stores.port import CardFilter

__all__ = ["Cards", "is_here"]

_MOVE = ("event_type", "from_status", "to_status", "reason", "actor", "channel", "created_at")  # a change of status, as shown


def is_here(brain: Brain, card: Card) -> bool:
    """Whether a card lives in this brain. What a project published to everybody is a pointer there; it lives in the medulla."""
    return brain.root is None or card.anchor.kind is not AnchorKind.GLOBAL


def _wired(opened: OpenBrain, cards: Sequence[Card], *, gates: Caller | None = None) -> dict[CardId, dict[str, Any]]:
    """Cards of one brain on the wire, with few questions to the store; with what each lacks, if somebody asks for `gates`."""
    links = opened.store.links(cards=[card.id for card in cards])
    rows = opened.store.evidence(list({link.evidence_id for link in links}))
    by_card: dict[CardId, list[Link]] = {}
    for link in links:
        by_card.setdefault(link.card_id, []).append(link)
    told = {card.id: wire_card(opened.brain, card, by_card.get(card.id, []), rows) for card in cards}
    if gates is not None:
        weak, reviewed = hollow(rows), gates.channel is Channel.HUMAN
        for card in cards:
            cited = by_card.get(card.id, [])
            verdict = judged(card, cited, target=ACTIVE_OF[card.rank], reviewed=reviewed, hollow=weak).told()
            told[card.id]["gate"] = {name: verdict[name] for name in ("allowed", "target_status", "reasons")}
    return told


def _facets(cards: Sequence[Card]) -> dict[str, Any]:
    fields = Counter(card.field for card in cards)
    return {
        "fields": [{"name": name, "count": fields[name]} for name in sorted(fields)],
        "domains": dict(sorted(Counter(card.domain.value for card in cards).items())),
    }


class Cards:
    """The cards that a caller can read: those of its brain, and those of the medulla."""

    def __init__(self, brains: Brains, observations: Observations) -> None:
        self._brains = brains
        self._observations = observations

    def holding(self, caller: Caller, card_id: str) -> tuple[Brain, Card]:
        """The card with an id, and the brain it lives in."""
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                card = opened.store.cards([CardId(card_id)]).get(CardId(card_id))
            if card is not None and is_here(brain, card):
                return brain, card
        raise UnknownCard(f"there is no card {card_id[:80]!r} here", fix="hindbrain knowledge list shows what there is")

    def rejection(self, caller: Caller, card_id: str) -> dict[str, str] | None:
        """The arguments of `reject` for what a card says; None where no card has this id."""
        try:
            brain, card = self.holding(caller, card_id)
        except UnknownCard:
            return None
        return rejection(card, shared=brain.root is None)

    def known(self, caller: Caller, card_id: CardId) -> bool:
        """Whether an id stands for a card in any brain that the caller reads. A second one would answer in its place."""
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                if opened.store.cards([card_id]):
                    return True
        return False

    def evaluators(self, caller: Caller) -> frozenset[str]:
        """Names under which something advised on cards: none of them reviews one."""
        found: set[str] = set()
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                found |= {one.evaluator_id for one in opened.store.adoptions() if one.evaluator_id}
        return frozenset(found)

    def get(self, caller: Caller, card_id: str, *, derived: bool) -> dict[str, Any]:
        """One card, with what it cites."""
        brain, card = self.holding(caller, card_id)
        with self._brains.use(brain) as opened:
            links = opened.store.links(cards=[card.id])
            row = _wired(opened, [card])[card.id]
        events = self._history(caller, card.id)
        moves = [event_row(event) for event in events if event.after is not None]
        row["history"] = [{key: move[key] for key in _MOVE} for move in moves]
        if derived:
            row |= {
                "stability": stability(card, links, events),
                "evidence_refs": refs(links, Role.SUPPORTING),
                "counterexamples": refs(links, Role.COUNTEREXAMPLE),
                "promotion_history": moves,
            }
        return {"ok": True, "schema": "hindbrain-card-v0", **row}

    def listed(
        self,
        caller: Caller,
        where: CardFilter,
        *,
        limit: int,
        query: str | None = None,
        tier: str | None = None,
        gates: bool = False,
        facets: bool = False,
    ) -> dict[str, Any]:
        """Cards by rank, status and id, with how many there are of each rank and status."""
        rows: list[tuple[Brain, Card]] = []
        every: list[Card] = []
        for brain in self._observations.readable(caller, tier):
            with self._brains.use(brain) as opened:
                found = [card for card in opened.store.each_card(where) if is_here(brain, card) and mentions(card, query or "")]
                rows += [(brain, card) for card in found]
                every += [card for card in opened.store.each_card() if is_here(brain, card)] if facets else []
        order = {rank: place for place, rank in enumerate(ACTIVE_OF)}
        steps = {status: place for place, status in enumerate(Status)}
        rows.sort(key=lambda one: (order[one[1].rank], steps[one[1].status], one[1].id))
        told: dict[CardId, dict[str, Any]] = {}
        for brain in {brain.name: brain for brain, _ in rows[:limit]}.values():
            with self._brains.use(brain) as opened:
                here = [card for where_, card in rows[:limit] if where_.name == brain.name]
                told |= _wired(opened, here, gates=caller if gates else None)
        counts: dict[str, Counter[str]] = {}
        for _, card in rows:
            counts.setdefault(card.rank.value, Counter())[card.status.value] += 1
        return {
            "ok": True,
            "schema": "hindbrain-card-list-v0",
            "cards": [told[card.id] for _, card in rows[:limit]],
            "total": len(rows),
            "counts": {rank: dict(by_status) for rank, by_status in counts.items()},
        } | ({"facets": _facets(every)} if facets else {})

    def events(self, caller: Caller, card_id: str) -> dict[str, Any]:
        """How a card came to be what it is, in order."""
        _, card = self.holding(caller, card_id)
        shown = [event_row(event) for event in self._history(caller, card.id)]
        return {"ok": True, "schema": "hindbrain-card-events-v0", "card_id": card.id, "events": shown}

    def _history(self, caller: Caller, card_id: CardId) -> list[CardEvent]:
        """Its events in every brain it lived in: a card that was published began in its project."""
        found: list[CardEvent] = []
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                found += opened.store.card_events(card_id)
        return found

    def exported(self, caller: Caller) -> Iterator[str]:
        """Every event of every card of the caller's brain as a line of JSON, in order. Derived: nothing reads it back."""
        for brain in self._observations.readable(caller, "project"):
            with self._brains.use(brain) as opened:
                for event in opened.store.card_events():
                    yield json.dumps(event_row(event), ensure_ascii=False, sort_keys=True)

    def gate(
        self, caller: Caller, card_id: str, *, target_status: str | None, reviewer: str | None, allow_counterexamples: bool
    ) -> dict[str, Any]:
        """What a card lacks for a status. Changes nothing; passing it promotes nothing."""
        brain, card = self.holding(caller, card_id)
        if reviewer is not None and not reviewer.strip():
            raise InvalidParams("reviewer is blank", fix="name the person, or leave it out")
        with self._brains.use(brain) as opened:
            links = opened.store.links(cards=[card.id])
            verdict = judged(
                card,
                links,
                target=Status(target_status) if target_status else ACTIVE_OF[card.rank],
                reviewed=reviewer is not None and caller.channel is Channel.HUMAN,
                spared=allow_counterexamples,
                hollow=hollow(opened.store.evidence([link.evidence_id for link in links])),
            )
        return {"ok": True, "schema": "hindbrain-card-gate-v0", **verdict.told()}

    @staticmethod
    def policy() -> dict[str, Any]:
        """The table of gates."""
        return {"ok": True, "schema": "hindbrain-card-policy-v0", "policy": policy()}
