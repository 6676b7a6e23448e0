"""Searching: whether an empty or partly refused result is the true answer of a search, as it can be."""

from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

from hindbrain.domain.task import CheckSpec, ToolCall
from hindbrain.engines.criteria import quoted
from hindbrain.engines.showing import Shown, exit_status, failed, lines, looks, program_words, words_of
from hindbrain.policy.checks import NOTHING_FOUND, PERMISSION, PROTECTED, SEARCH_COMMANDS, SEARCHING_TOOLS

__all__ = ["forgivable", "found_nothing", "only_protected", "ran", "searches"]

_ABSOLUTE = regex.compile(r"/[^\s:'\"‘’`]*")
_PATTERN_FIELDS = ("pattern", "query", "name", "text", "command")


def searches(call: ToolCall) -> bool:
    """Whether a call looks for something."""
    command = call.input.get("command")
    if isinstance(command, str):
        return looks(call) and any(program in SEARCH_COMMANDS for program in program_words(command))
    return call.tool in SEARCHING_TOOLS


def ran(shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The searches that came to their end. A search program says by status 1 that it found nothing."""
    return tuple(one for one in shown if searches(one.call) and (not failed(one) or _only_empty(one)))


def _only_empty(shown: Shown) -> bool:
    return exit_status(shown) == 1 and not lines(shown.text) and not _denied(shown)


def found_nothing(shown: tuple[Shown, ...], intent: str) -> tuple[Shown, ...]:
    """The searches whose empty result stands: every search ran, none gave anything, and none was plainly beside the point."""
    asked = tuple(one for one in shown if searches(one.call))
    real = ran(asked)
    if not real or len(real) != len(asked) or any(not searches(one.call) and not looks(one.call) for one in shown):
        return ()
    if any(not _empty(one) for one in real) or any(_beside(one.call, intent) for one in real):
        return ()
    return real


def only_protected(shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The searches that were refused, if only in places of the system, while they went on elsewhere."""
    asked = tuple(one for one in shown if searches(one.call))
    refused = tuple(one for one in asked if _denied(one))
    if not refused or any(failed(one) and not _denied(one) for one in shown):
        return ()
    for one in refused:
        for line in _denied(one):
            places = _ABSOLUTE.findall(line)
            if not places or not all(_protected(place) for place in places):
                return ()
    if not any(_elsewhere(one) for one in asked):
        return ()
    return refused


def forgivable(spec: CheckSpec | None) -> bool:
    """Whether a criterion only asks that something came back, so that an honest nothing meets it."""
    if spec is None:
        return True
    if spec.kind == "count_at_least":
        return spec.args.get("n") in (0, 1) and spec.args.get("of", "lines") in ("lines", "items", "paths")
    return spec.kind == "exit_status" and spec.args.get("equals") == 0


def _empty(shown: Shown) -> bool:
    told = [line for line in lines(shown.text) if line.lower().rstrip(".:") not in NOTHING_FOUND]
    return not told


def _beside(call: ToolCall, intent: str) -> bool:
    """Plainly wrong: no pattern at all, or none of the names that the intent quotes."""
    pattern: Any = next((call.input[name] for name in _PATTERN_FIELDS if name in call.input), None)
    if not isinstance(pattern, str) or not pattern.strip():
        return True
    names = quoted(intent)
    told = " ".join(words_of(call.input)).lower()
    return bool(names) and not any(name.lower() in told for name in names)


def _denied(shown: Shown) -> list[str]:
    told = "\n".join((shown.call.error or "", shown.text)).splitlines()
    return [line for line in told if any(word in line.lower() for word in PERMISSION)]


def _protected(place: str) -> bool:
    return any(place == root or place.startswith(f"{root}/") for root in PROTECTED)


def _elsewhere(shown: Shown) -> bool:
    """Whether a search also went where it may: it named another place, or gave a line that is no refusal."""
    given = [line for line in lines(shown.text) if not any(word in line.lower() for word in PERMISSION)]
    named = [word for words in words_of(shown.call.input) for word in words.split() if word.startswith(("/", "."))]
    return bool(given) or any(not _protected(word.rstrip("/") or "/") for word in named)
