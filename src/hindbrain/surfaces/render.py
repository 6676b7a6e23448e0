"""Render: answers as prose and tables for people. Knows no operation: it goes by the shape of an answer."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from shlex import quote
from textwrap import wrap
from typing import Any

from hindbrain.engines.fence import shown
from hindbrain.surfaces.output import json_line

Paint = Callable[[str], str]

__all__ = ["clean", "colourful", "failure", "fix_text", "text"]

_HIDDEN = ("ok", "schema", "rendered", "exit_code", "agent_runtime_contract")
_TITLES = ("label", "claim", "name", "display_name", "act", "slug", "title", "key", "id", "root", "path", "kind")  # best first
_NOTES = ("tier_warning", "etiquette", "warnings")  # what an answer with a text of its own still has to say
# Long rows in brief: the columns a person looks for, the last one as long as it likes. --json has all of them.
_BRIEF = {
    "instances": ("display_name", "state", "active_claims", "last_ingest_ms", "project_root"),
    "brains": ("name", "state", "claims", "node_count", "last_ingest_age_ms", "root"),
    "entries": ("seq", "at", "act", "actor", "channel", "slug", "payload"),
    "operations": ("name", "effect", "summary"),
}
_TIMES = ("_ms", "at", "created", "as_of")
_ZONE = " UTC"
_RECENT_MS = range(10**12, 4 * 10**12)  # from 2001 to 2096; a smaller number of milliseconds is a duration
_DURATIONS = ((1000, 1, "ms"), (120_000, 1000, "s"), (7_200_000, 60_000, "min"), (172_800_000, 3_600_000, "h"))  # below, unit
_DAY_MS = 86_400_000
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])")


def colourful(descriptor: int) -> bool:
    """Colour only on a terminal that wants it."""
    return os.isatty(descriptor) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def clean(value: str) -> str:
    """Text without anything that steers a terminal: whole escape sequences first, then every control character."""
    return shown(_ESCAPES.sub("", value))


def text(answer: Mapping[str, Any], *, colour: bool, failed: bool = False, width: int | None = None) -> str:
    """An answer for a person. What a failure means is told elsewhere; here only what came with it."""
    width = width or shutil.get_terminal_size((100, 24)).columns
    paint: Paint = _bold if colour else str
    lines: list[str] = []
    rendered = answer.get("rendered")
    if isinstance(rendered, str):  # an empty text is one as well: there is nothing to show
        lines += clean(rendered).rstrip().split("\n") if rendered.strip() else []
        lines += [f"{_words(key)}: {_inline(answer[key], key)}" for key in _NOTES if not _said(answer.get(key), rendered)]
    elif not failed:
        lines += _fields({key: value for key, value in answer.items() if key not in _HIDDEN}, width, paint) or ["done"]
    contract = answer.get("agent_runtime_contract")
    if isinstance(contract, dict):
        lines.append(_contract_line(contract))
    return "\n".join(lines)


def _said(note: Any, rendered: str) -> bool:
    """Whether a text says a note already, or there is none."""
    told = [
        one.get("text") if isinstance(one, dict) else one for one in (note if isinstance(note, list) else [note] if note else ())
    ]
    return all(isinstance(one, str) and one in rendered for one in told)


def _contract_line(contract: Mapping[str, Any]) -> str:
    """The envelope in one line: mode, status, next."""
    tool = contract.get("next_suggested_tool")
    command = f"hindbrain {str(tool).replace('.', ' ').replace('_', '-')}"
    following = command if tool else contract.get("next_step_hint") or "go on"
    return clean(f"{contract.get('trust_mode')} · {contract.get('status')} · {following}").replace("\n", " ")


def failure(answer: Mapping[str, Any], *, colour: bool) -> str:
    """What went wrong, its code, and the next safe step."""
    error = answer.get("error")
    told: Mapping[str, Any] = error if isinstance(error, dict) else answer
    message = str(told.get("message") or told.get("reason") or "the call failed")
    code = str(told.get("code") or told.get("refused") or "internal")
    paint: Paint = _bold if colour else str
    lines = [f"{paint('hindbrain:')} {clean(message)} ({clean(code)})"]
    if fix := fix_text(told.get("fix")):
        lines.append(f"{paint('fix:')} {fix}")
    return "\n".join(lines)


def fix_text(fix: Any) -> str:
    """A fix as one line; a structured one as the command that carries it out as it stands."""
    if isinstance(fix, str) or fix is None:
        return clean(fix or "")
    command = _command_in(fix) if isinstance(fix, dict) else None
    return command or clean(json_line(fix))


def _command_in(fix: Mapping[str, Any]) -> str | None:
    for place in (fix, fix.get("call")):
        if not isinstance(place, dict):
            continue
        if isinstance(place.get("cli"), str):
            return clean(place["cli"])
        name, arguments = place.get("operation") or place.get("tool"), place.get("arguments")
        if isinstance(name, str):
            return f"hindbrain call {quote(name)} {quote(clean(json_line(arguments or {})))}"
    return None


def _bold(value: str) -> str:
    return f"\x1b[1m{value}\x1b[0m"


def _words(key: str) -> str:
    """A key as a person reads it; the unit of a time is told by its value."""
    return clean(key).removesuffix("_ms").replace("_", " ")


def _scalar(value: Any, key: str = "") -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value in _RECENT_MS and key.endswith(_TIMES):
        return datetime.fromtimestamp(value / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") + _ZONE
    if isinstance(value, int) and key.endswith("_ms"):
        return _duration(value)
    return clean(str(value))


def _duration(value: int) -> str:
    unit, name = next(((unit, name) for below, unit, name in _DURATIONS if value < below), (_DAY_MS, "days"))
    return f"{value // unit} {name}"


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_digest(value: Any) -> bool:
    """Whether only a machine compares this."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _fields(fields: Mapping[str, Any], width: int, paint: Paint) -> list[str]:
    """The fields of an object: single values first, in columns, then everything that needs room."""
    singles = {key: value for key, value in fields.items() if _is_scalar(value)}
    pad = max((len(_words(key)) for key in singles), default=0)
    lines: list[str] = []
    for key, value in singles.items():
        first, *rest = _scalar(value, key).split("\n")
        lines += [f"{_words(key):<{pad}}  {first}".rstrip(), *(f"{'':<{pad}}  {line}".rstrip() for line in rest)]
    for key, value in fields.items():
        if key not in singles and value:
            lines += _nested(key, value, width, paint)
    return lines


