"""Disguises: the other forms in which a text can carry a secret. Each form is plain text with a map back to its lines."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from urllib.parse import unquote

from hindbrain.engines.secret_values import base64_bytes, readable
from hindbrain.policy.lookalikes import INVISIBLE, LOOKALIKES

__all__ = ["Form", "forms", "plain"]

_HIDDEN = re.compile("[" + "".join(map(re.escape, sorted(INVISIBLE))) + "\u202a-\u202e\u2066-\u206f\U000e0000-\U000e007f]")
_LOOKALIKE_MAP = {ord(strange): letter for strange, letter in LOOKALIKES.items()}
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})")
_HEX_RUN = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-fA-F]{32,}+|[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){15,}+)(?![0-9A-Za-z])")
_NOT_HEX = re.compile(r"[^0-9a-fA-F]")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,3};){4,}+")
_ONE_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u00([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{2,3});|&#(\d{2,3});")
_QUOTED_QUOTE = re.compile(r"\\\"")
_SPACED = re.compile(r"(?<![^\s\"'`])[^\s,|·\"'`]{1,2}(?:[ \t,|·.-]{1,2}[^\s,|·\"'`]{1,2}){15,}+")
_SEPARATOR = re.compile(r"[ \t,|·.-]{1,2}")
_GROUPED = re.compile(r"(?<![^\s\"'`:=])[A-Za-z0-9_-]{4,8}(?: [A-Za-z0-9_-]{4,8}){2,}+(?: [A-Za-z0-9_-]{1,8})?")
_GLUE = re.compile(
    r"[\"'`][ \t)]{0,4}(?:[+.&,\\]|\.\.|\|\||<>)?[ \t\\]{0,4}(?:\r?\n[ \t]{0,40}(?:[+.&]|\.\.)?[ \t]{0,4})?[(]"
    r"?[bru]?[\"'`]|\\\r?\n[ \t]{0,40}|=\r?\n(?=\S)"
)
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}+={0,2}")
_GROUPED_DIGITS = 3  # a sentence of short words has fewer
_SPACE = re.compile(r"[\s\"'`<>()\[\]{},;|]")
_GLUED_LEAST = 15  # characters of the shortest token
_WORD_MOST = 400  # characters of a word before the first string
_DEEPEST = 3  # a secret encoded more often than this is not found
_ONE_TEXT = 200_000  # characters of one encoded run that are decoded


@dataclass(frozen=True, slots=True)
class Form:
    """A text in another form. Each of its parts comes from some lines of the original."""

    text: str
    starts: tuple[int, ...]  # where the parts begin
    lines: tuple[tuple[int, int], ...]  # first and last line of each part, from 1

    def span(self, at: int) -> tuple[int, int]:
        """Return the first and the last line of the original for a place in this form."""
        return self.lines[bisect_right(self.starts, at) - 1]


def plain(text: str) -> str:
    """Return a text without invisible characters, full-width forms and look-alike letters; it has the same lines."""
    if text.isascii():
        return text
    return "\n".join(line if line.isascii() else _plain_line(line) for line in text.split("\n"))


def _plain_line(line: str) -> str:
    shown = _HIDDEN.sub("", line)
    normal = unicodedata.normalize("NFKC", shown).translate(_LOOKALIKE_MAP)
    return normal.replace("\n", " ")


def forms(text: str, words: str, place: Callable[[int], int]) -> Iterator[tuple[Form, bool]]:
    """Yield the forms of a text in which a secret could be read, and whether a form is decoded text.

    `words` are the long words of the text, and `place` maps a place in them to the text. A glued form puts together
    strings of a program, so only formats that cannot arise by chance count in it.
    """
    if any(mark in text for mark in ('"', "'", "`", "\\\n", "=\n")) and (form := _glued(text)):
        yield form, False
    line_ends: list[int] | None = None
    for at, made in chain(_runs(text), ((place(at), made) for at, made in _encoded(words))):
        if line_ends is None:
            line_ends = [match.start() for match in re.finditer("\n", text)]
        line = bisect_right(line_ends, at) + 1
        for inner in _decoded(made, 1):
            yield Form(inner, (0,), ((line, line),)), True


def _decoded(text: str, depth: int) -> Iterator[str]:
    yield text
    if depth < _DEEPEST:
        for _, made in chain(_runs(text), _encoded(text)):
            yield from _decoded(made, depth + 1)


def _glued(text: str) -> Form | None:
    """Return what a program puts together: "a" + "b", 'a' 'b', and lines that end with a backslash."""
    parts: list[str] = []
    lines: list[tuple[int, int]] = []
    part, first, line, end = "", 1, 1, 0
    for match in (*_GLUE.finditer(text), None):
        between = text[end : match.start() if match else len(text)]
        if end and (cut := _SPACE.search(between)):
            part += between[: cut.start()]
            if len(part) >= _GLUED_LEAST:
                parts.append(part)
                lines.append((first, line))
            part = ""
        if not part:
            line += between.count("\n")
            first, between = line, between[-_WORD_MOST:].rpartition("\n")[2]
            between = _SPACE.split(between)[-1]
        if match is None:
            part += between
            break
        part += between
        line += match[0].count("\n")
        end = match.end()
    if end and len(part) >= _GLUED_LEAST:
        parts.append(part)
        lines.append((first, line))
    starts = accumulate((len(part) + 1 for part in parts[:-1]), initial=0)
    return Form("\n".join(parts), tuple(starts), tuple(lines)) if parts else None


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """Yield every run that decodes to text, with its place."""
    if "%" in text:
        yield from ((at, unquote(line)) for at, line in _lines_with(_PERCENT, text))
    if "\\x" in text or "\\u00" in text or "&#" in text:
        for at, line in _lines_with(_ESCAPES, text):
            yield at, _ONE_ESCAPE.sub(_unescaped, line)
    if '\\"' in text:  # JSON or code inside of a string
        for at, line in _lines_with(_QUOTED_QUOTE, text):
            yield at, line.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
    for match in _SPACED.finditer(text):
        parts = _SEPARATOR.split(match[0])
        joined = "".join(parts)
        if all(len(part) == 2 for part in parts) and _HEX.match(joined):
            joined = readable(bytes.fromhex(joined)) or joined
        yield match.start(), joined
    for match in _GROUPED.finditer(text):
        if sum(c.isdigit() for c in match[0]) >= _GROUPED_DIGITS:
            yield match.start(), match[0].replace(" ", "")


def _encoded(words: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the text of every word that is text in hexadecimal or base64."""
    for match in _HEX_RUN.finditer(words):
        bare = _NOT_HEX.sub("", match[0].removeprefix("0x")[:_ONE_TEXT])
        if len(bare) % 2 == 0 and (made := readable(bytes.fromhex(bare))):
            yield match.start(), made
    for match in _ENCODED.finditer(words):
        if (data := base64_bytes(match[0][:_ONE_TEXT])) and (made := readable(data)):
            yield match.start(), made


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[4]) if match[4] else int(match[1] or match[2] or match[3], 16)
    return chr(code) if 32 <= code < 127 else " "


def _lines_with(expression: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """Yield each line in which an expression is found, once, with the place of the first match."""
    done = 0
    while match := expression.search(text, done):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        done = end + 1 if end >= 0 else len(text)
        yield match.start(), text[start:done]
        if end < 0:
            return
