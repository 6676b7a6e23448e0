"""Terms: how words stand in a row, which of them are worth a lookup, and what a row scores. Knows no database."""

import math
from collections.abc import Mapping, Sequence

__all__ = ["COUNTED", "NEAR_WEIGHT", "affordable", "bm25_part", "joined", "rarity"]

COUNTED = 4_000  # where counting how common a word is stops
NEAR_WEIGHT = 0.5  # what a word of the turns around a row is worth there
COMMON = 0.2  # words of more of the rows than this part nothing from nothing
LARGE = 2_000  # rows from which on that is so: in a small shelf every match may count

_K1, _B = 1.2, 0.75  # as FTS5 has them
_LEAST = 1e-6  # a word of more than half of the rows still counts something, so that rows that have it are found


def joined(terms: Sequence[str]) -> str:
    """Terms as one text in which each of them is a word."""
    return " ".join(" ".join(terms).replace("\0", " ").split())


def affordable(frequencies: Mapping[str, int], within: int | None, *, total: int | None = None) -> list[str]:
    """The terms to look up: those that occur, rarest first, as long as they touch few enough rows; always one. With `total`
    those that a fifth of a large shelf has are left out, unless there is no other."""
    most = max(COMMON * total, 1) if total is not None and total >= LARGE else math.inf
    chosen: list[str] = []
    touched = 0
    for word in sorted((w for w, n in frequencies.items() if n), key=lambda w: frequencies[w]):
        touched += frequencies[word]
        if chosen and (frequencies[word] > most or (within is not None and touched > within)):
            break
        chosen.append(word)
    return chosen


def rarity(total: int, number: int) -> float:
    """How much a word says: rare ones much, words of half of the rows nearly nothing. Counts stop, hence the max."""
    said = math.log((max(total, number) - number + 0.5) / (number + 0.5))
    return said if said > 0 else _LEAST


def bm25_part(rare: float, often: float, length: int, average: float) -> float:
    """What one word adds to the score of a row that has it."""
    return rare * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * length / average))
