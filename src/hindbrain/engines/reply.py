"""Replies: what a model wrote, without its thoughts, fences and chatter. Knows nothing of who was asked or what for."""

import json
import re
from typing import Any

__all__ = ["NoValue", "cleaned", "first_value", "without_thoughts"]

_THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_START = re.compile(r"[\[{]|</?think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"\A```[^\n`]*\n(.*?)\n?```\Z", re.DOTALL)


class NoValue(ValueError):
    """The text holds no complete JSON value of the kind that was asked for."""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def without_thoughts(text: str) -> str:
    """The text outside of think blocks. One that never closes goes on to the end; one that only closes began at the start."""
    kept: list[str] = []
    depth, begin = 0, 0
    for tag in _THOUGHT.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept.append(text[begin : tag.start()])
            depth += 1
            continue
        if depth == 0:
            kept.clear()  # some servers swallow the opening tag
        depth = max(depth - 1, 0)
        begin = tag.end()
    if depth == 0:
        kept.append(text[begin:])
    return "".join(kept)


def cleaned(text: str) -> str:
    """What the model meant to say as text: no thoughts, no fence around it all, no blank ends."""
    plain = without_thoughts(text.lstrip("\ufeff")).strip()
    fenced = _FENCE.match(plain)
    return fenced[1].strip() if fenced and "```" not in fenced[1] else plain


def first_value(text: str, want: type[Any] | None = None) -> Any:
    """The first complete JSON value of a reply, of the kind that is wanted (dict or list; either when None).

    A think tag inside of a string of that value is text. Raises NoValue."""
    text = text.lstrip("\ufeff").strip()
    for candidate in (text, cleaned(text)):
        try:
            whole = _DECODER.decode(candidate)
        except (ValueError, RecursionError):
            continue
        if want is None or isinstance(whole, want):
            return whole
    lone = _THOUGHT.search(text)
    texts = (text[lone.end() :], text) if lone is not None and lone[1] else (text,)  # the server kept the opening tag
    for candidate in texts:
        found, value = _scan(candidate, want)
        if found:
            return value
    raise NoValue("no complete JSON value" if want is None else f"no complete JSON {'object' if want is dict else 'array'}")


def _scan(text: str, want: type[Any] | None) -> tuple[bool, Any]:
    """Look at every place where a value may start, as long as that costs no more than a few readings of the text.

    A value that goes on to the end of the text was cut off: what is inside of it is a part of it, and counts for nothing."""
    at, left, end = 0, 4 * len(text), len(text)
    while left >= 0 and (start := _START.search(text, at)) is not None:
        if start[0].startswith("<"):
            after = start.end() if start[0].startswith("</") else _closing(text, start.end())
            if after is None:
                break
            at = after
            continue
        try:
            value, after = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as broken:
            if broken.pos >= end or broken.msg.startswith("Unterminated string"):
                break
            left -= broken.pos - start.start() + broken.pos // 64  # the second: such an error counts lines from the start
            at = start.end()
        except ValueError:  # NaN or Infinity, somewhere in it
            left -= end - start.start()
            at = start.end()
        except RecursionError:
            break
        else:
            if want is None or isinstance(value, want):
                return True, value
            at = after
    return False, None


def _closing(text: str, at: int) -> int | None:
    depth = 1
    for tag in _THOUGHT.finditer(text, at):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return None
