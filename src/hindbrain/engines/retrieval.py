"""Retrieval: from candidates with their likenesses to one ranking. Pure; stores find candidates, services read rows.

Every likeness is divided by that of the best candidate, so that scores of different kinds can be added, and none depends on how
many poor candidates came along. Words lead as far as they can be trusted: a question whose words hardly occur is one of meaning.
"""

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.policy.retrieval import BESIDE, COPIES, FLOOR, RAMP, WEIGHTS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

__all__ = [
    "Candidate",
    "Parts",
    "Scored",
    "Signs",
    "best_of_each",
    "distinct",
    "fused",
    "late_likeness",
    "leading",
    "names_in",
    "rarity",
    "relevance",
    "telling",
    "trust",
]

_DATES = frozenset(
    [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ]
)
_NAME = re.compile(r"(?<=[\w,;:'’)] )([A-Z][a-z]\w*)")


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A row that may answer, with how it is like the question. None: not compared that way."""

    turn: int
    lexical: float = 0.0  # BM25
    cosine: float | None = None
    late: float | None = None
    prior: float = 0.0
    message: Hashable = ""  # what a chunk is a piece of; false for a row that is whole
    thread: str = ""  # the conversation or document it stands in
    position: int = 0  # in there


class Parts(NamedTuple):
    """What a score is the sum of."""

    lexical: float
    dense: float
    late: float
    prior: float
    thread: float = 0.0


class Scored(NamedTuple):
    """A candidate with what it scored. Of hundreds a few are shown, so that the rest is only reckoned for those."""

    candidate: Candidate
    total: float
    best: float  # total of the best candidate of this answer
    own: tuple[float, float, float, float]
    lift: float  # by its conversation, and there by what stands beside it

    @property
    def score(self) -> float:
        """Between 0 and 1: beside the others of this answer."""
        return round(self.total / self.best, 4) if self.best > 0 and self.total > 0 else 0.0

    @property
    def parts(self) -> Parts:
        """What the score is made of."""
        return Parts(*self.own, self.lift)


def rarity(frequency: int, total: int) -> float:
    """How much a word tells: the rarer, the more. As BM25 has it, so that a row that has every word once comes near the sum."""
    return max(1e-6, math.log((max(total, frequency) - frequency + 0.5) / (frequency + 0.5)))


def telling(frequency: int, total: int) -> float:
    """What a token of a question weighs where meanings are compared. As rarity, but a word of half the rows still counts: another
    word may be meant by it, and of those there are fewer."""
    return math.log1p((max(total, frequency) - frequency + 0.5) / (frequency + 0.5))


def trust(best: float, whole: float) -> float:
    """How far words lead, from the BM25 of the best row and the rarity of all the question's words together."""
    share = best / whole if whole > 0 else 0.0
    return min(1.0, max(RAMP.least, (share - RAMP.start) / RAMP.over))


def fused(candidates: Iterable[Candidate], *, words: float) -> list[Scored]:
    """All candidates, best first; equal ones by turn, the newer first. `words` is how far words lead. Rows of a conversation that
    answers well stand a little higher: what else it says is about the same."""
    given = list(candidates)
    lexical = max((one.lexical for one in given), default=0.0)
    dense = max((one.cosine for one in given if one.cosine is not None), default=0.0)
    late = max((one.late for one in given if one.late is not None), default=0.0)
    by_words, by_meaning, by_token = words * WEIGHTS.lexical, WEIGHTS.dense, words * WEIGHTS.late
    own: list[tuple[float, Candidate, tuple[float, float, float, float]]] = []
    reached: dict[str, float] = {}  # by the best row of a conversation
    for one in given:
        shared = one.lexical / lexical if one.lexical > 0 else 0.0
        # A row that was written a moment ago has no vector yet: its words speak for it meanwhile.
        near = 0.0 if dense <= 0 else shared if one.cosine is None else one.cosine / dense if one.cosine > 0 else 0.0
        # A long row has no token states. It is not less like the question for that: it gets the mean of what is known.
        told = 0.0 if late <= 0 else (shared + near) / 2 if one.late is None else one.late / late if one.late > 0 else 0.0
        parts = (by_words * shared, by_meaning * near, by_token * told, one.prior)
        total = parts[0] + parts[1] + parts[2] + parts[3]
        own.append((total, one, parts))
        if one.thread and total > reached.get(one.thread, 0.0):
            reached[one.thread] = total
    lifted = {thread: WEIGHTS.thread * total for thread, total in reached.items()}
    beside = _beside(own) if dense > 0 else {}
    summed = [
        (total + (lift := lifted.get(one.thread, 0.0) + beside.get(one.turn, 0.0)), one.turn, one, parts, lift)
        for total, one, parts in own
    ]
    summed.sort(key=itemgetter(0, 1), reverse=True)
    best = summed[0][0] if summed else 0.0
    return [Scored(one, total, best, parts, lift) for total, _, one, parts, lift in summed]


