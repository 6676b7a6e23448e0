"""Trigrams: how alike two names are by the three-letter runs they share, the rare ones counting most. Built once per graph."""

from collections.abc import Sequence

import numpy as np

from hindbrain.engines.network import Floats, Ints
from hindbrain.policy.activation import SEMANTIC

__all__ = ["Trigrams", "similarity"]

_BASE = 0x110000  # above every code point: three of them fit into 63 bits


def _codes(text: str) -> Ints:
    """The trigrams of a text as numbers, in order; a text that is shorter has one, padded."""
    letters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    if len(letters) < 3:
        letters = np.concatenate([letters, np.zeros(3 - len(letters), dtype=np.int64)])
    return (letters[:-2] * _BASE + letters[1:-1]) * _BASE + letters[2:]


def similarity(one: str, other: str) -> float:
    """Cosine over the sets of trigrams of two texts, case aside; 1.0 for equal ones."""
    first, second = np.unique(_codes(one.lower())), np.unique(_codes(other.lower()))
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return float(shared / np.sqrt(len(first) * len(second)))


class Trigrams:
    """An index over many short texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        grams, rows = self._all([text.lower().replace("\n", " ") for text in texts])
        pairs = np.lexsort((rows, grams))
        grams, rows = grams[pairs], rows[pairs]
        first = np.ones(len(grams), dtype=bool)
        first[1:] = (grams[1:] != grams[:-1]) | (rows[1:] != rows[:-1])
        at = np.flatnonzero(first)
        times = np.diff(np.append(at, len(grams)))
        grams, self._rows = grams[at], rows[at].astype(np.int32)
        self._grams, starts = np.unique(grams, return_index=True)
        self._start = np.append(starts, len(grams))
        spread = np.diff(self._start)
        self._rarity = np.log((1.0 + self._count) / (1.0 + spread)) + 1.0
        self._weight = (times * np.repeat(self._rarity, spread)).astype(np.float32)
        norm = np.bincount(self._rows, weights=self._weight.astype(np.float64) ** 2, minlength=self._count)
        self._norm = np.sqrt(norm)

    @staticmethod
    def _all(texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Every trigram of every text with the row of its text, in one pass over one buffer."""
        padded = [text if len(text) >= 3 else text.ljust(3, "\x00") for text in texts]
        joined = np.frombuffer("\n".join(padded).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
        if len(joined) < 3:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        row = np.cumsum(joined == 10)
        grams = (joined[:-2] * _BASE + joined[1:-1]) * _BASE + joined[2:]
        inside = (joined[:-2] != 10) & (joined[1:-1] != 10) & (joined[2:] != 10)
        return grams[inside], row[:-2][inside]

    def scores(self, text: str, least: float) -> tuple[Ints, Floats]:
        """The texts whose cosine with this one is at least so much, in order; trigrams that are everywhere are left out."""
        at, share, norm = self._looked_up(text)
        found = np.zeros(self._count)
        for number, weight in zip(at, share, strict=True):
            stretch = slice(self._start[number], self._start[number + 1])
            found[self._rows[stretch]] += self._weight[stretch] * weight
        rows = np.flatnonzero(found > 0.0)
        return _above(rows, found[rows] / (self._norm[rows] * norm), least)

    def covered(self, text: str, least: float) -> tuple[Ints, Floats]:
        """The texts of which this one, however long, holds at least such a share."""
        at, _, _ = self._looked_up(text)
        found = np.zeros(self._count)
        for number in at:
            stretch = slice(self._start[number], self._start[number + 1])
            found[self._rows[stretch]] += self._weight[stretch] ** 2
        rows = np.flatnonzero(found > 0.0)
        return _above(rows, found[rows] / self._norm[rows] ** 2, least)

    def _looked_up(self, text: str) -> tuple[Ints, Floats, float]:
        """The numbers of a text's trigrams that are worth a look, their weights, and the length of the whole text."""
        grams, times = np.unique(_codes(text.lower()), return_counts=True)
        if not len(self._grams):
            return np.zeros(0, dtype=np.int64), np.zeros(0), 1.0
        at = np.minimum(np.searchsorted(self._grams, grams), len(self._grams) - 1)
        known = self._grams[at] == grams
        weight = np.where(known, self._rarity[at], np.log(1.0 + self._count) + 1.0).astype(np.float64) * times.astype(np.float64)
        spread = self._start[at + 1] - self._start[at]
        useful = np.flatnonzero(known & (spread <= max(SEMANTIC.common * self._count, SEMANTIC.few)))
        useful = useful[np.argsort(spread[useful], kind="stable")][: SEMANTIC.grams]
        return at[useful], weight[useful], float(np.sqrt(np.sum(weight**2)))


def _above(rows: Ints, scores: Floats, least: float) -> tuple[Ints, Floats]:
    kept = scores >= least
    return rows[kept], np.minimum(scores[kept], 1.0)
