"""Change memory: files that past changes touched which were told in similar words. Pure."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from hindbrain.engines.code_terms import code_terms
from hindbrain.policy.code_search import CHANGE_CHARS, CHANGE_FILES, FADING, SIMILAR_CHANGES

__all__ = ["ChangeMemory", "without_trailers"]

_K1, _B = 1.2, 0.75  # as in every BM25 here
_TRAILER = re.compile(r"^[A-Z][\w-]*-(?:by|session|url|id): .*$|https?://\S+", re.IGNORECASE | re.MULTILINE)


def without_trailers(text: str) -> str:
    """A message without who signed it and where it was discussed: those words name people and places, not code."""
    return _TRAILER.sub(" ", text)


class ChangeMemory:
    """Past changes, newest first, by the words of their messages."""

    def __init__(self, changes: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._paths: list[tuple[str, ...]] = []
        self._lengths: list[int] = []
        self._holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.lately: dict[str, float] = defaultdict(float)  # path -> how often it was changed, what is older counting less
        for age, (message, paths) in enumerate(changes):
            for path in paths:
                self.lately[path] += FADING**age
            if not 0 < len(paths) <= CHANGE_FILES:
                continue
            counts = Counter(code_terms(without_trailers(message)[:CHANGE_CHARS]))
            for term, count in counts.items():
                self._holding[term].append((len(self._paths), count))
            self._paths.append(tuple(paths))
            self._lengths.append(counts.total())

    def files(self, terms: Sequence[str], among: Collection[str]) -> dict[str, float]:
        """Files of the changes that are most like it; one that touched many of those asked about speaks less for each."""
        scores: dict[int, float] = defaultdict(float)
        total = len(self._paths)
        usual = max(1.0, sum(self._lengths) / max(1, total))
        for term in dict.fromkeys(terms):
            holding = self._holding.get(term, ())
            idf = math.log(1 + (total - len(holding) + 0.5) / (len(holding) + 0.5))
            for change, count in holding:
                scores[change] += idf * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * self._lengths[change] / usual))
        nearest = sorted(scores, key=lambda change: (-scores[change], change))[:SIMILAR_CHANGES]
        found: dict[str, float] = defaultdict(float)
        for change in nearest:
            share = (scores[change] / scores[nearest[0]]) ** 2
            touched = [path for path in self._paths[change] if path in among]
            for path in touched:
                found[path] += share / math.sqrt(len(touched))
        return dict(found)
