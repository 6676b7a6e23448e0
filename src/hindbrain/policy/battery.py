"""Battery: what a case may ask and how much of it is read. Case files come with repositories: they are somebody else's text."""

from collections.abc import Mapping

from hindbrain.domain.misdelivery import Misdelivery

__all__ = [
    "ASKABLE",
    "CASES_MOST",
    "CASE_BYTES",
    "EVIDENCE_CHARS",
    "FOR_ALL",
    "NARROW_TIERS",
    "ONLY_ACTIONS",
    "PROBES_MOST",
    "TEXTS_MOST",
    "TEXT_CHARS",
]

CASES_MOST = 200  # of one battery; a run of them all stays within a minute
CASE_BYTES = 32_768  # a case is a few questions, not a document
PROBES_MOST = 8  # questions of one case
TEXTS_MOST = 16  # texts of one expectation
TEXT_CHARS = 2_000  # of one text or argument
EVIDENCE_CHARS = 200  # of what a failed case shows of an answer

# Operations that a case may call, with the arguments it may give. All of them read, and none reads wider than its caller's own
# brain and the medulla; a file that came with a clone must not be able to ask for more.
ASKABLE: Mapping[str, frozenset[str]] = {
    "north": frozenset({"task", "tier"}),
    "seek": frozenset({"query", "scope", "tier", "top_k"}),
    "recall": frozenset({"query", "as_of", "tier"}),
    "boot_memory": frozenset({"action", "key", "tier"}),
    "memory.search": frozenset({"query"}),
    "instances": frozenset(),
    "health": frozenset(),
    "session_handshake": frozenset({"scope"}),
}
ONLY_ACTIONS = frozenset({"list", "get"})  # boot_memory also writes
NARROW_TIERS = frozenset({"project", "medulla", "project+medulla"})

# Kinds whose law concerns several brains: their cases lie in the medulla's battery and run against every brain.
FOR_ALL = frozenset({Misdelivery.LEAK})
