"""Legacy values: cells of other programs' rows, read as well as they can be. Whoever asks learns what was odd."""

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from hindbrain.domain.card import Hints
from hindbrain.engines.transcripts import cleaned
from hindbrain.policy.evidence import TAG_MAX, TAGS_MOST, WORD_MAX

__all__ = ["either", "hints_of", "json_of", "line_of", "place_of", "tags_of", "text_of", "whole_of", "word_of"]

_Word = TypeVar("_Word", bound=StrEnum)


def text_of(value: Any, odd: list[str]) -> str:
    if value is None:
        return ""
    text, replaced = cleaned(value if isinstance(value, str) else str(value))
    if replaced or "\ufffd" in text:
        odd.append("some characters were no text")
    return text


def line_of(value: Any, most: int) -> str:
    """A name on one line, cut where a name ends."""
    text, _ = cleaned(value) if isinstance(value, str) else ("" if value is None else str(value), 0)
    return "".join(c if ord(c) >= 32 else " " for c in text).strip()[:most]


def either(kind: type[_Word], value: Any) -> _Word | None:
    try:
        return kind(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None


def word_of(kind: type[_Word], value: Any, default: _Word, name: str, odd: list[str]) -> _Word:
    found = either(kind, value)
    if found is None:
        odd.append(f"{name} is not a known one")
        return default
    return found


def whole_of(value: Any, default: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1 << 40:
        return default
    return int(value)


def place_of(value: Any) -> int | None:
    place = whole_of(value, -1)
    return place if place >= 0 else None


def json_of(text: str, default: Any, name: str, odd: list[str]) -> Any:
    try:
        return json.loads(text) if text.strip() else default
    except (ValueError, RecursionError):
        odd.append(f"{name} is not JSON")
        return default


def tags_of(values: Any) -> tuple[str, ...]:
    told = [line_of(one, TAG_MAX) for one in values if isinstance(one, str)] if isinstance(values, Iterable) else []
    return tuple(dict.fromkeys(filter(None, told)))[:TAGS_MOST]


def hints_of(value: Any, odd: list[str]) -> Hints:
    """Hints as far as they are lists of words under the three names we know."""
    value = json_of(value, None, "trigger_hints", odd) if isinstance(value, str) else value
    if value is None:
        return Hints.of(None)
    lists: dict[str, Sequence[str]] = {}
    for name, words in value.items() if isinstance(value, dict) else ():
        if name in Hints.__slots__ and isinstance(words, list) and all(isinstance(word, str) for word in words):
            lists[name] = [line_of(word, WORD_MAX) for word in words][:TAGS_MOST]
        elif words:
            odd.append("trigger_hints has a part that means nothing here")
    return Hints.of(lists)
