"""Query index: which earlier question of a mission a new one repeats. Looks only where an equal or nearly equal set of words can
be, so one more question costs the same after ten thousand."""

from collections import defaultdict
from dataclasses import dataclass, field

from hindbrain.policy.mission_routes import ALIKE

__all__ = ["Asked", "QueryIndex"]

_KEPT = 3  # ids that a warning links: the first asking and the newest repeats


@dataclass(slots=True, kw_only=True)
class Asked:
    """One question and everything that came to the same."""

    text: str
    family: str
    scope: str
    seq: int  # of its last asking
    event_ids: tuple[str, ...] = ()
    repeats: int = 0

    def again(self, seq: int, event_id: str) -> None:
        self.seq = seq
        self.repeats += 1
        first, rest = self.event_ids[:1], self.event_ids[1:]
        self.event_ids = (*first, *(*rest, event_id)[-(_KEPT - 1) :])


@dataclass(slots=True, kw_only=True)
class QueryIndex:
    """The questions of one family in one scope."""

    exact: dict[frozenset[str], Asked] = field(default_factory=dict)
    by_word: dict[tuple[int, str], dict[frozenset[str], None]] = field(default_factory=lambda: defaultdict(dict))

    def find(self, words: frozenset[str]) -> Asked | None:
        """The same question, else one that is similar enough."""
        if (same := self.exact.get(words)) is not None:
            return same
        count = len(words)
        for size in range(_at_least(ALIKE * count), int(round(count / ALIKE, 9)) + 1):
            # Sets of these sizes that are similar enough share so many words that any few of ours meet one of them.
            shared = _at_least(ALIKE / (1 + ALIKE) * (count + size))
            shelves = sorted((len(self.by_word.get((size, word), ())), word) for word in words)
            for _, word in shelves[: count - shared + 1]:
                for other in self.by_word.get((size, word), ()):
                    together = len(words & other)
                    if round(together / (count + size - together), 9) >= ALIKE:
                        return self.exact[other]
        return None

    def keep(self, words: frozenset[str], asked: Asked) -> None:
        if words in self.exact:
            self.exact[words] = asked
            return
        self.exact[words] = asked
        for word in words:
            self.by_word[len(words), word][words] = None


def _at_least(value: float) -> int:
    """The smallest whole number that is not below."""
    return -int(-round(value, 9) // 1)
