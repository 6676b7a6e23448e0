"""Matching: which lines of a text a pattern fits, within a time. Knows no files; the clock is given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

__all__ = ["Matched", "Matcher", "PatternWrong", "TooSlow", "example_for", "globbed", "lines_of"]

# What asks for the ends of a text, or for something not to follow, sees others in a whole file than in a line: each line alone.
_SEES_ENDS = regex.compile(r"\\[AZzG]|\(\?<?!")
_SEES_ON = regex.compile(r"\(\?<?=")  # sees what follows: a hit in the whole file has to be one in its line, too


class PatternWrong(ValueError):
    """The pattern is no regular expression."""


class TooSlow(Exception):
    """The pattern did not come to an end within its time."""


@dataclass(frozen=True, slots=True)
class Matched:
    """One hit: its first and last line, counted from 1."""

    first: int
    last: int


class Matcher:
    """One query, compiled. `multiline` lets a match run over line ends; without it every line stands alone."""

    def __init__(self, query: str, *, literal: bool, case_sensitive: bool, multiline: bool = False) -> None:
        self._query = query
        self._literal = literal
        self._case = case_sensitive
        self._spans = multiline
        flags = regex.MULTILINE | (0 if case_sensitive else regex.IGNORECASE) | (regex.DOTALL if multiline else 0)
        try:
            self._pattern: Any = regex.compile(regex.escape(query) if literal else query, flags)
        except (regex.error, RecursionError, OverflowError) as wrong:
            raise PatternWrong(str(wrong)) from wrong
        self._by_line = not literal and bool(_SEES_ENDS.search(query))
        self._checked = not literal and bool(_SEES_ON.search(query))

    @cached_property
    def _needle(self) -> bytes | None:
        """What must stand in a file that has a hit; None where only the pattern itself can say."""
        if not self._literal or "\n" in self._query or not (self._case or self._query.isascii()):
            return None
        raw = self._query.encode("utf-8")
        return raw if self._case else raw.lower()

    def possible(self, raw: bytes) -> bool:
        """False when a file cannot have a hit. A few hundred times as fast as looking for one."""
        if self._needle is None:
            return True
        if not self._case and not raw.isascii() and any(byte in self._needle for byte in b"iks"):
            return True  # without case the Kelvin sign is a k, the long s an s, and there are other letters i
        return self._needle in (raw if self._case else raw.lower())

    def hits(self, text: str, *, clock: Callable[[], float], seconds: float) -> Iterator[Matched]:
        """Hits in order, one a line at most; raises TooSlow when the time is over."""
        until = clock() + seconds
        if self._spans:
            yield from self._spanning(text, clock, until)
        elif self._by_line:
            yield from self._line_by_line(text, clock, until)
        else:
            yield from self._jumping(text, clock, until)

    def matches(self, text: str, *, clock: Callable[[], float], seconds: float) -> tuple[int, int] | None:
        """Where the pattern fits a short text, such as an id."""
        found = self._search(text, 0, len(text), clock, clock() + seconds)
        return found.span() if found is not None else None

    def _search(self, text: str, start: int, end: int, clock: Callable[[], float], until: float) -> Any:
        left = until - clock()
        if left <= 0:
            raise TooSlow
        try:
            # concurrent: the interpreter is free for other calls while a bad pattern runs into its limit.
            return self._pattern.search(text, start, end, timeout=left, concurrent=True)
        except TimeoutError as slow:
            raise TooSlow from slow

    def _jumping(self, text: str, clock: Callable[[], float], until: float) -> Iterator[Matched]:
        """From hit to hit: the lines between cost nothing."""
        at, line, end = 0, 1, len(text)
        while at <= end:
            found = self._search(text, at, end, clock, until)
            if found is None:
                return
            begin = text.rfind("\n", at, found.start()) + 1 or at
            line += text.count("\n", at, begin)
            stop = text.find("\n", begin)
            stop = end if stop < 0 else stop
            whole = found.end() <= stop and not self._checked
            if begin < end and (whole or self._search(text, begin, stop, clock, until) is not None):
                yield Matched(line, line)
            at, line = stop + 1, line + 1

    def _line_by_line(self, text: str, clock: Callable[[], float], until: float) -> Iterator[Matched]:
        for number, one in enumerate(lines_of(text), start=1):
            if self._search(one, 0, len(one), clock, until) is not None:
                yield Matched(number, number)

    def _spanning(self, text: str, clock: Callable[[], float], until: float) -> Iterator[Matched]:
        at, line, end = 0, 1, len(text)
        while at < end:
            found = self._search(text, at, end, clock, until)
            if found is None or (found.start() == end and end > 0):
                return
            first = line + text.count("\n", at, found.start())
            last = first + text.count("\n", found.start(), max(found.start(), found.end() - 1))
            yield Matched(first, last)
            onward = max(found.end(), found.start() + 1)
            stop = text.find("\n", onward - 1)
            line, at = last + 1, (end if stop < 0 else stop + 1)


def lines_of(text: str) -> list[str]:
    """The lines of a text; an end of the last line opens no further one."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def example_for(query: str) -> str:
    """The same query as a pattern that can be read: what was meant to be a character is made one."""
    return str(regex.escape(query, special_only=True))


def globbed(pattern: str) -> Callable[[str], bool]:
    """A test of paths: `*` and `?` stay within a name, `**` goes over directories, `{a,b}` is either; a pattern without a
    slash is about names anywhere."""
    import fnmatch
    import re

    alternatives = [
        [segment if segment == "**" else re.compile(fnmatch.translate(segment)) for segment in one.strip("/").split("/")]
        for one in _braces(pattern if "/" in pattern else f"**/{pattern}")
    ]

    def fits(parts: list[str], segments: list[Any]) -> bool:
        """Which segments can have been used up after each part: linear, whatever the pattern."""
        open_at = _through({0}, segments)
        for part in parts:
            then = set()
            for at in open_at:
                if at < len(segments):
                    segment = segments[at]
                    if segment == "**":
                        then.add(at)
                    elif segment.match(part):
                        then.add(at + 1)
            open_at = _through(then, segments)
            if not open_at:
                return False
        return len(segments) in open_at

    return lambda path: any(fits(path.split("/"), segments) for segments in alternatives)


def _through(at: set[int], segments: list[Any]) -> set[int]:
    """`**` stands for no directory, too."""
    found = set(at)
    for one in sorted(at):
        while one < len(segments) and segments[one] == "**":
            one += 1
            found.add(one)
    return found


def _braces(pattern: str, most: int = 64) -> list[str]:
    """Alternatives written out, innermost last; more than `most` are not, and stand for themselves."""
    found = [pattern]
    for _ in range(8):
        grown: list[str] = []
        for one in found:
            inner = regex.search(r"\{([^{}]*,[^{}]*)\}", one)
            grown += (
                [one] if inner is None else [one[: inner.start()] + each + one[inner.end() :] for each in inner[1].split(",")]
            )
        if len(grown) > most or grown == found:
            break
        found = grown
    return found
