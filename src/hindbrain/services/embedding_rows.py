"""Rows into vectors: which text of a claim or of evidence is embedded, and how a short turn leans on the turns beside it."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindbrain.domain.claim import body_text, parse
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.policy.embedding import NEIGHBOUR_SHARE, PART_WORDS, SHORT_WORDS
from hindbrain.services.brains import OpenBrain
from hindbrain.services.embedder import Embedder
from hindbrain.stores.port import Where
from hindbrain.stores.vector_port import Embedded, Pending, Shelf

if TYPE_CHECKING:
    from hindbrain.engines.minilm import Floats, Unit

__all__ = ["Batch", "Neighbours", "Stopped", "claim_parts", "embedded_claims", "embedded_evidence", "spoken"]

_KEPT_THREADS = 64  # conversations whose order is remembered: the live ones of a busy machine


def spoken(row: Evidence) -> str:
    """The text of a turn as it is embedded: who said it is part of what it means."""
    return f'{row.speaker} said, "{row.content}"' if row.speaker else row.content


def claim_parts(text: str, slug: str) -> tuple[str, ...]:
    """A claim as it is embedded: its label and prose, in parts that the model reads to their end."""
    claim = parse(text, fallback_label=slug)
    words = body_text(claim).split()
    pieces = [" ".join(words[at : at + PART_WORDS]) for at in range(0, len(words), PART_WORDS)] or [""]
    return tuple(f"{claim.label}. {piece}".strip() for piece in pieces)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one brain that wait for vectors of one model."""

    opened: OpenBrain
    embedder: Embedder
    stamp: str
    waiting: Sequence[Pending]
    stopping: Callable[[], bool]

    def units(self, texts: Sequence[str]) -> "Iterator[Unit]":
        for unit in self.embedder.embed_all(texts, stamp=self.stamp):
            if self.stopping():
                raise Stopped
            yield unit


class Stopped(Exception):
    """The process wants to end in the middle of a batch: nothing of it is kept, and the next process begins it again."""


def embedded_claims(batch: Batch) -> list[Embedded]:
    """The vectors of claims, each by its parts. Claims have no neighbours."""
    from hindbrain.engines.minilm import codes

    live = batch.opened.store.live([one.key for one in batch.waiting])
    parts = [
        (one.turn, number, part)
        for one in batch.waiting
        if (version := live.get(one.key)) is not None
        for number, part in enumerate(claim_parts(version.text, one.key))
    ]
    made = []
    for (turn, number, _), unit in zip(parts, batch.units([part for _, _, part in parts]), strict=True):
        vector = codes(unit.vector)
        made.append(Embedded(turn=turn, part=number, raw=vector, searched=vector, late=codes(unit.late) if not number else b""))
    return made


def embedded_evidence(batch: Batch, neighbours: "Neighbours") -> list[Embedded]:
    """The vectors of observations. A new turn changes what its neighbours are searched by, so those come along."""
    rows = batch.opened.store.evidence([EvidenceId(one.key) for one in batch.waiting])
    kept = [(one.turn, row) for one in batch.waiting if (row := rows.get(EvidenceId(one.key))) is not None]
    units = batch.units([spoken(row) for _, row in kept])
    fresh = {turn: unit for (turn, _), unit in zip(kept, units, strict=True)}
    threads = dict.fromkeys(row.thread for _, row in kept if row.thread is not None)
    orders = [neighbours.order(batch.opened, thread) for thread in threads]
    return _Mixing(batch, fresh, orders).rows()


