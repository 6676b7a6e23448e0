"""TOML edits: one table put into, or taken out of, a TOML text that people keep. Everything else stays byte for byte. What is
written in a way that cannot be changed line by line comes out meaning something else, so whoever calls compares. Pure."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["drop", "put", "sections", "swap"]

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n|[^"\'#\[\]{}\n]+|.', re.DOTALL
)
_HEADER = re.compile(r"[ \t]*\[(?!\[).*\][ \t]*(?:#[^\n]*)?\r?\n?\Z")
_LIST_HEADER = re.compile(r"[ \t]*\[\[.*\]\][ \t]*(?:#[^\n]*)?\r?\n?\Z")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line of TOML with all that belongs to it: a value may go over several lines of text."""

    start: int
    end: int
    header: Path | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """One table: from its header to its last value."""

    path: Path
    start: int
    end: int
    lines: tuple[_Line, ...]


def put(text: str, table: Path, entry: Mapping[str, Any]) -> str:
    """The text with these values in a table; other values in it stay. A table below it is given as a mapping."""
    line = "\r\n" if "\r\n" in text else "\n"
    plain = {key: value for key, value in entry.items() if not isinstance(value, Mapping)}
    text = _filled(text, table, plain, line, make=True)
    for key, values in entry.items():
        if isinstance(values, Mapping) and values:
            text = _below(text, table, key, values, line)
    return text


def drop(text: str, table: Path) -> str:
    """The text without a table and those below it. Comments before other tables stay."""
    return swap(text, table, "")


def sections(text: str, table: Path) -> str:
    """A table and those below it, as they are written."""
    return "".join(text[one.start : one.end] for one in _sections(text) if one.path[: len(table)] == table)


def swap(text: str, table: Path, other: str) -> str:
    """The text with another wording of a table in the place of the one that is there."""
    ours = [one for one in _sections(text) if one.path[: len(table)] == table]
    for one in reversed(ours):
        head, tail = text[: one.start], text[one.end :]
        kept = other if one is ours[0] else ""
        if not kept:
            blank = re.search(r"\n(\r?\n)\Z", head)
            if blank and (not tail or tail.startswith(("\n", "\r\n"))):
                head = head[: -len(blank.group(1))]
        text = head + kept + tail
    return text


def _below(text: str, table: Path, key: str, values: Mapping[str, Any], line: str) -> str:
    """A table below: where it is written as one line it stays one, else it has a header of its own."""
    own = next((one for one in _sections(text) if one.path == table), None)
    if own is not None and any(key in one.keys for one in own.lines):
        given = ", ".join(f"{_name(word)} = {_value(value)}" for word, value in values.items())
        return _filled(text, table, {key: f"{{ {given} }}"}, line, make=False, raw=True)
    return _filled(text, (*table, key), values, line, make=True, after=own)


def _filled(
    text: str,
    table: Path,
    values: Mapping[str, Any],
    line: str,
    *,
    make: bool,
    after: _Section | None = None,
    raw: bool = False,
) -> str:
    shown = {key: f"{_name(key)} = {value if raw else _value(value)}" for key, value in values.items()}
    found = next((one for one in _sections(text) if one.path == table), None)
    if found is None:
        if not make:
            return text
        body = line.join([f"[{'.'.join(map(_name, table))}]", *shown.values()]) + line
        at = len(text) if after is None else after.end
        head = text[:at] + (line if at and not text[:at].endswith("\n") else "")
        return head + (line if head.strip() else "") + body + text[at:]
    now = _values(text, found)
    missing = [word for key, word in shown.items() if key not in now]
    changed = {key for key in values if key in now and (raw or now[key] != values[key])}
    last = text[: found.end] if text[: found.end].endswith("\n") else text[: found.end] + line
    text = last + "".join(word + line for word in missing) + text[found.end :]
    for one in reversed(found.lines):
        if len(one.keys) == 1 and one.keys[0] in changed:
            old = text[one.start : one.end]
            indent = old[: len(old) - len(old.lstrip(" \t"))]
            text = text[: one.start] + indent + shown[one.keys[0]] + line + text[one.end :]
    return text


def _values(text: str, section: _Section) -> dict[str, Any]:
    return tomllib.loads("".join(text[one.start : one.end] for one in section.lines))


def _name(word: str) -> str:
    return word if re.fullmatch(r"[A-Za-z0-9_-]+", word) else json.dumps(word, ensure_ascii=False)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _sections(text: str) -> list[_Section]:
    found: list[_Section] = []
    path, start, lines, end = None, 0, list[_Line](), 0
    for line in _lines(text):
        if line.header is not None:
            if path is not None:
                found.append(_Section(path=path, start=start, end=end, lines=tuple(lines)))
            path, start, lines, end = line.header, line.start, [], line.end
        elif line.keys:
            lines.append(line)
            end = line.end
    if path is not None:
        found.append(_Section(path=path, start=start, end=end, lines=tuple(lines)))
    return found


def _lines(text: str) -> Iterator[_Line]:
    start = depth = 0
    for token in _TOKEN.finditer(text):
        word = token.group()
        depth += (word in "[{") - (word in "]}") if len(word) == 1 else 0
        if (word == "\n" and depth <= 0) or token.end() == len(text):
            yield _line(text, start, token.end())
            start, depth = token.end(), 0


def _line(text: str, start: int, end: int) -> _Line:
    told = text[start:end]
    header = bool(_HEADER.match(told) or _LIST_HEADER.match(told))
    try:
        read: Any = tomllib.loads(told)
    except ValueError:
        return _Line(start=start, end=end)
    if not header:
        return _Line(start=start, end=end, keys=tuple(read))
    path: list[str] = []
    while isinstance(read, dict) and read:
        ((key, read),) = read.items()
        path.append(key)
        # An element of a list of tables is no table that could be ours.
        if isinstance(read, list):
            path, read = ["[]", *path], read[0]
    return _Line(start=start, end=end, header=tuple(path))
