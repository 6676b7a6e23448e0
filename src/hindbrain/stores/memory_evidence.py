"""Memory's evidence: what the databases must do with observations, said as plainly as Python can."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.stores.port import Found, Seat, Source, Voice, Where, Words
from hindbrain.stores.sql_evidence import clashing
from hindbrain.stores.sql_terms import NEAR_WEIGHT, affordable, bm25_part, joined, rarity
from hindbrain.stores.vector_port import Shelf

__all__ = ["Bag", "EvidenceState", "Held", "MemoryEvidenceReads", "MemoryEvidenceWriter", "ranked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A row and the words it is found by; none once it is deleted."""

    turn: int
    changed: int
    row: Evidence
    text: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(slots=True)
class EvidenceState:
    """What a brain holds of observations."""

    evidence: dict[EvidenceId, Held] = field(default_factory=dict)
    sources: dict[tuple[str, str], Source] = field(default_factory=dict)
    turn: int = 0

    def live_evidence(self, where: Where | None = None) -> Iterator[Held]:
        live = (held for held in self.evidence.values() if held.row.deleted_at is None and _admitted(where, held.row))
        yield from sorted(live, key=lambda held: held.turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bag:
    """A row of a shelf as full text sees it."""

    key: str
    turn: int
    text: Counter[str]
    near: Counter[str] = field(default_factory=Counter)

    def has(self, word: str) -> bool:
        return word in self.text or word in self.near

    def often(self, word: str) -> float:
        return self.text[word] + NEAR_WEIGHT * self.near[word]

    def size(self) -> int:
        return self.text.total() + self.near.total()


def ranked(
    shelf: Shelf, rows: Sequence[Bag], terms: Sequence[str], *, limit: int, within: int | None, admitted: Collection[str] | None
) -> Found:
    """BM25 over a shelf; with `admitted` only these keys are ranked, but all are counted."""
    words = list(dict.fromkeys(joined(terms).split()))
    bags = [bag for bag in rows if bag.size()]
    frequencies = {word: sum(bag.has(word) for bag in bags) for word in words}
    average = sum(bag.size() for bag in bags) / (len(bags) or 1)
    rare = {word: rarity(len(bags), number) for word, number in frequencies.items()}
    chosen = affordable(frequencies, within, total=None if shelf is Shelf.CLAIM else len(rows))
    scored = [
        (sum(bm25_part(rare[word], bag.often(word), bag.size(), average) for word in chosen if bag.has(word)), bag)
        for bag in bags
        if (admitted is None or bag.key in admitted) and any(bag.has(word) for word in chosen)
    ]
    best = sorted(scored, key=lambda one: (-one[0], -one[1].turn))[: max(limit, 0)]
    return Found(
        turns=tuple(bag.turn for _, bag in best),
        scores=tuple(score for score, _ in best),
        frequencies=frequencies,
        total=len(rows),
    )


def _admitted(where: Where | None, row: Evidence) -> bool:
    if where is None:
        return True
    anchor = row.anchor
    shown = {
        name: getattr(row, name) for name in ("wing", "room", "domain", "field", "provenance", "source_type", "source", "thread")
    }
    same = all(getattr(where, name) in (None, value) for name, value in {**shown, "anchor_kind": anchor.kind}.items())
    return same and where.tag in (None, *row.tags) and (where.anchor_ids is None or anchor.id in where.anchor_ids)


class MemoryEvidenceWriter:
    """The part of a transaction that keeps observations. Turns grow exactly as the databases let them."""

    def __init__(self, state: EvidenceState) -> None:
        self._evidence = state

    def put_evidence(self, rows: Sequence[tuple[Evidence, Words]]) -> tuple[EvidenceId, ...]:
        state, new = self._evidence, []
        for one, words in rows:
            held = state.evidence.get(one.id)
            if held is not None and held.row.content != one.content:
                raise clashing(one.id)
            if held is not None and held.row.deleted_at is None:
                continue
            state.turn += 1
            state.evidence[one.id] = Held(
                turn=state.turn,
                changed=state.turn,
                row=replace(one, deleted_at=None),
                text=tuple(joined(words.text).split()),
                near=tuple(joined(words.near).split()),
            )
            new.append(one.id)
        return tuple(new)

    def put_near(self, near: Mapping[EvidenceId, Sequence[str]]) -> None:
        state, changed = self._evidence, {}
        for id_, terms in near.items():
            words = tuple(joined(terms).split())
            held = state.evidence.get(id_)
            if held is not None and held.row.deleted_at is None and held.near != words:
                changed[id_] = replace(held, near=words, changed=state.turn + 1)
        state.turn += bool(changed)
        state.evidence.update(changed)

    def delete_evidence(self, ids: Collection[EvidenceId], *, at: int) -> tuple[EvidenceId, ...]:
        ended = self._end(ids)
        for id_ in ended:
            held = self._evidence.evidence[id_]
            self._evidence.evidence[id_] = replace(held, row=replace(held.row, deleted_at=at), text=(), near=())
        return ended

    def _end(self, ids: Collection[EvidenceId]) -> tuple[EvidenceId, ...]:
        state = self._evidence
        live = {held.row.id for held in state.live_evidence()}
        ended = tuple(id_ for id_ in dict.fromkeys(ids) if id_ in live)
        state.turn += bool(ended)
        return ended

    def erase_evidence(self, ids: Collection[EvidenceId]) -> int:
        self._end(ids)
        there = [id_ for id_ in dict.fromkeys(ids) if id_ in self._evidence.evidence]
        for id_ in there:
            del self._evidence.evidence[id_]
        return len(there)

    def put_source(self, source: Source) -> None:
        self._evidence.sources[source.source, source.scope] = source


class MemoryEvidenceReads:
    """The reads of observations."""

    _state: EvidenceState

    def seats(self, turns: Sequence[int]) -> dict[int, Seat]:
        return {turn: _seat(row) for turn, row in self.evidence_at(turns).items()}

    def turns(self, where: Where) -> frozenset[int]:
        return frozenset(held.turn for held in self._state.live_evidence(where))

    def evidence(self, ids: Sequence[EvidenceId], *, deleted: bool = False) -> dict[EvidenceId, Evidence]:
        held = self._state.evidence
        return {id_: held[id_].row for id_ in ids if id_ in held and (deleted or held[id_].row.deleted_at is None)}

    def evidence_at(self, turns: Sequence[int]) -> dict[int, Evidence]:
        live = {held.turn: held.row for held in self._state.live_evidence()}
        return {turn: live[turn] for turn in turns if turn in live}

    def each_evidence(self, where: Where | None = None) -> Iterator[Evidence]:
        yield from (held.row for held in self._state.live_evidence(where))

    def evidence_page(
        self, where: Where, *, anchor_id: str | None = None, limit: int, after: tuple[int, int] | None = None, newest: bool = True
    ) -> tuple[tuple[int, Evidence], ...]:
        found = {(held.row.added_at, held.turn): held.row for held in self._anchored(where, anchor_id)}
        rest = sorted((one for one in found if after is None or (one < after if newest else one > after)), reverse=newest)
        return tuple((one[1], found[one]) for one in rest[: max(limit, 0)])

    def evidence_count(self, where: Where, *, anchor_id: str | None = None) -> int:
        return len(self._anchored(where, anchor_id))

    def _anchored(self, where: Where, anchor_id: str | None) -> list[Held]:
        live = self._state.live_evidence(where)
        return [held for held in live if anchor_id is None or anchor_id in (held.row.anchor.id, held.row.anchor.parent)]

    def foremost(self, limit: int) -> tuple[Evidence, ...]:
        live = list(self._state.live_evidence())
        marked = sorted(
            (held.row for held in live if held.row.importance),
            key=lambda row: (row.importance, row.added_at, row.id),
            reverse=True,
        )
        plain = [held.row for held in reversed(live) if not held.row.importance]
        return tuple([*marked, *plain][: max(limit, 0)])

    def thread(self, thread: str, *, first: int, last: int, where: Where | None = None) -> tuple[Evidence, ...]:
        rows = (held.row for held in self._state.live_evidence(where))
        found = (row for row in rows if row.thread == thread and first <= row.position <= last)
        return tuple(sorted(found, key=lambda row: row.position))  # stable: rows of one position stay in the order they came

    def evidence_words(self, turns: Sequence[int]) -> dict[int, frozenset[str]]:
        live = {held.turn: held for held in self._state.live_evidence()}
        return {turn: frozenset(live[turn].text) for turn in turns if turn in live}

    def sources(self, scope: str | None = None) -> tuple[Source, ...]:
        return tuple(one for (_, its), one in sorted(self._state.sources.items()) if scope in (None, its))

    def evidence_bags(self) -> list[Bag]:
        return [
            Bag(key=held.row.id, turn=held.turn, text=Counter(held.text), near=Counter(held.near))
            for held in self._state.live_evidence()
        ]


def _seat(row: Evidence) -> Seat:
    return Seat(row.thread, row.position, row.message, Voice(row.speaker, row.role, row.anchor.kind.value, row.anchor.id))
