"""Reservations: an agent says which files of a repository it is about to change. Advice with an end, never a lock."""

from msgspec import Struct

__all__ = ["Reservation"]


class Reservation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path, directory or pattern of a repository that one agent holds until a time. Times are milliseconds UTC."""

    agent_id: str
    path: str
    checkout: str  # where the agent works, and so the bus on which it hears of others
    made_ms: int
    until_ms: int
    shared: bool = False
    reason: str | None = None
    forced_over: tuple[str, ...] = ()  # agents that held it before; they were told, and neither keeps the other from a commit
