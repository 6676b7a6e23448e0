"""A doctor's report on one screen: the verdict, the numbers of each brain, what is wrong with its fix, and what to do next."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["doctor_text"]

_WIDTH = 14
_COUNTED = ("conflicts", "ambiguous", "demotion_pending", "unattributed", "manifest_mismatch")


def doctor_text(answer: Mapping[str, Any]) -> str:
    """The report in words. Everything else of it stands in the data."""
    memory = answer["memory"]
    lines = [
        _row("status", answer["status"]),
        _row("checked", " · ".join(f"{one['section']} {one['status']}" for one in answer["sections"])),
        *(_row("brain", _brain(one)) for one in answer["brains"]),
        _row("memory", ", ".join(f"{_size(memory[name])} {name.replace('_', ' ')}" for name in _COUNTED)),
        _row("medulla", "{active} of {soft_cap} claims, warns at {warn_at}".format_map(memory["medulla"])),
        _row("letters", _letters(memory["mailbox"])),
        *_weeks(memory["weeks"]),
        *([_row("cowork", _bus(answer["cowork"]))] if "cowork" in answer else []),
    ]
    lines += [line for one in answer["warnings"] for line in _trouble(one["level"], one)]
    lines += [line for one in _once(answer["notes"]) for line in _trouble("note", one)]
    lines += [_row("probable cause", one) for one in answer["probable_causes"]]
    return "\n".join([*lines, _row("next actions", "; ".join(map(_fix, answer["next_actions"])) or "see above")])


def _row(name: str, value: object) -> str:
    return f"{name:{_WIDTH}}{value}"


def _brain(row: Mapping[str, Any]) -> str:
    told = [str(row.get("state") or "not open"), _count(row.get("claims"), "claim"), _count(row.get("node_count"), "node")]
    return f"{row['name']}: {', '.join([*told, *([row['root']] if row.get('root') else [])])}"


def _count(number: Any, word: str) -> str:
    return f"{'?' if number is None else number} {word}{'' if number == 1 else 's'}"


def _size(value: Any) -> int:
    return value if isinstance(value, int) else len(value)


def _weeks(weeks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Numbers of the last weeks, oldest first, a row for each kind."""
    names = [name for name, value in weeks[-1].items() if isinstance(value, int)] if weeks else []
    rows = {name: " ".join(str(one[name]) for one in weeks) for name in names}
    return [_row("by week", f"{name.replace('_', ' ')} {told} (to {weeks[-1]['week']})") for name, told in rows.items()]


def _bus(bus: Mapping[str, Any]) -> str:
    return "; ".join([str(bus["status"]), *bus["warnings"]])


def _letters(mailbox: Mapping[str, Any]) -> str:
    waiting = mailbox["pending_distribution"]
    names = f" ({', '.join(map(repr, waiting['names']))})" if waiting["names"] else ""
    told = f"{mailbox['spool_letters']} in the spool, {mailbox['open']} open, {waiting['count']} pending distribution{names}"
    kept = ((mailbox[name], name.replace("_", " ")) for name in ("refused_hygiene", "malformed", "undated"))
    return ", ".join([told, *(f"{count} {name}" for count, name in kept)])


def _trouble(level: str, one: Mapping[str, Any]) -> list[str]:
    lines = [_row(level, f"{one['kind']}: {one['text']}")]
    return [*lines, _row("", f"fix: {_fix(one['fix'])}")] if one.get("fix") else lines


def _fix(fix: Any) -> str:
    if not isinstance(fix, Mapping):
        return str(fix)
    given = " ".join(f"--{str(name).replace('_', '-')} {value}" for name, value in (fix.get("arguments") or {}).items())
    return f"hindbrain {str(fix.get('tool', '')).replace('.', ' ').replace('_', '-')} {given}".strip()


def _once(notes: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """A note that holds for several brains is told of the first."""
    seen: dict[str, Mapping[str, Any]] = {}
    for one in notes:
        seen.setdefault(str(one["kind"]), one)
    return seen.values()
