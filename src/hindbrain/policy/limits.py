"""Limits: sizes and ages, with the reason beside the number."""

__all__ = [
    "AGED_OUT_HOURS",
    "AGENT_MAX",
    "BOX_MAX_BYTES",
    "BOX_MAX_LINES",
    "CLAIM_MAX_BYTES",
    "DAY_MS",
    "HOUR_MS",
    "LETTER_MAX_BYTES",
    "LOCK_WAIT_S",
    "MEDULLA_SOFT_CAP",
    "MEDULLA_WARN_AT",
    "MODEL_CALLS_PER_TASK",
    "MODEL_TOKENS_PER_DAY",
    "MODEL_TOKENS_PER_TASK",
    "SCAN_INLINE_FILES",
    "SWEEP_SHARE",
]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

CLAIM_MAX_BYTES = 65_536  # one belief; a document belongs into evidence
BOX_MAX_BYTES = 33_554_432  # of a repository's box: who cloned it did not choose how much it holds
BOX_MAX_LINES = 50_000  # the same in letters; about a second to read, once
LETTER_MAX_BYTES = 1_048_576  # a line of the spool; what is longer is no letter, and is not held in memory to see that
AGENT_MAX = 200  # characters of an agent id: host:role, not a text
AGED_OUT_HOURS = 720  # the freshness check's own threshold, independent of the stale label
MEDULLA_SOFT_CAP = 200  # the medulla is an index of what holds everywhere, not a warehouse
MEDULLA_WARN_AT = 300  # from here on nobody reads it; doctor says so
LOCK_WAIT_S = 30.0  # a writer of one slug waits this long for another before it is told busy
SWEEP_SHARE = 100  # looking for files edited in place takes one part in a hundred of the owner's time at most
SCAN_INLINE_FILES = 2_000  # up to this many files a changed directory is read within the call; above, beside it
MODEL_CALLS_PER_TASK = 60  # a task with the most replans and retries asks about half of it
MODEL_TOKENS_PER_TASK = 400_000  # so many calls at a few thousand tokens each
MODEL_TOKENS_PER_DAY = 4_000_000  # ten such tasks
