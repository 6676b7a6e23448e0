"""Ranking: a score between 0 and 1 from how much of a question a claim covers, in words and in meaning. Pure; the stores only
find candidates."""

import math
from collections.abc import Collection, Mapping, Sequence

from hindbrain.policy.recall import MEANING, WEIGHTS

__all__ = ["coverage", "joined", "meaning", "weighed"]


def _idf(frequency: int, total: int) -> float:
    return math.log(1.0 + (total - frequency + 0.5) / (frequency + 0.5)) if total else 1.0


def coverage(
    query: Sequence[str], label: Collection[str], body: Collection[str], frequencies: Mapping[str, int], total: int
) -> float:
    """The share of the question's weight that the claim's words cover, rare words weighing more; labels a little extra."""
    weights = {word: _idf(min(frequencies.get(word, 0), total), total) for word in query}
    whole = sum(weights.values())
    if not whole:
        return 0.0
    hit = sum(weight for word, weight in weights.items() if word in body or word in label)
    named = sum(weight for word, weight in weights.items() if word in label)
    exact = WEIGHTS.exact if label and set(label) <= set(query) else 0.0
    return min(1.0, hit / whole + (WEIGHTS.label * named / whole if hit else 0.0) + (exact if named else 0.0))


def meaning(cosine: float | None) -> float:
    """How much a claim means what a question asks, from their cosine; 0 when they were not compared or are no nearer than
    any two texts."""
    if cosine is None:
        return 0.0
    return min(1.0, max(0.0, (cosine - MEANING.start) / (MEANING.full - MEANING.start)))


def joined(covered: float, near: float) -> float:
    """Two witnesses for one claim: each makes up for some of what the other leaves open."""
    return covered + near - covered * near


def weighed(score: float, *, verified: bool, stale: bool, graded_wrong: bool) -> float:
    """The score after what is known of the claim itself; never above 1 and never below a trace of 0."""
    total = score
    total += WEIGHTS.verified if verified else 0.0
    total += WEIGHTS.stale if stale else 0.0
    total += WEIGHTS.graded_wrong if graded_wrong else 0.0
    return round(max(0.0, min(1.0, total)), 4)
