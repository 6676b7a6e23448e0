"""Lines of the MCP reference memory server as items: an entity is what was observed of it, a relation is one sentence."""

import json
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, Unread
from hindbrain.engines.foreign_facts import relation, statement
from hindbrain.engines.legacy_values import line_of
from hindbrain.policy.evidence import WORD_MAX

__all__ = ["from_line"]


def from_line(number: int, line: bytes) -> list[Item | Unread]:
    """What one line says. Bytes that are no text are replaced; a line that is no row of the graph is named by its number."""
    try:
        row = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return [_unread(number, "is not JSON; it may be torn")]
    if not isinstance(row, dict):
        return [_unread(number, "is neither an entity nor a relation")]
    if row.get("type") == "entity":
        return _entity(number, row)
    if row.get("type") == "relation":
        found = relation(row.get("from"), row.get("relationType"), row.get("to"))
        return [found] if found is not None else [_unread(number, "is a relation that lacks one of its three words")]
    return [_unread(number, "is neither an entity nor a relation")]


def _entity(number: int, row: dict[str, Any]) -> list[Item | Unread]:
    name = line_of(row["name"], WORD_MAX) if isinstance(row.get("name"), str) else ""
    if not name:
        return [_unread(number, "is an entity without a name")]
    kind = line_of(row["entityType"], WORD_MAX) if isinstance(row.get("entityType"), str) else ""
    observed = row.get("observations")
    if not isinstance(observed, list):
        return [_unread(number, "is an entity without a list of observations")]
    about, key = f"{name} ({kind})" if kind else name, f"entity:{name}"
    made: list[Item | Unread] = []
    for place, one in enumerate(observed, 1):
        if isinstance(one, str) and one.strip():
            made.append(statement(about, one, key=key, room=kind, tags=(kind,)))
        elif one != "":
            made.append(_unread(number, f"has an observation that is no text, its number {place}"))
    # Who has no observation is still known by name and kind.
    return made or [statement(about, "", key=key, room=kind, tags=(kind,))]


def _unread(number: int, reason: str) -> Unread:
    return Unread(key=f"line {number}", code=InvalidParams.code, reason=f"the line {reason}")
