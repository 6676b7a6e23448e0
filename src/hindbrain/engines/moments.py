"""Moments: milliseconds since 1970 as the one text that the wire has, and back. The order of texts is the order of times."""

from datetime import UTC, datetime

__all__ = ["milliseconds", "stamped"]


def stamped(at: int) -> str:
    """A time as the wire has it: UTC, to the millisecond."""
    moment = datetime.fromtimestamp(at // 1000, UTC).replace(microsecond=at % 1000 * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(text: str) -> int | None:
    """A time of the wire in milliseconds since 1970; None when it is none. Without a zone it means UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)