class _Mixing:
    """One batch of fresh vectors, and the kept ones around them."""

    def __init__(self, batch: Batch, fresh: "dict[int, Unit]", orders: "list[_Order]") -> None:
        self._fresh = fresh
        self._beside: dict[int, tuple[int, ...]] = {}
        touched = set(fresh)
        for order in orders:
            here = [turn for turn in fresh if turn in order.places]
            around = {near for turn in here for near in order.beside(turn)}
            touched |= {turn for turn in around if order.is_short(turn)}
            for turn in {*here, *around}:
                self._beside[turn] = order.beside(turn) if order.is_short(turn) else ()
        self._touched = touched
        wanted = {near for turn in touched for near in self._beside.get(turn, ())} | touched
        vectors = batch.opened.store.vectors
        self._kept = vectors.raw(batch.stamp, Shelf.EVIDENCE, sorted(wanted - set(fresh)))
        self._late = vectors.late(batch.stamp, Shelf.EVIDENCE, sorted(touched & set(self._kept)))

    def rows(self) -> list[Embedded]:
        """The fresh rows, and the kept ones that a fresh one stands beside."""
        from hindbrain.engines.minilm import codes

        made = []
        for turn, unit in self._fresh.items():
            own = codes(unit.vector)
            made.append(Embedded(turn=turn, raw=own, searched=self._searched(turn, own), late=codes(unit.late)))
        for turn in sorted(self._touched - set(self._fresh)):
            if (raw := self._kept.get(turn)) is not None:
                made.append(Embedded(turn=turn, raw=raw, searched=self._searched(turn, raw), late=self._late.get(turn, b"")))
        return made

    def _searched(self, turn: int, own: bytes) -> bytes:
        from hindbrain.engines.minilm import codes, mixed

        near = [vector for one in self._beside.get(turn, ()) if (vector := self._vector(one)) is not None]
        return codes(mixed(self._known(own), near, NEIGHBOUR_SHARE)) if near else own

    def _vector(self, turn: int) -> "Floats | None":
        if (unit := self._fresh.get(turn)) is not None:
            return unit.vector
        return self._known(raw) if (raw := self._kept.get(turn)) is not None else None

    @staticmethod
    def _known(raw: bytes) -> "Floats":
        from hindbrain.engines.minilm import directions

        found: Floats = directions(raw, len(raw))[0]
        return found


class _Order:
    """The turns of one conversation in their order, and which of them are short."""

    def __init__(self) -> None:
        self.places: dict[int, tuple[int, bool]] = {}  # turn -> position, short
        self._sorted: list[int] = []
        self._index: dict[int, int] = {}

    def update(self, live: Iterable[int], fresh: dict[int, tuple[int, bool]]) -> None:
        alive = set(live)
        if fresh or len(alive) != len(self.places):
            self.places = {turn: place for turn, place in {**self.places, **fresh}.items() if turn in alive}
            self._sorted = sorted(self.places, key=lambda turn: (self.places[turn][0], turn))
            self._index = {turn: at for at, turn in enumerate(self._sorted)}

    def beside(self, turn: int) -> tuple[int, ...]:
        at = self._index[turn]
        return tuple(self._sorted[near] for near in (at - 1, at + 1) if 0 <= near < len(self._sorted))

    def is_short(self, turn: int) -> bool:
        return self.places[turn][1]


class Neighbours:
    """The order of the conversations that are being written. Reads only what came since the last look."""

    def __init__(self) -> None:
        self._orders: OrderedDict[tuple[str, str], _Order] = OrderedDict()

    def order(self, opened: OpenBrain, thread: str) -> _Order:
        name = (opened.brain.name, thread)
        order = self._orders.setdefault(name, _Order())
        self._orders.move_to_end(name)
        while len(self._orders) > _KEPT_THREADS:
            self._orders.popitem(last=False)
        live = opened.store.turns(Where(thread=thread))
        unknown = opened.store.keys(Shelf.EVIDENCE, sorted(live - set(order.places)))
        rows = opened.store.evidence([EvidenceId(key) for key in unknown.values()])
        fresh = {
            turn: (row.position, len(row.content.split(None, SHORT_WORDS)) < SHORT_WORDS)
            for turn, key in unknown.items()
            if (row := rows.get(EvidenceId(key))) is not None
        }
        order.update(live, fresh)
        return order
