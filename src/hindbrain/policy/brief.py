"""Briefs: the words by which something open or disputed is known, and the words that are no names."""

__all__ = ["CONFLICT_CUES", "NO_NAMES", "OPEN_CUES"]

OPEN_CUES = ("todo", "action item", "follow up", "unresolved", "remain", "blocked", "next step")
CONFLICT_CUES = ("contradiction", "rollback", "stale", "counterexample")
NO_NAMES = frozenset(("The", "This", "That", "No", "Brief", "Use", "Review"))
