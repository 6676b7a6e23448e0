"""Embedding: what is embedded, how, and how much of a call's or a core's time it may take."""

from typing import Final

__all__ = [
    "BACKLOG",
    "BATCH",
    "BULK_THREADS",
    "LATE_DIMS",
    "LATE_STOP_WORDS",
    "LENT_BATCH",
    "LENT_S",
    "NEIGHBOUR_SHARE",
    "PART_WORDS",
    "POLITENESS",
    "SHORT_WORDS",
]

SHORT_WORDS: Final = 60  # a text below this is one thought: it gets token states, and its neighbours' vectors are mixed in
PART_WORDS: Final = 160  # a long claim is embedded by parts of this size; the model reads no further than 256 tokens
NEIGHBOUR_SHARE: Final = 0.5  # of the turn before and after; measured on two-person chats, +5 points of R@10 over the turn alone

BULK_THREADS: Final = 2  # texts embedded at once; each takes one core, and a machine also has other work

BACKLOG: Final = 8  # more texts at once than this were not written by one hand a moment ago
POLITENESS: Final = 5  # how much a thread with a backlog steps back behind calls, as nice counts
BATCH: Final = 32  # rows of one transaction: a tenth of a second or two of work, after which new rows get their turn
LENT_S: Final = 0.25  # what a search without an owner may spend on rows that wait
LENT_BATCH: Final = 4  # rows of one step of that: a step is not interrupted, and a long row takes a twentieth of a second

# Of the 384 of a token state. Alone, token states find 71.9 of 100 turns of two-person chats with 384 values each, 70.3 with 64
# and 68.2 with 32. Beside words and dense vectors 64 are 0.4 points better than 32, which is not worth twice the room: a turn
# keeps 13 token states on average, 0.4 kB with 32 values.
LATE_DIMS: Final = 32

# Words that stand in every sentence: their states match everything and only cost room. Part of the stamp: after
# a change here everything is embedded anew.
_STOP_WORDS: Final = """
    a about after all also am an and any are as at be because been before being but by can could did do does doing down each
    for from had has have having he her here hers him his how i if in into is it its just ll me more most my no nor not now of
    off on only or other our out over own re s same she should so some such t than that the their them then there these they
    this those through to too under until up us ve very was we were what when where which while who whom why will with would
    you your d m o
"""
LATE_STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
