"""The lane of any agent: a command is started in the lane's workspace with the prompt, and what it wrote down is collected."""

import contextlib
import json
import os
import shlex
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.gym_fixture import Finding
from hindbrain.domain.mission import EventType, MissionEvent, Outcome
from hindbrain.engines.gym_prompt import FINDINGS_FILE
from hindbrain.launcher import STDOUT, TimeoutExpired, find_program, start
from hindbrain.services.gym.stream import PaperStream

__all__ = ["AGENT_ID", "Commanded", "commanded"]

AGENT_ID = "gym-agent"  # what the command is called in its own home

_LARGEST = 4_000_000  # bytes of findings
_MOST = 500
_LANE = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commanded:
    """What the command left behind."""

    completed: bool
    note: str
    findings: tuple[Finding, ...] = ()
    events: tuple[MissionEvent, ...] = ()
    answer: dict[str, Any] = field(default_factory=dict)


def commanded(command: str, directory: Path, *, time_limit_s: float, clock: Callable[[], int]) -> Commanded:
    """Start it and read its findings. `{prompt}` stands for the prompt's text, `{prompt_file}` for the file it is in."""
    workspace, prompt = directory / "workspace", directory / "prompt.md"
    words = [
        word.replace("{prompt_file}", str(prompt)).replace("{prompt}", prompt.read_text(encoding="utf-8"))
        for word in shlex.split(command)
    ]
    if not words:
        raise InvalidParams("the agent command is empty", fix="give --agent-command 'PROGRAM … {prompt}'")
    stream = PaperStream(_LANE, _LANE, clock)
    note = _ran(words, workspace, directory / "home", time_limit_s)
    path = workspace / FINDINGS_FILE
    if not path.is_file() or path.is_symlink() or path.stat().st_size > _LARGEST:
        return Commanded(completed=False, note=note or f"the agent wrote no {FINDINGS_FILE}")
    at = int(path.stat().st_mtime * 1000)
    raw = path.read_bytes()
    path.unlink()  # it is the lane's report, not a part of the fixture
    try:
        told = json.loads(raw)
        findings = tuple(_finding(number, one, at) for number, one in enumerate(told.get("findings", ())[:_MOST], 1))
        for one in told.get("events", ())[:_MOST]:
            stream.add(EventType(one["event_type"]), str(one.get("target", "")), Outcome(one.get("outcome", "noted")), {})
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        return Commanded(completed=False, note=f"{FINDINGS_FILE} cannot be read: {problem}")
    answer = told.get("answer")
    return Commanded(
        completed=not note,
        note=note,
        findings=findings,
        events=tuple(stream.events),
        answer=answer if isinstance(answer, dict) else {},
    )


def _ran(words: list[str], workspace: Path, home: Path, time_limit_s: float) -> str:
    """Run the command to its end, or end it with all that it started; what is to be said of how it ended."""
    own = {"HINDBRAIN_HOME": str(home), "HINDBRAIN_AGENT_ID": AGENT_ID, "HINDBRAIN_MODE": "embedded"}
    program = find_program(words[0]) if "/" not in words[0] else os.path.abspath(words[0])
    if program is None:
        raise InvalidParams(f"there is no program {words[0][:200]!r}", fix="name a program that is installed")
    with tempfile.TemporaryFile() as said:
        try:
            process = start([program, *words[1:]], cwd=workspace, more=own, stdout=said.fileno(), stderr=STDOUT)
        except OSError as problem:
            raise InvalidParams(f"the agent command did not start: {problem}", fix="name a program that is installed") from None
        try:
            status = process.wait(time_limit_s)
        except TimeoutExpired:
            return f"the command did not end within {time_limit_s:g} s"
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left of it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return "" if status == 0 else f"the command ended with {status}: {_tail(said)}"


def _finding(number: int, told: dict[str, Any], at: int) -> Finding:
    line, reproduction = told.get("line"), told.get("reproduction")
    return Finding(
        finding_id=f"f{number}",
        repository=str(told.get("repository") or ""),
        path=str(told["path"]),
        line=line if isinstance(line, int) and line > 0 else None,
        symbol=str(told["symbol"]) if told.get("symbol") else None,
        statement=str(told["statement"])[:2000],
        reproduction=reproduction if isinstance(reproduction, str) else None,
        at_ms=at,
    )


def _tail(said: Any) -> str:
    said.seek(0)
    return str(said.read()[-300:].decode("utf-8", "replace")).strip()
