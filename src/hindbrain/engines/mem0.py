"""Memories of mem0 as items: from an export, and from its history, where the last version of each is what it remembered. Both
make the same row of the same memory, so that it does not matter which of them came first."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, ItemKind, Unread
from hindbrain.engines.foreign_facts import digest, relation
from hindbrain.engines.legacy_values import line_of
from hindbrain.engines.transcripts import time_of
from hindbrain.policy.evidence import TAG_MAX, WORD_MAX

__all__ = ["Export", "exported", "from_history", "from_memory", "from_relation", "key_of"]

_LISTS = ("results", "memories")
_TEXTS = ("memory", "content", "text", "data")
_IDS = ("user_id", "agent_id", "app_id", "run_id")
_GONE = ("deleted", "archived")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The two lists of an export."""

    memories: tuple[Any, ...]
    relations: tuple[Any, ...] = ()


def exported(data: bytes) -> Export:
    """An export, as `get_all` answers it, from the library or from the platform. InvalidParams when it is none."""
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as wrong:
        raise InvalidParams("the file is not JSON, or it is torn", fix="write the export again") from wrong
    memories = found if isinstance(found, list) else next(_lists(found), None) if isinstance(found, dict) else None
    if memories is None:
        raise InvalidParams("the file holds no list of memories", fix='give what get_all answered: {"results": [...]}')
    relations = found.get("relations") if isinstance(found, dict) else None
    return Export(memories=tuple(memories), relations=tuple(relations) if isinstance(relations, list) else ())


def _lists(found: dict[str, Any]) -> Iterator[list[Any]]:
    return (found[name] for name in _LISTS if isinstance(found.get(name), list))


def key_of(row: Mapping[str, Any], name: str = "id") -> str:
    """How a memory is called: by its id, the same in an export and in the history."""
    told = line_of(row.get(name), WORD_MAX) if isinstance(row.get(name), str | int) else ""
    return f"memory:{told}" if told else ""


def from_memory(number: int, row: Any) -> Item | Unread | None:
    """One memory of an export; None for one that was deleted there."""
    if not isinstance(row, dict):
        return _unread(f"memory {number}", "is no object")
    text = next((row[name] for name in _TEXTS if isinstance(row.get(name), str) and row[name].strip()), "")
    key = key_of(row)
    if not text:
        return _unread(key or f"memory {number}", "says nothing")
    if row.get("state") in _GONE:
        return None
    metadata = row.get("metadata")
    odd: list[str] = []
    tags = _texts(row.get("categories"))
    tags += [f"{name.removesuffix('_id')}:{row[name]}" for name in _IDS if isinstance(row.get(name), str) and row[name]]
    for name, value in metadata.items() if isinstance(metadata, dict) else ():
        told = f"{name}:{value}"
        if isinstance(value, str | int | float) and len(told) <= TAG_MAX and "\n" not in told:
            tags.append(told)
        elif value is not None:
            odd.append("a part of its metadata is no word and was left out")
    return Item(
        kind=ItemKind.EVIDENCE,
        key=key or f"memory:{digest(text)}",
        text=text,
        author=_author(row),
        at=_at(row),
        tags=tuple(tags),
        odd=tuple(dict.fromkeys(odd)),
    )


def from_relation(number: int, row: Any) -> Item | Unread:
    """One edge of its graph, as an export brings it."""
    row = row if isinstance(row, dict) else {}
    target = row.get("target") or row.get("destination")
    found = relation(row.get("source"), row.get("relationship") or row.get("relation"), target)
    return found or _unread(f"relation {number}", "lacks one of its three words")


def from_history(row: Mapping[str, Any]) -> Item | Unread:
    """A memory as its last event left it."""
    text, key = row.get("new_memory"), key_of(row, "memory_id")
    if not key or not isinstance(text, str) or not text.strip():
        return _unread(key or "memory", "says nothing")
    return Item(kind=ItemKind.EVIDENCE, key=key, text=text, author=_author(row), at=_at(row))


def _author(row: Mapping[str, Any]) -> str | None:
    """Who said it. What the assistant said is the agent's; everything else is of the user it was kept for."""
    names = ("actor_id", "agent_id", "role") if row.get("role") == "assistant" else ("actor_id", "user_id", "agent_id", "role")
    return next((line_of(row[name], WORD_MAX) for name in names if isinstance(row.get(name), str) and row[name]), None)


def _at(row: Mapping[str, Any]) -> int | None:
    changed = time_of(row.get("updated_at"))
    return changed if changed is not None else time_of(row.get("created_at"))


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _unread(key: str, reason: str) -> Unread:
    return Unread(key=key, code=InvalidParams.code, reason=f"the row {reason}")
