"""Search in evidence: rows by relevance, each with its citation and, if asked for, its neighbours; honest when there are none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.anchor import GLOBAL
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Evidence, SourceType
from hindbrain.policy.evidence import NEIGHBOURS_MOST
from hindbrain.policy.limits import DAY_MS
from hindbrain.services.brains import Brains
from hindbrain.services.evidence import Observations, wire_row
from hindbrain.services.evidence_anchor import anchors_of
from hindbrain.services.retrieval import Retrieval
from hindbrain.services.routing import Gap, gap
from hindbrain.stores.port import Where

__all__ = ["Answered", "EvidenceSearch", "Hit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A row that was found, with how well and why."""

    brain: Brain
    origin: str
    row: Evidence
    score: float
    cosine: float | None
    parts: Mapping[str, float]
    neighbours: dict[str, Any] | None = None

    def told(self, now: int, stale_after_days: int) -> dict[str, Any]:
        age = max(0, now - (self.row.said_at if self.row.said_at is not None else self.row.added_at))
        shown = wire_row(self.row) | {
            "tier": self.brain.tier.value,
            "origin_brain": self.origin,
            "source_agent": self.row.author or "unknown",
            "age_ms": age,
            "stale": age > stale_after_days * DAY_MS,
            "similarity": round(self.score if self.cosine is None else self.cosine, 4),
            "score": round(self.score, 4),
            "score_breakdown": {name: round(part, 4) for name, part in self.parts.items()},
        }
        return shown | ({"neighbors": self.neighbours} if self.neighbours is not None else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a search found, how much there was to find, and by which means it was looked for."""

    hits: Sequence[Hit]
    found: int  # rows that were compared
    exists: int  # live rows of the brains that were asked, whatever the filters say
    by_meaning: bool
    gaps: Sequence[Gap]


class EvidenceSearch:
    """`memory.search`."""

    def __init__(self, brains: Brains, observations: Observations, retrieval: Retrieval) -> None:
        self._brains = brains
        self._observations = observations
        self._retrieval = retrieval

    def search(
        self,
        caller: Caller,
        query: str,
        *,
        where: Where,
        tier: str | None,
        top_k: int,
        min_score: float,
        floor: bool,
        with_neighbours: bool,
    ) -> Answered:
        """The best rows of the caller's brain and the medulla. Filters restrict before anything is ranked."""
        if not query.strip():
            raise InvalidParams("query is empty", fix="give words to look for")
        anchors = [anchor.id for anchor in anchors_of(caller.root) if anchor is not GLOBAL]
        hits: list[Hit] = []
        gaps: list[Gap] = []
        found = exists = 0
        by_meaning = False
        for brain in self._observations.readable(caller, tier):
            with self._brains.use(brain) as opened:
                if not (held := opened.store.counts().evidence):
                    continue
                exists += held
                if not top_k:
                    continue
                seen = self._retrieval.search(opened, query, where=where, limit=top_k, anchors=anchors, floor=floor)
                hits += [
                    Hit(
                        brain=brain,
                        origin=self._brains.home.origin_name(one.evidence.origin, brain),
                        row=one.evidence,
                        score=one.score,
                        cosine=one.cosine,
                        parts=one.parts,
                    )
                    for one in seen.hits
                ]
                gaps += seen.served.gaps(brain.display_name)
                found += seen.found
                by_meaning = by_meaning or seen.served.stamp is not None
        # The order within a brain is the pipeline's; between brains the score decides, and the project's own row when equal.
        # A row that a published card took to the medulla is shown once, as the project's.
        own = list({hit.row.id: hit for hit in reversed(hits)}.values())[::-1]
        hits = sorted((hit for hit in own if hit.score >= min_score), key=lambda hit: -hit.score)[:top_k]
        if not hits and top_k and exists and where != Where():
            gaps.append(self._filtered(caller, where, tier, exists))
        if with_neighbours and top_k <= NEIGHBOURS_MOST:
            hits = [self._with_neighbours(hit) for hit in hits]
        return Answered(hits=hits, found=found, exists=exists, by_meaning=by_meaning, gaps=gaps)

    def _filtered(self, caller: Caller, where: Where, tier: str | None, exists: int) -> Gap:
        """That an answer may be empty because of its filters, and how much they let through."""
        through = 0
        for brain in self._observations.readable(caller, tier):
            with self._brains.use(brain) as opened:
                through += opened.store.evidence_count(where)
        return gap(
            "filtered", f"the filters let {through} of {exists} rows through", "search without them, or hindbrain memory list"
        )

    def _with_neighbours(self, hit: Hit) -> Hit:
        """The chunk before and the chunk after, of the same source, wing and room."""
        row = hit.row
        if row.thread is None:
            return hit
        document = row.source if row.source_type is SourceType.PROJECT else None
        where = Where(source=document, wing=row.wing, room=row.room, anchor_ids=(row.anchor.id,))
        with self._brains.use(hit.brain) as opened:
            around = opened.store.thread(row.thread, first=max(0, row.position - 1), last=row.position + 1, where=where)
        found = {
            name: next((_near(one) for one in around if one.position == place and one.room == row.room), None)
            for name, place in (("prev", row.position - 1), ("next", row.position + 1))
        }
        kept = {name: one for name, one in found.items() if one is not None}
        return replace(hit, neighbours=kept)


def _near(row: Evidence) -> dict[str, Any]:
    return {
        "evidence_id": row.id,
        "content": row.content,
        "chunk_index": row.chunk_index,
        "position": row.position,
        "speaker": row.speaker,
        "role": row.role,
    }
