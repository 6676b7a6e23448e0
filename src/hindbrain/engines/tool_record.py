"""Tool records: how a call is kept, shown and counted. Knows nothing of what tools do."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.task import ToolCall
from hindbrain.policy.tools import ERROR_CUT, INPUT_CUT, SNIPPET_CUT, target_of

__all__ = ["Repeat", "Repeats", "ToolTotals", "cut_middle", "kept_input", "parsed", "recorded_call", "rendered", "totals"]

_ARROW = " → "
_ERROR = "ERROR: "


def cut_middle(text: str, most: int) -> str:
    """A text that is not longer than so much: its first third and its last two thirds, and how much is missing between."""
    if len(text) <= most:
        return text
    head = most // 3
    tail = most - head
    return f"{text[:head]}\n… {len(text) - most} characters left out …\n{text[-tail:]}"


def kept_input(given: Mapping[str, Any]) -> dict[str, Any]:
    """An input as it is kept: the text of a file that was written is in the file."""
    return {key: _short(value) for key, value in given.items()}


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > INPUT_CUT:
        return f"{value[:INPUT_CUT]}… ({len(value)} characters)"
    return value


def rendered(tool: str, given: Mapping[str, Any], snippet: str) -> str:
    """A call in one line."""
    return f"{tool}: {json.dumps(given, ensure_ascii=False, sort_keys=True)}{_ARROW}{' '.join(snippet.split())}"


def parsed(line: str) -> tuple[str, dict[str, Any], str | None]:
    """Tool, input and target of a rendered call. Raises ValueError for what is none."""
    tool, found, rest = line.partition(": ")
    given, _ = json.JSONDecoder().raw_decode(rest) if found else ({}, 0)
    if not found or not isinstance(given, dict):
        raise ValueError("this is no call of a tool")
    return tool, given, target_of(given)


def recorded_call(
    *,
    call_id: str,
    tool: str,
    given: Mapping[str, Any],
    output: str,
    error: str | None,
    elapsed_ms: int,
    evidence_class: str,
) -> ToolCall:
    """A call with the first of what it gave."""
    held = kept_input(given)
    told = error.removeprefix(_ERROR)[:ERROR_CUT] if error is not None else None
    snippet = output[:SNIPPET_CUT]
    return ToolCall(
        call_id=call_id,
        tool=tool,
        input=held,
        event_id=f"evt_{call_id}",
        rendered=rendered(tool, held, snippet if told is None else f"{_ERROR}{told}"),
        target=target_of(given),
        output_snippet=snippet,
        error=told,
        elapsed_ms=elapsed_ms,
        evidence_class=evidence_class,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTotals:
    """What the tools of a task cost."""

    calls: int
    elapsed_ms: int


def totals(calls: Sequence[ToolCall]) -> ToolTotals:
    """The sum of calls; one that is named twice, in an attempt and in its outcome, counts once."""
    single = {call.event_id: call for call in calls}
    return ToolTotals(calls=len(single), elapsed_ms=sum(call.elapsed_ms for call in single.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """How often a call was asked for again: 0 runs, 1 is warned of, 2 ends the attempt."""

    count: int

    @property
    def runs(self) -> bool:
        return self.count == 0

    @property
    def loops(self) -> bool:
        return self.count >= 2


class Repeats:
    """Watches for the same call twice in a row."""

    def __init__(self) -> None:
        self._last = ""
        self._count = 0

    def next(self, tool: str, given: Mapping[str, Any]) -> Repeat:
        key = json.dumps([tool, given], sort_keys=True, default=str)
        self._count = self._count + 1 if key == self._last else 0
        self._last = key
        return Repeat(count=self._count)
