"""Review: what a person is asked to look at, in which order, and how much of it at once."""

__all__ = ["CITED_MOST", "EXCERPT_MAX", "FILES_MOST", "KINDS", "LIMIT", "LIMIT_MOST", "RETURNED_DAYS", "TEXT_MAX"]

# What may do harm first: a value that must stay away, then what is said both ways, then what lost its ground; a candidate that
# waits harms nobody.
KINDS = ("returned", "contradiction", "stale", "open_gate")

LIMIT = 20  # as many as somebody decides in one sitting
LIMIT_MOST = 1_000
RETURNED_DAYS = 30  # attempts that are older tell nothing about what runs now
CITED_MOST = 4  # rows of evidence shown for one side
EXCERPT_MAX = 160  # characters of a row of evidence
TEXT_MAX = 240  # characters of a statement; cards have no more, imported ones may
FILES_MOST = 2_000  # cited files that are read again for one queue
