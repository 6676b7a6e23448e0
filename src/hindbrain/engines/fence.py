"""Fences: recalled text is data. It stands inside a fence longer than any run in it, attributed, cut without losing the fence."""

import re
import unicodedata

__all__ = ["fenced", "shown", "tokens"]

_RUN = re.compile(r"`{3,}")


def tokens(text: str) -> int:
    """A safe upper estimate for English and code: a quarter of the characters; bytes count where they are more."""
    return (max(len(text), len(text.encode("utf-8", "replace")) * 2 // 3) + 3) // 4


def shown(text: str) -> str:
    """Text that cannot steer a terminal: control characters, escape codes and direction overrides are dropped."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))


def fenced(text: str, *, limit: int | None = None) -> str:
    """The text as quoted data. The fence is longer than any run of back-ticks inside, and a cut is named."""
    body = shown(text)
    if limit is not None and len(body) > limit:
        body = body[: max(0, limit)].rstrip() + "\n[cut: the rest is in the claim]"
    fence = "`" * max(3, *(len(run) + 1 for run in _RUN.findall(body)), 3)
    return f"{fence}memory\n{body}\n{fence}"