def _beside(own: Sequence[tuple[float, Candidate, object]]) -> dict[int, float]:
    """turn -> what a long row gains by the better of the rows beside it, if of another message. Short ones have the words,
    the meaning and the tokens of their neighbours mixed in already."""
    long = [one for _, one, _ in own if one.late is None and one.cosine is not None and one.thread]
    if not long:
        return {}
    places: dict[tuple[str, int], list[tuple[float, Hashable]]] = {}  # rows of several anchors may share one
    for total, one, _ in own:
        if one.thread:
            places.setdefault((one.thread, one.position), []).append((total - one.prior, one.message))
    gained = {}
    for one in long:
        near = (*places.get((one.thread, one.position - 1), ()), *places.get((one.thread, one.position + 1), ()))
        others = (total for total, message in near if not message or message != one.message)
        gained[one.turn] = WEIGHTS.beside * max(others, default=0.0)
    return gained


def leading(rows: Sequence[tuple[int, float, float | None, float]], *, words: float, limit: int) -> list[int]:
    """The turns of the rows worth reading, in the order that `fused` would give them if none had a conversation or token states.
    Each row is its turn, BM25, cosine and prior: there are hundreds, and most go no further."""
    if not rows:
        return []
    _, scores, cosines, _ = zip(*rows, strict=True)
    lexical, dense = max(scores), max(filter(None, cosines), default=0.0)
    by_words = words * WEIGHTS.lexical / lexical if lexical > 0 else 0.0
    by_meaning = WEIGHTS.dense / dense if dense > 0 else 0.0
    unmade = WEIGHTS.dense / lexical if lexical > 0 and dense > 0 else 0.0
    ordered = [
        (by_words * score + (unmade * score if cosine is None else by_meaning * cosine if cosine > 0 else 0.0) + prior, turn)
        for turn, score, cosine, prior in rows
    ]
    ordered.sort(reverse=True)
    return [turn for _, turn in ordered[:limit]]


def best_of_each(scored: Iterable[Scored]) -> list[Scored]:
    """One row for each message: a long one is found by its best piece."""
    seen: set[Hashable] = set()
    kept = []
    for one in scored:
        if not one.candidate.message or one.candidate.message not in seen:
            seen.add(one.candidate.message)
            kept.append(one)
    return kept


def distinct(scored: Iterable[Scored], said: Mapping[int, str], limit: int) -> list[Scored]:
    """The first rows of which none says what an earlier one of its conversation says, nor what COPIES of others say."""
    seen: dict[str, set[str]] = {}
    kept: list[Scored] = []
    for one in scored:
        if len(kept) >= limit:
            break
        text = said[one.candidate.turn]
        threads = seen.setdefault(text, set())
        if not text or (one.candidate.thread not in threads and len(threads) < COPIES):
            threads.add(one.candidate.thread)
            kept.append(one)
    return kept


def late_likeness(
    question: "Floats", weights: Sequence[float], states: "Floats", tokens: Mapping[int, int], beside: Mapping[int, Sequence[int]]
) -> dict[int, float]:
    """turn -> mean over the question's tokens, each by its weight, of how near the nearest token of the row is. A token of the
    turns beside it counts too, a little less: who answers "yes, in May" leaves the rest to whoever asked. `states` has the tokens
    of all rows one after another, `tokens` how many each row has, and none has none."""
    import numpy as np

    whole = math.fsum(weights)
    if not tokens or not len(question) or whole <= 0:
        return {}
    starts = np.cumsum([0, *tokens.values()])[:-1]
    near = np.einsum("qd,td->tq", question, states)
    own = np.maximum.reduceat(near, starts, axis=0)
    place = {turn: at for at, turn in enumerate(tokens)}
    reached = own.copy()
    for turn, at in place.items():
        for other in beside.get(turn, ()):
            if (there := place.get(other)) is not None:
                np.maximum(reached[at], BESIDE * own[there], out=reached[at])
    means = reached @ (np.asarray(weights, dtype=np.float32) / np.float32(whole))
    return {turn: float(means[at]) for turn, at in place.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What tells whether anything here is about a question at all."""

    covered: float  # the share of the question's weight that one row has in words
    near: float | None  # mean cosine of the nearest rows; None: not compared
    unknown: float  # the share of its weight in words that no row has
    stranger: bool  # it names somebody or something that no row names
    speaker: bool  # it names somebody who speaks here
    rows: int  # that could have been found
    narrowed: bool = False  # the caller said where to look
    best: float = 1.0  # cosine of the nearest row


def relevance(signs: Signs) -> float:
    """Not below zero when something is about the question. Among many rows chance brings some near, among few it does not; and
    few cost little to show."""
    by_words = signs.covered - FLOOR.words_only
    if signs.near is None:
        return by_words
    if signs.best < FLOOR.apart and signs.covered < FLOOR.words_only:
        return signs.best - FLOOR.apart
    few = max(0.0, math.log10(FLOOR.many / max(signs.rows, 1)))
    return (
        FLOOR.base
        + FLOOR.covered * signs.covered
        + FLOOR.near * signs.near
        + FLOOR.unknown * signs.unknown
        + (FLOOR.stranger if signs.stranger else 0.0)
        + (FLOOR.speaker if signs.speaker else 0.0)
        + FLOOR.few * few
        + (FLOOR.narrowed if signs.narrowed else 0.0)
    )


def names_in(text: str) -> list[str]:
    """The words of a question that are written as names: with a capital, not because a sentence begins, and no date."""
    return [match[1] for match in _NAME.finditer(text) if match[1] not in _DATES]
