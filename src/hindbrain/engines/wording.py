"""Wording: the parts of a request as a person typed it: sentences, quotations, and what looks like a path. Reads no meaning."""

import re

__all__ = ["PATH", "QUOTED", "parts_of", "paths_in", "plain", "quoted_in", "sentences_of"]

QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|`([^`]*)`|(?<!\w)'([^']*)'(?!\w)")
PATH = re.compile(
    r"(?<![\w/.:@-])(?:\.{0,2}/)?(?:[\w.*?@+-]+/)*[\w*?@+-]*(?:[\w*?@+-]\.\w{1,8}|\*[\w.*-]*)(?![\w/])"
    r"|(?<![\w/.:@-])(?:\.{0,2}/)?(?:[\w.@+-]+/)+[\w.@+*-]*"
)
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])")
_THEN = re.compile(r"\s*,?\s+(?:and\s+)?(?=then\s)", re.IGNORECASE)


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences and numbered lines of a text, each in one line; quoted text is never cut."""
    return _cut(text, _SENTENCE)


def parts_of(text: str) -> tuple[str, ...]:
    """The same, cut before each `then` as well: what is to be done, one after the other."""
    return tuple(part for sentence in sentences_of(text) for part in _cut(sentence, _THEN))


def _cut(text: str, at: re.Pattern[str]) -> tuple[str, ...]:
    held: list[str] = []

    def hide(match: re.Match[str]) -> str:
        held.append(match.group())
        return f"\ue000{len(held) - 1}\ue001"

    found = []
    for line in QUOTED.sub(hide, text).splitlines():
        for piece in at.split(_NUMBERED.sub("", line)):
            whole = re.sub(r"\ue000(\d+)\ue001", lambda mark: held[int(mark.group(1))], piece).strip()
            if any(char.isalnum() for char in whole):
                found.append(whole)
    return tuple(found)


def quoted_in(text: str) -> tuple[str, ...]:
    """Every quoted text, in order."""
    return tuple(next((group for group in match.groups() if group is not None), "") for match in QUOTED.finditer(text))


def paths_in(text: str) -> tuple[str, ...]:
    """Whatever looks like a path or a pattern of paths, quoted or not, in order."""
    found = []
    for match in PATH.finditer(text):
        token = match.group().rstrip(".,;:!?")
        if token and not re.fullmatch(r"[\d.]+|\.+|/+|e\.g|i\.e", token) and not _inside_prose(text, match):
            found.append(token)
    return tuple(dict.fromkeys(found))


def _inside_prose(text: str, match: re.Match[str]) -> bool:
    """A path-like word inside of a longer quotation is part of what is quoted."""
    return any(
        quote.start() < match.start() < match.end() < quote.end() and " " in quote.group() for quote in QUOTED.finditer(text)
    )


def plain(text: str) -> str:
    """A sentence without what is quoted, in small letters."""
    return QUOTED.sub(" ", text).lower()
