"""Hook transcripts: what a host's own log of a session says of itself, and the log of Gemini CLI as lines that any reader of
transcripts understands. Pure; a log is data that anybody may have written."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Any

import msgspec

from hindbrain.engines.transcripts import Reading, cleaned, detected, from_lines

__all__ = ["cuts_in", "gemini_lines", "last_said", "root_in"]

_ROLES = {"user": "user", "gemini": "assistant"}


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def root_in(sample: Iterable[bytes]) -> str | None:
    """The directory that a log says its session began in; None when its first lines do not say."""
    for line in sample:
        found = _decoded(line)
        if not isinstance(found, dict):
            continue
        inner = found.get("payload")
        for told in (found.get("cwd"), inner.get("cwd") if isinstance(inner, dict) else None):
            if isinstance(told, str) and told.startswith("/") and "\x00" not in told:
                return told
    return None


def last_said(tail: bytes) -> str:
    """The last text of the agent in the end of a log by lines; nothing when it has none. The first line may be half a line."""
    lines = tail.split(b"\n")
    for part in (lines, lines[1:]):
        form = detected(part[:50])
        if form is not None and form.by_lines:
            said = [turn.text for turn in from_lines(part, form, Reading()) if turn.role == "assistant"]
            return said[-1] if said else ""
    return ""


def gemini_lines(data: bytes, thread: str) -> str:
    """The messages of a log of Gemini CLI, one JSON line each; nothing when it holds none. It is one document, or lines."""
    return "\n".join(
        msgspec.json.encode(
            {
                "thread": thread,
                "id": _word(one.get("id")),
                "role": _ROLES[one["type"]],
                "timestamp": _word(one.get("timestamp")),
                "text": cleaned(text)[0],
            }
        ).decode("utf-8")
        for one in _messages(data)
        if (text := _text(one.get("content"))).strip()
    )


def cuts_in(data: bytes) -> int:
    """Count how often a log of Gemini CLI shows that its context was cut.

    By lines: a new list of messages (`$set`) lacks an answer of the model that was in the list, and nobody rewound to before it.
    As one document: a prompt has less than half the tokens of the one before."""
    whole = _decoded(data)
    listed = whole.get("messages") if isinstance(whole, dict) else None
    if isinstance(listed, list):
        used = [count for one in listed if (count := _prompt_tokens(one)) is not None]
        return sum(later * 2 < earlier for earlier, later in pairwise(used))
    cuts, now = 0, dict[str, str]()  # the messages that make up the context, in order
    for one in map(_decoded, data.split(b"\n")):
        if not isinstance(one, dict):
            continue
        if isinstance(to := one.get("$rewindTo"), str):
            now = dict(takewhile(lambda held: held[0] != to, now.items()))
        elif isinstance(inner := one.get("$set"), dict):
            if isinstance(messages := inner.get("messages"), list):
                fresh = dict(_answer(message) for message in messages if isinstance(message, dict))
                cuts += not {text for text in now.values() if text} <= set(fresh.values())
                now = fresh
        elif isinstance(one.get("type"), str):
            now |= [_answer(one)]
    return cuts


def _answer(message: dict[str, Any]) -> tuple[str, str]:
    """The id of a message, and its text if the model said it."""
    return str(message.get("id")), _text(message.get("content")).strip() if message.get("type") == "gemini" else ""


def _prompt_tokens(message: Any) -> int | None:
    tokens = message.get("tokens") if isinstance(message, dict) else None
    count = tokens.get("input") if isinstance(tokens, dict) else None
    return count if isinstance(count, int) else None


def _messages(data: bytes) -> Iterator[dict[str, Any]]:
    whole = _decoded(data)
    listed = whole.get("messages") if isinstance(whole, dict) else None
    rows: Sequence[Any] = listed if isinstance(listed, list) else [_decoded(line) for line in data.split(b"\n")]
    seen: dict[str, dict[str, Any]] = {}  # a message that goes on is written again under its id
    for number, one in enumerate(rows):
        if isinstance(one, dict) and isinstance(one.get("type"), str) and one["type"] in _ROLES:
            seen[str(one.get("id") or f"#{number}")] = one
    yield from seen.values()


def _word(value: Any) -> str:
    return cleaned(value)[0][:200] if isinstance(value, str) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
