"""Host hooks: what a host tells after a tool was used, as a finished command or a report. Tools are known by exact names; any
other is nothing. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

from hindbrain.domain.mission import EventType
from hindbrain.domain.mission_run import Ran
from hindbrain.domain.typed import converted
from hindbrain.engines.mission_report import Report, reported

__all__ = ["AFTER", "heard"]

AFTER = frozenset({"PostToolUse", "AfterTool", "PostToolUseFailure"})
_SHELLS = frozenset({"Bash", "bash", "shell", "run_shell_command", "local_shell", "exec_command"})
_FILES: Mapping[str, EventType] = {
    "Read": EventType.FILE_READ,
    "read_file": EventType.FILE_READ,
    "Edit": EventType.FILE_EDIT,
    "MultiEdit": EventType.FILE_EDIT,
    "Write": EventType.FILE_EDIT,
    "write_file": EventType.FILE_EDIT,
    "replace": EventType.FILE_EDIT,
}
_PATHS = ("file_path", "absolute_path", "path")
_STATUS = ("exit_code", "exitCode", "exit_status", "returncode")
_ANSWERS = ("tool_response", "tool_output", "tool_result")
_OUTPUT = ("stdout", "output", "llmContent", "content")
_KEPT = 16 * 1024
_LINE = 20_000


def heard(payload: Mapping[str, Any]) -> Ran | Report | None:
    """A command that ended, a report of a file, or nothing."""
    name, given = payload.get("tool_name"), payload.get("tool_input")
    if not isinstance(name, str) or not isinstance(given, Mapping):
        return None
    answer: Any = next((payload[one] for one in _ANSWERS if one in payload), {})
    if name in _SHELLS:
        return _command(payload, given, answer)
    path = next((given[one] for one in _PATHS if isinstance(given.get(one), str)), None)
    if name in _FILES and path is not None:
        return reported({"event_type": _FILES[name].value, "target": path, "tool": name}) if path.strip() else None
    return None


def _command(payload: Mapping[str, Any], given: Mapping[str, Any], answer: Any) -> Ran | None:
    line = given.get("command")
    if isinstance(line, list) and line and all(isinstance(one, str) for one in line):
        words, shell = tuple(line), False
    elif isinstance(line, str) and line.strip() and len(line) <= _LINE:
        words, shell = (line,), True
    else:
        return None
    told = answer if isinstance(answer, Mapping) else {"output": answer}
    said = next((told[one] for one in _OUTPUT if isinstance(told.get(one), str)), "")
    wrong = told.get("stderr") if isinstance(told.get("stderr"), str) else ""
    text = said + (("\n" if said and wrong else "") + str(wrong))
    cwd = payload.get("cwd")
    return converted(
        {
            "argv": words,
            "exit_status": _status(told, payload),
            "output": text[-_KEPT:],
            "stdout_digest": _digest(said),
            "stderr_digest": _digest(str(wrong)),
            "output_bytes": len(text.encode("utf-8", "replace")),
            "duration_ms": _duration(told, payload),
            "cwd": cwd if isinstance(cwd, str) else ".",
            "shell_line": shell,
            "interrupted": told.get("interrupted") is True,
        },
        Ran,
    )


def _status(told: Mapping[str, Any], payload: Mapping[str, Any]) -> int | None:
    """How it ended, if the host says so. Nothing is guessed from its output."""
    for place in (told, payload, told.get("metadata")):
        for name in _STATUS if isinstance(place, Mapping) else ():
            value = place.get(name)  # type: ignore[union-attr]  # a mapping, as just looked at
            if isinstance(value, int) and not isinstance(value, bool):
                return value if 0 <= value <= 255 else 255
    return None


def _duration(told: Mapping[str, Any], payload: Mapping[str, Any]) -> int:
    found = told.get("duration_ms", payload.get("duration_ms", 0))
    return max(0, int(found)) if isinstance(found, int | float) and found < 1e12 else 0


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
