"""Contradictions: the words by which two statements about one thing oppose each other. English; other languages are read by
their numbers alone. What the rules find is proposed to a person and decides nothing."""

__all__ = [
    "AXES",
    "BOUNDS",
    "EVIDENCE_TAGS",
    "IRREGULAR",
    "NEGATORS",
    "NEUTRAL",
    "NUMBERED",
    "NUMBER_WORDS",
    "OVERLAP",
    "PAIRS_MOST",
    "PARTNERS_MOST",
    "PLAIN_UN",
    "RELATIONS",
    "SENTENCES_MOST",
    "SENTENCE_MAX",
    "SWITCHED",
    "UNITS",
]

OVERLAP = 0.5  # of all the words of both, so many are shared; with fewer they speak of different things
# Statements of one subject that share their rarest word, compared with one: the bound on time where all of them say the same.
PARTNERS_MOST = 64
PAIRS_MOST = 1_000  # nobody reads more; what is left comes up once these are settled
SENTENCE_MAX = 300  # characters: more is no statement that a card could oppose
SENTENCES_MOST = 20  # of one row of evidence

# Only what somebody marked as speaking against something is held against cards: an observation as such states no rule.
EVIDENCE_TAGS = ("contradiction", "counterexample")

# Each turns what a statement says into its opposite. `n't` is read as `not`.
_NEGATORS = """
not no never cannot neither nor none nothing nobody without unless except non avoid avoids avoided avoiding forbid
forbids forbidden prohibit prohibits prohibited disallow disallowed ban banned refuse refuses refrain deny denied
"""
NEGATORS = frozenset(_NEGATORS.split())

# Words that say how firmly, not what: two statements that differ in them alone agree.
_NEUTRAL = """
always ever each every any all must should shall may can could would will might do does did done is are was were be
been being has have had having use uses used using allow allows allowed permit permits permitted need needs please
make makes made only just also still already again when whenever while if then so that which who it its this these
those there here with by the a an of for from into in on at to and or as per about through via than thus hence
off up
"""
NEUTRAL = frozenset(_NEUTRAL.split())

# Two poles of one thing, by every form that is written. Opposite poles oppose, unless a negation turns one of them back.
AXES: dict[str, tuple[str, str]] = {
    "switch": ("enable enables enabled enabling activate activates activated", "disable disables disabled disabling deactivate"),
    "outcome": (
        "work works worked working succeed succeeds succeeded pass passes passed",
        "fail fails failed failing break breaks broke broken crash crashes",
    ),
    "need": ("required mandatory compulsory", "optional unneeded"),
    "amount": (
        "increase increases increased raise raises grow grows",
        "decrease decreases decreased reduce reduces shrink lower",
    ),
    "entry": ("accept accepts accepted accepting", "reject rejects rejected rejecting decline declines"),
    "part": ("include includes included including contain contains", "exclude excludes excluded excluding omit omits"),
    "door": ("open opens opened opening", "close closes closed closing shut"),
    "motion": ("start starts started starting begin begins", "stop stops stopped stopping end ends"),
    "presence": ("add adds added adding insert inserts", "remove removes removed removing delete deletes drop drops"),
    "reach": ("public exported", "private internal"),
    "change": ("mutable writable", "immutable frozen readonly"),
    "time": ("synchronous synchronously sync", "asynchronous asynchronously async"),
    "sharing": ("shared", "exclusive isolated"),
    "height": ("high higher", "low lower"),
    "truth": ("true valid correct", "false invalid incorrect wrong"),
    "case": ("sensitive", "insensitive"),
    "memory": ("stateful", "stateless"),
    "haste": ("eager eagerly", "lazy lazily"),
    "count": ("single", "multiple several"),
    "order": ("ascending", "descending"),
}

# Poles that stand between two things: told the other way round they say the opposite.
RELATIONS: dict[str, tuple[str, str]] = {
    "sequence": ("before", "after"),
    "speed": ("faster quicker", "slower"),
    "size": ("larger bigger longer greater more above", "smaller shorter less fewer below"),
    "worth": ("better over", "worse"),
}

# After these, `on` and `off` are states and no prepositions.
_SWITCHED = """
is are be turn turned turns switch switched switches stay stays
"""
SWITCHED = frozenset(_SWITCHED.split())

# In front of a number: how it bounds. Longest first.
BOUNDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no", "more", "than"), "most"),
    (("not", "more", "than"), "most"),
    (("never", "more", "than"), "most"),
    (("no", "fewer", "than"), "least"),
    (("no", "less", "than"), "least"),
    (("more", "than"), "least"),
    (("greater", "than"), "least"),
    (("longer", "than"), "least"),
    (("less", "than"), "most"),
    (("fewer", "than"), "most"),
    (("shorter", "than"), "most"),
    (("at", "most"), "most"),
    (("up", "to"), "most"),
    (("at", "least"), "least"),
    (("within",), "most"),
    (("under",), "most"),
    (("maximum",), "most"),
    (("minimum",), "least"),
)

# A number behind one of these is a name, not a value: step 2 and step 3 are two things.
_NUMBERED = """
version release step part issue ticket chapter section table figure rule error code exit status line python node java
ruby go php postgres postgresql mysql sqlite ubuntu debian windows linux http https rfc utf tls ssl ipv iso sha level
tier migration decision case test number sprint quarter week day chunk shard replica
"""
NUMBERED = frozenset(_NUMBERED.split())

# Dimension, and how many of its smallest unit. Bytes in tens of powers: what is meant by a kilobyte is left open below.
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", 86400.0)),
    **dict.fromkeys(("week", "weeks"), ("time", 604800.0)),
    **dict.fromkeys(("month", "months"), ("time", 2592000.0)),
    **dict.fromkeys(("year", "years"), ("time", 31536000.0)),
    **dict.fromkeys(("byte", "bytes", "b"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes"), ("size", 1e3)),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes"), ("size", 1e6)),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes"), ("size", 1e9)),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes"), ("size", 1e12)),
    **dict.fromkeys(("%", "percent"), ("share", 1.0)),
    **dict.fromkeys(("time", "times", "attempt", "attempts", "tries"), ("times", 1.0)),
}

_COUNTED = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS = """
twenty thirty forty fifty sixty seventy eighty ninety hundred
"""
NUMBER_WORDS: dict[str, float] = {word: float(value) for value, word in enumerate(_COUNTED.split())}
NUMBER_WORDS |= {word: 20.0 + 10 * place for place, word in enumerate(_TENS.split())}

IRREGULAR = {
    "kept": "keep",
    "written": "write",
    "wrote": "write",
    "sent": "send",
    "ran": "run",
    "held": "hold",
    "built": "build",
    "found": "find",
    "read": "read",
    "chosen": "choose",
    "taken": "take",
    "given": "give",
}

PLAIN_UN = ("uni", "under", "until", "unless", "unto")  # they begin with `un` and deny nothing
