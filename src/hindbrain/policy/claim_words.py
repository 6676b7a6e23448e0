"""Words of claims: which are compared with the cited lines, in which other words or signs a source may say the same, and which
only hold a sentence together. Small on purpose: a word that is in no table has to stand in the source itself."""

from collections.abc import Mapping

__all__ = [
    "ALIKE",
    "AROUND",
    "BOUNDARIES",
    "CONDITIONAL",
    "DECIDES",
    "DENYING",
    "FRAME",
    "GLUE",
    "IDIOMS",
    "KEYWORDS",
    "LESS",
    "MORE",
    "NEGATIONS",
    "NEGATIVE",
    "NUMBERS",
    "QUANTIFIERS",
    "SCALES",
    "SIGNS",
    "SWITCHES",
    "UNITS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AROUND = 3  # lines before and after a cited line that are read with it

# Words that hold a sentence together.
GLUE = _words(
    """
    a about after again also an and any are as at be because been before being but by can could did do does doing
    each either else for from had has have having hence here how if in inside instead into is it its itself just
    may might must namely now of off on or our out over own per really shall should simply since so some still
    such than that the their them then there therefore these they this those through thus to too up upon via was
    we were what when where whether which while who whose will with within would yet you your
    """
)
# Words that are too common to be looked for. They are not compared, and a comparison says so.
FRAME = _words(
    """
    actually case cases class code come comes constant contain contains current currently define defined defines
    defining definition even exactly far few file files function functions further get gets given go goes hold
    holds kind least line lines made make makes many means mention mentions method methods module more most much named often once
    one ones other place read reads run runs said same say saying says set sets show shown shows stands take takes
    tell tells thing told use used uses using variable way written
    """
)

# One turned round is another claim.
NEGATIONS = frozenset({"not", "never", "no", "none", "nothing", "nobody", "cannot", "without", "neither", "nor", "hardly"})
# Words with which a claim says no, besides these, and those with which a line does.
DENYING = _words(
    """
    absent deny denied empty except exclude fail forbid forbidden ignore invalid lack miss missing omit prevent refuse refused
    reject rejected skip unless unknown unset disable disabled different exclusive
    """
)
NEGATIVE = DENYING | _words("error false null off other only raise raises differ")
# A line that decides: what it denies is a condition, not what happens.
DECIDES = r"\b(?:if|elif|while|unless|assert|when|case)\b|\?"
CONDITIONAL = _words("if when whenever unless for with on where while")
QUANTIFIERS: Mapping[str, str] = {
    "only": r"\bonly\b|\bif\b|==",
    "always": r"\balways\b",
    "every": r"\bevery\b|\beach\b|\ball\b|\bfor\b|\bforeach\b",
    "all": r"\bevery\b|\beach\b|\ball\b|\bfor\b|\bforeach\b|\*|\bsum\(",
}

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

# What a number of this unit may be in the source, as a factor: minutes are often kept in seconds or milliseconds.
UNITS: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), (1, 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), (1, 1_000)),
    **dict.fromkeys(("min", "minute", "minutes"), (1, 60, 60_000)),
    **dict.fromkeys(("h", "hour", "hours"), (1, 60, 3_600, 3_600_000)),
    **dict.fromkeys(("day", "days"), (1, 24, 1_440, 86_400, 86_400_000)),
    **dict.fromkeys(("week", "weeks"), (1, 7, 168, 604_800, 604_800_000)),
    **dict.fromkeys(("percent", "%"), (1, 0.01)),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes"), (1, 1_000, 1_024)),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes"), (1, 1_000, 1_024, 1_000_000, 1_048_576)),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes"), (1, 1_000, 1_024, 1_000_000_000, 1_073_741_824)),
    **dict.fromkeys(("time", "times", "tries", "attempts"), (1,)),
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
    "multipli": r"\*",
    "multiply": r"\*",
    "divid": r"[\w\])] ?//? ?[\w(]|/=",
    "modulo": r"%",
    "remaind": r"%",
}
# Words that may stand for each other, or that a sign says beside its words.
ALIKE: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"return", "give", "answer", "yield", "result"}), r"\breturn\b|\byield\b|=>"),
    (frozenset({"raise", "throw", "error", "fail", "exception"}), r"\braise\b|\bthrow\b|\w+(?:Error|Exception)\b|\bErr\("),
    (frozenset({"delete", "remove", "drop", "discard", "erase", "del", "pop", "rm", "unlink"}), r"\bdel\b"),
    (frozenset({"maximum", "max", "most", "limit", "cap"}), r"\bmax\w*|_MOST\b|\bmin\("),
    (frozenset({"minimum", "min", "least"}), r"\bmin\w*|\bmax\("),
    (frozenset({"length", "len", "size", "number", "count"}), r"\blen\(|\.length\b|\.size\b|\bcount\w*"),
    (frozenset({"wait", "sleep", "delay", "pause", "timeout"}), r"\bsleep\b|\bwait\b"),
    (frozenset({"argument", "parameter", "arg", "param", "option"}), r"\w\("),
    (frozenset({"configuration", "config", "setting", "conf"}), r"(?!)"),
    (frozenset({"directory", "dir", "folder"}), r"(?!)"),
    (frozenset({"default"}), r"\w\s*(?::[^=,]+)?=[^=]"),
    (frozenset({"equal", "match", "same", "compare"}), r"==|\bis\b|\.equals\("),
    (frozenset({"first"}), r"\[0\]|\[1:|\bfirst\w*"),
    (frozenset({"last"}), r"\[-1\]|:-1\]|\) ?- ?1\b|\blast\w*"),
    (frozenset({"skip", "leave", "omit", "miss"}), r"\[1:|:-1\]|\bcontinue\b|\(1,"),
    (frozenset({"loop", "iterate", "repeat", "walk"}), r"\bfor\b|\bwhile\b|\.forEach\("),
    (frozenset({"import", "load", "depend", "need", "require"}), r"\bimport\b|\brequire\w*|\binclude\b"),
    (frozenset({"call", "invoke"}), r"\w\("),
    (frozenset({"check", "test", "verify", "assert"}), r"\bassert\w*|\bif\b|\bexpect\w*"),
    (frozenset({"create", "make", "build", "construct", "new"}), r"\bnew\b|\b[A-Z]\w*\("),
    (frozenset({"write", "save", "store", "dump"}), r"\.write\w*\(|\bprint\("),
    (frozenset({"open"}), r"\bopen\("),
    (frozenset({"unknown", "missing", "absent"}), r"\.get\(|\bNone\b|KeyError|\bnot in\b|\bnull\b"),
    (frozenset({"attempt", "try", "retry", "again"}), r"\bretr(?:y|ies)\w*"),
    (
        frozenset({"refuse", "reject", "deny", "forbid", "turn", "away"}),
        r"\braise\b|\bthrow\b|\breturn False\b|\babort\b|\b40[13]\b",
    ),
    (frozenset({"keep", "kept", "store", "hold"}), r"\w\s*=[^=]|\.(?:append|add|put|set)\("),
    (frozenset({"full", "reach", "exceed"}), r">"),
    (frozenset({"empty", "missing", "absent", "unset"}), r"\bnot\b|== ?0\b|== ?\"\"|is None|\[\]|\{\}|!\w"),
    (frozenset({"swallow", "ignore", "suppress"}), r"\bpass\b|\bsuppress\b|\bcontinue\b"),
    (frozenset({"catch", "handle"}), r"\bexcept\b|\bcatch\b"),
    (frozenset({"inherit", "subclass", "extend", "derive"}), r"\bclass \w+\(|\bextends\b"),
    (frozenset({"asynchronous", "async"}), r"\basync\b|\bawait\b"),
    (frozenset({"none", "null", "nothing"}), r"\bNone\b|\bnull\b|\bnil\b|\bpass\b"),
    (frozenset({"list", "array"}), r"\[|\blist\b"),
    (frozenset({"dictionary", "dict", "mapping", "object"}), r"\{|\bdict\b"),
    (frozenset({"text", "string", "str"}), r"[\"']|\bstr\b"),
    (frozenset({"version", "release"}), r"\bv?\d+\.\d+"),
    (frozenset({"environment", "env"}), r"\benviron\b|\bgetenv\b"),
)
MORE = (frozenset({"greater", "older", "above", "larger", "longer", "exceed", "exceeds", "later", "beyond"}), r">")
LESS = (frozenset({"less", "younger", "below", "smaller", "shorter", "fewer", "under", "earlier"}), r"<")
# Words that stand for a switch that is on, or off.
SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("true", "on", "enabled", "active"), True),
    **dict.fromkeys(("false", "off", "disabled", "inactive"), False),
}

# Words whose object has to stand on a line with them: `returns done` is not shown by `return n` near a `done`.
KEYWORDS: Mapping[str, str] = {
    "return": r"\breturn\b|\byield\b",
    "rais": r"\braise\b|\bthrow\b",
    "throw": r"\braise\b|\bthrow\b",
    "import": r"\bimport\b|\brequire\b|\binclude\b",
}
BOUNDARIES = _words(
    "if when after for on from with unless before as because and or but then in at by to of where while whenever without"
)
