"""Recall: one pipeline for every question. Scope, candidates, score, floor, budget, rows with provenance. Reads only."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.brain import Brain, TierAsked
from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.fence import cut, shares, tokens
from hindbrain.policy.recall import BEAT_MIN_SCORE, RECENT_ROWS, ROW_MIN_TOKENS, SHARED_PART
from hindbrain.services.arrivals import claim_of
from hindbrain.services.brains import Brains
from hindbrain.services.explaining import Trace
from hindbrain.services.feeds import Feed, Feeds
from hindbrain.services.pairs import conflicting_pairs
from hindbrain.services.reconcile import kept_out
from hindbrain.services.retrieval import Retrieval
from hindbrain.services.routing import Gap, Route, gap, uncovered
from hindbrain.services.rows import DEMOTION, Row, evidence_row
from hindbrain.settings import Settings

__all__ = ["WIDE_IS_OFF", "Beat", "Recall", "tier_asked"]

WIDE_IS_OFF = "this machine does not allow the tier all-brains; served as the default beat"


@dataclass(slots=True)
class Beat:
    """The memory of one answer: rows of the stores that were asked, and of no other."""

    rows: list[Row]
    tier: str
    exists_by_tier: dict[str, int]
    found: int
    gaps: list[Gap]
    conflicts: list[dict[str, Any]]
    note: str | None = None
    warning: str | None = None
    evidence: list[Row] = field(default_factory=list)
    evidence_exists: int = 0
    by_meaning: bool = False  # vectors were asked, not words alone

    @property
    def exists(self) -> int:
        return sum(self.exists_by_tier.values())


@dataclass(slots=True, kw_only=True)
class _Seen:
    """The evidence of one answer."""

    rows: list[Row] = field(default_factory=list)
    exists: int = 0
    gaps: list[Gap] = field(default_factory=list)
    by_meaning: bool = False


def tier_asked(raw: str | None) -> tuple[TierAsked, str | None]:
    """What a `tier` argument means. An unknown value never widens the read; it is named in a warning."""
    if raw is None or raw == "":
        return TierAsked.DEFAULT, None
    value = raw.replace("_", "-")
    try:
        return TierAsked(value), None
    except ValueError:
        return TierAsked.DEFAULT, f"unknown tier {raw[:40]!r}: served as {TierAsked.DEFAULT.value}"


class Recall:
    """Questions about claims, over this brain and the medulla, or over the past."""

    def __init__(
        self,
        brains: Brains,
        feeds: Feeds,
        retrieval: Retrieval,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._feeds = feeds
        self._retrieval = retrieval
        self._clock = clock
        self._per_feed = settings.number("beat_rows_per_feed")
        self.tokens = settings.number("beat_tokens")
        self._stale_after_days = settings.number("stale_after_days")
        self._medulla_wait_s = settings.number("medulla_timeout_ms") / 1000
        self._side = ThreadPoolExecutor(max_workers=4, thread_name_prefix="medulla")

    # -- beats -------------------------------------------------------------------------------------------------------

    def beat(
        self,
        route: Route,
        query: str | None,
        *,
        tier: str | None,
        fallback: bool,
        limit: int | None = None,
        min_score: float = BEAT_MIN_SCORE,
        include_history: bool = False,
        ranked_pairs: bool = True,
        evidence: int = 0,
        trace: Trace | None = None,
    ) -> Beat:
        """The memory of this brain and the medulla, or of the one that was named; never of a third.

        `ranked_pairs` puts the winner of a conflicting pair directly above the loser. Without it, what the project has is as it
        would be without the medulla, in order and text (MED-120).
        """
        asked, warning = tier_asked(tier)
        if asked is TierAsked.ALL_BRAINS:
            asked = TierAsked.DEFAULT
        take = limit if limit is not None else self._per_feed
        gaps: list[Gap] = [*route.gaps]
        feeds: dict[str, Feed] = {}
        options = {"limit": take, "min_score": min_score, "include_history": include_history, "trace": trace}
        # Evidence is asked first, though it is told last: its words take as long to look up as the model needs for the question,
        # so both are done at once, and claims find the question's vectors made.
        seen = _Seen()
        if evidence:
            wanted: dict[str, Any] = {"limit": evidence, "min_score": min_score, "own_first": not ranked_pairs, "trace": trace}
            seen = self._evidence(route, query, asked, **wanted)
        if asked is not TierAsked.MEDULLA:
            if route.brain is not None:
                feeds["project"] = self._guarded(route.brain, query, gaps, options)
            elif route.root is not None:
                gaps.append(_absent(route.root))
        if asked is not TierAsked.PROJECT:
            feeds["medulla"] = self._medulla(query, gaps, options, marked=asked is TierAsked.MEDULLA)
        for feed in feeds.values():
            gaps += [one for one in feed.gaps if one not in gaps]
        rows = [row for feed in feeds.values() for row in feed.rows]
        found = sum(feed.found for feed in feeds.values())
        conflicts = self._conflicts(route, feeds, rows, ranked=ranked_pairs)
        note = None
        exists: dict[str, int] = {name: feed.exists for name, feed in feeds.items()}
        if not rows and fallback and any(exists.values()):
            rows, note = self._fallback(route, query, feeds, gaps)
        self._budget(rows, conflicts, own_first=not ranked_pairs)
        gaps += [one for one in seen.gaps if one not in gaps]
        return Beat(
            rows=rows,
            tier=asked.value,
            exists_by_tier=exists,
            found=found,
            gaps=gaps,
            conflicts=conflicts,
            note=note,
            warning=warning,
            evidence=seen.rows,
            evidence_exists=seen.exists,
            by_meaning=seen.by_meaning
            or any(feed.served is not None and feed.served.stamp is not None for feed in feeds.values()),
        )

    def _evidence(
        self,
        route: Route,
        query: str | None,
        asked: TierAsked,
        *,
        limit: int,
        min_score: float,
        own_first: bool,
        trace: Trace | None,
    ) -> "_Seen":
        """Rows of raw evidence of the same brains, if any is relevant, and how many there are. A failure is a named gap."""
        gaps: list[Gap] = []
        by_meaning = False
        brains = [route.brain] if route.brain is not None and asked is not TierAsked.MEDULLA else []
        brains += [self._brains.home.medulla()] if asked is not TierAsked.PROJECT and self._brains.has_medulla() else []
        rows: list[Row] = []
        exists = 0
        for brain in brains:
            try:
                with self._brains.use(brain) as opened:
                    held = opened.store.counts().evidence
                    exists += held
                    if not held or not (query or "").strip():
                        continue
                    found = self._retrieval.search(opened, query or "", limit=limit, trace=trace)
            except (HindbrainError, OSError) as failure:
                text = f"the evidence of {brain.display_name} did not answer: {failure}"
                gaps.append(gap("evidence_unreachable", text, "hindbrain doctor"))
                continue
            gaps += [one for one in found.served.gaps(brain.display_name) if one not in gaps]
            by_meaning = by_meaning or found.served.stamp is not None
            now = self._clock()
            rows += [
                evidence_row(
                    brain,
                    self._brains.home.origin_name(hit.evidence.origin, brain),
                    hit.evidence,
                    hit.score,
                    hit.parts,
                    now=now,
                    stale_after_days=self._stale_after_days,
                )
                for hit in found.hits
            ]
        rows = sorted((row for row in rows if row["score"] >= min_score), key=lambda row: -row["score"])
        if own_first:
            rows.sort(key=lambda row: row["tier"] != "project")
            own = [row for row in rows if row["tier"] == "project"][:limit]
            rows = [*own, *[row for row in rows if row["tier"] != "project"][:limit]]
            spent = self._cut(own, self.tokens // 2)
            self._cut(rows[len(own) :], self.tokens // 2 - spent)
        else:
            rows = rows[:limit]
            self._cut(rows, self.tokens // 2)
        return _Seen(rows=rows, exists=exists, gaps=gaps, by_meaning=by_meaning)

    def _guarded(self, brain: Brain, query: str | None, gaps: list[Gap], options: dict[str, Any]) -> Feed:
        """A feed that fails is a named gap, never a failed answer."""
        try:
            with self._brains.use(brain) as opened:
                return self._feeds.feed(opened, query, **options)
        except (HindbrainError, OSError) as failure:
            gaps.append(
                gap(
                    "project_memory_unreachable",
                    f"the memory of {brain.display_name} did not answer: {failure}",
                    "hindbrain doctor",
                )
            )
            return Feed()

    def _medulla(self, query: str | None, gaps: list[Gap], options: dict[str, Any], *, marked: bool) -> Feed:
        """The medulla's feed, read beside the call with a hard time limit."""
        if not self._brains.has_medulla():
            return Feed()

        def read() -> Feed:
            with self._brains.use(self._brains.home.medulla()) as opened:
                return self._feeds.feed(opened, query, marked=marked, **options)

        try:
            return self._side.submit(read).result(timeout=self._medulla_wait_s)
        except FutureTimeout:
            gaps.append(
                gap(
                    "medulla_unreachable",
                    "the medulla did not answer in time; this beat is served without it",
                    "hindbrain doctor",
                )
            )
        except (HindbrainError, OSError) as failure:
            gaps.append(gap("medulla_unreachable", f"the medulla did not answer: {failure}", "hindbrain doctor"))
        return Feed()

    def _fallback(self, route: Route, query: str | None, feeds: dict[str, Feed], gaps: list[Gap]) -> tuple[list[Row], str | None]:
        """Claims exist, none matches: the newest few under their own label, or only the stamp when all are stale.

        In a project that names its task these are the project's own: shared memory that does not match stays out."""
        rows: list[Row] = []
        brains = [route.brain] if route.brain is not None and "project" in feeds and feeds["project"].exists else []
        asked = "project" in feeds and bool((query or "").strip())
        brains += [self._brains.home.medulla()] if "medulla" in feeds and feeds["medulla"].exists and not asked else []
        for brain in brains:
            with self._brains.use(brain) as opened:
                rows += self._feeds.recent(opened, limit=RECENT_ROWS - len(rows))
            if len(rows) >= RECENT_ROWS:
                break
        if rows:
            return rows, "memory exists, not necessarily about your task"
        gaps.append(gap("no_task_match", "claims exist, but none matches the task and none is fresh enough to be shown unasked"))
        return [], None

    def _budget(self, rows: list[Row], conflicts: Sequence[dict[str, Any]] = (), *, own_first: bool = False) -> None:
        """Cut long texts so that together they fit the beat's budget; a cut is named. Pairs show their rows' texts."""
        own = [row for row in rows if row["tier"] == "project" and row["match"] != "pair"] if own_first else []
        # The own rows get the same room whether or not shared ones follow, so that those change nothing of them.
        spent = self._cut(own, self.tokens - self.tokens // SHARED_PART)
        self._cut([row for row in rows if all(row is not one for one in own)], self.tokens - spent)
        shown = {(row["tier"], row["slug"]): row["text"] for row in rows}
        for pair in conflicts:
            for tier in ("project", "medulla"):
                pair[tier]["text"] = shown[tier, pair["slug"]]

    @staticmethod
    def _cut(rows: Sequence[Row], budget: int) -> int:
        """Cut texts to a budget, but leave each row readable; return what they cost then."""
        room = max(budget, len(rows) * ROW_MIN_TOKENS // 2)
        for row, share in zip(rows, shares([tokens(row["text"]) for row in rows], room), strict=True):
            if (text := cut(row["text"], share)) != row["text"]:
                row["text"], row["truncated"] = text, True
        return sum(tokens(row["text"]) for row in rows)

    # -- pairs -------------------------------------------------------------------------------------------------------

    def _conflicts(self, route: Route, feeds: dict[str, Feed], rows: list[Row], *, ranked: bool) -> list[dict[str, Any]]:
        """Pairs of one slug in both tiers; none of a pair is dropped."""
        if "project" not in feeds or "medulla" not in feeds or route.brain is None or route.brain.root is None:
            return []
        self._fetch_partners(route.brain, feeds, rows)
        mine, shared = feeds["project"].claims, feeds["medulla"].claims
        return conflicting_pairs(rows, mine, shared, brain=route.brain, ranked=ranked)

    def _fetch_partners(self, brain: Brain, feeds: dict[str, Feed], rows: list[Row]) -> None:
        """A row whose slug also lives in the other tier brings that one along: none of a pair is dropped."""
        sides = {"project": brain, "medulla": self._brains.home.medulla()}
        for here, there in (("project", "medulla"), ("medulla", "project")):
            missing = [row["slug"] for row in rows if row["tier"] == here and row["slug"] not in feeds[there].claims]
            if not missing or not feeds[there].exists:
                continue
            with self._brains.use(sides[there]) as opened:
                hidden = {mark.slug for mark in opened.store.marks(slugs=missing, kind=DEMOTION)} | kept_out(opened).keys()
                found = [
                    (version, claim_of(version), 0.0)
                    for slug, version in opened.store.live(missing).items()
                    if version.active and slug not in hidden
                ]
                rows += self._feeds.rows(opened, found, match="pair", scored=False)
                feeds[there].claims.update({version.slug: claim for version, claim, _ in found})

    # -- the past ----------------------------------------------------------------------------------------------------

    def as_of(self, route: Route, query: str | None, *, at: int, tier: str | None, limit: int) -> tuple[list[Row], int]:
        """What was live at a time, from the record; with a question, what of it matched."""
        asked, _ = tier_asked(tier)
        brains: list[Brain] = []
        if asked is not TierAsked.MEDULLA and route.brain is not None:
            brains.append(route.brain)
        if asked is not TierAsked.PROJECT and self._brains.has_medulla():
            brains.append(self._brains.home.medulla())
        rows: list[Row] = []
        for brain in brains:
            with self._brains.use(brain) as opened:
                rows += self._feeds.as_of(opened, query, at=at)
        rows.sort(key=lambda row: (-row["score"], -row["born_at"], row["slug"]))
        found = len(rows)
        self._budget(rows[:limit])
        return rows[:limit], found

    def close(self) -> None:
        self._side.shutdown(wait=True, cancel_futures=True)


def _absent(root: str) -> Gap:
    return gap(
        "project_brain_absent",
        f"{uncovered(root)}; memory comes from the medulla only",
        {"tool": "ingest", "arguments": {"path": root, "project_root": root}},
    )
