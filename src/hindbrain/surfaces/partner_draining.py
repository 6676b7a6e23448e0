"""Draining for a partner on the command line, as the hook of a host calls it at each prompt. It never fails: a fault is one line
on stderr, with nothing on stdout and exit 0, for a hook must not hold up a person's prompt."""

from __future__ import annotations

import json
import os
import sys

from hindbrain.surfaces import arguments, cli, output
from hindbrain.surfaces.arguments import Usage

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["go"]

_STDIN_BYTES = 1 << 20
_FORMATS = ("plain", "codex-hook-json")
_OPTIONS = {"--cwd": None, "--cwd-source": ("stdin-json",), "--format": _FORMATS}


def go(op: Command, words: list[str], given: dict[str, Any]) -> int:
    """Hand over what lies there."""
    try:
        options, rest = _taken(words)
        read = arguments.parse(op, rest, given)
        if given.get("help"):
            from hindbrain.surfaces import helping

            output.write(helping.command(op))
            return 0
        _place(options, given)
        answer = cli.answered(op, read, given)
    except Usage as wrong:
        return _failed(wrong.message)
    except Exception as fault:  # noqa: BLE001 - the last place: whatever it is, a person's prompt does not wait for it
        return _failed(str(fault))
    if not answer.get("ok"):
        error = answer.get("error")
        return _failed(str(error.get("message")) if isinstance(error, dict) else "no answer")
    if given.get("json"):
        output.write(output.json_line(answer))
    elif answer["messages"]:
        output.write(_shaped(str(answer["rendered"]), options.get("--format", "plain")))
    return 0


def _taken(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options of this command alone, and the other words."""
    found: dict[str, str] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, mark, value = word.partition("=")
        if name not in _OPTIONS:
            rest.append(word)
            continue
        if not mark:
            if not queue:
                raise Usage(f"{name} needs a value", "see hindbrain help partner drain")
            value = queue.pop(0)
        choices = _OPTIONS[name]
        if choices is not None and value not in choices:
            raise Usage(f"{name} is {' or '.join(choices)}", "see hindbrain help partner drain")
        found[name] = value
    if "--cwd" in found and "--cwd-source" in found:
        raise Usage("--cwd and --cwd-source exclude each other", "give one of them")
    return found, rest


def _place(options: dict[str, str], given: dict[str, Any]) -> None:
    """Which project is meant: what the host says, else where this runs."""
    place = options.get("--cwd")
    if "--cwd-source" in options:
        told = json.loads(sys.stdin.buffer.read(_STDIN_BYTES))
        place = told.get("cwd") if isinstance(told, dict) else None
        if not isinstance(place, str) or not os.path.isabs(place):
            raise Usage("the host said no cwd", "its hook gives a JSON object with cwd on stdin")
    if place is not None:
        given["root"] = os.path.abspath(place)


def _shaped(text: str, form: str) -> str:
    if form == "plain":
        from hindbrain.surfaces.render import clean

        return clean(text)
    told = {"hookEventName": "UserPromptSubmit", "additionalContext": text}
    return output.json_line({"hookSpecificOutput": told})


def _failed(why: str) -> int:
    output.tell(f"hindbrain: nothing was handed over: {' '.join(why.split())}")
    return 0
