"""Cursors: where the next page begins, as one opaque word. Holds numbers only, and the order they belong to."""

import base64
import binascii

import msgspec

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.typed import decoded

__all__ = ["cursor_kind", "opened_cursor", "sealed_cursor"]

_MOST = 2**62


def sealed_cursor(kind: str, *numbers: int) -> str:
    """A cursor of a kind of order."""
    return base64.urlsafe_b64encode(msgspec.json.encode([kind, *numbers])).decode("ascii").rstrip("=")


def _read(cursor: str) -> tuple[str, tuple[int, ...]]:
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        kind, *numbers = decoded(raw, list[str | int])
    except (ValueError, binascii.Error, msgspec.MsgspecError) as wrong:
        raise InvalidParams("the cursor is none of ours", fix="give next_cursor of the page before, or leave it out") from wrong
    places = tuple(one for one in numbers if isinstance(one, int) and -_MOST < one < _MOST)
    return str(kind), places if len(places) == len(numbers) else ()


def cursor_kind(cursor: str) -> str:
    """The order that a cursor belongs to."""
    return _read(cursor)[0]


def opened_cursor(cursor: str, kind: str, count: int = 1) -> tuple[int, ...]:
    """The numbers of a cursor; one of another order is told apart."""
    named, numbers = _read(cursor)
    if named != kind or len(numbers) != count:
        raise InvalidParams("the cursor belongs to another order", fix="begin again without a cursor")
    return numbers
