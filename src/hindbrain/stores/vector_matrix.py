"""Vector matrix: the vectors of one embedder on one shelf, in memory, and which of them are nearest to a question.

Up to a few thousand rows every one is compared. Above that sign bits choose some hundreds, first by half of their words and then
by all, and only these are compared exactly. Everything is counted, nothing is drawn by chance: equal rows, equal answers.
"""

import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Matrix", "cosines_of"]

EXACT = 8_192  # rows up to which all are compared: 2 ms
# Shares of the rows that the signs let through. Measured on turns of real conversations with MiniLM: 98 of 100 of the ten nearest
# are among the first 3 % by all words and among the first 8 % by half of them; the more rows, the nearer are the nearest.
SURVIVORS = 0.10
RESCORED = 0.03
FEWEST_RESCORED = 1_000
MASKED = 0.1  # share of masked rows that a matrix carries on
MOST_RESCORED = 12_000  # what a question over a million rows may cost: 4 ms of its 20
_WORD = 64  # bits of one word
_TOGETHER = 256  # rows that are compared at a time: as many as stay in the processor's cache

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float32]
_Words = NDArray[np.uint64]


def cosines_of(query: Sequence[float], rows: Sequence[bytes]) -> _Floats:
    """The cosine of a unit vector with each of some int8 rows."""
    values = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1).astype(np.float32)
    return _exact(values, _lengths(values), np.asarray(query, dtype=np.float32))


def _exact(values: _Floats, lengths: _Floats, query: _Floats) -> _Floats:
    """Row by row, not by a matrix product: what a row scores must not depend on how many others are asked."""
    scored: _Floats = np.vecdot(values, query) / lengths
    return scored


def _lengths(values: _Floats) -> _Floats:
    lengths: _Floats = np.sqrt(np.einsum("ij,ij->i", values, values))
    lengths[lengths == 0] = 1.0
    return lengths


def _bits(codes: "NDArray[np.int8]") -> _Words:
    """The signs of each row as words, one line per word, so that each line is read in one go."""
    missing = -codes.shape[1] % _WORD
    signs = np.pad(codes > 0, ((0, 0), (0, missing)))
    return np.ascontiguousarray(np.packbits(signs, axis=1).view(np.uint64).T)


