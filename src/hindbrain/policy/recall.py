"""Recall: how many rows, how they are weighed, and from where on an answer is no answer."""

from dataclasses import dataclass

__all__ = [
    "BEAT_CANDIDATES",
    "BEAT_MIN_SCORE",
    "EXPLAINED_ROWS",
    "LISTED_BY_LABEL",
    "LISTED_MATCHES",
    "LISTED_PAST",
    "LOOKUP_CLAIMS",
    "MEANING",
    "QUERY_CHARS",
    "QUERY_TERMS",
    "RECENT_ROWS",
    "ROW_MIN_TOKENS",
    "SEEK_TOP_K",
    "SHARED_PART",
    "STOP_WORDS",
    "WEIGHTS",
    "Meaning",
    "Weights",
]

BEAT_CANDIDATES = 24  # hits looked at for each feed of a beat: enough to drop duplicates and marked rows and still fill it
BEAT_MIN_SCORE = 0.1  # below this a claim shares only common words with the task
RECENT_ROWS = 3  # shown when nothing matches: enough to see that memory exists, too few to be noise
SHARED_PART = 4  # a fourth of an answer's budget is for rows of the medulla, where own rows come first
ROW_MIN_TOKENS = 32  # below this a row shows neither whose it is nor what it says: better fewer rows
SEEK_TOP_K = 20
LOOKUP_CLAIMS = 3_000  # claims a lookup may rank, about two milliseconds; the rarest words of a question come first
EXPLAINED_ROWS = 100  # candidates that an explanation names beside the rows it shows
LISTED_BY_LABEL = 1_000  # matches of a list that are counted and put by label; a reader of more gives another word
LISTED_MATCHES = 20_000  # claims by words that a filter is put on, some thirty milliseconds
LISTED_PAST = 20_000  # ended versions that a look into the past reads back through, the last ended first
QUERY_CHARS = 20_000  # of a question that are read: pages of an issue; a megabyte would only cost time
QUERY_TERMS = 48  # words of a question that are looked at; a task of a page says what it is about at its start


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How a row's score is made from its word coverage."""

    label: float = 0.15  # a word of the query in the label says more than one in the prose
    exact: float = 0.25  # the label itself was typed
    verified: float = 0.05  # a checked belief before an authored one of the same fit
    stale: float = -0.05  # an old one after it
    graded_wrong: float = -0.5  # somebody found it wrong: last, and labelled


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """From which cosine on two texts mean something alike; the scale of MiniLM, where most pairs stay below 0.2. With the least
    score of a beat a claim is shown by meaning alone from 0.3 on."""

    start: float = 0.25
    full: float = 0.75


MEANING = Meaning()

_STOPS = """
a about above after again all also am an and any are as at be because been before being below between both but by can could did do
does doing done down during each either else ever few for from further get gets got had has have having he her here hers him his
how i if in into is it its itself just let like may me might more most must my no nor not now of off on once one only or other our
ours out over own please same she should so some such than that the their theirs them then there these they this those through to
too under until up us use used using very want was way we were what when where which while who whom whose why will with within
without would you your yours
"""

STOP_WORDS = frozenset(_STOPS.split())
