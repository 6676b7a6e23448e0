"""Task files: what a run changed in its copy of the project, compared with the project, brought into it, and taken back.

Nothing is written through a link or outside of the project, and no file that changed since the copy was taken. What is replaced
or deleted is backed up first, so that a crash in the middle can be undone as well."""

import json
import os
import stat
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidState, PathRefused, StaleWrite
from hindbrain.engines.file_changes import FileChange, FileVersion, change_diff, plan_identity
from hindbrain.policy.tools import APPLY_BYTES
from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.workspaces import Workspaces
from hindbrain.stores.atomic import write_bytes, write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.held_file import shown
from hindbrain.stores.repository import Names, by_products
from hindbrain.stores.workspace import Workspace

__all__ = ["FilePlan", "TaskFiles", "applied_text", "plan_rows"]

_RECORD = "record.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """What would be written into a project. `left_out` are files that the project does not keep, as its ignore rules say."""

    task_id: str
    project: Path
    changes: tuple[FileChange, ...]
    left_out: tuple[str, ...] = ()
    undo: bool = False

    @property
    def identity(self) -> str:
        return plan_identity(f"{self.task_id} {self.project} {self.undo}", self.changes)

    @property
    def conflicts(self) -> tuple[FileChange, ...]:
        return tuple(one for one in self.changes if one.conflict)


class TaskFiles:
    """The files of ended runs."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def plan(self, opened: OpenBrain, task_id: str) -> FilePlan:
        """What the run changed, against what the project has now."""
        start = self._workspaces.start(opened, task_id)
        if not start:
            raise InvalidState(
                f"the workspace of {task_id} is gone: only the latest runs keep theirs", fix="run the goal again, then apply it"
            )
        if not start["own"]:
            raise InvalidState(f"{task_id} worked in {start['root']} itself; there is nothing to apply", fix="look there")
        if "digests" not in start or not start.get("project"):
            raise InvalidState(
                f"{task_id} has no record of the files it began with", fix="run the goal again, then apply it; or copy by hand"
            )
        project, base = _project(start["project"]), start["digests"]
        with (
            closing(Workspace(Path(start["root"]), own=True)) as work,
            closing(Workspace(project, own=False, marked=False)) as there,
        ):
            names = sorted({*work.marks(), *base})
            ignored = by_products(str(project), [name for name in names if name not in base])
            found = [_compared(name, base.get(name), work, there) for name in names if name not in ignored]
        changes = tuple(one for one in found if one is not None)
        size = sum(len(side.raw) for one in changes for side in (one.before, one.after) if side is not None)
        if size > APPLY_BYTES:
            raise InvalidState(f"the changes have more than {APPLY_BYTES // 1_000_000} MB", fix="copy them by hand")
        return FilePlan(task_id=task_id, project=project, changes=changes, left_out=tuple(sorted(map(shown, ignored))))

    def undo_plan(self, opened: OpenBrain, task_id: str) -> FilePlan:
        """The way back from what was applied last."""
        home = self._workspaces.applied(opened, task_id)
        try:
            record: dict[str, Any] = json.loads((home / _RECORD).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InvalidState(f"nothing of {task_id} was applied", fix=f"hindbrain task apply {task_id}") from None
        project = _project(record["project"])
        changes = []
        with closing(Workspace(project, own=False, marked=False)) as there:
            for one in record["files"]:
                old = home / one["backup"] if one["backup"] else None
                before = FileVersion(raw=old.read_bytes(), executable=one["was_executable"]) if old is not None else None
                changes.append(_restored(one["name"], before, one["applied"], there))
        done = tuple(one for one in changes if one is not None)
        return FilePlan(task_id=task_id, project=project, changes=done, undo=True)

    def carry_out(self, opened: OpenBrain, plan: FilePlan, plan_id: str | None) -> Path | None:
        """Write all of a plan, or nothing where a file is in the way. The answer is where the files that it replaced are kept."""
        if plan_id is not None and plan_id != plan.identity:
            raise InvalidState("files changed since this plan was shown", fix="look at the plan again, then confirm it")
        if plan.conflicts:
            told = "; ".join(f"{shown(one.name)}: {one.conflict}" for one in plan.conflicts[:5])
            raise StaleWrite(
                f"{len(plan.conflicts)} file(s) of the project are in the way: {told}",
                fix="run the goal again on the project as it is now, or merge by hand",
            )
        if not plan.changes:
            return None
        home = self._workspaces.applied(opened, plan.task_id)
        if not plan.undo:
            self._back_up(home, plan)
        with closing(Workspace(plan.project, own=False, marked=False)) as there:
            for one in plan.changes:
                before = one.before.mark if one.before is not None else None
                if one.after is None:
                    there.remove(one.name, expected=before)
                else:
                    there.place(one.name, one.after.raw, expected=before, executable=one.after.executable)
        if plan.undo:
            os.replace(home / _RECORD, home / f"undone-{_RECORD}")
            return None
        return home

    def _back_up(self, home: Path, plan: FilePlan) -> None:
        """Keep what will be replaced, and what will be written, before anything is written."""
        if (home / _RECORD).exists():
            raise InvalidState(
                f"{plan.task_id} was applied before, and its files changed since",
                fix=f"take that back first: hindbrain task apply {plan.task_id} --undo",
            )
        make_directory(home)
        files = []
        for number, one in enumerate(plan.changes):
            backup = f"{number:05d}.before" if one.before is not None else None
            if backup is not None and one.before is not None:
                write_bytes(home / backup, one.before.raw)
            files.append(
                {
                    "name": one.name,
                    "backup": backup,
                    "was_executable": one.before is not None and one.before.executable,
                    "applied": one.after.mark if one.after is not None else None,
                }
            )
        write_text(home / _RECORD, json.dumps({"project": str(plan.project), "files": files}))


def plan_rows(plan: FilePlan) -> list[dict[str, Any]]:
    """A plan as data."""
    return [
        {"path": shown(one.name), "change": one.kind, "conflict": one.conflict or None, "diff": change_diff(one)}
        for one in plan.changes
    ]


def applied_text(told: dict[str, Any], *, given_up: bool, person: bool) -> str:
    """A plan, or what was done, for a person to read."""
    files, task_id = told["files"], told["task_id"]
    if told["written"]:
        done = "Took back" if told["undo"] else "Wrote"
        lines = [f"{done} {len(files)} file(s) in {told['project']}.", *(f"  {one['change']:8} {one['path']}" for one in files)]
        if told["backup"]:
            lines.append(f"The files before are kept in {told['backup']}. To take it back: hindbrain task apply {task_id} --undo")
        return "\n".join(lines)
    lines = [f"{task_id}: {len(files)} file(s) to {'take back' if told['undo'] else 'write'} in {told['project']}"]
    if given_up and not told["undo"]:
        lines.append("This task was given up: its files may be incomplete.")
    for one in files:
        lines += ["", f"{one['change']}: {one['path']}", *((f"in the way: {one['conflict']}",) if one["conflict"] else ())]
        lines.append(one["diff"])
    if told["left_out"]:
        lines += ["", f"Left out, because the project ignores them: {len(told['left_out'])} file(s)"]
    if any(one["conflict"] for one in files):
        lines += ["", "Nothing can be written while a file is in the way. Run the goal again on the project as it is now."]
    elif files and not person:
        undo = " --undo" if told["undo"] else ""
        lines += ["", f"Nothing was written. A person does it at a terminal: hindbrain task apply {task_id}{undo}"]
    return "\n".join(lines)


def _project(path: str) -> Path:
    project = Path(path)
    if not project.is_dir():
        raise PathRefused(f"the project is no longer at {shown(path)[:200]}", fix="run the goal again where the project is now")
    return project


def _version(space: Workspace, name: str) -> FileVersion | None:
    facts = space.facts(name)
    if facts is None:
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise PathRefused(f"{shown(name)[:200]} is no regular file", fix="choose another one")
    return FileVersion(raw=space.read_bytes(name, most=APPLY_BYTES), executable=bool(facts.st_mode & 0o100))


def _compared(name: str, base: Sequence[Any] | None, work: Workspace, there: Workspace) -> FileChange | None:
    """One file of the run against the project; None where both are the same, or the run did not touch it."""
    try:
        after = _version(work, name)
    except PathRefused as refused:
        return FileChange(name=name, before=None, after=None, conflict=refused.message)
    if base is not None and after is not None and [after.mark, after.executable] == list(base):
        return None
    if (why := Names(str(there.root)).why_not(name)) is not None or there.closed(name):
        return FileChange(name=name, before=None, after=after, conflict=why or "nothing is written there")
    try:
        before = _version(there, name)
    except PathRefused as refused:
        return FileChange(name=name, before=None, after=after, conflict=refused.message)
    if before == after:
        return None
    change = FileChange(name=name, before=before, after=after)
    if base is None:
        return change if before is None else replace(change, conflict="the project has a file of this name already")
    if before is None:
        return replace(change, conflict="it was deleted from the project since the run began")
    return change if before.mark == base[0] else replace(change, conflict="it changed in the project since the run began")


def _restored(name: str, old: FileVersion | None, applied: str | None, there: Workspace) -> FileChange | None:
    """The way back for one file; None where it is already as it was."""
    try:
        now = _version(there, name)
    except PathRefused as refused:
        return FileChange(name=name, before=None, after=old, conflict=refused.message)
    if now == old:
        return None
    change = FileChange(name=name, before=now, after=old)
    same = now.mark == applied if now is not None else applied is None
    return change if same else replace(change, conflict="it changed since it was applied")
