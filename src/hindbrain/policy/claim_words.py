"""Words of claims: which are compared with the cited statement, in which other words or signs a source may say them, and which
only hold a sentence together. Small on purpose: a word that is in no table has to stand in the source itself."""

from collections.abc import Mapping

__all__ = [
    "ALIKE",
    "AROUND",
    "BRANCHES",
    "CHECKS",
    "COMMENTED",
    "COMPARISONS",
    "CONDITIONS",
    "DEFAULTED",
    "DEFINING",
    "EMPTY",
    "FRAME",
    "GLUE",
    "IDIOMS",
    "INCLUDED",
    "LIMITS",
    "NEGATIONS",
    "NUMBERS",
    "OPENERS",
    "OPPOSITES",
    "PLACES",
    "QUANTIFIERS",
    "RELATIONS",
    "SAID",
    "SCALES",
    "SIGNS",
    "SWITCHES",
    "UNITS",
    "VERBS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AROUND = 3  # lines before and after a cited line whose statements are looked at too

# Words that hold a sentence together.
GLUE = _words(
    """
    a about again also an and any are as at be because been being but by can could did do does doing
    either else for from had has have having hence here how i if in instead into is it its itself just
    may might must namely now of on or our off out up own really shall should simply since so some still
    such than that the their them then there therefore these they this those through thus to too upon via was
    we were what when where whether which while who whose will with would yet you your whenever unless one ones
    """
)
# Words that say only that something is written somewhere. They are not compared, and a comparison says so.
FRAME = _words(
    """
    actually contain contains define defined defines defining definition hold holds mean means mention mentions named say
    saying says set sets stands use used uses using exactly happens lasts
    """
)
# Words for the place itself, as long as `the` stands before them.
PLACES = _words("case class code comment constant docstring file function line lines method module setting variable")

# One turned round is another claim.
NEGATIONS = frozenset(
    {"not", "never", "no", "none", "nothing", "nobody", "cannot", "without", "neither", "nor", "hardly", "unless"}
)
# Words of a claim that say no about the word beside them, and that a condition says by its sign.
EMPTY = _words("empty missing absent unset lacking")
OPPOSITES = _words("different differs differ unequal wrong other")
# Words that open a condition in a claim.
CONDITIONS = _words("if when whenever unless while where without")
# Quantifiers, and what else than the same word says them in code.
QUANTIFIERS: Mapping[str, str] = {
    "only": r"\bonly\b",
    "always": r"\balways\b",
    "every": r"\bevery\b|\beach\b|\ball\b",
    "each": r"\bevery\b|\beach\b|\ball\b",
    "all": r"\bevery\b|\beach\b|\ball\b|\bsum\(|\*",
    "both": r"\bboth\b",
}
# Words that order two things. A sentence has to have the same word; code shows it by the order of its statements.
RELATIONS = _words("before after until during between per within over under beyond")

_COUNTED = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_COUNTED)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "once": 1,
    "twice": 2,
    "thrice": 3,
    "dozen": 12,
}
SCALES: Mapping[str, int] = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

# What a number of this unit is: of which kind, and how many of the smallest. A megabyte may be counted in either way.
UNITS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds", "nanos"), ("time", (1e-9,))),
    **dict.fromkeys(("us", "microsecond", "microseconds", "micros"), ("time", (1e-6,))),
    **dict.fromkeys(("ms", "millisecond", "milliseconds", "millis", "msec"), ("time", (0.001,))),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", (1,))),
    **dict.fromkeys(("minute", "minutes", "mins"), ("time", (60,))),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", (3_600,))),
    **dict.fromkeys(("d", "day", "days"), ("time", (86_400,))),
    **dict.fromkeys(("week", "weeks"), ("time", (604_800,))),
    **dict.fromkeys(("month", "months"), ("months", (1,))),
    **dict.fromkeys(("year", "years"), ("months", (12,))),
    **dict.fromkeys(("percent", "%", "pct"), ("share", (0.01,))),
    **dict.fromkeys(("byte", "bytes"), ("size", (1,))),
    **dict.fromkeys(("bit", "bits"), ("bits", (1,))),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes"), ("size", (1_000, 1_024))),
    **dict.fromkeys(("kib",), ("size", (1_024,))),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), ("size", (1_000_000, 1_048_576))),
    **dict.fromkeys(("mib",), ("size", (1_048_576,))),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), ("size", (1_000_000_000, 1_073_741_824))),
    **dict.fromkeys(("gib",), ("size", (1_073_741_824,))),
    **dict.fromkeys(("tb", "terabyte", "terabytes"), ("size", (1e12, 1_099_511_627_776))),
    **dict.fromkeys(("times", "tries", "attempts", "time"), ("count", (1,))),
}

