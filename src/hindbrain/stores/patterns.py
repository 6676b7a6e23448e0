"""Patterns of file names, matched one directory at a time, so that no pattern takes longer than its length allows."""

import re
from fnmatch import fnmatchcase

from hindbrain.domain.errors import PathRefused

__all__ = ["Pattern", "pattern_of"]

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST = 64  # patterns that one with braces may stand for
_LONGEST = 1_000


class Pattern:
    """`*`, `?` and `[…]` within a name, `**` over directories, `{a,b}` for either. Without a slash it holds at every depth."""

    def __init__(self, ways: list[list[str]]) -> None:
        self._ways = ways

    def matches(self, path: str) -> bool:
        parts = path.split("/")
        return any(_fits(tuple(way), tuple(parts)) for way in self._ways)


def pattern_of(text: str) -> Pattern:
    """A pattern as it was typed. Raises PathRefused for what cannot be one."""
    plain = text.strip().removeprefix("./")
    if not plain or len(plain) > _LONGEST or "\x00" in plain or "\n" in plain:
        raise PathRefused("this cannot be a pattern of file names", fix="give one such as *.py or src/**/*.md")
    return Pattern([_parts(one) for one in _either([plain])])


def _either(patterns: list[str]) -> list[str]:
    while any(_BRACES.search(one) for one in patterns) and len(patterns) <= _MOST:
        patterns = [
            one[: found.start()] + choice + one[found.end() :] if found else one
            for one in patterns
            for found in [_BRACES.search(one)]
            for choice in (found[1].split(",") if found else [""])
        ]
    return patterns[:_MOST]


def _parts(pattern: str) -> list[str]:
    if "/" not in pattern:
        return ["**", pattern] if pattern != "**" else ["**"]
    parts = [part for part in pattern.split("/") if part]
    return [*parts, "**"] if pattern.endswith("/") else parts


def _fits(way: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    # Which numbers of parts the pattern so far can have used up: no step is taken twice.
    reached = {0}
    for one in way:
        if one == "**":
            reached = set(range(min(reached, default=len(parts) + 1), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], one)}
    return len(parts) in reached
