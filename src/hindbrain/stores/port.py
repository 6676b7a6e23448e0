"""The port: what a brain's database must do, in plain values. SQLite and PostgreSQL are held against the in-memory twin."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from hindbrain.domain.brain import BrainId
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.domain.ledger import Act, Entry
from hindbrain.stores.card_port import CardFilter, CardReading, CardWriting, FieldCount, ForeignCard
from hindbrain.stores.experience_port import ExperienceReading, ExperienceWriting, MegramFilter, PairSums, Stake, StoredMessage
from hindbrain.stores.glance import Glance
from hindbrain.stores.mission_port import MissionReading, MissionWriting
from hindbrain.stores.model_call_port import ModelCall, ModelCallReading, ModelCallWriting, Spend
from hindbrain.stores.vector_port import Shelf, Vectors

__all__ = [
    "BootEntry",
    "BrainStore",
    "CardFilter",
    "Committed",
    "Counts",
    "Edge",
    "FieldCount",
    "ForeignCard",
    "Found",
    "Glance",
    "Intent",
    "Mark",
    "MegramFilter",
    "ModelCall",
    "Node",
    "PairSums",
    "Progress",
    "Seat",
    "Source",
    "Spend",
    "Stake",
    "StoredMessage",
    "Version",
    "Voice",
    "Where",
    "Words",
    "Writer",
    "unheard",
]

Progress = Callable[[int, int, str], None]
Committed = Callable[[Sequence[Entry], Sequence[str]], None]  # what was recorded, and the labels of claims that changed


def unheard(entries: Sequence[Entry], slugs: Sequence[str]) -> None:
    """Nobody wants to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of one claim. The live one has no end; its text is the file's text."""

    slug: str
    version: int  # grows per slug; never reused, also not after a forget. The seq of the entry that records it serves
    claim_id: str  # opaque: what the ledger calls this claim, so that a forgotten label is not in the chain
    digest: str  # sha256 over the text
    text: str
    active: bool  # False for a live `moved_to:` pointer (State: outdated)
    created: int | None  # the file's Created, None when it has none
    born_at: int
    ended_at: int | None = None
    ended_act: str | None = None  # the act that ended it, e.g. claim.supersede
    channel: str | None = field(default=None, compare=False)  # of the ledger entry that recorded it; read, never written


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What full text gave: live rows of one shelf, best first, and how common each term is there."""

    turns: tuple[int, ...]
    scores: tuple[float, ...]  # BM25, larger is better
    frequencies: Mapping[str, int]  # term -> number of live rows with it; a store may stop counting
    total: int  # live rows of this shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The terms a row of evidence is found by, and those of the turns around it, which weigh half."""

    text: Sequence[str]
    near: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which evidence may be found at all. None asks for nothing; filters restrict before anything is ranked."""

    wing: str | None = None
    room: str | None = None
    domain: str | None = None
    field: str | None = None
    provenance: str | None = None
    source_type: str | None = None
    source: str | None = None
    thread: str | None = None
    tag: str | None = None
    anchor_kind: str | None = None
    anchor_ids: tuple[str, ...] | None = None  # the row's own anchor is one of these


class Voice(NamedTuple):
    """Who said something, and where: what many rows have in common."""

    speaker: str | None
    role: str | None
    anchor_kind: str
    anchor_id: str


class Seat(NamedTuple):
    """Where a row of evidence stands and who said it, without what it says."""

    thread: str | None
    position: int
    message: Hashable  # equal for all pieces of one message, false for a row that is none; no more is to be read from it
    voice: Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """How far a source was taken in, so that a killed ingest goes on and a second one does nothing."""

    source: str
    scope: str  # wing, room and anchor under which it was taken in
    digest: str  # sha256 of its bytes
    normalize_version: int
    chunks: int
    done: bool
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A note about a claim that is kept beside it, never in its file: `demotion_pending`, `graded_wrong`, `graded_correct`."""

    slug: str
    kind: str
    at: int
    by: str
    channel: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootEntry:
    """One key of the boot memory. `value`, `tags` and `source_refs` are JSON text."""

    key: str
    value: str
    tags: str
    source_refs: str
    updated_at_ms: int
    updated_by_agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str
    kind: str
    label: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much a brain holds. `generation` grows with each change of the graph."""

    active_claims: int
    nodes: int
    edges: int
    generation: int
    evidence: int = 0  # live rows
    card_turn: int = 0  # grows with each change of a card, its links or their evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """An act that touches two brains and has not finished: what to complete or take back after a crash."""

    id: str
    kind: str
    payload: str
    at: int


class Writer(CardWriting, ExperienceWriting, ModelCallWriting, MissionWriting, Protocol):
    """One transaction. Everything in it becomes durable together, or nothing does."""

    def append(self, act: Act) -> Entry:
        """Record an act; the next entry of the chain."""
        ...

    def live(self, slug: str) -> Version | None:
        """The live version as this transaction sees it."""
        ...

    def put_claim(self, version: Version, *, expected: int | None, ended_act: str, terms: Sequence[str]) -> None:
        """Make `version` live. `expected` is the live version it replaces (None: there is none); StaleWrite if that is
        not so, or if version.version is not above every number of this label and every erased one. The replaced one ends at
        version.born_at by `ended_act`. `terms` are the words it is found by."""
        ...

    def end_claim(self, slug: str, *, expected: int, at: int, ended_act: str) -> None:
        """End the live version without a successor; StaleWrite if `expected` is not the live one."""

    def erase_claim(self, slug: str) -> None:
        """Delete every version of the claim, its words, marks, anchors and graph. The next version number still grows."""
        ...

    def erase_versions(self, slug: str, versions: Collection[int]) -> None:
        """Delete ended versions of a claim; the live one, the others and what is noted of the label stay."""
        ...

    def put_evidence(self, rows: Sequence[tuple[Evidence, Words]]) -> tuple[EvidenceId, ...]:
        """Keep observations; the ids of those that are new. A live row with the same id is left as it is; a row that was
        deleted comes back. InvalidParams when an id is held by another content."""
        ...

    def put_near(self, near: Mapping[EvidenceId, Sequence[str]]) -> None:
        """Replace the words of the turns around rows whose neighbours changed."""
        ...

    def delete_evidence(self, ids: Collection[EvidenceId], *, at: int) -> tuple[EvidenceId, ...]:
        """Mark rows as deleted: no read shows them any more, and nothing finds them. Those that were live."""

    def erase_evidence(self, ids: Collection[EvidenceId]) -> int:
        """Delete rows for good: text, words, vectors, and that cards cite them."""

    def observed(self, ids: Collection[EvidenceId]) -> dict[EvidenceId, Evidence]:
        """Live rows of evidence as this transaction sees them."""
        ...

    def put_source(self, source: Source) -> None:
        """Note how far a source was taken in; one note per source and scope."""

    def put_mark(self, mark: Mark) -> None:
        """Note something beside a claim; one note per slug and kind, the last one stays."""

    def redact_mark(self, mark: Mark) -> None: ...  # like put_mark, and no byte of the old note is left

    def drop_mark(self, slug: str, kind: str) -> None: ...

    def put_tombstone(self, fingerprint: str, *, at: int, by: str, reason: str) -> None:
        """Remember a value that must not come back; the first reason stays."""

    def redact_tombstones(self, reason: str, *, to: str) -> int: ...  # how many had the reason and have the other one now

    def drop_tombstone(self, fingerprint: str) -> bool: ...

    def put_boot(self, entry: BootEntry) -> None: ...

    def drop_boot(self, key: str) -> bool: ...

    def erase_boot(self, keys: Collection[str]) -> None:
        """Delete entries for good: no log and no copy keeps their text."""

    def put_anchors(self, slug: str, anchors: Mapping[str, str]) -> None:
        """Replace the digests of the files that the live version of a claim cites: path -> digest ('' when absent)."""
        ...

    def put_graph(self, owner: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Replace what `owner` (a slug with prefix `claim:`, or `inventory`) contributed to the graph; the generation grows
        if anything changed. A node id given by two owners counts once."""
        ...

    def put_intent(self, intent: Intent) -> None: ...

    def drop_intent(self, intent_id: str) -> None: ...

    def set_meta(self, key: str, value: str) -> None: ...

    def add_counts(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Add to counters by (name, ISO week)."""
        ...


class BrainStore(CardReading, ExperienceReading, ModelCallReading, MissionReading, Protocol):
    """One brain's database. Safe for several threads and, on disk, for several processes."""

    brain_id: BrainId
    committed: Committed  # told after each transaction that recorded something, on the thread that wrote

    def writing(self) -> AbstractContextManager[Writer]:
        """One write transaction; commits when the block ends well, rolls back when it raises. Writers queue."""
        ...

    def head(self) -> tuple[int, str]:
        """Sequence and hash of the last ledger entry; (0, GENESIS) on an empty chain."""

    def entries(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
        subject: str | None = None,
        act: str | None = None,
        newest: bool = False,
    ) -> tuple[Entry, ...]:
        """Ledger entries in order, or the last first, filtered by subject or by an act prefix such as `claim.`."""
        ...

    def live(self, slugs: Sequence[str]) -> dict[str, Version]:
        """The live versions among these slugs."""
        ...

    def words(self, slugs: Sequence[str]) -> dict[str, frozenset[str]]:
        """The words by which each of these live claims is found, as put_claim got them; none for one that is not indexed."""
        ...

    def each_live(self) -> Iterator[Version]:
        """Every live version, by slug, pointers too. Streams: never holds a whole brain in memory."""
        ...

    def digests(self) -> dict[str, str]:
        """slug -> digest of every live version."""
        ...

    def versions(self, slug: str) -> tuple[Version, ...]:
        """All versions of a label, newest first."""
        ...

    def names(self, claim_ids: Iterable[str]) -> dict[str, str]:
        """claim_id -> slug, for the claims among these that still have a version."""
        ...

    def as_of(self, at: int) -> Iterator[Version]:
        """The versions that were live at a time: born_at <= at < ended_at."""
        ...

    def ended(self, *, limit: int) -> Iterator[Version]:
        """Versions that are no longer live, last ended first."""
        ...

    def find(
        self,
        terms: Sequence[str],
        *,
        limit: int,
        within: int | None = None,
        shelf: Shelf = Shelf.CLAIM,
        where: Where | None = None,
    ) -> Found:
        """Full text over the live rows of a shelf: any of the terms, best first. With `within`, only the rarest terms are looked
        up, as many as together touch no more rows than that, but always one: what a lookup costs is then bounded. `where`
        restricts evidence before anything is ranked or cut."""
        ...

    def keys(self, shelf: Shelf, turns: Sequence[int]) -> dict[int, str]:
        """turn -> slug or evidence id, for the live rows among these."""
        ...

    def seats(self, turns: Sequence[int]) -> dict[int, Seat]:
        """turn -> where a row of evidence stands and who said it, for the live rows among these; what ranking reads of a row."""
        ...

    def turns(self, where: Where) -> frozenset[int]:
        """The turns of all live evidence that a filter lets through."""
        ...

    def evidence(self, ids: Sequence[EvidenceId], *, deleted: bool = False) -> dict[EvidenceId, Evidence]:
        """Rows by id; with `deleted` also those that are marked so."""

    def withheld(self) -> dict[int, EvidenceId]:
        """Return turn and id of copies from other brains that no active card cites: recall does not show them."""
        ...

    def evidence_at(self, turns: Sequence[int]) -> dict[int, Evidence]:
        """Live rows by turn."""

    def each_evidence(self, where: Where | None = None) -> Iterator[Evidence]:
        """Every live row, by the order in which they came. Streams."""

    def evidence_page(
        self, where: Where, *, anchor_id: str | None = None, limit: int, after: tuple[int, int] | None = None, newest: bool = True
    ) -> tuple[tuple[int, Evidence], ...]:
        """turn and row of live evidence by when it was added, the last first or the first first. `anchor_id` is the own anchor of
        a row or its parent; `after` is the time and the turn behind which to go on."""
        ...

    def evidence_count(self, where: Where, *, anchor_id: str | None = None) -> int:
        """How many live rows such a filter lets through."""
        ...

    def foremost(self, limit: int) -> tuple[Evidence, ...]:
        """Live rows by importance; of one importance the last added first, then by id downwards. Those without any come last,
        the last that came first."""
        ...

    def thread(self, thread: str, *, first: int, last: int, where: Where | None = None) -> tuple[Evidence, ...]:
        """Live rows of one conversation or document from one position to another, in order."""
        ...

    def evidence_words(self, turns: Sequence[int]) -> dict[int, frozenset[str]]:
        """turn -> the words by which each of these live rows is found, without those of its neighbours."""
        ...

    def sources(self, scope: str | None = None) -> tuple[Source, ...]:
        """What was taken in and how far, by source."""
        ...

    @property
    def vectors(self) -> Vectors:
        """The vectors of this brain."""
        ...

    def arrivals(
        self,
        terms: Sequence[str] = (),
        *,
        begun: str = "",
        limit: int,
        after: int | None = None,
        newest: bool = True,
    ) -> tuple[tuple[int, str], ...]:
        """turn and slug of live active claims in the order in which they came, the last first or the first first: all of them, or
        those that have every one of these words and a word that begins so. `after` is the turn behind which to go on."""

    def version_counts(self, slugs: Sequence[str], *, until: int | None = None) -> dict[str, int]:
        """Return how many versions each of these labels has, ended ones too; with `until`, those born by then."""

    def active_at(self, at: int) -> int:
        """How many active claims were live at a time."""

    def arrived(self, channel: str) -> int:
        """How many live claims were recorded by an act of this channel."""

    def recent(self, limit: int) -> tuple[Version, ...]:
        """Live active claims with a Created, newest first."""

    def counts(self) -> Counts: ...

    def glance(self, *, published: bool) -> Glance:
        """How the brain stands, in one reading. Without `published`, cards that are pointers to the medulla do not count; of
        marks only these kinds are counted."""
        ...

    def marks(self, *, slugs: Sequence[str] | None = None, kind: str | None = None) -> tuple[Mark, ...]: ...

    def tombstone_reasons(self) -> tuple[str, ...]: ...  # the different ones

    def tombstones(self, fingerprints: Sequence[str]) -> frozenset[str]:
        """Which of these fingerprints were rejected or forgotten here."""

    def boot(self) -> tuple[BootEntry, ...]:
        """All boot entries, by key."""

    def anchors(self, slugs: Sequence[str]) -> dict[str, dict[str, str]]:
        """slug -> path -> digest as put_anchors left it."""

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]: ...

    def neighbours(self, node_id: str, *, limit: int) -> tuple[Edge, ...]: ...

    def whole_graph(self) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
        """Every node and every edge once, by id: what an engine needs to calculate over all of them."""
        ...

    def intents(self) -> tuple[Intent, ...]: ...

    def meta(self, key: str) -> str | None: ...

    def counters(self) -> dict[tuple[str, str], int]: ...

    def lag(self) -> int:
        """How many ledger entries the text index is behind; 0 when it is current."""
        ...

    def rebuild_index(self, terms_of: Callable[[Version], Sequence[str]], progress: Progress | None = None) -> int:
        """Drop and rebuild everything derived from the live claims' texts; returns the number of claims indexed."""
        ...

    def backup(self, target: Path) -> None:
        """A consistent copy of the brain's rows as one SQLite file."""
        ...

    def check(self) -> tuple[str, ...]:
        """What the database itself says is wrong; empty when it is sound."""
        ...

    def close(self) -> None: ...