class Matrix:
    """Rows are only ever added; one that is replaced or gone is masked."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.lock = threading.Lock()  # held by who adds rows
        self.reached = 0  # the id of the last row taken in
        self.endings = 0  # of the brain's rows, that were followed: with as many as there are, every row here is live
        self._size = 0
        self._highest = -1  # turn
        self._codes = np.empty((0, dims), dtype=np.int8)
        self._words = np.empty((-(-dims // _WORD), 0), dtype=np.uint64)
        self._lengths: _Floats = np.empty(0, dtype=np.float32)
        self._turns: _Ints = np.empty(0, dtype=np.int64)
        self._alive = np.empty(0, dtype=np.bool_)
        self._order: _Ints | None = None
        self._rising = True  # each row is of a higher turn than the one before: it is found without an order

    def __len__(self) -> int:
        return self._size

    def add(self, turns: Sequence[int], rows: Sequence[bytes]) -> None:
        """Take in rows, all parts of a unit together; what was known of these units before is masked. The caller has the lock."""
        fresh = np.asarray(turns, dtype=np.int64)
        codes = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), self.dims)
        rising = bool(np.all(np.diff(fresh, prepend=self._highest) > 0))  # mostly newer ones come, of which nothing is known
        if not rising:
            self.mask(fresh)
            self._rising = False
        self._highest = max(self._highest, int(fresh.max(initial=-1)))
        size = self._size + len(rows)
        if size > len(self._turns):
            self._grow(max(size, len(self._turns) * 3 // 2, 1024))
        place = slice(self._size, size)
        self._codes[place], self._words[:, place] = codes, _bits(codes)
        self._lengths[place] = _lengths(codes.astype(np.float32))
        self._turns[place], self._alive[place] = fresh, True
        self._order = None
        self._size = size

    def _grow(self, capacity: int) -> None:
        def larger(held: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
            grown = np.zeros(shape, dtype=held.dtype)
            grown[tuple(slice(0, length) for length in held.shape)] = held
            return grown

        self._codes = larger(self._codes, (capacity, self.dims))
        self._words = larger(self._words, (len(self._words), capacity))
        self._lengths = larger(self._lengths, (capacity,))
        self._turns = larger(self._turns, (capacity,))
        self._alive = larger(self._alive, (capacity,))

    @property
    def sparse(self) -> bool:
        """Whether so many rows are masked that it should be made anew."""
        return self._size > EXACT and int(np.count_nonzero(self._alive[: self._size])) < (1 - MASKED) * self._size

    def mask(self, turns: "Collection[int] | _Ints") -> None:
        """Units that are gone are found no more."""
        if self._size and len(turns):
            self._alive[self._places(turns)] = False

    def _places(self, turns: "Collection[int] | _Ints") -> _Ints:
        """Where the rows of these units stand, also those that are masked."""
        size = self._size  # first: what grows meanwhile is longer than this
        held = self._turns[:size]
        wanted = turns if isinstance(turns, np.ndarray) else np.fromiter(turns, dtype=np.int64, count=len(turns))
        wanted = np.unique(wanted)
        if self._rising:
            near: _Ints = np.searchsorted(held, wanted)
            return near[held[np.minimum(near, len(held) - 1)] == wanted] if len(held) else near[:0]
        order = self._order
        if order is None or len(order) != len(held):
            order = self._order = np.argsort(held, kind="stable")
        first = np.searchsorted(held, wanted, side="left", sorter=order)
        last = np.searchsorted(held, wanted, side="right", sorter=order)
        lengths = last - first
        starts = np.repeat(first - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) if len(wanted) else first
        places: _Ints = order[starts + np.arange(len(starts))]
        return places

    def nearest(self, query: Sequence[float], *, limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Units and their cosines, best first, the older one first where two are equal."""
        asked = np.asarray(query, dtype=np.float32)
        alive = self._alive[: self._size].copy()  # others mask rows meanwhile
        places: _Ints | None = None
        if among is not None:
            places = np.sort(self._places(among))
            places = places[places < len(alive)]
            places = places[alive[places]]
        number = int(np.count_nonzero(alive)) if places is None else len(places)
        if number > EXACT:
            wanted = max(4 * limit, FEWEST_RESCORED, min(int(RESCORED * number), MOST_RESCORED))
            places = self._likely(asked, wanted, alive, places)
        elif places is None:
            places = np.flatnonzero(alive)
        cosines = self._cosines(asked, places)
        if len(places) > 4 * limit:  # as many as are enough where units have parts
            least = np.partition(cosines, len(cosines) - 4 * limit)[len(cosines) - 4 * limit]
            places, cosines = places[cosines >= least], cosines[cosines >= least]
        turns = self._turns[places]
        order = np.lexsort((turns, -cosines))
        best: dict[int, float] = {}
        for turn, cosine in zip(turns[order].tolist(), cosines[order].tolist(), strict=True):
            if len(best) == max(limit, 0):
                break
            best.setdefault(turn, cosine)
        return list(best.items())

    def cosines(self, query: Sequence[float], turns: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these units that is held, by its best part."""
        places = self._places(turns)
        places = places[self._alive[places]]
        found: dict[int, float] = {}
        near = self._cosines(np.asarray(query, dtype=np.float32), places)
        for turn, cosine in zip(self._turns[places].tolist(), near.tolist(), strict=True):
            found[turn] = max(found.get(turn, -1.0), cosine)
        return found

    def _cosines(self, asked: _Floats, places: _Ints) -> _Floats:
        """Of the rows at these places."""
        parts = (places[start : start + _TOGETHER] for start in range(0, len(places), _TOGETHER))
        found = [_exact(np.take(self._codes, part, axis=0).astype(np.float32), self._lengths[part], asked) for part in parts]
        return np.concatenate(found) if found else np.empty(0, dtype=np.float32)

    def _likely(self, query: _Floats, wanted: int, alive: "NDArray[np.bool_]", places: _Ints | None) -> _Ints:
        """Live rows whose signs differ least from those of the question."""
        asked = _bits((query > 0).astype(np.int8)[None, :])[:, 0]
        words = self._words[:, : len(alive)] if places is None else self._words[:, places]
        half = len(asked) // 2
        most = max(int(SURVIVORS * words.shape[1]), 4 * wanted)
        if places is None:
            most += len(alive) - int(np.count_nonzero(alive))  # masked rows may be the nearest of all
        if most >= words.shape[1] or not half:
            kept = np.arange(words.shape[1]) if places is not None else np.flatnonzero(alive)
            distances = _distance(words[:, kept], asked)
        else:
            by_half = _distance(words[:half], asked[:half])
            kept = _least(by_half, most)
            if places is None:
                kept = kept[alive[kept]]
            distances = by_half[kept] + _distance(np.take(words[half:], kept, axis=1), asked[half:])
        nearest = kept[_least(distances, wanted)]
        return nearest if places is None else places[nearest]


def _distance(words: _Words, asked: _Words) -> "NDArray[np.uint16]":
    """How many bits of each row differ."""
    total = np.zeros(words.shape[1], dtype=np.uint16)
    for line, word in zip(words, asked, strict=True):
        total += np.bitwise_count(line ^ word)
    return total


def _least(distances: "NDArray[np.uint16]", number: int) -> _Ints:
    """Where at least `number` of the smallest distances are, and all that are equal to the last of them."""
    if number >= len(distances):
        return np.arange(len(distances))
    reached = np.cumsum(np.bincount(distances))
    return np.flatnonzero(distances <= np.searchsorted(reached, number))
