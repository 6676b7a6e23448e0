"""Card retrieval: cards by the evidence they cite. A question finds observations, and they lead to what was made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, Link, Role
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.engines.card_match import CardBook
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_books import CardBooks
from hindbrain.services.card_wire import cited, wire_card
from hindbrain.services.context import Context
from hindbrain.services.evidence import Observations
from hindbrain.services.evidence_anchor import scopes_in
from hindbrain.services.routing import Gap

__all__ = ["CardRetrieval", "Wanted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked for."""

    query: str
    domain: Domain | None
    field: str | None
    cwd: str | None
    top_k: int
    evidence_top_k: int


class CardRetrieval:
    """`knowledge.retrieve`."""

    def __init__(self, brains: Brains, observations: Observations, books: CardBooks, context: Context) -> None:
        self._brains = brains
        self._observations = observations
        self._books = books
        self._context = context

    def retrieve(self, caller: Caller, wanted: Wanted) -> tuple[list[dict[str, Any]], list[Gap]]:
        """Active cards of the scopes that speak here, best evidence first, each with what matched."""
        if wanted.top_k < 1:
            raise InvalidParams("top_k is 0", fix="give top_k from 1 on")
        if not wanted.query.strip():
            raise InvalidParams("query is empty", fix="give words to look for")
        anchors = self._context.anchors(caller, wanted.cwd)
        gaps: list[Gap] = []
        found: list[dict[str, Any]] = []
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                book = self._books.of(opened)
                if book.cards:
                    limit = max(wanted.top_k, wanted.evidence_top_k)
                    scores = self._context.linked(opened, wanted.query, gaps, limit=limit)
                    found += self._rows(opened, book, scores, wanted, anchors)
        found.sort(key=lambda one: (-one["score"], one["card"]["id"]))
        return found[: wanted.top_k], gaps

    def _rows(
        self,
        opened: OpenBrain,
        book: CardBook,
        scores: Mapping[EvidenceId, float],
        wanted: Wanted,
        anchors: Sequence[Anchor],
    ) -> list[dict[str, Any]]:
        scopes = scopes_in(opened, anchors)
        hit = {link.card_id for id_ in scores for link in book.citing.get(id_, ()) if link.card_id in book.cards}
        made = []
        for card in (book.cards[id_] for id_ in sorted(hit)):
            if scopes.nearness(card.anchor) is not None and _fits(card, wanted):
                made.append(self._row(opened, opened.brain, card, book.links[card.id], scores))
        return made

    @staticmethod
    def _row(
        opened: OpenBrain, brain: Brain, card: Card, links: Sequence[Link], scores: Mapping[EvidenceId, float]
    ) -> dict[str, Any]:
        rows = opened.store.evidence([link.evidence_id for link in links])
        matched = [link for link in links if link.evidence_id in scores]
        points = {
            (link.evidence_id, link.role.value): 0.0 if link.role is Role.COUNTEREXAMPLE else scores[link.evidence_id]
            for link in matched
        }
        citations = [one | {"score": round(points[one["evidence_id"], one["role"]], 4)} for one in cited(matched, rows)]
        return {
            "card": wire_card(brain, card, links, rows),
            "evidence_citations": citations,
            "score": round(max(points.values(), default=0.0), 4),
        }


def _fits(card: Card, wanted: Wanted) -> bool:
    domain = Domain.GLOBAL if card.anchor.kind is AnchorKind.GLOBAL else wanted.domain
    return domain in (None, card.domain) and wanted.field in (None, card.field)
