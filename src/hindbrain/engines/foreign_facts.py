"""Foreign facts: statements about a named thing, and relations between two of them, as rows that a person would write. What the
readers of note keepers and of knowledge graphs share."""

import hashlib
from typing import Any

from hindbrain.domain.moving import Item, ItemKind
from hindbrain.engines.legacy_values import line_of
from hindbrain.engines.transcripts import cleaned
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.policy.legacy import FACT_TAG

__all__ = ["digest", "relation", "statement"]


def digest(text: str) -> str:
    """A short name for a text that has none of its own."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def statement(
    about: str, text: str, *, key: str, room: str, tags: tuple[str, ...] = (), source: str = "", at: int | None = None
) -> Item:
    """Something that is said about a thing. The thing has a line of its own, so that the words below are found as they were."""
    said = cleaned(text)[0].strip()
    return Item(
        kind=ItemKind.EVIDENCE,
        key=f"{key}:{digest(said)}",
        text=f"{about}\n{said}" if said else about,
        at=at,
        tags=tags,
        room=room or None,
        source=source,
    )


def relation(
    subject: Any,
    predicate: Any,
    target: Any,
    *,
    key: str = "relation",
    context: str = "",
    source: str = "",
    at: int | None = None,
    tags: tuple[str, ...] = (),
) -> Item | None:
    """Two things and how they belong together, on one line; None when one of the three is missing."""
    parts = [line_of(one, WORD_MAX) if isinstance(one, str) else "" for one in (subject, predicate, target)]
    if not all(parts):
        return None
    told = f"{parts[0]} {parts[1].replace('_', ' ')} {parts[2]}" + (f" ({context})" if context else "")
    return Item(
        kind=ItemKind.EVIDENCE,
        key=f"{key}:{digest(told)}",
        text=told,
        at=at,
        tags=(FACT_TAG, *tags),
        room=FACT_TAG,
        source=source,
    )
