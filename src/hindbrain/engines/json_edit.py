"""JSON edits: one value put into, or taken out of, a JSON text that people keep. Comments, trailing commas, indentation, line
ends and everything else stay as they were, byte for byte. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["BrokenJson", "Step", "drop", "put", "read"]

Step = str | int

_BOM = "\ufeff"
_DEEPEST = 200  # no configuration is nested so far; a text that is wants to exhaust the stack
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class BrokenJson(ValueError):
    """The text is no JSON, not even with comments and trailing commas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """One value and where it stands."""

    start: int
    end: int
    value: Any = None  # of a scalar
    members: "tuple[_Member, ...] | None" = None  # of an object or an array
    keyed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """One member of an object, or one element of an array."""

    start: int
    key: str | None
    node: _Node
    comma: int | None  # where the comma after it stands


def read(text: str) -> Any:
    """What a text says. An empty one is an empty object, as hosts take it."""
    body = text.removeprefix(_BOM)
    root = _parsed(body)
    return {} if root is None else _plain(root)


def put(text: str, path: Sequence[Step], value: Any) -> str:
    """The text with a value at a path. What is missing on the way is made; the index after the last one appends."""
    if text.startswith(_BOM):
        return _BOM + put(text[1:], path, value)
    root = _parsed(text)
    line = "\r\n" if "\r\n" in text else "\n"
    if root is None:
        head = text.rstrip() + line if text.strip() else ""
        return head + json.dumps(_wrapped(path, value), indent=2, ensure_ascii=False).replace("\n", line) + line
    node = root
    for depth, step in enumerate(path):
        member = _member(node, step)
        if member is None:
            return _added(text, root, node, step, _wrapped(path[depth + 1 :], value), line)
        node = member.node
    shown = _shown(value, _indent(text, node.start), _unit(text, root), line, inline=_inline(text, root, node))
    return text[: node.start] + shown + text[node.end :]


def drop(text: str, path: Sequence[Step]) -> str:
    """The text without what stands at a path. Comments around it stay."""
    if text.startswith(_BOM):
        return _BOM + drop(text[1:], path)
    node = _parsed(text)
    for step in path[:-1]:
        member = _member(node, step) if node is not None else None
        node = member.node if member is not None else None
    found = _member(node, path[-1]) if node is not None else None
    if node is None or found is None or node.members is None:
        return text
    position = node.members.index(found)
    start, end = _before(text, found.start), found.node.end if found.comma is None else found.comma + 1
    if found.comma is None and position:
        comma = node.members[position - 1].comma
        if comma is not None:  # always, for a member follows it
            return text[:comma] + text[comma + 1 : start] + text[end:]
    if len(node.members) == 1 and not text[node.start + 1 : start].strip() and not text[end : node.end - 1].strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    return text[:start] + text[end:]


def _wrapped(path: Sequence[Step], value: Any) -> Any:
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [value]
    return value


def _plain(node: _Node) -> Any:
    if node.members is None:
        return node.value
    if node.keyed:
        return {member.key: _plain(member.node) for member in node.members}
    return [_plain(member.node) for member in node.members]


def _member(node: _Node, step: Step) -> _Member | None:
    """The member that a step names; of a key that stands there twice the last one, as every reader takes it."""
    if node.members is None or node.keyed is not isinstance(step, str):
        raise BrokenJson(f"{step!r} leads into a value that holds no such thing")
    if isinstance(step, int):
        return node.members[step] if step < len(node.members) else None
    return next((member for member in reversed(node.members) if member.key == step), None)


def _added(text: str, root: _Node, node: _Node, step: Step, value: Any, line: str) -> str:
    """A new last member. Its comma goes behind the value before it, itself behind what comments follow that."""
    members = node.members or ()
    unit = _unit(text, root)
    name = f"{json.dumps(step, ensure_ascii=False)}: " if isinstance(step, str) else ""
    inline = _inline(text, root, node)
    last = members[-1] if members else None
    close = node.end - 1
    if inline:
        at = _before(text, close)
        lead = "" if last is None else " " if last.comma is not None else ", "
        return text[:at] + lead + name + json.dumps(value, ensure_ascii=False) + text[at:]
    outer = _indent(text, node.start)
    own = outer + unit if last is None else _indent(text, last.start)
    shown = name + _shown(value, own, unit, line, inline=False)
    at = _before(text, close)
    if last is None:
        return text[:at] + line + own + shown + line + outer + text[close:]
    end = last.node.end
    if last.comma is not None:
        return text[:at] + line + own + shown + "," + text[at:]
    return text[:end] + "," + text[end:at] + line + own + shown + text[at:]


def _before(text: str, at: int) -> int:
    """Where the white space before a place begins."""
    while at and text[at - 1] in " \t\r\n":
        at -= 1
    return at


def _indent(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]


def _unit(text: str, root: _Node) -> str:
    """How far one level is indented here."""
    first = root.members[0].start if root.members else None
    if first is None or "\n" not in text[root.start : first]:
        return "  "
    return _indent(text, first).removeprefix(_indent(text, root.start)) or "  "


def _inline(text: str, root: _Node, node: _Node) -> bool:
    """Whether members stand beside each other. An empty value follows the whole text; a scalar is as good as one line."""
    if node.members:
        return "\n" not in text[node.start : node.members[0].start]
    return bool(root.members) and "\n" not in text[root.start : root.end]


def _shown(value: Any, indent: str, unit: str, line: str, *, inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line + indent)


# -- reading -------------------------------------------------------------------------------------------------------------


def _parsed(text: str) -> _Node | None:
    """The one value of a text, or None where there is nothing but comments."""
    at = _skip(text, 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    if (end := _skip(text, node.end)) != len(text):
        raise _wrong(text, end, "nothing more")
    return node


def _skip(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int, wanted: str) -> BrokenJson:
    line = text.count("\n", 0, at) + 1
    return BrokenJson(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {wanted} was expected")


def _value(text: str, at: int, depth: int) -> _Node:
    if depth > _DEEPEST:
        raise _wrong(text, at, "something less deep")
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, depth, keyed=text[at] == "{")
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if found is None:
        raise _wrong(text, at, "a value")
    try:
        return _Node(start=at, end=found.end(), value=json.loads(found.group()))
    except ValueError as wrong:
        raise _wrong(text, at, "a value") from wrong


def _container(text: str, at: int, depth: int, *, keyed: bool) -> _Node:
    close = "}" if keyed else "]"
    start, members, at = at, list[_Member](), _skip(text, at + 1)
    while text[at : at + 1] != close:
        if members and members[-1].comma is None:
            raise _wrong(text, at, f"a comma or {close}")
        begin, key = at, None
        if keyed:
            found = _STRING.match(text, at)
            if found is None:
                raise _wrong(text, at, "a name in quotes")
            key = json.loads(found.group(), strict=False)
            at = _skip(text, found.end())
            if text[at : at + 1] != ":":
                raise _wrong(text, at, "a colon")
            at = _skip(text, at + 1)
        node = _value(text, at, depth + 1)
        at = _skip(text, node.end)
        comma = at if text[at : at + 1] == "," else None
        members.append(_Member(start=begin, key=key, node=node, comma=comma))
        at = _skip(text, at + 1) if comma is not None else at
    return _Node(start=start, end=at + 1, members=tuple(members), keyed=keyed)
