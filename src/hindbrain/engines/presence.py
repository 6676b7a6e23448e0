"""Presence: whether an agent was heard of lately. It follows from what the agent said last, and from nothing else."""

from hindbrain.engines.moments import milliseconds
from hindbrain.policy.cowork import STALE_AFTER_MS

__all__ = ["NEVER_SEEN", "ONLINE", "STALE", "presence"]

ONLINE = "online"
STALE = "stale"
NEVER_SEEN = "never_seen"


def presence(last_seen_at: str | None, now: int) -> str:
    """`online` up to ten minutes after the last sign, then `stale`; a time that nobody can read is an old one."""
    if last_seen_at is None:
        return NEVER_SEEN
    seen = milliseconds(last_seen_at)
    return ONLINE if seen is not None and now - seen <= STALE_AFTER_MS else STALE
