"""The fan-out: one question to every hosted brain, for claims, cards and evidence. Only on request; every row is labelled."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.brain import Brain, TierAsked
from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.fence import cut, shares, tokens
from hindbrain.engines.text import query_terms
from hindbrain.policy.recall import BEAT_MIN_SCORE, ROW_MIN_TOKENS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_books import CardBooks
from hindbrain.services.feeds import Feeds
from hindbrain.services.retrieval import Retrieval
from hindbrain.services.routing import Route
from hindbrain.services.rows import Row, card_row, evidence_row
from hindbrain.settings import Settings

__all__ = ["Fanout", "in_turn"]


@dataclass(slots=True, kw_only=True)
class _Answer:
    """What one brain answered."""

    rows: list[Row] = field(default_factory=list)
    found: int = 0  # before the cut to the limit
    claims: int = 0  # how many claims there are, whether they match or not
    evidence: int = 0


class Fanout:
    """Asks every hosted brain, one open at a time."""

    def __init__(
        self,
        brains: Brains,
        feeds: Feeds,
        retrieval: Retrieval,
        books: CardBooks,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._feeds = feeds
        self._retrieval = retrieval
        self._books = books
        self._clock = clock
        self._tokens = settings.number("beat_tokens")
        self._stale_after_days = settings.number("stale_after_days")
        self.allowed = settings.flag("all_brains")

    def ask(self, route: Route, query: str | None, *, limit: int, min_score: float = BEAT_MIN_SCORE) -> dict[str, Any]:
        """Return what every brain knows, in groups by origin: the caller's brain first, then the medulla, then the others."""
        began = self._clock()
        warm_before = self._brains.warm()
        groups: list[dict[str, Any]] = []
        unreachable: list[dict[str, str]] = []
        exists: dict[str, int] = {"project": 0, "medulla": 0}
        found = evidence = 0
        asked = self._asked(route)
        for brain in asked:
            try:
                with self._brains.use(brain) as opened:
                    answer = self._answer(opened, query, limit=limit, min_score=min_score)
                    counts, age = opened.store.counts(), self._age(opened)
            except (HindbrainError, OSError) as failure:
                unreachable.append({"store_brain": brain.name, "reason": str(failure)})
                continue
            exists[brain.tier.value] += answer.claims
            evidence += answer.evidence
            found += answer.found
            dormant = brain.name not in warm_before
            identity = {"node_count": counts.nodes, "graph_generation": counts.generation, "dormant": dormant}
            labels = {"dormant": dormant, "graph_identity": identity} | ({"snapshot_age_ms": age} if dormant else {})
            groups += _grouped(brain, answer.rows, labels)
        return {
            "groups": groups,
            "found": found,
            "unreachable": unreachable,
            "fanout": {
                "stores": len(asked),
                "warm_booted": len(self._brains.warm() - warm_before),
                "elapsed_ms": self._clock() - began,
            },
            "memory_exists": sum(exists.values()),
            "memory_exists_by_tier": exists,
            **({"evidence_exists": evidence} if evidence else {}),
            "tier": TierAsked.ALL_BRAINS.value,
        }

    def _asked(self, route: Route) -> list[Brain]:
        mine = route.brain.name if route.brain is not None else None
        own = [route.brain] if route.brain is not None else []
        medulla = [self._brains.home.medulla()] if self._brains.has_medulla() else []
        return [*own, *medulla, *(brain for brain in self._brains.all() if brain.name != mine)]

    def _answer(self, opened: OpenBrain, query: str | None, *, limit: int, min_score: float) -> _Answer:
        """Return claims, then cards, then evidence. Each kind that has an answer gets at least one row."""
        feed = self._feeds.feed(opened, query, limit=limit, min_score=min_score, marked=True)
        held = opened.store.counts().evidence
        answer = _Answer(rows=feed.rows, found=feed.found, claims=feed.exists, evidence=held)
        if (query or "").strip():
            hits = self._retrieval.search(opened, query or "", limit=limit).hits if held else ()
            cards = self._cards(opened, query or "", {hit.evidence.id: hit.score for hit in hits}, min_score)
            now, days = self._clock(), self._stale_after_days
            seen = [
                evidence_row(
                    opened.brain,
                    self._brains.home.origin_name(hit.evidence.origin, opened.brain),
                    hit.evidence,
                    hit.score,
                    hit.parts,
                    now=now,
                    stale_after_days=days,
                )
                for hit in hits
                if hit.score >= min_score
            ]
            answer.found += len(cards) + len(seen)
            for more in (cards, seen):
                answer.rows = [*answer.rows, *more[: max(1, limit - len(answer.rows))]]
        self._cut(answer.rows)
        return answer

    def _cards(self, opened: OpenBrain, query: str, scores: dict[Any, float], min_score: float) -> list[Row]:
        book = self._books.of(opened)
        matched = book.matched(query_terms(query), scores) if book.cards else ()
        now, days = self._clock(), self._stale_after_days
        rows = [
            card_row(opened.brain, one.card, min(1.0, one.relevance), now=now, stale_after_days=days)
            for one in matched
            if not one.card.opt_in
        ]
        return sorted((row for row in rows if row["score"] >= min_score), key=lambda row: (-row["score"], row["id"]))

    def _cut(self, rows: Sequence[Row]) -> None:
        """Cut long texts so that the rows of one brain fit the budget of one answer; a cut is named."""
        room = max(self._tokens, len(rows) * ROW_MIN_TOKENS // 2)
        for row, share in zip(rows, shares([tokens(row["text"]) for row in rows], room), strict=True):
            if (text := cut(row["text"], share)) != row["text"]:
                row["text"], row["truncated"] = text, True

    def _age(self, opened: OpenBrain) -> int | None:
        """Return how long ago anything was recorded in a brain."""
        last = opened.store.entries(after=max(0, opened.store.head()[0] - 1), limit=1)
        return max(0, self._clock() - last[0].at) if last else None


def in_turn(groups: Iterable[dict[str, Any]], *, without: Iterable[str | None] = ()) -> list[Row]:
    """Return the rows of groups in turn, the first of each group first, so that a short text names every brain."""
    left = set(without)
    waiting = [list(group["rows"]) for group in groups if group["store_brain"] not in left]
    most = max(map(len, waiting), default=0)
    return [rows[at] for at in range(most) for rows in waiting if at < len(rows)]


def _grouped(brain: Brain, rows: list[Row], labels: dict[str, Any]) -> list[dict[str, Any]]:
    """Group rows by where they were born, or by where they are stored if that is unknown."""
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        known = row["origin_brain"] != "unknown"
        key = row["origin_brain"] if known else brain.name
        group = groups.setdefault(
            key,
            {
                "origin_brain": key,
                "store_brain": brain.name,
                "fingerprint": brain.fingerprint,
                "group_basis": "origin" if known else "store",
                **labels,
                "rows": [],
            },
        )
        if not known:
            group["group_basis"] = "store"
        group["rows"].append(row)
    return list(groups.values())
