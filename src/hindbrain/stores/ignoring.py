"""Ignore rules: lines as a spec. A rule with many wild cards makes its matching search for hours, so it is read more simply."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["spec_of"]

_STARS = re.compile(r"\*+")
_MOST_STARS = 3  # in one rule: the work grows with the length of a name to the power of this
_MOST_DEEP = 2  # of them over directories


def spec_of(lines: Iterable[str]) -> "GitIgnoreSpec":
    """The rules of an ignore file."""
    from pathspec import GitIgnoreSpec  # heavy: only who walks a tree without git needs it

    return GitIgnoreSpec.from_lines(list(map(_bounded, lines)))


def _bounded(line: str) -> str:
    """A rule that is quick to match; a too complex one ignores all that begins like it, and lets nothing in again."""
    stars = list(_STARS.finditer(line))
    if len(stars) <= _MOST_STARS and sum(len(one[0]) > 1 for one in stars) <= _MOST_DEEP:
        return line
    return "" if line.startswith("!") else line[: stars[1].end()]
