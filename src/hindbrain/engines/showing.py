"""Showing: what tool calls gave and which of them prove something. It sees calls and their texts; it judges no criterion.

A call proves something when it did not fail, and is not a look around after an action that did: that shows what was there before.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

from hindbrain.domain.task import ExecutionResult, ToolCall
from hindbrain.policy.checks import BROKEN_OFF, LOOKING_COMMANDS, LOOKING_TOOLS, REFUSED

__all__ = ["Shown", "as_text", "exit_status", "failed", "lines", "looks", "program_words", "proving", "shown_by", "words_of"]

_STATUS = regex.compile(r"^exit status (-?\d+)\b")  # as the gateway of the tools begins the error of a program
_PARTS = regex.compile(r"&&|\|\||[;|\n]")
_ASSIGNED = regex.compile(r"^[A-Za-z_]\w*=\S*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A call with all that it gave."""

    call: ToolCall
    text: str


def shown_by(result: ExecutionResult) -> tuple[Shown, ...]:
    """Each call with what it really gave. The output of the attempt is not among it: that is a claim."""
    return tuple(Shown(call=call, text=result.x.outputs.get(call.call_id, call.output_snippet)) for call in result.tool_calls)


def as_text(value: Any) -> str:
    """Output as text that can be searched; what is structured as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def lines(text: str) -> list[str]:
    """The lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def exit_status(shown: Shown) -> int | None:
    """How the program ended that a call ran; None where it ran none, or where that one came to no end. What the program printed
    says nothing of it."""
    if "command" not in shown.call.input:
        return None
    if shown.call.error is None:
        return 0
    told = _STATUS.match(shown.call.error)
    return int(told[1]) if told else None


def words_of(value: Any) -> Iterator[str]:
    """Every text and number inside of an input or an output."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from words_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from words_of(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def program_words(command: str) -> list[str]:
    """The program of each part of a compound command."""
    found = []
    for part in _PARTS.split(command):
        words = [word for word in part.split() if not _ASSIGNED.match(word)]
        while words and words[0] in ("sudo", "then", "do", "else", "{", "("):
            words = words[1:]
        if words:
            found.append(words[0].rsplit("/", 1)[-1].lstrip("("))
    return found


def looks(call: ToolCall) -> bool:
    """Whether a call only looks: it cannot have been the action that was asked for, unless looking was."""
    command = call.input.get("command")
    if isinstance(command, str):
        programs = program_words(command)
        return bool(programs) and ">" not in command and all(program in LOOKING_COMMANDS for program in programs)
    return call.tool in LOOKING_TOOLS


def failed(shown: Shown) -> bool:
    """Whether a call came to nothing, by its own words."""
    if shown.call.error is not None or shown.text.lstrip().startswith(REFUSED):
        return True
    told = shown.call.output_snippet.strip().lower()
    return not looks(shown.call) and any(told == word or told.endswith(f" {word}") for word in BROKEN_OFF)


def proving(shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The calls that can prove something."""
    found: list[Shown] = []
    fell = False
    for one in shown:
        if looks(one.call):
            if not fell and not failed(one):
                found.append(one)
            continue
        fell = failed(one)
        if not fell:
            found.append(one)
    return tuple(found)
