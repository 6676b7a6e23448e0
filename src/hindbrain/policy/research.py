"""Research: what a report must hold, and what becomes of its findings. A finding is evidence at most, never knowledge."""

__all__ = [
    "CONTRADICTING",
    "COUNTEREXAMPLE",
    "FIELD",
    "FILE_MAX_BYTES",
    "FINDINGS_MOST",
    "FINDING_WORDS",
    "IMPORTANCE",
    "INSIGHT_WORDS",
    "NAME_MAX",
    "ROOM",
    "SUGGESTED_TIER",
    "TO_WRITE",
    "WING",
]

# Where a finding or an insight says what it found, best first.
FINDING_WORDS = ("summary", "statement", "content", "text")
INSIGHT_WORDS = ("statement", "summary", "content", "text")

# How a finding says that it goes against what is known: a flag, a name of what it contradicts, or its kind.
CONTRADICTING = ("contradiction", "counterexample")
COUNTEREXAMPLE = "counterexample"  # the tag by which a later demotion or gate finds it

FIELD = "research"
WING = "hindbrain"
ROOM = "research"
IMPORTANCE = 3  # somebody looked for it on purpose; a wake-up should show it before what merely happened

NAME_MAX = 200  # characters of a report's id: it stands in every source of its findings
FINDINGS_MOST = 1_000  # of one report; more is a document for memory.ingest
FILE_MAX_BYTES = 16 * 1024 * 1024  # of a report on disk

SUGGESTED_TIER = "qi"  # the least that knowledge can be; whoever distills may say more
TO_WRITE = "TO BE WRITTEN: why it holds, and where it does not"
