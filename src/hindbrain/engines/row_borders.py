"""A text that was cut into pieces in the middle of a sentence: where the end of one piece and the start of the next hold it."""

from collections.abc import Sequence

from hindbrain.engines.text import folds

__all__ = ["border_of", "head_of", "tail_of"]

_LEAST = 3  # folded characters of a value in a piece; fewer are there by chance


def tail_of(text: str, value: str) -> int:
    """How many first characters of a folded value the text ends with."""
    return max((_longest(form, value, at_end=True) for form in folds(text[-4 * len(value) :])), default=0)


def head_of(text: str, value: str) -> int:
    """How many last characters of a folded value the text begins with."""
    return max((_longest(form, value, at_end=False) for form in folds(text[: 4 * len(value)])), default=0)


def _longest(form: str, value: str, *, at_end: bool) -> int:
    for size in range(min(len(form), len(value) - 1), _LEAST - 1, -1):
        if form.endswith(value[:size]) if at_end else form.startswith(value[-size:]):
            return size
    return 0


def border_of(text: str, size: int, *, at_end: bool) -> int:
    """Where in a text the last folded characters begin, or where the first ones end."""
    places: Sequence[int] = range(len(text) - 1, -1, -1) if at_end else range(1, len(text) + 1)
    for place in places:
        if max(map(len, folds(text[place:] if at_end else text[:place]))) >= size:
            return place
    return 0 if at_end else len(text)
