"""Context: what to go by in a piece of work. Laws before methods before tools, then evidence; near before far. Reads only."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as made_by
from typing import Any

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import RANKS, Card, Rank, Status
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId
from hindbrain.domain.ledger import canonical
from hindbrain.engines.card_match import CardBook, Matched
from hindbrain.engines.text import query_terms
from hindbrain.policy.cards import (
    CONTEXT_DAO_TIAN,
    DISTILL_ROWS,
    DISTILL_SAMPLES,
    DISTILL_SUGGESTIONS,
    EVIDENCE_TOP_K,
    NORTH_CARDS,
)
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_books import CardBooks
from hindbrain.services.card_wire import cited
from hindbrain.services.defaults import Defaults
from hindbrain.services.evidence import Observations
from hindbrain.services.evidence_anchor import Anchors, Scopes, anchors_of, scopes_in
from hindbrain.services.retrieval import Retrieval
from hindbrain.services.routing import Gap, gap
from hindbrain.stores.port import FieldCount, Where

__all__ = ["Asked", "Context", "Pack"]

EVIDENCE = "evidence"
ANY_FIELD = "general"  # no subject in particular: cards of every subject may speak


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a context is wanted for."""

    query: str
    field: str
    domain: Domain
    max_items: int
    dao_tian_limit: int
    cwd: str | None = None
    include_evidence: bool = False
    include_cards: bool | None = None  # None: as the brain's default says
    suggestions: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A card that goes into a pack, and the brain that has it."""

    brain: Brain
    card: Card
    relevance: float
    nearness: int


@dataclass(slots=True)
class Pack:
    """A context, ready to be shown."""

    query: str
    domain: str
    field: str
    anchors: list[dict[str, str]]
    sections: list[dict[str, Any]]
    suggestions: list[dict[str, Any]] = made_by(default_factory=list)
    gaps: list[Gap] = made_by(default_factory=list)
    include_cards: bool = False

    def told(self) -> dict[str, Any]:
        """The part that an agent reads and that its hash stands for."""
        return {
            "query": self.query,
            "domain": self.domain,
            "field": self.field,
            "anchors": self.anchors,
            "sections": self.sections,
        }

    @property
    def hash(self) -> str:
        return hashlib.sha256(canonical(self.told()).encode("utf-8", "surrogatepass")).hexdigest()


class Context:
    """Assembles packs."""

    def __init__(
        self,
        brains: Brains,
        observations: Observations,
        anchors: Anchors,
        retrieval: Retrieval,
        books: CardBooks,
        defaults: Defaults,
    ) -> None:
        self._brains = brains
        self._observations = observations
        self._anchors = anchors
        self._retrieval = retrieval
        self._books = books
        self._defaults = defaults

    # -- packs -------------------------------------------------------------------------------------------------------

    def pack(self, caller: Caller, asked: Asked) -> Pack:
        """The typed context of a piece of work."""
        if asked.max_items < 1:
            raise InvalidParams("max_items is 0", fix="give max_items from 1 on")
        if not asked.query.strip():
            raise InvalidParams("query is empty", fix="say what the work is about")
        anchors = self.anchors(caller, asked.cwd)
        gaps: list[Gap] = []
        shown: list[_Shown] = []
        with_cards = asked.include_cards
        brains = self._observations.readable(caller, None)
        books: dict[str, CardBook] = {}
        for brain in brains:
            with self._brains.use(brain) as opened:
                if brain.root is not None and with_cards is None:
                    with_cards = self._defaults.include_cards(opened)
                books[brain.name] = book = self._books.of(opened)
                scores = self.linked(opened, asked.query, gaps) if book.cards else {}
                scopes = scopes_in(opened, anchors)
            shown += self._chosen(brain, book.matched(query_terms(asked.query), scores), asked, scopes)
        gaps += self._silent(books)
        sections = self._sections(shown, books, asked, with_cards=bool(with_cards))
        left = asked.max_items - sum(len(section["items"]) for section in sections)
        if asked.include_evidence and left > 0 and (items := self._evidence(brains, asked, anchors, gaps, left)):
            sections.append({"name": EVIDENCE, "items": items})
        return Pack(
            query=asked.query,
            domain=asked.domain.value,
            field=asked.field,
            anchors=[{"anchor_kind": anchor.kind.value, "anchor_id": anchor.id} for anchor in anchors],
            sections=sections,
            suggestions=self._suggestions(brains, books) if asked.suggestions else [],
            gaps=gaps,
            include_cards=bool(with_cards),
        )

    @staticmethod
    def _silent(books: Mapping[str, CardBook]) -> list[Gap]:
        """Active cards that say nothing, because what they rest on is gone."""
        lost = sum(book.lost for book in books.values())
        text = f"{lost} active card(s) are left out: evidence they rest on was deleted"
        return [gap("cards_without_evidence", text, "hindbrain review --kind stale")] if lost else []

    def anchors(self, caller: Caller, cwd: str | None) -> list[Anchor]:
        """The scopes that speak here, from near to far."""
        return anchors_of(self._anchors.standing(caller, cwd))

    def linked(self, opened: OpenBrain, query: str, gaps: list[Gap], *, limit: int = EVIDENCE_TOP_K) -> dict[EvidenceId, float]:
        """Evidence that answers a question, with its score; none when nothing is relevant."""
        if not opened.store.counts().evidence:
            return {}
        found = self._retrieval.search(opened, query, limit=limit)
        gaps += [one for one in found.served.gaps(opened.brain.display_name) if one not in gaps]
        return {hit.evidence.id: hit.score for hit in found.hits}

    @staticmethod
    def _chosen(brain: Brain, matched: Sequence[Matched], asked: Asked, scopes: Scopes) -> list[_Shown]:
        """Cards of the scopes that speak here, of the asked subject, for whom they are meant."""
        found = []
        for one in matched:
            card = one.card
            domain = Domain.GLOBAL if card.anchor.kind is AnchorKind.GLOBAL else asked.domain
            fits = ANY_FIELD in (asked.field, card.field) or card.field == asked.field
            near = scopes.nearness(card.anchor)
            if near is not None and card.domain is domain and fits:
                found.append(_Shown(brain=brain, card=card, relevance=one.relevance, nearness=near))
        return found

    def _sections(
        self, shown: Sequence[_Shown], books: Mapping[str, CardBook], asked: Asked, *, with_cards: bool
    ) -> list[dict[str, Any]]:
        """By rank; in it by nearness, standing and relevance. Cards that must be asked for get what the others leave."""
        by_rank: dict[Rank, list[_Shown]] = {rank: [] for rank in RANKS}
        left = asked.max_items
        for opt_in in (False, True) if with_cards else (False,):
            for rank in RANKS:
                fit = sorted((one for one in shown if one.card.rank is rank and one.card.opt_in is opt_in), key=_order)
                most = asked.dao_tian_limit - len(by_rank[rank]) if rank is Rank.DAO_TIAN else left
                taken = fit[: max(0, min(left, most))]
                by_rank[rank] += taken
                left -= len(taken)
        return [
            {"name": rank.value, "items": self._items(found, books, with_cards=with_cards)}
            for rank, found in by_rank.items()
            if found
        ]

    def _items(self, found: Sequence[_Shown], books: Mapping[str, CardBook], *, with_cards: bool) -> list[dict[str, Any]]:
        made = []
        for one in found:
            card = one.card
            item: dict[str, Any] = {
                "id": card.id,
                "source_file": card.source,
                "text": card.text,
                "tier": card.rank.value,
                "status": card.status.value,
                "anchor_kind": card.anchor.kind.value,
                "anchor_id": card.anchor.id,
            }
            item |= {"parent_anchor_id": card.anchor.parent} if card.anchor.parent else {}
            item |= {"scope_constraints": card.scope_constraints} if card.scope_constraints else {}
            item |= {"contested": True} if books[one.brain.name].contested(card.id) else {}
            item |= {"trigger_hints": hints} if (hints := card.hints.told()) else {}
            if with_cards:
                links = books[one.brain.name].links[card.id]
                with self._brains.use(one.brain) as opened:
                    rows = opened.store.evidence([link.evidence_id for link in links])
                item |= {"card_id": card.id, "evidence_citations": cited(links, rows)}
            made.append(item)
        return made

    def _evidence(
        self, brains: Sequence[Brain], asked: Asked, anchors: Sequence[Anchor], gaps: list[Gap], left: int
    ) -> list[dict[str, Any]]:
        """Observations that answer the question, of the same scopes; what is meant for everybody from the medulla."""
        hits: list[tuple[float, Evidence]] = []
        for brain in brains:
            domain = asked.domain.value if brain.root is not None else Domain.GLOBAL.value
            with self._brains.use(brain) as opened:
                where = Where(
                    domain=domain,
                    field=None if asked.field == ANY_FIELD else asked.field,
                    anchor_ids=scopes_in(opened, anchors).ids(),
                )
                if opened.store.counts().evidence:
                    found = self._retrieval.search(opened, asked.query, where=where, limit=left)
                    gaps += [one for one in found.served.gaps(brain.display_name) if one not in gaps]
                    hits += [(hit.score, hit.evidence) for hit in found.hits]
        hits.sort(key=lambda one: (-round(one[0], 4), one[1].id))
        unique = list({row.id: row for _, row in hits}.values())
        return [evidence_item(row) for row in unique[:left]]

    def beat(self, caller: Caller, task: str, scores: Mapping[EvidenceId, float]) -> list[dict[str, Any]]:
        """Knowledge for the first answer of a task: one universal law at most, then by rank. What was found of evidence for
        that answer leads to cards, so nothing is searched twice."""
        asked = Asked(
            query=task,
            field=ANY_FIELD,
            domain=Domain.PROJECT,
            max_items=NORTH_CARDS,
            dao_tian_limit=CONTEXT_DAO_TIAN,
            include_cards=False,
        )
        anchors = self.anchors(caller, None)
        shown: list[_Shown] = []
        books: dict[str, CardBook] = {}
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                book, scopes = self._books.of(opened), scopes_in(opened, anchors)
            books[brain.name] = book
            if book.cards:
                shown += self._chosen(brain, book.matched(query_terms(task), scores), asked, scopes)
        return [item for section in self._sections(shown, books, asked, with_cards=False) for item in section["items"]]

    # -- what could be learned ---------------------------------------------------------------------------------------

    def _suggestions(self, brains: Sequence[Brain], books: Mapping[str, CardBook]) -> list[dict[str, Any]]:
        """Subjects that were observed often and of which nothing is known. Only observed: nothing is made of them."""
        known = frozenset(field for book in books.values() for field in book.fields)
        found: list[FieldCount] = []
        for brain in brains:
            if brain.root is None and len(brains) > 1:
                continue  # the medulla is everybody's; its subjects are not this project's to distill
            with self._brains.use(brain) as opened:
                found += opened.store.fields(least=DISTILL_ROWS, samples=DISTILL_SAMPLES)
        open_ = sorted((one for one in found if one.field not in known), key=lambda one: (-one.rows, one.field))
        return [
            {
                "field": one.field,
                "evidence_count": one.rows,
                "sample_evidence_ids": list(one.first),
                "suggested_tier": Rank.DAO_REN.value,
            }
            for one in open_[:DISTILL_SUGGESTIONS]
        ]


def _order(one: _Shown) -> tuple[int, bool, float, int, str]:
    return (one.nearness, one.card.status is not Status.CANONICAL, -one.relevance, -one.card.importance, one.card.id)


def evidence_item(row: Evidence) -> dict[str, Any]:
    """A row of evidence in a pack."""
    item: dict[str, Any] = {
        "id": row.id,
        "source_file": row.source or f"hindbrain://evidence/{row.id}",
        "text": row.content,
        "anchor_kind": row.anchor.kind.value,
        "anchor_id": row.anchor.id,
    }
    return item | ({"parent_anchor_id": row.anchor.parent} if row.anchor.parent else {})
