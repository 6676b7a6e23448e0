"""Hook sessions: what the hooks of one session of a host have told it, so that nothing is told twice. No words of anybody."""

import msgspec

__all__ = ["HookDue", "HookDues", "HookSession"]


class HookSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a host."""

    at: int
    told: tuple[str, ...] = ()  # digests of rows, ids of messages
    source: str | None = None  # under which its conversation was saved as evidence
    cuts: int = 0  # of its context that were seen in its log, where a host does not say which of its events is one
    restore: bool = False  # its context was cut, and nobody has told it yet what it was about


class HookDue(msgspec.Struct, frozen=True, kw_only=True):
    """A packet whose child has reported and whose mother was not told yet."""

    delegation_id: str
    agent: str
    at: int


class HookDues(msgspec.Struct, frozen=True, kw_only=True):
    """All of a checkout."""

    dues: tuple[HookDue, ...] = ()
