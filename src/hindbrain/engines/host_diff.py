"""Host diffs: what would change in a file, for a person to read before saying yes. Values that others put there are covered:
files of hosts hold keys, and whoever asks for a diff need not see them. Pure."""

import difflib
import re
from collections.abc import Iterable

__all__ = ["diff"]

_SHORT = 8  # characters; what is shorter is no key
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"(?P<name>\s*[:=])?|\'[^\'\n]*\'(?P<toml>\s*=)?|(?://|#|/\*)[^\n]*')
_CONTEXT = 2


def diff(path: str, before: str | None, after: str | None, *, ours: Iterable[str], covered: bool) -> str:
    """A unified diff. `ours` are the texts that we write; `covered`: values of others are shown as dots."""
    known = tuple(ours)

    def cover(found: re.Match[str]) -> str:
        word = found.group()
        if word[0] in "/#":  # what was commented out may hold a key as well
            return _QUOTED.sub(cover, word)
        plain = len(word) - 2 < _SHORT or any(word[1:-1] in one for one in known)
        return word if plain or found.lastgroup else f"{word[0]}…{word[0]}"

    def lines(text: str | None) -> list[str]:
        shown = _TOKEN.sub(cover, text or "") if covered else text or ""
        return [one.rstrip("\r") for one in shown.split("\n")] if shown else []

    names = ("/dev/null" if before is None else path, "/dev/null" if after is None else path)
    return "\n".join(difflib.unified_diff(lines(before), lines(after), *names, lineterm="", n=_CONTEXT))
