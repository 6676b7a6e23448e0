"""Own text: what Hindbrain put into a session is taken out of what is kept, so that no memory is a copy of itself. Pure."""

import re
from collections.abc import Sequence

import msgspec

from hindbrain.policy.own_text import FENCE, HINTS, INTRODUCTION, LINES, PAIRS, SCHEMAS

__all__ = ["parts_without_own_text", "without_own_text"]


def _either(mark: str) -> str:
    """A mark as it is written, or with its angle brackets escaped."""
    return "|".join(re.escape(one) for one in (mark, mark.replace("<", "&lt;").replace(">", "&gt;")))


_MARKS = [(re.compile(f"(?P<opens>{_either(begin)})|{_either(end)}", re.I)) for begin, end in PAIRS]


def without_own_text(text: str) -> str:
    """Return what is left of a text without what Hindbrain put there; the text itself if it put nothing there."""
    if not any(hint in text for hint in HINTS):
        return text
    if _is_answer(text):
        return ""
    kept = _without_lines(_without_pairs(_without_fences(text)))
    return kept.strip() if kept != text else text


def parts_without_own_text(parts: Sequence[str]) -> list[str]:
    """Return what is left of each part of one text. What Hindbrain put there may begin in one part and end in another."""
    if not any(hint in part for part in parts for hint in HINTS):
        return list(parts)
    if any(_is_answer(between.join(parts)) for between in (" ", "")):
        return [""] * len(parts)
    joined = "\n".join(f"{_PART[0]}{number}{_PART[1]}\n{part}" for number, part in enumerate(parts))
    kept = _PART_LINE.split(_without_lines(_without_pairs(_without_fences(joined))))
    left = {int(number): text.strip() for number, text in zip(kept[1::2], kept[2::2], strict=True)}
    return [part if left.get(number) == part.strip() else left.get(number, "") for number, part in enumerate(parts)]


_PART = ("\ufdd0", "\ufdd1")  # no text has these: they are no characters
_PART_LINE = re.compile(f"{_PART[0]}([0-9]+){_PART[1]}")


def _is_answer(text: str) -> bool:
    """Return True for an answer of ours in JSON, as a tool of a host received it."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    schema = found.get("schema") if isinstance(found, dict) else None
    named = isinstance(schema, str) and schema.startswith(SCHEMAS)
    return named or (isinstance(found, dict) and "agent_runtime_contract" in found)


def _without_fences(text: str) -> str:
    """Without recalled text and the line that introduces it. A fence in a fence is shorter, so the outer one ends it."""
    if "```memory" not in text:
        return text
    lines, kept, at = text.splitlines(keepends=True), list[str](), 0
    open_ended: set[str] = set()
    while at < len(lines):
        opened = FENCE.match(lines[at])
        if opened is None or lines[at][opened.end() :].strip():
            kept.append(lines[at])
            at += 1
            continue
        if kept and INTRODUCTION.fullmatch(kept[-1].strip()):
            kept.pop()
        at, rest = _end_of(lines, at + 1, opened[1], open_ended)
        kept += rest
        at = at if rest else _past_blanks(lines, at)
    return "".join(kept)


def _end_of(lines: list[str], start: int, fence: str, open_ended: set[str]) -> tuple[int, list[str]]:
    """Where a fence ends, and what follows it on its last line: at its like, else at a mark that closes what it stands in."""
    for at in range(start, len(lines)) if fence not in open_ended else ():
        told = lines[at].lstrip(" \t>")
        if told.startswith(fence) and not told.startswith(fence + "`"):
            return at + 1, [rest] if (rest := told.removeprefix(fence)).strip() else []
    open_ended.add(fence)  # nor does a later one end: each text is looked through a few times at most
    for at in range(start, len(lines)):
        if (closed := _CLOSING.search(lines[at])) is not None:
            return at + 1, [lines[at][closed.start() :]]
    return len(lines), []


_CLOSING = re.compile("|".join(["</system-reminder>", *(_either(end) for _, end in PAIRS)]), re.I)


def _without_pairs(text: str) -> str:
    for marks in _MARKS:
        parts, at = [], 0
        for start, end in _matched(marks, text):
            parts.append(text[at:start])
            at = end
        text = "".join([*parts, text[at:]])
    return text


def _matched(marks: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """The outermost spans from an opening mark to its closing one. A mark without its other half is only a word."""
    waiting: list[int] = []
    spans: list[tuple[int, int]] = []
    for found in marks.finditer(text):
        if found["opens"]:
            waiting.append(found.start())
        elif waiting:
            begun = waiting.pop()
            while spans and spans[-1][0] > begun:
                spans.pop()
            spans.append((begun, found.end()))
    return spans


def _without_lines(text: str) -> str:
    lines, kept, at = text.splitlines(keepends=True), list[str](), 0
    while at < len(lines):
        if LINES.fullmatch(lines[at].strip()) is not None:
            at = _past_blanks(lines, at + 1)
        else:
            kept.append(lines[at])
            at += 1
    return "".join(kept)


def _past_blanks(lines: list[str], at: int) -> int:
    """The place after the empty lines that stood behind what is gone."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at