# Phrases that compare, with the sign that says the same. Longer ones come first.
COMPARISONS: tuple[tuple[str, str], ...] = (
    (
        r"(?:no|not|never) (?:less|fewer|smaller|lower|shorter) than|(?:not|never) (?:below|under)|at least|or more\b"
        r"|reach(?:es|ed)?",
        ">=",
    ),
    (
        r"(?:no|not|never) (?:more|greater|larger|longer|higher|older) than|(?:not|never) above"
        r"|(?:not|never) exceed(?:s|ing)?|at most|up to|or (?:less|fewer)\b",
        "<=",
    ),
    (r"(?:more|greater|larger|bigger|longer|older|higher|later|newer) than|above|exceeds?|exceed(?:ed|ing)", ">"),
    (r"(?:less|fewer|smaller|shorter|younger|lower|earlier) than|below", "<"),
)
# Words of a name that say which way a number limits.
LIMITS: Mapping[str, str] = {
    "<=": r"max|most|limit|cap(?![a-z])|capacity|ceiling|upper",
    ">=": r"(?<![a-z])min(?!ute)|least|floor|lower",
}

# Phrases that stand for one number and its sign.
IDIOMS: Mapping[str, str] = {
    r"\b(?:once|one) (?:too (?:often|many)|more(?: than)?)\b|\boff by one\b": r"\+=?\s*1\b",
    r"\b(?:once|one) (?:too (?:few|seldom|little)|less(?: than)?|fewer(?: than)?)\b": r"-=?\s*1\b",
    r"\b(?:at once|immediately)\b": r"\bat once\b|\bimmediate",
}

