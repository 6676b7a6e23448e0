"""Insights: what one cheap look back at a task says was learned. Reads them; whatever is none stays the plain text it was."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, ValidationError, json

from hindbrain.domain.typed import converted
from hindbrain.engines.reply import NoValue, first_value

__all__ = ["Insight", "insight_of", "insight_text"]

_Tag = Annotated[str, Meta(min_length=1, max_length=64)]


class Insight(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lesson, what it is about, and of which kind it is."""

    lesson: Annotated[str, Meta(min_length=1, max_length=2000)]
    tags: Annotated[tuple[_Tag, ...], Meta(min_length=2, max_length=5)]
    category: Literal["fact", "procedure", "constraint"]


def insight_of(text: str) -> Insight | None:
    """The insight in a reply or in the content of a megram; None when the text is none and is to be read as it is."""
    try:
        found = converted(first_value(text, dict), Insight)
    except (NoValue, ValidationError):
        return None
    return found if found.lesson.strip() and all(tag.strip() for tag in found.tags) else None


def insight_text(insight: Insight) -> str:
    """An insight as the content of a megram."""
    return json.encode(insight).decode()
