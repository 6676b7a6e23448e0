"""JSON with distinct keys: the one rule of every surface. Standard library only, for thin processes too."""

from __future__ import annotations

import json

# As in exchange.py: the typing module is too dear for a thin process.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["RepeatedKey", "distinct", "loads"]


class RepeatedKey(ValueError):
    """An object names a key twice: two readers of the same bytes could see two different calls."""


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dictionary, or raise RepeatedKey."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedKey("an object names a key twice")
    return found


def loads(raw: bytes | str) -> Any:
    """Return the JSON value, or raise ValueError, RepeatedKey or RecursionError."""
    return json.loads(raw, object_pairs_hook=distinct)
