"""Code search: how the signs that a file is meant are weighed. Measured on issues and commits; see benchmarks/code.py."""

from dataclasses import dataclass

__all__ = [
    "ABSENT_AT",
    "BEST_CHUNKS",
    "CHANGES",
    "CHANGES_WAIT_S",
    "CHANGE_CHARS",
    "CHANGE_FILES",
    "CHUNK_HITS",
    "CONNECTIONS",
    "ENOUGH",
    "FADING",
    "FEW_ROWS",
    "FILE_HITS",
    "GROUPS",
    "KIND_BIAS",
    "MARGIN_PROVING",
    "MARGIN_READY",
    "NAMED_SURE",
    "NAME_ALONE",
    "NORTH_ANCHORS",
    "PROVING",
    "QUESTION_CHARS",
    "QUESTION_TERMS",
    "READY",
    "RENDERED_ROWS",
    "REPEATED",
    "SATURATED_ROWS",
    "SHARED_PART",
    "SIMILAR_CHANGES",
    "SURE_AT",
    "SYMBOLS_PER_FILE",
    "SYMBOL_FILES",
    "TITLE_CHARS",
    "TITLE_HITS",
    "UNSURE",
    "WEIGHTS",
    "CodeWeights",
]

QUESTION_CHARS = 20_000  # of a text; the longest issue worth reading is shorter, a pasted log is not
QUESTION_TERMS = 400
REPEATED = 3  # a word said so often counts twice
TITLE_CHARS = 200
CHUNK_HITS = 1_500  # stretches that full text may name: tests and documents take many of them
TITLE_HITS = 1_000
FILE_HITS = 600
BEST_CHUNKS = 3  # of a file; each further one counts half as much as the one before
CHANGES = 2_000  # commits whose messages are remembered: older ones speak of files that are gone
CHANGES_WAIT_S = 2.0  # for them to be read, once per commit: a large history takes half a second on an idle machine
CHANGE_CHARS = 1_500  # of a message
CHANGE_FILES = 20  # a commit of more files says nothing of each
SIMILAR_CHANGES = 30
FADING = 0.97  # what a change counts less than the next younger one: a hundred commits ago is a twentieth
CONNECTIONS = 5  # of a row: enough to go on, few enough to read
SYMBOL_FILES = 40  # files whose symbols are looked at
SYMBOLS_PER_FILE = 3

# How sure a hit is: the best stretch for the title, as a share of what the title's words weigh. Measured with issues of a large
# repository against questions about people's lives: 95 of 100 issues are above 0.73, 90 of 100 of the others below 0.67.
ABSENT_AT = 0.6
SURE_AT = 0.95
NAMED_SURE = 0.6  # at least, when a definition, a file or a frame of the checkout is named
FEW_ROWS = 200  # stretches below which a word of the subject may stand in most of them: counting words says more than weighing
UNSURE = 0.02  # what is left of a score below: found by nobody who does not ask for everything
NAME_ALONE = 3.0  # added to the weight of names in a question that is nothing but a name


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeWeights:
    """Each sign is between 0 and 1 for the file that shows it most; their sum is 1."""

    chunks: float = 1.4  # the best stretches of the file
    title: float = 1.0  # the same for the first line alone, which says what the rest is about
    whole: float = 0.7  # the file as one: a text about many parts of it
    names: float = 0.3  # path, definitions and docstrings
    headed: float = 0.7  # the same for the first line alone
    defined: float = 0.3  # it defines what the text names
    mentioned: float = 0.5  # the text names the file or its module
    traced: float = 0.3  # a stack trace goes through it
    called: float = 0.2  # the file's bare name stands in the text
    path: float = 0.5  # words of its path
    changed: float = 0.4  # often changed lately: what was worked on is worked on
    told: float = 1.2  # past changes that were told in similar words touched it


WEIGHTS = CodeWeights()

# The parts of a score that an answer shows, and the signs in each. Nothing here is measured by vectors or trigrams: neither
# found a file on the two data sets that the others did not.
GROUPS = {
    "keyword": ("chunks", "title", "whole", "names", "headed"),
    "semantic": (),
    "named": ("defined", "mentioned", "traced", "called"),
    "graph": ("changed", "told"),
    "trigram": (),
}

# What kind of file it is moves its score: tests and documents speak the language of a question but rarely answer it.
KIND_BIAS = {"source": 0.0, "test": -0.2, "document": -0.15, "data": -0.2, "generated": -0.25, "example": -0.1}

# How far an answer carries (GR-088, GR-090).
READY, MARGIN_READY = 0.85, 0.25  # one file stands out that much: it can be edited
PROVING, MARGIN_PROVING = 0.45, 0.02
ENOUGH = 0.45
SATURATED_ROWS = 8  # so many strong rows: asking for more brings more of the same
SHARED_PART = 4  # a quarter of an answer may be rows of the medulla even if the project alone would fill it
RENDERED_ROWS = 12  # places that the text of an answer names
NORTH_ANCHORS = 5
