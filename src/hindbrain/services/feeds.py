"""Feeds: what one brain has to say to a question. Candidates, score, floor and rows; knows of no other brain."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.claim import Claim
from hindbrain.engines.ranking import coverage, joined, meaning, weighed
from hindbrain.engines.text import query_terms, terms
from hindbrain.policy.recall import BEAT_CANDIDATES, BEAT_MIN_SCORE, LOOKUP_CLAIMS, QUERY_TERMS, RECENT_ROWS
from hindbrain.services.arrivals import claim_of
from hindbrain.services.brains import OpenBrain
from hindbrain.services.explaining import BELOW_FLOOR, WAITS, Trace, Tried, boosts_of, ranks
from hindbrain.services.gateway import claim_terms
from hindbrain.services.past_grades import PastGrades
from hindbrain.services.reconcile import CONFLICT, SECRET, Reconciler, kept_out, kept_out_fix
from hindbrain.services.retrieval import Gathered, Retrieval, Served
from hindbrain.services.routing import Gap, gap
from hindbrain.services.rows import DEMOTION, GRADED_WRONG, Row, RowMaker
from hindbrain.stores.port import Version
from hindbrain.stores.vector_port import Shelf

__all__ = ["Feed", "Feeds"]

_WAITING = "adoption_waits"
_NAMED = (CONFLICT, SECRET)  # files that are not served, and that every answer names


@dataclass(slots=True)
class Feed:
    """What one store gave."""

    rows: list[Row] = field(default_factory=list)
    exists: int = 0
    found: int = 0  # before the cut to the limit
    gaps: list[Gap] = field(default_factory=list)
    claims: dict[str, Claim] = field(default_factory=dict)
    served: Served | None = None  # by words or also by meaning; None when nothing was asked


class _Tried:
    """The claims that one brain had to offer, for somebody who asks why."""

    def __init__(self, brain: str, gathered: Gathered) -> None:
        self.found: list[Tried] = []
        self._brain = brain
        self._words, self._near = ranks(gathered.scores), ranks(gathered.cosines)

    def add(
        self,
        turn: int,
        slug: str,
        claim: Claim,
        score: float,
        likeness: tuple[float, float, float],
        known: dict[str, bool],
        out: str | None,
    ) -> None:
        covered, near, fit = likeness
        self.found.append(
            Tried(
                kind="claim",
                id=slug,
                brain=self._brain,
                label=claim.label or slug,
                score=score,
                ways={"words": self._words.get(turn), "meaning": self._near.get(turn)},
                parts={"keyword": covered, "meaning": near, "fit": fit},
                boosts=boosts_of(**known),
                out=out,
            )
        )


class Feeds:
    """Asks one open brain at a time."""

    def __init__(
        self, reconciler: Reconciler, maker: RowMaker, retrieval: Retrieval, clock: Callable[[], int], *, patient: bool
    ) -> None:
        self._reconciler = reconciler
        self._retrieval = retrieval
        self._maker = maker
        self._clock = clock
        self._patient = patient  # a process of its own takes in changed files before it answers; the owner may do it beside

    def feed(
        self,
        opened: OpenBrain,
        query: str | None,
        *,
        limit: int,
        min_score: float = BEAT_MIN_SCORE,
        marked: bool = False,
        candidates: int = BEAT_CANDIDATES,
        include_history: bool = False,
        trace: Trace | None = None,
    ) -> Feed:
        """The best rows of one brain for a question. `marked` also shows claims that wait for their demotion."""
        feed = Feed(gaps=self._take_in(opened))
        parts: dict[str, dict[str, float]] = {}
        chosen: list[tuple[Version, Claim, float]] = []
        shown: dict[str, str] = {}
        for _ in range(2 if opened.store.counts().active_claims or trace is not None else 0):
            chosen = self._ranked(
                opened, query, feed, parts, min_score=min_score, marked=marked, candidates=max(candidates, limit), trace=trace
            )
            shown = {version.slug: version.digest for version, _, _ in chosen[:limit]}
            if not self._reconciler.stale_rows(opened, shown):
                break
        hidden = opened.store.live(list(kept_out(opened)))
        feed.exists = opened.store.counts().active_claims - sum(one.active for one in hidden.values())
        feed.found = len(chosen)
        feed.rows = self.rows(opened, chosen[:limit], match="task")
        for row in feed.rows if parts else ():
            row["score_breakdown"] = parts[row["slug"]]
        if feed.served is not None and feed.exists:
            feed.gaps += feed.served.gaps(opened.brain.display_name)
        feed.claims = {version.slug: claim for version, claim, _ in chosen[:limit]}
        if include_history:
            feed.rows += self._history_rows(opened, query, limit=limit)
            feed.found += len(feed.rows) - len(shown)
        return feed

    def _take_in(self, opened: OpenBrain) -> list[Gap]:
        gaps = []
        if not self._reconciler.fresh(opened, wait=self._patient):
            gaps.append(gap("warming", f"claim files of {opened.brain.display_name} changed on disk and are being taken in"))
        marked = dict.fromkeys(kept_out(opened))
        self._reconciler.stale_rows(opened, marked)  # a file that was put right in place leaves the directory's time as it was
        for one, path in kept_out(opened).values() if marked else ():
            if one.kind == CONFLICT:
                why, fix = "has merge-conflict markers", "resolve the markers in that file by hand"
            else:
                why, fix = f"holds a secret ({one.note})", kept_out_fix(one.kind, path)
            if one.kind in _NAMED:
                gaps.append(gap(one.kind, f"{path} {why} and is not served", fix))
        if lost := opened.lost_directory():
            gaps.append(gap("memory_directory_gone", *lost))
        if waiting := sum(opened.waiting.values()):
            text = f"{waiting} claim files of {opened.brain.display_name} are beyond memory_adopt_cap and are not served"
            gaps.append(gap(_WAITING, text, "a person looks at them and raises memory_adopt_cap in config.toml"))
        if lag := opened.store.lag():
            gaps.append(gap("index_lag", f"the text index is {lag} acts behind", "hindbrain doctor"))
        return gaps

    def _ranked(
        self,
        opened: OpenBrain,
        query: str | None,
        feed: Feed,
        parts: dict[str, dict[str, float]],
        *,
        min_score: float,
        marked: bool,
        candidates: int,
        trace: Trace | None,
    ) -> list[tuple[Version, Claim, float]]:
        words = query_terms(query or "")[:QUERY_TERMS]
        if not words or query is None:
            return []
        gathered = self._retrieval.gather(
            opened, Shelf.CLAIM, query, by_words=candidates, by_meaning=candidates, within=LOOKUP_CLAIMS
        )
        feed.served, found = gathered.served, gathered.found
        keys = opened.store.keys(Shelf.CLAIM, gathered.turns)
        hidden = kept_out(opened)
        keys = {turn: slug for turn, slug in keys.items() if slug not in hidden}
        slugs = list(keys.values())
        versions, said, marks = opened.store.live(slugs), opened.store.words(slugs), self._marks(opened, slugs)
        now, ranked = self._clock(), []
        tried = _Tried(opened.brain.name, gathered) if trace is not None else None
        for turn, slug in keys.items():
            version = versions.get(slug)
            if version is None or not version.active:
                continue
            waits = DEMOTION in marks.get(slug, set()) and not marked
            if waits and tried is None:
                continue
            claim = claim_of(version)
            covered = coverage(words, set(terms(claim.label)), said.get(slug, ()), found.frequencies, found.total)
            near = meaning(gathered.cosines.get(turn))
            fit = joined(covered, near)
            known = {
                "verified": claim.state == "verified",
                "stale": self._maker.is_stale(claim, now),
                "graded_wrong": GRADED_WRONG in marks.get(slug, set()),
            }
            score = weighed(fit, **known)
            if tried is not None:
                tried.add(
                    turn,
                    slug,
                    claim,
                    score,
                    (covered, near, fit),
                    known,
                    WAITS if waits else None if fit >= min_score else BELOW_FLOOR,
                )
            if fit >= min_score and not waits:
                ranked.append((version, claim, score))
                if gathered.served.stamp is not None:
                    parts[slug] = {"keyword": round(covered, 4), "meaning": round(near, 4)}
        ranked.sort(key=lambda one: (-one[2], -(one[1].created or 0), one[0].slug))
        if trace is not None and tried is not None:
            trace.put("claim", opened.brain.name, tried.found)
            served = gathered.served
            gaps = served.gaps(opened.brain.display_name)
            trace.was_served(opened.brain.name, by_meaning=served.stamp is not None, pending=served.pending, gaps=gaps)
        return ranked

    @staticmethod
    def _marks(opened: OpenBrain, slugs: Iterable[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for mark in opened.store.marks(slugs=list(slugs)):
            found.setdefault(mark.slug, set()).add(mark.kind)
        return found

    def rows(
        self, opened: OpenBrain, chosen: list[tuple[Version, Claim, float]], *, match: str, scored: bool = True
    ) -> list[Row]:
        slugs = [version.slug for version, _, _ in chosen]
        marks: dict[str, list[Any]] = {}
        for mark in opened.store.marks(slugs=slugs) if slugs else ():
            marks.setdefault(mark.slug, []).append(mark)
        cited = opened.store.anchors(slugs) if slugs else {}
        now = self._clock()
        return [
            self._maker.row(
                opened,
                version,
                now=now,
                match=match,
                score=score if scored else None,
                marks=marks.get(version.slug, ()),
                cited=cited.get(version.slug),
                claim=claim,
            )
            for version, claim, score in chosen
        ]

    def _history_rows(self, opened: OpenBrain, query: str | None, *, limit: int) -> list[Row]:
        """Superseded versions that match, labelled; only on request."""
        words, now, rows = set(query_terms(query or "")), self._clock(), []
        for version in opened.store.ended(limit=5_000):
            claim = claim_of(version)
            if words and words & set(claim_terms(claim)):
                rows.append(self._maker.row(opened, version, now=now, match="history", score=None, claim=claim))
            if len(rows) == limit:
                break
        return rows

    def recent(self, opened: OpenBrain, *, limit: int = RECENT_ROWS) -> list[Row]:
        """The newest fresh claims, for a question that nothing answers."""
        now = self._clock()
        marks: set[str] = {mark.slug for mark in opened.store.marks(kind=DEMOTION)} | kept_out(opened).keys()
        fresh = []
        for version in opened.store.recent(limit + len(marks)):
            claim = claim_of(version)
            if version.slug not in marks and not self._maker.is_stale(claim, now):
                fresh.append((version, claim, 0.0))
        return self.rows(opened, fresh[:limit], match="recent", scored=False)

    def as_of(self, opened: OpenBrain, query: str | None, *, at: int) -> list[Row]:
        """What was live at a time, from the record; with a question, what of it matches."""
        self._reconciler.fresh(opened)
        words, rows, grades = query_terms(query or ""), [], PastGrades(opened, at)
        for version in opened.store.as_of(at):
            claim = claim_of(version)
            score = coverage(words, set(terms(claim.label)), set(claim_terms(claim)), {}, 0) if words else 0.0
            if version.active and (not words or score >= BEAT_MIN_SCORE):
                marks = grades.of(version)
                row = self._maker.row(
                    opened, version, now=at, match="as_of", score=round(score, 4), marks=marks, claim=claim, past=True
                )
                rows.append(row | {"born_at": version.born_at})
        return rows
