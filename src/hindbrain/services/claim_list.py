"""The claim list: the claims of one brain in pages, for somebody who reads. Looks only; it counts as no query and no beat.

What is asked for by time or by words comes straight from the database. Filters and other orders go by the claim book."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import parse
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.text import terms, typed_terms
from hindbrain.policy.recall import LISTED_BY_LABEL, LISTED_MATCHES, LISTED_PAST
from hindbrain.services import anchors
from hindbrain.services.arrivals import claim_of
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.claim_book import ClaimBook, ClaimBooks, Line, line_of
from hindbrain.services.cursors import cursor_kind, opened_cursor, sealed_cursor
from hindbrain.services.gateway import claim_terms
from hindbrain.services.past_grades import PastGrades
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.routing import Router
from hindbrain.services.rows import DEMOTION, GRADED_WRONG, Row, RowMaker
from hindbrain.stores.port import Mark, Version

__all__ = ["Asked", "ClaimList"]

_GRADES = ("graded_wrong", "graded_correct", "graded_partial")
_MARKED = (DEMOTION, *_GRADES)
_RANKS = 2.0  # of beliefs: authored and verified
Arrivals = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a reader wants to see."""

    query: str = ""
    agent: str | None = None
    belief: str | None = None
    only: str | None = None
    sort: str | None = None
    limit: int = 50
    cursor: str | None = None
    as_of: int | None = None
    facets: bool = False

    @property
    def filtered(self) -> bool:
        return self.agent is not None or self.belief is not None or self.only is not None

    @property
    def order(self) -> str:
        return self.sort or ("best" if self.query.strip() else "newest")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The claims of one page, in order; how many there are in all, and how to go on."""

    versions: list[Version]
    total: int
    following: str | None


class ClaimList:
    """`claims`."""

    def __init__(self, brains: Brains, router: Router, reconciler: Reconciler, maker: RowMaker, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._reconciler = reconciler
        self._maker = maker
        self._clock = clock
        self._books = ClaimBooks()

    def page(self, caller: Caller, asked: Asked, *, tier: str | None) -> dict[str, Any]:
        """One page of the claims of a brain."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            if asked.as_of is None:
                self._reconciler.fresh(opened)
            page = self._found(opened, asked)
            worded = bool(asked.query.strip()) and asked.as_of is None and not asked.filtered
            answer: dict[str, Any] = {
                "brain": brain.name,
                "display_name": brain.display_name,
                "as_of": asked.as_of,
                "sort": asked.order,
                "claims": self._rows(opened, page.versions, asked),
                "total": page.total,
                "total_is_least": worded and page.total >= LISTED_BY_LABEL,
                "next_cursor": page.following,
            }
            return answer | ({"facets": self._facets(opened, asked)} if asked.facets else {})

    def _found(self, opened: OpenBrain, asked: Asked) -> _Page:
        if asked.as_of is not None or asked.filtered or asked.order in ("label", "strength"):
            return self._from_book(opened, asked)
        words, begun = typed_terms(asked.query)
        if asked.order == "best" and (words or begun):
            return self._by_label(opened, asked, words, begun)
        return self._by_time(opened, asked, words, begun)

    # -- straight from the database ------------------------------------------------------------------------------------

    @staticmethod
    def _by_time(opened: OpenBrain, asked: Asked, words: list[str], begun: str) -> _Page:
        """In the order in which they came."""
        store, newest = opened.store, asked.order != "oldest"
        after = _begin(asked.cursor, "turn")
        found = store.arrivals(words, begun=begun, limit=asked.limit + 1, after=after, newest=newest)
        total = len(store.arrivals(words, begun=begun, limit=LISTED_BY_LABEL)) if words or begun else store.counts().active_claims
        return _arrived(opened, asked, found, total)

    def _by_label(self, opened: OpenBrain, asked: Asked, words: list[str], begun: str) -> _Page:
        """Claims whose label has the words come first. Where hundreds match, that would tell nothing: the newest come first."""
        if asked.cursor is not None and cursor_kind(asked.cursor) == "turn":
            return self._by_time(opened, asked, words, begun)
        found = opened.store.arrivals(words, begun=begun, limit=LISTED_BY_LABEL)
        if len(found) == LISTED_BY_LABEL:
            return _arrived(opened, asked, found, len(found))
        wanted = set(words)

        def named(slug: str) -> bool:
            own = terms(slug.replace("-", " "))
            return wanted <= set(own) and (not begun or any(word.startswith(begun) for word in own))

        slugs = [slug for _, slug in found]
        ordered = sorted(slugs, key=lambda slug: not named(slug))  # stable: the newest first among equals
        start = _begin(asked.cursor, "place") or 0
        shown = ordered[start : start + asked.limit]
        live = opened.store.live(shown)
        end = start + len(shown)
        following = sealed_cursor("place", end) if end < len(ordered) else None
        return _Page(versions=[live[slug] for slug in shown if slug in live], total=len(ordered), following=following)

    # -- by the book ---------------------------------------------------------------------------------------------------

    def _from_book(self, opened: OpenBrain, asked: Asked) -> _Page:
        past: dict[tuple[str, int], Version] = {}
        if asked.as_of is None:
            lines: list[Line] = list(self._books.of(opened).lines.values())
        else:
            lines, past = self._then(opened, asked.as_of)
        kept = self._kept(opened, lines, past, asked)
        key, backwards = _ORDERS[asked.order]
        ordered = sorted(kept, key=key, reverse=backwards)
        start = _begin(asked.cursor, "place") or 0
        shown = ordered[start : start + asked.limit]
        live = opened.store.live([line.slug for line in shown if (line.slug, line.version) not in past])
        versions = [past.get((line.slug, line.version)) or live.get(line.slug) for line in shown]
        end = start + len(shown)
        following = sealed_cursor("place", end) if end < len(ordered) else None
        return _Page(versions=[one for one in versions if one is not None], total=len(ordered), following=following)

    def _then(self, opened: OpenBrain, at: int) -> tuple[list[Line], dict[tuple[str, int], Version]]:
        """What was live at a time: what still is and was there already, and what ended later."""
        past: dict[tuple[str, int], Version] = {}
        for version in opened.store.ended(limit=LISTED_PAST):
            if version.ended_at is None or version.ended_at <= at:
                break  # the last that ended come first
            if version.born_at <= at and version.active:
                past[version.slug, version.version] = version
        book = self._books.of(opened)
        return [*(one for one in book.lines.values() if one.born_at <= at), *map(line_of, past.values())], past

    def _kept(self, opened: OpenBrain, lines: list[Line], past: dict[tuple[str, int], Version], asked: Asked) -> list[Line]:
        if asked.agent is not None:
            lines = [line for line in lines if line.agent == asked.agent]
        if asked.belief is not None:
            lines = [line for line in lines if line.belief == asked.belief]
        if asked.only is not None:
            lines = self._only(opened, lines, past, asked.only, asked.as_of)
        words, begun = typed_terms(asked.query)
        if not words and not begun:
            return lines
        found = {slug for _, slug in opened.store.arrivals(words, begun=begun, limit=LISTED_MATCHES)}
        return [
            line
            for line in lines
            if (_says(past[key], words, begun) if (key := (line.slug, line.version)) in past else line.slug in found)
        ]

    def _graded(
        self, opened: OpenBrain, lines: list[Line], past: Mapping[tuple[str, int], Version], at: int
    ) -> dict[tuple[str, int], list[Mark]]:
        """Return the grades of each line as they were at a time."""
        grades = PastGrades(opened, at)
        ids = {slug: claim_id for claim_id, slug in self._books.of(opened).ids.items()}
        found = {}
        for line in lines:
            ended = past.get((line.slug, line.version))
            found[line.slug, line.version] = (
                grades.of(ended)
                if ended is not None
                else grades.marks(ids[line.slug], line.slug, born_at=line.born_at, ended_at=None)
            )
        return found

    def _only(
        self, opened: OpenBrain, lines: list[Line], past: Mapping[tuple[str, int], Version], only: str, at: int | None
    ) -> list[Line]:
        now = self._clock() if at is None else at
        if only == "stale":
            return [line for line in lines if line.created is not None and self._maker.is_old(line.created, now)]
        if only == "promoted":
            return [line for line in lines if line.promoted]
        if only == "unattributed":
            return [line for line in lines if not line.attributed]
        if only == "evidence_changed" and at is not None:
            raise InvalidParams(
                "evidence_changed compares claims with the code as it is now",
                fix="leave as_of out, or leave only=evidence_changed out",
            )
        if only == "evidence_changed":
            changed = self._changed(opened, [line.slug for line in lines])
            return [line for line in lines if line.slug in changed]
        if at is not None:
            graded = self._graded(opened, lines, past, at)
            return [line for line in lines if any(mark.kind == only for mark in graded[line.slug, line.version])]
        marked = {mark.slug for mark in opened.store.marks(kind=only)}
        return [line for line in lines if line.slug in marked]

    def _changed(self, opened: OpenBrain, slugs: Sequence[str]) -> set[str]:
        """Claims whose cited files are not what they were. Each file is read once, and only what differs looked at closely."""
        root = opened.brain.root
        if root is None:
            return set()
        cited = opened.store.anchors(slugs)
        now: dict[str, str] = {}
        for path in {path for files in cited.values() for path in files}:
            now[path] = anchors.file_digest(root, path)
        suspects = [slug for slug, files in cited.items() if any(said and now[path] != said for path, said in files.items())]
        live = opened.store.live(suspects)
        rows = self._made(opened, list(live.values()), now=self._clock())
        return {row["slug"] for row in rows if row.get("evidence_changed")}

    def _facets(self, opened: OpenBrain, asked: Asked) -> dict[str, Any]:
        """How many claims there are of each kind, whatever is filtered."""
        book = self._books.of(opened)
        noted: Counter[str] = Counter()
        if asked.as_of is None:
            noted.update({kind: len(opened.store.marks(kind=kind)) for kind in _MARKED})
        else:
            then, past = self._then(opened, asked.as_of)
            book = ClaimBook(lines={f"{line.slug} {line.version}": line for line in then})
            graded = self._graded(opened, then, past, asked.as_of)
            noted.update(mark.kind for marks in graded.values() for mark in marks)
        now = self._clock() if asked.as_of is None else asked.as_of
        lines = book.lines.values()
        marks = {"stale": sum(line.created is not None and self._maker.is_old(line.created, now) for line in lines)}
        marks |= {"promoted": sum(line.promoted for line in lines), "unattributed": sum(not line.attributed for line in lines)}
        marks |= {kind: noted[kind] for kind in _MARKED}
        return {
            "agents": [{"name": name, "count": count} for name, count in book.agents().most_common()],
            "states": dict(sorted(book.beliefs().items())),
            "marks": {name: count for name, count in marks.items() if count},
        }

    # -- rows ------------------------------------------------------------------------------------------------------------

    def _rows(self, opened: OpenBrain, versions: list[Version], asked: Asked) -> list[Row]:
        now = self._clock() if asked.as_of is None else asked.as_of
        slugs = [version.slug for version in versions]
        counts = opened.store.version_counts(slugs, until=asked.as_of) if versions else {}
        rows = self._made(opened, versions, now=now, past=asked.as_of is not None)
        for row in rows:
            row["versions"] = counts.get(row["slug"], 1)
        return rows

    def _made(self, opened: OpenBrain, versions: list[Version], *, now: int, past: bool = False) -> list[Row]:
        slugs = [version.slug for version in versions]
        marks: dict[str, list[Mark]] = {}
        for mark in opened.store.marks(slugs=slugs) if slugs and not past else ():
            marks.setdefault(mark.slug, []).append(mark)
        cited = opened.store.anchors(slugs) if slugs and not past else {}
        grades = PastGrades(opened, now) if past else None
        rows = []
        for version in versions:
            claim = claim_of(version)
            own = grades.of(version) if grades is not None else marks.get(version.slug, [])
            row = self._maker.row(
                opened,
                version,
                now=now,
                match="listed",
                score=None,
                marks=own,
                cited=cited.get(version.slug),
                claim=claim,
                past=past,
            )
            kinds = {mark.kind for mark in own}
            grade = next((kind for kind in _GRADES if kind in kinds), None)
            strength = claim.strength
            row |= {
                "version": version.version,
                "born_at": version.born_at,
                "created": claim.created,
                "ended_at": None if past else version.ended_at,
                "grade": grade.removeprefix("graded_") if grade else None,
                "strength": _strength(strength.rank, strength.confidence, wrong=GRADED_WRONG in kinds),
                "promoted_to": claim.promoted_to,
            }
            rows.append(row | ({"absolute": True} if claim.absolute else {}))
        return rows


