"""Retrieval: how many candidates are looked at, how their scores are put together, and from where on nothing is relevant.

One configuration for every kind of memory. The numbers were found on four public sets of conversations
(`make bench NAME=quality`), each checked on halves of them; none was fitted to single questions.
"""

from dataclasses import dataclass
from typing import Final

__all__ = [
    "BESIDE",
    "COPIES",
    "ENOUGH",
    "FLOOR",
    "FLOOR_NEAR",
    "FLOOR_ROWS",
    "LATE_ROWS",
    "LOOKUP_ROWS",
    "NEARNESS",
    "NEAR_CANDIDATES",
    "NORTH_EVIDENCE",
    "QUIET_WEIGHT",
    "RAMP",
    "SEATED_ROWS",
    "WEIGHTS",
    "WIDEST",
    "WORD_CANDIDATES",
    "Floor",
    "Ramp",
    "Weights",
]

WORD_CANDIDATES: Final = 300  # best by words; a row beyond these counts as sharing no word with the question
NEAR_CANDIDATES: Final = 100  # best by meaning
SEATED_ROWS: Final = 220  # rows of which it is asked who said them and where
LATE_ROWS: Final = 150  # rows that are compared word by word: twice as many find no more
NORTH_EVIDENCE: Final = 3  # rows of evidence that the first answer of a task shows beside its claims
FLOOR_ROWS: Final = 10  # best rows that are asked whether they have the question's words
FLOOR_NEAR: Final = 5  # nearest rows whose mean says whether anything here is about the question: one alone may be chance
QUIET_WEIGHT: Final = 0.5  # of a token whose word is in every text: it still tells `to him` from `to her`
LOOKUP_ROWS: Final = 4_000  # rows of evidence that words may touch, some three milliseconds; the rarest words come first
COPIES: Final = 2  # conversations for which the same text is shown: said twice tells something, said ten times fills the answer
ENOUGH: Final = 10  # different texts; where copies leave fewer, more rows are looked at,
WIDEST: Final = 16  # times as many at most
BESIDE: Final = 0.75  # of a likeness to a token of the turn before or after; from 0.6 to 0.8 measured alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp:
    """How far words are trusted: by the share of the question's weight that the best row scores."""

    start: float = 0.1  # below this share the match is chance
    over: float = 0.15  # from start to start + over trust grows to its full
    least: float = 0.2  # words still order what meaning finds alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each kind of likeness weighs, each scaled so that the best row of an answer has 1."""

    lexical: float = 1.0
    late: float = 1.0
    dense: float = 1.0
    thread: float = 0.3  # of the best row of the same conversation: what it says around its best row is about the same
    beside: float = 0.1  # of the better row beside a long one; from 0.08 to 0.12 measured alike, 0.2 is too much for long replies
    speaker: float = 0.25  # who the question names said it; more would follow a question that names the wrong person
    assistant: float = -0.9  # a memory is about what people said; the machine's long replies share words with every question


# From near to far, as an addition to the score: an order among equals, not a reason to show the lesser row.
NEARNESS: Final = {"worktree": 0.06, "repo": 0.04, "legacy": 0.02, "global": 0.0}

RAMP: Final = Ramp()
WEIGHTS: Final = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """When an answer is *nothing relevant*: the sum of these stays below zero. Fitted on questions put to the right and to the
    wrong conversation, of four kinds: chats of two people, of a user with a machine, a user's own, and lists of preferences
    (`make bench NAME=absence`); the base is where nine of ten wrong ones get nothing."""

    base: float = -5.0
    covered: float = 6.5  # a row that has the rare words of the question
    near: float = 12.0  # a cosine of 0.4 is chance among hundreds of rows, one of 0.6 is not
    unknown: float = -1.5  # words that occur nowhere here
    stranger: float = -2.5  # a name that occurs nowhere here
    speaker: float = 2.1  # the name of one who speaks here
    many: int = 400  # rows from which on chance brings some near
    few: float = 7.0  # for each tenfold less
    apart: float = 0.22  # no row comes this near and none has the words: then there is nothing, however few rows there are
    row: float = 0.15  # a row without any of the words that is not even this near is no answer, whatever the others are
    narrowed: float = 1.5  # who names a tag or a conversation has judged already; without it 1 of 18 answers there was kept back
    words_only: float = 0.1  # without a model: the least share of the question's weight


FLOOR: Final = Floor()
