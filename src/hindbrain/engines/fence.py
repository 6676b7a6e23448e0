"""Fences: recalled text is data. It stands inside a fence longer than any run in it, attributed, cut without losing the fence."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

__all__ = ["cut", "fenced", "plain_line", "quoted", "shares", "shown", "tokens"]

_RUN = re.compile(r"`{3,}")
_MARK = " [cut]…"


def tokens(text: str) -> int:
    """A safe upper estimate for English and code: a quarter of the characters; bytes count where they are more."""
    return (max(len(text), len(text.encode("utf-8", "replace")) * 2 // 3) + 3) // 4


def shown(text: str) -> str:
    """Text that cannot steer a terminal: control characters, escape codes and direction overrides are dropped.

    A line or paragraph separator becomes a space: it would start a line inside a line.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():  # as nearly all text is
        return text
    text = text.replace("\u2028", " ").replace("\u2029", " ")
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))


def plain_line(text: str) -> str:
    """The same on one line, for a name inside of a sentence: what a stranger called something starts no line of its own."""
    return " ".join(shown(text).split())


def fenced(text: str, *, within: int | None = None) -> str:
    """The text as quoted data. The fence is longer than any run of back-ticks inside; with `within` all of it costs no more."""
    body = shown(text)
    if within is None or tokens(_fence(body)) <= within:
        return _fence(body)
    return _fence(_longest(body, lambda part: tokens(_fence(part)) <= within))


def quoted(lines: Iterable[str]) -> list[str]:
    """Lines with words of agents as one block of quoted data, each on one line; nothing when there are none."""
    rows = [plain_line(line) for line in lines]
    return [fenced("\n".join(rows))] if rows else []


def cut(text: str, within: int) -> str:
    """The text itself if it costs no more than that many tokens, else as much of its beginning as does."""
    return text if tokens(text) <= within else _longest(text, lambda part: tokens(part) <= within)


def shares(needs: Sequence[int], allowed: int) -> list[int]:
    """How needs share what is allowed: each gets what it needs up to one level, and what the small ones leave lifts it."""
    given, left = [0] * len(needs), allowed
    waiting = sorted(range(len(needs)), key=lambda place: needs[place])
    while waiting:
        level = left // len(waiting)
        first = waiting.pop(0)
        given[first] = min(needs[first], level)
        left -= given[first]
    return given


def _fence(body: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in _RUN.findall(body)), 3)
    return f"{fence}memory\n{body}\n{fence}"


def _longest(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning that fits, with its mark. Costs only grow with the length, so halving finds it."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle].rstrip() + _MARK) else (low, middle - 1)
    return text[:low].rstrip() + _MARK
