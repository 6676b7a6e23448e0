"""Recovery in words: what a person at a terminal wants of the state of the program and of its hosts."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["hosts_text", "update_text"]

_SIGNS = {"green": "ok", "red": "wrong", "grey": "not connected"}


def hosts_text(status: Mapping[str, Any]) -> str:
    """A line for each host, then what to do about those that are not right."""
    rows = status["hosts"]
    named, signed = (max((len(text) for text in texts), default=0) for texts in zip(*map(_named, rows), strict=True))
    lines = [f"hosts for {status['project'] or 'no project'}"]
    for row in rows:
        title, sign = _named(row)
        lines.append(f"  {title:{named}}  {sign:{signed}}  {_about(row)}".rstrip())
    todo = []
    if any(row["color"] == "red" for row in rows):
        todo.append("hindbrain hosts plan shows the right entry for each host")
    if all(row["color"] == "grey" for row in rows):
        todo.append("hindbrain install --dry-run shows what connecting would write")
    return "\n".join([*lines, *(f"next: {one}" for one in todo)])


def _named(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["title"], _SIGNS[row["color"]]


def _about(row: Mapping[str, Any]) -> str:
    if row["config_file"] is None:
        return str(row["reason"])
    shaken = "a session has shaken hands" if row["host_rebind_proven"] else f"not proven: {row['rebind_missing']}"
    return f"{row['config_file']}: {row['reason'] or shaken}"


def update_text(status: Mapping[str, Any]) -> str:
    """What is installed, what runs, what is expected, and the steps there."""
    here, owner, wanted = status["installed"], status["owner"], status["expected"]["version"]
    kind = ", linked to its source" if here["editable"] else ""
    lines = [f"installed  {here['version']} (build {here['build']}{kind})", f"running    {_running(status, owner)}"]
    lines.append(f"expected   {wanted or 'not known: no release.json in the home; hindbrain update check asks a source'}")
    lines += [f"program    {one['path']}{' (behind another one)' if one['shadowed'] else ''}" for one in status["executables"]]
    lines.append(f"state      {_STATES[status['state']]}")
    return "\n".join([*lines, *_steps(status["plan"])])


_STATES = {
    "current": "what is expected is installed",
    "stale": "something else than what is expected is installed",
    "mixed": "what runs is not what is installed",
    "missing": "there is no program to start",
    "unknown": "nothing is wrong; what the newest release is, is not known",
}


def _running(status: Mapping[str, Any], owner: Mapping[str, Any] | None) -> str:
    if owner is None or not owner["alive"]:
        return "no owner"
    same = "something else than what is installed" if status["owner_version_skew"] else "what is installed"
    return f"owner {owner['pid']}, {owner['version']}: {same}"


def _steps(plan: Sequence[Mapping[str, Any]]) -> list[str]:
    told = [f"{one['action']}: {one['command']}" if one["command"] else one["action"] for one in plan]
    return [f"  {number}. {text}" for number, text in enumerate(told, 1)]
