"""A workspace with real files and commands, and a mind that says what it was given, for tests of the plant."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.message import Role
from hindbrain.domain.task import Criterion, Guards, MustNot, Step, SubTask, SubTaskMore
from hindbrain.services.control.ports import Thought
from hindbrain.services.control.tools import Toolbox
from hindbrain.stores.command import Commands
from hindbrain.stores.sandbox import Sandbox, available
from hindbrain.stores.workspace import Workspace

__all__ = ["CONTAINED", "Asked", "Scripted", "box", "plan"]

# For tests whose commands run unasked. Without a sandbox every command waits for a person: tests/attack/test_run_sandbox.py.
CONTAINED = pytest.mark.skipif(available() is Sandbox.NONE, reason="this machine has no sandbox, so no command runs unasked")


class Scripted:
    """Implements `Mind`: gives its texts in order, the last one for ever; None is no model, an exception is raised."""

    def __init__(self, *texts: Any) -> None:
        self._texts = list(texts)
        self.asked: list[str] = []

    def think(self, role: Role, *, task_id: str | None, system: str, user: str, **_: Any) -> Thought | None:
        self.asked.append(f"{system}\n{user}")
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        if isinstance(text, Exception):
            raise text
        return None if text is None else Thought(text=text, data=None, provider="test", model="test", tier=1)

    def tier(self, role: Role) -> int:
        return 1


class Asked:
    """Answers each question with the next of its answers, and keeps the questions."""

    def __init__(self, *answers: bool | None) -> None:
        self._answers = list(answers)
        self.questions: list[tuple[str, str, str]] = []

    def __call__(self, *, tool: str, action: str, why: str) -> bool | None:
        self.questions.append((tool, action, why))
        return self._answers.pop(0) if self._answers else None


def box(
    root: Path,
    files: dict[str, str] | None = None,
    *,
    own: bool = True,
    memory: Callable[[str], str] | None = None,
    by_person: bool = True,
    output_directory: str = "",
) -> Toolbox:
    """Tools that work on a directory with these files."""
    work, temporary = root / "work", root / "tmp"
    for place in (work, temporary):
        place.mkdir(parents=True, exist_ok=True)
    for name, text in (files or {}).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    path = os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"])
    return Toolbox(
        workspace=Workspace(work, own=own),
        commands=Commands(work, temporary=temporary, path=path),
        memory=memory,
        by_person=by_person,
        output_directory=output_directory,
    )


def plan(
    *steps: tuple[str, dict[str, Any]],
    intent: str = "look at the files",
    criteria: tuple[Criterion, ...] = (),
    hints: tuple[str, ...] = (),
    must_not: MustNot | None = None,
    guards: Guards | None = None,
    subtask_id: str = "s1",
    context: str = "",
    sequence: int = 1,
) -> SubTask:
    """A subtask with these steps."""
    return SubTask(
        subtask_id=subtask_id,
        parent_task_id="tsk_1",
        intent=intent,
        success_criteria=criteria or (Criterion(criterion="it is done"),),
        context=context,
        sequence=sequence,
        x=SubTaskMore(
            tool_hints=hints,
            steps=tuple(Step(tool=tool, input=given) for tool, given in steps) or None,
            must_not=must_not or MustNot(),
            guards=guards or Guards(),
        ),
    )
