"""Memory: the reference model of the port. What the databases must answer, said as plainly as Python can."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import Busy
from hindbrain.domain.ledger import GENESIS, Act, Entry, sealed
from hindbrain.stores.experience_rows import clock_values, megram_values, message_values
from hindbrain.stores.experience_rows import event_values as megram_event_values
from hindbrain.stores.glance import LAST_BEAT, Glance
from hindbrain.stores.memory_cards import MemoryCardReads
from hindbrain.stores.memory_evidence import Bag, MemoryEvidenceReads, ranked
from hindbrain.stores.memory_experience import MemoryExperienceReads
from hindbrain.stores.memory_missions import MemoryMissionReads, MemoryMissionWriter, MissionsState
from hindbrain.stores.memory_model_calls import MemoryModelCallReads
from hindbrain.stores.memory_tombstones import MemoryTombstoneReads, MemoryTombstoneWriter, TombstoneState
from hindbrain.stores.memory_vectors import MemoryVectors
from hindbrain.stores.mission_rows import event_values as mission_event_values
from hindbrain.stores.mission_rows import head_values, paper_values
from hindbrain.stores.port import (
    BootEntry,
    Committed,
    Counts,
    Edge,
    Found,
    Intent,
    Mark,
    Node,
    Progress,
    Source,
    Version,
    Where,
    Writer,
    unheard,
)
from hindbrain.stores.sql_cards import adoption_values, card_values, event_values, link_values
from hindbrain.stores.sql_evidence import evidence_values
from hindbrain.stores.sql_model_calls import call_values
from hindbrain.stores.sql_rows import Row
from hindbrain.stores.sql_terms import joined
from hindbrain.stores.sql_writer import reused, stale
from hindbrain.stores.vector_port import Shelf, Vectors

__all__ = ["MemoryStore"]

WAIT_SECONDS = 30.0


@dataclass(slots=True)
class _State(MissionsState, TombstoneState):
    """Everything a brain holds. A committed state is never changed: a transaction changes a copy."""

    claims: dict[str, tuple[Version, ...]] = field(default_factory=dict)  # by slug, oldest first
    words: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)  # live active slug -> turn, terms
    marks: dict[tuple[str, str], Mark] = field(default_factory=dict)
    boot: dict[str, BootEntry] = field(default_factory=dict)
    anchors: dict[str, dict[str, str]] = field(default_factory=dict)
    graph: dict[str, tuple[dict[str, Node], frozenset[Edge]]] = field(default_factory=dict)  # by owner
    intents: dict[str, Intent] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)
    generation: int = 0
    forgotten: int = 0  # the highest number of an erased version

    def changing(self) -> "_State":
        fresh = copy(self)
        for one in fields(self):
            setattr(fresh, one.name, copy(getattr(self, one.name)))
        return fresh

    def live(self, slug: str) -> Version | None:
        last = self.claims.get(slug, ())[-1:]
        return last[0] if last and last[0].ended_at is None else None

    def each_live(self) -> Iterator[Version]:
        for slug in sorted(self.claims):
            if (version := self.live(slug)) is not None:
                yield version

    def end(self) -> tuple[int, str]:
        return (self.ledger[-1].seq, self.ledger[-1].hash) if self.ledger else (0, GENESIS)


class _Writer(MemoryMissionWriter, MemoryTombstoneWriter):
    _state: _State

    def __init__(self, state: _State) -> None:
        super().__init__(state)
        self._state = state
        self.recorded: list[Entry] = []
        self.changed: dict[str, None] = {}

    def append(self, act: Act) -> Entry:
        seq, prev = self._state.end()
        entry = sealed(act, seq=seq + 1, prev=prev)
        self._state.ledger.append(entry)
        self.recorded.append(entry)
        return entry

    def live(self, slug: str) -> Version | None:
        return self._state.live(slug)

    def put_claim(self, version: Version, *, expected: int | None, ended_act: str, terms: Sequence[str]) -> None:
        slug, state = version.slug, self._state
        last = max(self._last_number(slug), state.forgotten)
        self._close(slug, expected, at=version.born_at, ended_act=ended_act)
        if version.version <= last:
            raise reused(slug, version.version, last)
        state.turn += 1
        by = next((entry.channel for entry in reversed(state.ledger) if entry.seq == version.version), None)
        state.claims[slug] = (*state.claims.get(slug, ()), replace(version, ended_at=None, ended_act=None, channel=by))
        if version.active:
            state.words[slug] = (state.turn, tuple(joined(terms).split()))

    def end_claim(self, slug: str, *, expected: int, at: int, ended_act: str) -> None:
        self._close(slug, expected, at=at, ended_act=ended_act)

    def _close(self, slug: str, expected: int | None, *, at: int, ended_act: str) -> None:
        live = self._state.live(slug)
        self.changed[slug] = None
        if (live.version if live else None) != expected:
            raise stale(slug, expected, live.version if live else None)
        if live is not None:
            ended = replace(live, ended_at=at, ended_act=ended_act)
            self._state.claims[slug] = (*self._state.claims[slug][:-1], ended)
            self._state.words.pop(slug, None)

    def _last_number(self, slug: str) -> int:
        return max((version.version for version in self._state.claims.get(slug, ())), default=0)

    def erase_claim(self, slug: str) -> None:
        self.changed.pop(slug, None)
        self._state.forgotten = max(self._state.forgotten, self._last_number(slug))
        self._state.claims.pop(slug, None)
        self._state.words.pop(slug, None)
        self._state.anchors.pop(slug, None)
        for key in [key for key in self._state.marks if key[0] == slug]:
            del self._state.marks[key]
        self.put_graph(f"claim:{slug}", (), ())

    def erase_versions(self, slug: str, versions: Collection[int]) -> None:
        self._state.forgotten = max(self._state.forgotten, self._last_number(slug))
        held = self._state.claims.get(slug, ())
        kept = tuple(one for one in held if one.ended_at is None or one.version not in versions)
        if kept:
            self._state.claims[slug] = kept
        else:
            self._state.claims.pop(slug, None)

    def put_mark(self, mark: Mark) -> None:
        self._state.marks[mark.slug, mark.kind] = mark

    redact_mark = put_mark

    def drop_mark(self, slug: str, kind: str) -> None:
        self._state.marks.pop((slug, kind), None)

    def put_boot(self, entry: BootEntry) -> None:
        self._state.boot[entry.key] = entry

    def drop_boot(self, key: str) -> bool:
        return self._state.boot.pop(key, None) is not None

    def erase_boot(self, keys: Collection[str]) -> None:
        for key in keys:
            self.drop_boot(key)

    def put_anchors(self, slug: str, anchors: Mapping[str, str]) -> None:
        self._state.anchors.pop(slug, None)
        if anchors:
            self._state.anchors[slug] = dict(sorted(anchors.items()))

    def put_graph(self, owner: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        gives = ({node.id: node for node in nodes}, frozenset(edges))
        if gives != self._state.graph.get(owner, ({}, frozenset())):
            self._state.graph[owner] = gives
            self._state.generation += 1

    def put_intent(self, intent: Intent) -> None:
        self._state.intents[intent.id] = intent

    def drop_intent(self, intent_id: str) -> None:
        self._state.intents.pop(intent_id, None)

    def set_meta(self, key: str, value: str) -> None:
        self._state.meta[key] = value

    def add_counts(self, counts: Mapping[tuple[str, str], int]) -> None:
        for key, value in counts.items():
            self._state.counters[key] = self._state.counters.get(key, 0) + value


def _has(bag: Sequence[str], terms: Sequence[str], begun: str) -> bool:
    """Whether a claim has all of these words, and one that begins so."""
    return set(joined(terms).split()) <= set(bag) and (not begun or any(word.startswith(begun) for word in bag))


class MemoryStore(
    MemoryEvidenceReads, MemoryCardReads, MemoryExperienceReads, MemoryModelCallReads, MemoryMissionReads, MemoryTombstoneReads
):
    """A brain that lives as long as its process. Readers see the last committed state."""

    def __init__(self, brain_id: BrainId) -> None:
        self.brain_id = brain_id
        self.committed: Committed = unheard
        self._state: _State = _State()
        self._vectors = MemoryVectors(self._units)
        self._lock = threading.Lock()
        self._dreams = threading.Lock()

    @contextmanager
    def _changing(self) -> Iterator[_State]:
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            raise Busy("another write is still under way", fix="try again in a moment")
        try:
            changed = self._state.changing()
            yield changed
            self._state = changed
        finally:
            self._lock.release()

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        with self._changing() as state:
            yield (writer := _Writer(state))
        if writer.recorded:
            self.committed(writer.recorded, tuple(writer.changed))

    def head(self) -> tuple[int, str]:
        return self._state.end()

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
        until = None if before is None else max(before - 1, 0)
        found = [
            entry
            for entry in self._state.ledger[max(after, 0) : until]
            if (subject is None or entry.subject == subject) and (act is None or entry.act.startswith(act))
        ]
        return tuple((found[::-1] if newest else found)[: max(limit, 0)])

    def live(self, slugs: Sequence[str]) -> dict[str, Version]:
        state = self._state
        return {slug: version for slug in slugs if (version := state.live(slug)) is not None}

    def words(self, slugs: Sequence[str]) -> dict[str, frozenset[str]]:
        state = self._state
        return {slug: frozenset(state.words[slug][1] if slug in state.words else ()) for slug in slugs if state.live(slug)}

    def each_live(self) -> Iterator[Version]:
        yield from self._state.each_live()

    def digests(self) -> dict[str, str]:
        return {version.slug: version.digest for version in self._state.each_live()}

    def versions(self, slug: str) -> tuple[Version, ...]:
        return self._state.claims.get(slug, ())[::-1]

    def names(self, claim_ids: Iterable[str]) -> dict[str, str]:
        wanted = set(claim_ids)
        return {version.claim_id: version.slug for version in self._all_versions() if version.claim_id in wanted}

    def _all_versions(self) -> Iterator[Version]:
        state = self._state
        for slug in sorted(state.claims):
            yield from state.claims[slug]

    def as_of(self, at: int) -> Iterator[Version]:
        for version in self._all_versions():
            if version.born_at <= at and (version.ended_at is None or at < version.ended_at):
                yield version

    def ended(self, *, limit: int) -> Iterator[Version]:
        found = [(version.ended_at, version.slug, version.version, version) for version in self._all_versions()]
        past = sorted((one for one in found if one[0] is not None), key=lambda one: one[:3], reverse=True)
        yield from (version for *_, version in past[: max(limit, 0)])

    def find(
        self,
        terms: Sequence[str],
        *,
        limit: int,
        within: int | None = None,
        shelf: Shelf = Shelf.CLAIM,
        where: Where | None = None,
    ) -> Found:
        if shelf is Shelf.EVIDENCE:
            admitted = None if where is None else {held.row.id for held in self._state.live_evidence(where)}
            return ranked(shelf, self.evidence_bags(), terms, limit=limit, within=within, admitted=admitted)
        bags = [Bag(key=slug, turn=turn, text=Counter(bag)) for slug, (turn, bag) in self._state.words.items()]
        return ranked(shelf, bags, terms, limit=limit, within=within, admitted=None)

    def _units(self, shelf: Shelf) -> dict[int, str]:
        if shelf is Shelf.EVIDENCE:
            return {held.turn: held.row.id for held in self._state.live_evidence()}
        return {turn: slug for slug, (turn, _) in self._state.words.items()}

    def keys(self, shelf: Shelf, turns: Sequence[int]) -> dict[int, str]:
        live = self._units(shelf)
        return {turn: live[turn] for turn in turns if turn in live}

    @property
    def vectors(self) -> Vectors:
        return self._vectors

    def arrivals(
        self,
        terms: Sequence[str] = (),
        *,
        begun: str = "",
        limit: int,
        after: int | None = None,
        newest: bool = True,
    ) -> tuple[tuple[int, str], ...]:
        found = sorted(
            ((turn, slug) for slug, (turn, bag) in self._state.words.items() if _has(bag, terms, begun)), reverse=newest
        )
        rest = [one for one in found if after is None or (one[0] < after if newest else one[0] > after)]
        return tuple(rest[: max(limit, 0)])

    def version_counts(self, slugs: Sequence[str], *, until: int | None = None) -> dict[str, int]:
        born = {slug: [one for one in self.versions(slug) if until is None or one.born_at <= until] for slug in slugs}
        return {slug: len(found) for slug, found in born.items() if found}

    def active_at(self, at: int) -> int:
        return sum(version.active for version in self.as_of(at))

    def arrived(self, channel: str) -> int:
        return sum(version.channel == channel for version in self._state.each_live())

    def recent(self, limit: int) -> tuple[Version, ...]:
        found = [version for version in self._state.each_live() if version.active and version.created is not None]
        return tuple(sorted(found, key=lambda version: (-(version.created or 0), version.slug))[: max(limit, 0)])

    def counts(self) -> Counts:
        state = self._state
        return Counts(
            active_claims=len(state.words),
            nodes=len({node for nodes, _ in state.graph.values() for node in nodes}),
            edges=len({edge for _, edges in state.graph.values() for edge in edges}),
            generation=state.generation,
            evidence=len(list(state.live_evidence())),
            card_turn=state.card_turn,
        )

    def glance(self, *, published: bool) -> Glance:
        state, counts = self._state, self.counts()
        counters: Counter[str] = Counter()
        for (name, _), value in state.counters.items():
            counters[name] += value
        beat = state.meta.get(LAST_BEAT)
        return Glance(
            seq=len(state.ledger),
            claims=counts.active_claims,
            evidence=counts.evidence,
            nodes=counts.nodes,
            edges=counts.edges,
            changed_at=state.ledger[-1].at if state.ledger else None,
            beat_at=int(beat) if beat else None,
            cards=self.standing(published=published),
            missions=dict(Counter(one.status for one in self.missions(limit=1_000_000))),
            counters=dict(counters),
        )

    def marks(self, *, slugs: Sequence[str] | None = None, kind: str | None = None) -> tuple[Mark, ...]:
        wanted = None if slugs is None else set(slugs)
        return tuple(
            mark
            for (slug, its_kind), mark in sorted(self._state.marks.items())
            if (wanted is None or slug in wanted) and kind in (None, its_kind)
        )

    def boot(self) -> tuple[BootEntry, ...]:
        return tuple(entry for _, entry in sorted(self._state.boot.items()))

    def anchors(self, slugs: Sequence[str]) -> dict[str, dict[str, str]]:
        state = self._state
        return {slug: dict(state.anchors[slug]) for slug in sorted(set(slugs)) if slug in state.anchors}

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        # Owners by name, so that the last one is shown: `inventory`, which saw the node, before any claim.
        given = {id_: node for _, (nodes, _) in sorted(self._state.graph.items()) for id_, node in nodes.items()}
        return {id_: given[id_] for id_ in ids if id_ in given}

    def neighbours(self, node_id: str, *, limit: int) -> tuple[Edge, ...]:
        found = {edge for _, edges in self._state.graph.values() for edge in edges if node_id in (edge.source, edge.target)}
        return tuple(sorted(found, key=lambda edge: (edge.source, edge.relation, edge.target))[: max(limit, 0)])

    def whole_graph(self) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
        nodes = {id_: node for _, (nodes, _) in sorted(self._state.graph.items()) for id_, node in nodes.items()}
        edges = {edge for _, edges in self._state.graph.values() for edge in edges}
        by_name = sorted(edges, key=lambda edge: (edge.source, edge.relation, edge.target))
        return tuple(nodes[id_] for id_ in sorted(nodes)), tuple(by_name)

    def intents(self) -> tuple[Intent, ...]:
        return tuple(sorted(self._state.intents.values(), key=lambda intent: (intent.at, intent.id)))

    def meta(self, key: str) -> str | None:
        return self._state.meta.get(key)

    def counters(self) -> dict[tuple[str, str], int]:
        return dict(sorted(self._state.counters.items()))

    def lag(self) -> int:
        return 0

    def rebuild_index(self, terms_of: Callable[[Version], Sequence[str]], progress: Progress | None = None) -> int:
        with self._changing() as state:
            total = len(state.words)
            for done, version in enumerate((one for one in state.each_live() if one.active), start=1):
                state.words[version.slug] = (state.words[version.slug][0], tuple(joined(terms_of(version)).split()))
                if progress is not None:
                    progress(done, total, "words")
        return total

    def backup(self, target: Path) -> None:
        from hindbrain.stores.sqlite_files import write_copy  # the twin itself needs no database

        state = self._state
        write_copy(target, ((table, ((self.brain_id, *row) for row in rows)) for table, rows in self._tables(state)))

    def _tables(self, state: _State) -> Iterator[tuple[str, Iterable[Row]]]:
        counts = self.counts()
        sizes = (counts.active_claims, counts.nodes, counts.edges, counts.generation)
        words = sum(bag.size() for bag in self.evidence_bags()), sum(len(terms) for _, terms in state.words.values())
        yield "brain_head", [(*state.end(), state.turn, *sizes, state.forgotten, counts.evidence, *words, state.card_turn)]
        yield "ledger", [_fields(entry) for entry in state.ledger]
        yield "claim_version", (self._version_row(state, one) for versions in state.claims.values() for one in versions)
        yield "mark", [_fields(mark) for mark in state.marks.values()]
        yield "tombstone", [(fingerprint, *row) for fingerprint, row in state.tombstones.items()]
        yield "boot", [_fields(entry) for entry in state.boot.values()]
        yield "anchor", [(slug, path, digest) for slug, one in state.anchors.items() for path, digest in one.items()]
        graph = state.graph.items()
        yield "graph_node", [(n.id, owner, n.kind, n.label, n.path) for owner, (nodes, _) in graph for n in nodes.values()]
        yield "graph_edge", [(e.source, e.relation, e.target, owner) for owner, (_, edges) in graph for e in edges]
        yield "intent", [_fields(intent) for intent in state.intents.values()]
        yield "meta", list(state.meta.items())
        yield "counter", [(*key, value) for key, value in state.counters.items()]
        yield (
            "evidence",
            [
                evidence_values(held.row, held.turn, changed=held.changed, terms=" ".join(held.text), near=" ".join(held.near))
                for held in state.evidence.values()
            ],
        )
        yield "source", [_fields(source) for source in state.sources.values()]
        yield "card", [(*card_values(card), " ".join(words)) for card, words in state.cards.values()]
        yield "card_link", [link_values(link, place) for place, link in state.links.values()]
        yield "card_event", [event_values(event) for event in state.card_events]
        yield "adoption_event", [adoption_values(event) for event in state.adoptions.values()]
        yield "foreign_card", [(one.id, one.body, one.at) for one in state.foreign_cards.values()]
        yield "megram", [megram_values(held.megram) for held in state.megrams.values()]
        yield "megram_event", [megram_event_values(event) for event in state.megram_events]
        yield "megram_clock", [clock_values(held) for held in state.megrams.values()]
        tagged = (held.megram for held in state.megrams.values())
        yield "megram_tag", [(tag, megram.id) for megram in tagged for tag in dict.fromkeys(megram.tags)]
        pairs = ((pair, pair in state.unsettled, pair in state.watched) for pair in state.by_pair)
        yield "megram_pair", [(pair.space, pair.entity, int(unsettled), int(watch)) for pair, unsettled, watch in pairs]
        yield "control_message", [message_values(message) for message in state.messages]
        yield "model_call", [call_values(call) for call in state.model_calls.values()]
        yield "mission", [head_values(head) for head in state.missions.values()]
        yield "mission_event", [mission_event_values(one) for held in state.mission_events.values() for one in held.values()]
        yield "mission_paper", [paper_values(paper) for paper in state.mission_papers.values()]

    @staticmethod
    def _version_row(state: _State, version: Version) -> Row:
        turn, words = state.words.get(version.slug, (0, ())) if version.ended_at is None else (0, ())
        return (*_fields(version)[:-1], turn, " ".join(words))  # the channel is a column of the ledger

    def check(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Nothing is held open."""


def _fields(value: Entry | Version | Mark | BootEntry | Intent | Source) -> Row:
    """The fields of a value in the order of its columns."""
    return tuple(getattr(value, name) for name in value.__slots__)
