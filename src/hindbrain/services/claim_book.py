"""The claim book: what a list asks of every live claim of a brain, kept in memory and brought up to date by the ledger.

Texts stay in the database; a book of 100,000 claims takes some tens of megabytes, so that only a few are kept."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hindbrain.domain.claim import headline
from hindbrain.services.arrivals import arrived_by, claim_of
from hindbrain.services.brains import OpenBrain
from hindbrain.stores.port import Version

__all__ = ["ClaimBook", "ClaimBooks", "Line", "line_of"]

BOOKS = 4  # kept at once
_FOLLOWED = 2_000  # entries of the ledger that are followed one by one; beyond that all is read again
_SUBJECT = "claim:"


class Line(NamedTuple):
    """One claim in the book."""

    slug: str
    version: int
    label: str
    agent: str
    belief: str
    rank: int
    confidence: float  # -1 without one
    created: int | None
    born_at: int
    promoted: bool
    attributed: bool


def line_of(version: Version) -> Line:
    """The line of a version."""
    head = headline(version.text, fallback_label=version.slug)
    arrived = arrived_by(version) is not None
    if arrived:
        claim = claim_of(version)
        head = replace(head, state=claim.state, confidence=claim.strength.confidence)
    strength = head.strength
    return Line(
        slug=version.slug,
        version=version.version,
        label=head.label or version.slug,
        agent=head.source_agent or "unknown",
        belief=head.state,
        rank=strength.rank,
        confidence=-1.0 if strength.confidence is None else strength.confidence,
        created=head.created,
        born_at=version.born_at,
        promoted=head.promoted_to is not None and not arrived,
        attributed=head.origin_brain is not None,
    )


@dataclass(slots=True)
class ClaimBook:
    """The lines of one brain as of one entry of its ledger."""

    lines: dict[str, Line] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)  # what the ledger calls a claim -> slug
    seq: int = 0
    hash: str = ""

    def put(self, versions: Iterable[Version]) -> None:
        for version in versions:
            if version.active:
                self.lines[version.slug] = line_of(version)
                self.ids[version.claim_id] = version.slug

    def agents(self) -> Counter[str]:
        return Counter(line.agent for line in self.lines.values())

    def beliefs(self) -> Counter[str]:
        return Counter(line.belief for line in self.lines.values())


class ClaimBooks:
    """The books of the brains that were asked last."""

    def __init__(self) -> None:
        self._books: OrderedDict[str, ClaimBook] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, opened: OpenBrain) -> ClaimBook:
        """The book of a brain, as the brain stands now. Nobody changes a book: a newer one takes its place."""
        with self._lock:
            held = self._books.get(opened.brain.name)
            book = self._followed(opened, held) if held is not None else None
            if book is None:
                book = _read(opened)
            self._books[opened.brain.name] = book
            self._books.move_to_end(opened.brain.name)
            while len(self._books) > BOOKS:
                self._books.popitem(last=False)
            return book

    @staticmethod
    def _followed(opened: OpenBrain, held: ClaimBook) -> ClaimBook | None:
        """The book with what was recorded since; None when it cannot be followed from there."""
        store = opened.store
        seq, last = store.head()
        if (seq, last) == (held.seq, held.hash):
            return held
        entries = store.entries(after=held.seq, limit=_FOLLOWED + 1)
        if seq < held.seq or len(entries) > _FOLLOWED or not entries or entries[0].prev != held.hash:
            return None
        touched = {entry.subject.removeprefix(_SUBJECT) for entry in entries if entry.subject.startswith(_SUBJECT)}
        slugs = {held.ids[one] for one in touched if one in held.ids} | set(store.names(touched).values() if touched else ())
        book = ClaimBook(lines=dict(held.lines), ids=dict(held.ids), seq=entries[-1].seq, hash=entries[-1].hash)
        for slug in slugs:
            book.lines.pop(slug, None)
        book.put(store.live(sorted(slugs)).values())
        return book if len(book.lines) == store.counts().active_claims else None


def _read(opened: OpenBrain) -> ClaimBook:
    # The head is asked first: what is recorded while the claims are read is followed the next time.
    seq, last = opened.store.head()
    book = ClaimBook(seq=seq, hash=last)
    book.put(opened.store.each_live())
    return book