def _nested(key: str, value: Any, width: int, paint: Paint) -> list[str]:
    if isinstance(value, dict):
        told = value.get("rendered")
        inside = clean(told).rstrip().split("\n") if isinstance(told, str) and told else _fields(_known(value), width - 2, paint)
        return [paint(_words(key)), *_indented(inside)] if inside else []
    if all(_is_scalar(one) for one in value):
        return _listed(key, [_scalar(one, key) for one in value], width, paint)
    rows = [one if isinstance(one, dict) else {"": one} for one in value]
    table = _brief(key, rows, width - 2) or _table(rows, width - 2) or _records(rows, width - 2, paint)
    return [paint(f"{_words(key)} ({len(value)})"), *_indented(table)]


def _listed(key: str, values: Sequence[str], width: int, paint: Paint) -> list[str]:
    """Single values in a row, wrapped between them; whole sentences one below the other."""
    joined = ", ".join(values)
    if len(_words(key)) + 2 + len(joined) <= width:
        return [f"{paint(_words(key))}  {joined}"]
    inside = values if any(value.endswith(".") for value in values) else wrap(joined, width - 2, break_long_words=False)
    return [paint(_words(key)), *_indented([line for value in inside for line in value.split("\n")])]


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Below the top of an answer, what is not known and what only a machine compares is left out; --json shows it."""
    return {key: value for key, value in fields.items() if value is not None and not _is_digest(value)}


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)


def _brief(key: str, rows: Sequence[Mapping[str, Any]], width: int) -> list[str] | None:
    """Long rows by the columns that matter, or None when these are other rows, or do not fit."""
    columns = _BRIEF.get(key, ())
    if not columns or any(columns[0] not in row or "unreachable" in row for row in rows):
        return None
    *names, last = [name for name in columns if any(row.get(name) for row in rows)]
    head = _table([{name: row.get(name) for name in names} for row in rows], width)
    if head is None:
        return None
    edge = max(len(line) for line in head) + 2
    room = max(20, width - edge)
    lines: list[str] = []
    for start, told in zip(head, [_words(last), *(_inline(row.get(last), last) for row in rows)], strict=True):
        whole = told.startswith("/")  # a path is copied, also one with spaces
        first, *rest = [told] if whole else wrap(told, room, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [f"{start:<{edge}}{first}".rstrip(), *(" " * edge + line for line in rest)]
    return lines


def _inline(value: Any, key: str) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_words(name)} {_inline(one, name)}" for name, one in _known(value).items())
    return _scalar(value, key) if _is_scalar(value) else ", ".join(_inline(one, key) for one in value)


def _table(rows: Sequence[Mapping[str, Any]], width: int) -> list[str] | None:
    """Rows as columns, or None when they do not fit without cutting anything."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    if not all(_is_scalar(value) for row in rows for value in row.values()):
        return None
    cells = [[_words(name) for name in names], *([_scalar(row.get(name), name) for name in names] for row in rows)]
    for column, name in enumerate(names):
        if name.endswith(_TIMES) and any(line[column].endswith(_ZONE) for line in cells):
            # The zone is the same in every row, so it is told once.
            cells = [[*line[:column], line[column].removesuffix(_ZONE), *line[column + 1 :]] for line in cells]
            cells[0][column] += _ZONE
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    if sum(widths) + 2 * (len(names) - 1) > width or any("\n" in one for row in cells for one in row):
        return None
    return ["  ".join(cell.ljust(size) for cell, size in zip(line, widths, strict=True)).rstrip() for line in cells]


def _records(rows: Sequence[Mapping[str, Any]], width: int, paint: Paint) -> list[str]:
    """One block per row, opened by what it is called."""
    lines: list[str] = []
    for row in rows:
        title = next((key for key in _TITLES if row.get(key)), None)
        lines.append(f"• {paint(_scalar(row[title], title))}" if title else "•")
        rest = {key: value for key, value in _known(row).items() if key != title}
        lines += _indented(_fields(rest, width - 2, paint))
    return lines