# Words that a sign of the code says. The name of a function says what it is called, not what it does.
SIGNS: Mapping[str, str] = {
    "add": r"(?<![+\w])\+(?!\+)|\+=|\bsum\(|\.(?:add|append|insert|push|extend)\w*\(",
    "plus": r"\+",
    "increment": r"\+=|\+\+|\+ ?1\b",
    "subtract": r"[\w\])] ?- ?[\w(]|-=",
    "minus": r"[\w\])] ?- ?[\w(]|-=",
    "decrement": r"-=|--|- ?1\b",
    "negat": r"(?:[=(,]|\breturn)\s*-\s*[a-z]",
    "multipli": r"\*",
    "multiply": r"\*",
    "divid": r"[\w\])] ?//? ?[\w(]|/=",
    "modulo": r"%",
    "remaind": r"%",
}
# Words that may stand for each other, or that a sign says beside its words.
ALIKE: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"return", "give", "answer", "yield"}), r"\breturn\b|\byield\b|\.(?:status|send|json)\(|\bhttp\.Error\b"),
    (frozenset({"raise", "throw", "error", "fail"}), r"\braise\b|\bthrow\b"),
    (frozenset({"delete", "remove", "discard", "erase", "del", "rm", "unlink"}), r"\bdel\b|\brm\b|\.pop\("),
    (frozenset({"maximum", "max", "limit"}), r"(?!)"),
    (frozenset({"minimum", "min"}), r"(?!)"),
    (frozenset({"length", "len", "size", "number", "count"}), r"\blen\(|\.length\b|\.size\b"),
    (frozenset({"sleep", "wait", "pause"}), r"\bsleep\b"),
    (frozenset({"argument", "parameter", "arg", "param"}), r"(?!)"),
    (frozenset({"configuration", "config", "setting", "conf"}), r"(?!)"),
    (frozenset({"directory", "dir", "folder"}), r"(?!)"),
    (frozenset({"database", "db"}), r"(?!)"),
    (frozenset({"equal", "match", "same"}), r"==|\.equals\("),
    (frozenset({"first"}), r"\[0\]|\[1:"),
    (frozenset({"last"}), r"\[-1\]|:-1\]|\) ?- ?1\b"),
    (frozenset({"skip", "leave", "omit"}), r"\[1:|:-1\]|\bcontinue\b"),
    (frozenset({"loop", "iterate", "walk", "run"}), r"\bfor\b|\bwhile\b|\.forEach\("),
    (frozenset({"import"}), r"\bimport\b|\brequire\(|#include"),
    (frozenset({"check", "test", "verify", "assert", "compare"}), r"\bassert\w*|\bif\b|\bexpect\w*"),
    (frozenset({"write", "save", "store"}), r"\.write\w*\("),
    (frozenset({"unknown", "missing", "absent"}), r"== ?(?:nil|None|null)\b|is None\b|KeyError"),
    (frozenset({"stop", "end", "exit", "finish"}), r"\bbreak\b|\bexit\b"),
    (frozenset({"attempt", "try", "retry", "again"}), r"\bretr(?:y|ies)\w*"),
    (frozenset({"refuse", "reject", "forbid"}), r"\braise\b|\bthrow\b|\.status\(\s*4\d\d"),
    (frozenset({"swallow", "ignore", "suppress"}), r"\bpass\b|\bsuppress\b"),
    (frozenset({"catch", "handle"}), r"\bexcept\b|\bcatch\b"),
    (frozenset({"asynchronous", "async"}), r"\basync\b|\bawait\b"),
    (frozenset({"none", "null", "nil"}), r"\bNone\b|\bnull\b|\bnil\b"),
    (frozenset({"dictionary", "dict"}), r"= ?\{\}|\bdict\("),
    (frozenset({"list", "array"}), r"= ?\[\]|\blist\("),
    (frozenset({"environment", "env"}), r"\benviron\b|\bgetenv\b"),
    (frozenset({"read", "come", "take"}), r"\benviron\b|\bgetenv\b"),
    (frozenset({"bind", "listen"}), r"(?!)"),
)
# Words that the first line of a definition says.
DEFINING: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"method", "function"}), r"\b(?:def|func|fn|function)\b|\w\("),
    (frozenset({"class", "type", "struct"}), r"\b(?:class|struct|type|interface)\b"),
    (frozenset({"subclass", "inherit", "extend", "derive"}), r"\bclass \w+\s*\(\s*\w|\bextends\b"),
    (frozenset({"take", "accept", "parameter", "argument", "expect"}), r"\([^)]*\w"),
    (frozenset({"asynchronous", "async"}), r"\basync\b"),
)
# Words that stand for a switch that is on, or off.
SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("true", "on", "enabled", "active", "yes"), True),
    **dict.fromkeys(("false", "off", "disabled", "inactive"), False),
}

# Words with which a claim says that a value is only the usual one, and what shows that in a source.
DEFAULTED = r"\bdefaults?\b|\bdefaulting\b|\bfalls? back\b|\bfallback\b|\bunless (?:it is )?(?:set|given|passed)\b"
# Words with which a claim takes one of several values.
INCLUDED = r"\b(?:first|last|includes?|including|contains?|one of|among)\b"
# Words with which a claim speaks of comments, and of texts that are shown to somebody.
COMMENTED = r"\b(?:comments?|commented|docstrings?|documented|documents|documentation|note[sd]?|according to)\b"
SAID = r"\b(?:says?|prints?|printed|logs?|logged|messages?|texts?|warns?|warning|reports?|shows?|echo(?:es)?|tells?)\b"
# Words with which a claim says that a condition is looked at.
CHECKS = (
    r"\b(?:checks?|checked|tests?|tested|compares?|compared|verif(?:y|ies|ied)|looks? at|asserts?|asserted"
    r"|loops?|iterates?|walks?)\b"
)
# How the header of a branch begins.
BRANCHES = r"\s*(?:\}\s*)?(?:else if|if|elif|elsif|while|until|unless|except|catch|rescue|case|when)\b"
# Verbs that make a part of a claim a statement of its own.
VERBS = _words(
    """
    is are was were has have had returns raises throws sets increments decrements deletes removes writes stores calls uses
    needs requires holds contains lasts expires runs stops starts keeps accepts refuses sleeps waits defaults inserts appends
    clears closes opens loads saves sends reads adds
    """
)
# Words with which a part of a sentence begins that has no subject of its own.
OPENERS = _words(
    """
    after at by for from in on to with within without before until only not never is are was were has have had may must can
    will be does do then at up over under per during through if when unless but or and every each all no
    """
)
