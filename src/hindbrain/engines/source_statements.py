"""Statements of any text: code by its syntax tree, settings line by line below their section, prose sentence by sentence below
its heading. Pure."""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hindbrain.domain.source_statement import Enclosing, Statement
from hindbrain.engines.code.languages import language_of
from hindbrain.engines.code.statements import code_statements, is_parsed

__all__ = ["statements_of"]

_PROSE = frozenset({"markdown", "rst", "html", "bibtex"})
_PROSE_NAMES = re.compile(
    r"(?:\.(?:txt|text|adoc|org)|(?:\A|/)(?:README|LICENSE|NOTICE|CHANGES|CHANGELOG|INSTALL|AUTHORS))\Z", re.IGNORECASE
)
_HEADING = re.compile(r"(#{1,6})\s+(.+)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_ROW = re.compile(r"\s*\|.*\|\s*\Z")
_RULE = re.compile(r"\s*\|?[\s:|-]+\|?\s*\Z")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'`(*_]*[A-Z\d`])")
_SECTION = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+\s*\Z")
_LINE_COMMENT = re.compile(r"\s*(?:#|//|;|--|%)(?!\w*\{)")
_TRAILING = re.compile(r"\s(?:#|//|--)\s.*\Z")
_OPENS = re.compile(r"[{(\[]\s*\Z")
_KEPT = 16  # files whose statements are remembered: claims come in groups about one file
_CLOSES = re.compile(r"\s*[})\]]")


@functools.lru_cache(maxsize=_KEPT)
def statements_of(path: str, lines: tuple[str, ...]) -> tuple[Statement, ...]:
    """Cut a file into its statements, in order."""
    if is_parsed(path) and (found := code_statements(path, "\n".join(lines))):
        return found
    if language_of(path) in _PROSE or _PROSE_NAMES.search(path) or not path:
        return tuple(_prose(lines))
    return tuple(_data(lines))


def _prose(lines: Sequence[str]) -> Iterator[Statement]:
    headings: list[tuple[int, str]] = []
    part: list[tuple[int, str]] = []
    table: list[str] = []
    fenced = False

    def above() -> tuple[Enclosing, ...]:
        return tuple(Enclosing(role="heading", text=text) for _, text in headings)

    for number, line in enumerate((*lines, ""), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        row = not fenced and _ROW.match(line) is not None
        if part and (not line.strip() or heading or row or _ITEM.match(line)):
            yield from _sentences(part, above())
            part = []
        if not row:
            table = []
        if heading:
            headings = [*(one for one in headings if one[0] < len(heading[1])), (len(heading[1]), heading[2])]
            yield Statement(kind="prose", text=heading[2], first=number, last=number, enclosing=above()[:-1])
        elif row:
            if not table:
                table = [line]
            elif not _RULE.match(line):
                names = Enclosing(role="section", text=table[0])
                yield Statement(kind="data", text=line, first=number, last=number, enclosing=(*above(), names))
        elif fenced and line.strip():
            yield Statement(kind="data", text=line, first=number, last=number, enclosing=above())
        elif line.strip():
            part.append((number, _ITEM.sub("", line, count=1).strip()))


def _sentences(part: Sequence[tuple[int, str]], above: tuple[Enclosing, ...]) -> Iterator[Statement]:
    """The sentences of a paragraph, each with the lines on which it stands."""
    text, marks = "", []
    for number, line in part:
        marks.append((len(text), number))
        text += line + " "
    at = 0
    for sentence in _SENTENCE.split(text):
        if sentence.strip():
            first = max(number for start, number in marks if start <= at)
            last = max(number for start, number in marks if start < at + len(sentence.rstrip()))
            yield Statement(kind="prose", text=sentence.strip(), first=first, last=last, enclosing=above)
        at = text.find(sentence, at) + len(sentence)
        at += len(text[at:]) - len(text[at:].lstrip())


def _data(lines: Sequence[str]) -> Iterator[Statement]:
    """One statement a line, below its section and below the lines that are less indented."""
    section = ""
    open_lines: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if _LINE_COMMENT.match(line):
            yield Statement(kind="comment", text=line.strip(), first=number, last=number)
            continue
        depth = len(line) - len(line.lstrip())
        open_lines = [one for one in open_lines if one[0] < depth or (_CLOSES.match(line) and one[0] < depth)]
        above = tuple(Enclosing(role="section", text=text) for _, text in open_lines)
        above = (Enclosing(role="section", text=section), *above) if section else above
        note = found[0].strip() if (found := _TRAILING.search(line)) else ""
        text = _TRAILING.sub("", line).strip()
        if named := _SECTION.match(line):
            section = named[1]
            open_lines = []
        made = Statement(kind="data", text=text, first=number, last=number, enclosing=above, note=note)
        opens = bool(_OPENS.search(text)) or text.endswith(":")
        yield replace(made, body_end=_end(lines, number, depth), role="section") if opens or named else made
        open_lines.append((depth, text))


def _end(lines: Sequence[str], number: int, depth: int) -> int:
    """The last line that is further in than a line."""
    last = number
    for at in range(number + 1, len(lines) + 1):
        line = lines[at - 1]
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        last = at
    return last