def _arrived(opened: OpenBrain, asked: Asked, found: Arrivals, total: int) -> _Page:
    """A page of claims in the order in which they came; of `found` what the page has room for."""
    shown = found[: asked.limit]
    live = opened.store.live([slug for _, slug in shown])
    following = sealed_cursor("turn", shown[-1][0]) if len(found) > len(shown) else None
    return _Page(versions=[live[slug] for _, slug in shown if slug in live], total=total, following=following)


def _says(version: Version, words: Collection[str], begun: str) -> bool:
    """Whether an ended version has all of these words: the index knows live ones only."""
    own = set(claim_terms(parse(version.text, fallback_label=version.slug)))
    return own.issuperset(words) and (not begun or any(word.startswith(begun) for word in own))


def _strength(rank: int, confidence: float | None, *, wrong: bool) -> float:
    """How firmly a claim is held, from 0 to 1: by its state and its confidence; not at all where it was graded wrong."""
    if wrong:
        return 0.0
    return round((rank / _RANKS + (0.5 if confidence is None else min(max(confidence, 0.0), 1.0))) / 2, 3)


_ORDERS: dict[str, tuple[Callable[[Line], Any], bool]] = {
    "newest": (lambda line: line.version, True),
    "best": (lambda line: line.version, True),
    "oldest": (lambda line: line.version, False),
    "label": (lambda line: (line.label.casefold(), line.slug), False),
    "strength": (lambda line: (line.rank, line.confidence, line.version), True),
}


def _begin(cursor: str | None, kind: str) -> int | None:
    """Where a page begins, by the cursor of the page before it."""
    return None if cursor is None else opened_cursor(cursor, kind)[0]
