"""Workspaces of runs: made as a copy of the project, empty, or in a directory that a person named; looked at later; the oldest
removed."""

import json
import os
import shutil
import stat
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.engines.file_changes import digest
from hindbrain.policy.tools import WORKSPACE_BYTES, WORKSPACE_FILES, WORKSPACES_KEPT
from hindbrain.services.brains import OpenBrain
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.held_file import shown
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.locks import held
from hindbrain.stores.repository import files_of
from hindbrain.stores.workspace import Mark, Workspace

__all__ = ["Workspaces"]

ALIVE = "alive.lock"
_START = "start.json"
_RUNS = "runs"
_APPLIED = "applied"


class Workspaces:
    """The directories under `runs` of a brain: `work` for the files, `tmp` for commands, and how the files were at the start."""

    def __init__(self, *, files: int = WORKSPACE_FILES, size: int = WORKSPACE_BYTES, kept: int = WORKSPACES_KEPT) -> None:
        self._files = files
        self._size = size
        self._kept = kept

    def made(self, opened: OpenBrain, task_id: str, *, place: str | None = None, empty: bool = False) -> Workspace:
        """A workspace for a run: in a directory as it stands, empty, or with a copy of the project's files."""
        home = self._home(opened, task_id)
        digests: dict[str, tuple[str, bool]] = {}
        self._remove_old(opened, without=task_id)
        make_directory(home / "tmp")
        if place is not None:
            space = Workspace(_named(place), own=False)
        else:
            work = home / "work"
            make_directory(work)
            if not empty and opened.brain.root is not None:
                try:
                    digests = self._copy(Path(opened.brain.root), work)
                except (InvalidParams, OSError):
                    shutil.rmtree(work, ignore_errors=True)  # half a copy is of no use
                    raise
            space = Workspace(work, own=True)
        start = {name: list(mark) for name, mark in space.marks().items()}
        told = {"root": str(space.root), "own": space.own, "project": opened.brain.root, "digests": digests, "files": start}
        write_text(home / _START, json.dumps(told))
        return space

    def start(self, opened: OpenBrain, task_id: str) -> dict[str, Any]:
        """How a run began: where its files are, from which project they came, the digest of each. Empty when it is gone."""
        found = self._start(opened, task_id)
        return found if found and Path(found["root"]).is_dir() else {}

    def own(self, opened: OpenBrain, task_id: str) -> bool:
        """Whether a run worked in a directory of its own, and not in one that a person named."""
        return bool(self._start(opened, task_id).get("own"))

    def applied(self, opened: OpenBrain, task_id: str) -> Path:
        """Where the files of the project are kept that an applied run replaced."""
        return self._home(opened, task_id) / _APPLIED

    def place(self, opened: OpenBrain, task_id: str) -> Path:
        """Where the files of a run are."""
        found = self._start(opened, task_id)
        return Path(found["root"]) if found else self._home(opened, task_id) / "work"

    def temporary(self, opened: OpenBrain, task_id: str) -> Path:
        """Where its commands may leave what nobody needs later."""
        return self._home(opened, task_id) / "tmp"

    def changed(self, opened: OpenBrain, task_id: str) -> tuple[str, ...]:
        """The files that are not as they were at the start; none when the workspace is gone."""
        found = self._start(opened, task_id)
        if not found or not Path(found["root"]).is_dir():
            return ()
        start: dict[str, Mark] = {name: (mark[0], mark[1], mark[2]) for name, mark in found["files"].items()}
        with closing(Workspace(Path(found["root"]), own=bool(found["own"]))) as space:
            now = space.marks()
        return tuple(sorted(shown(name) for name in {*now, *start} if now.get(name) != start.get(name)))

    def alive(self, opened: OpenBrain, task_id: str) -> bool:
        """Whether some process works on a task. One whose process was killed never says its last word."""
        return held(self._home(opened, task_id) / ALIVE)

    def lock(self, opened: OpenBrain, task_id: str) -> Path:
        """What the process that works on a task holds as long as it lives."""
        home = self._home(opened, task_id)
        make_directory(home)
        return home / ALIVE

    def removed(self, opened: OpenBrain, task_ids: Collection[str]) -> None:
        """Take away what these tasks left in workspaces of their own. A directory that a person named is not ours to remove."""
        for task_id in task_ids:
            home = self._home(opened, task_id)
            if not held(home / ALIVE):
                shutil.rmtree(home, ignore_errors=True)

    def _home(self, opened: OpenBrain, task_id: str) -> Path:
        if not task_id or not all(char.isalnum() or char in "_-" for char in task_id):
            raise InvalidParams("this cannot be the id of a task", fix="hindbrain task list")
        return opened.directory / _RUNS / task_id

    def _start(self, opened: OpenBrain, task_id: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self._home(opened, task_id) / _START).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def _copy(self, root: Path, work: Path) -> dict[str, tuple[str, bool]]:
        """Regular files that git knows or would take up, as bytes; no link, so nothing leads out. The digest of each, and whether
        it can be executed."""
        count = size = 0
        digests: dict[str, tuple[str, bool]] = {}
        with closing(Workspace(root, own=False, marked=False)) as source:
            for name in files_of(str(root)):
                try:
                    facts = source.facts(name)
                except PathRefused:
                    continue  # reached through a link: what it leads to is not part of the project
                if facts is None or not stat.S_ISREG(facts.st_mode) or name.split("/")[0] == REPO_DIR:
                    continue  # what the brain carries is asked for, not edited
                count, size = count + 1, size + facts.st_size
                if count > self._files or size > self._size:
                    raise InvalidParams(
                        f"the project is too large for a copy: more than {self._files} files or {self._size // 1_000_000} MB",
                        fix="ignore what is not source in .gitignore, start with an empty workspace, or name a directory",
                    )
                goal = work / name
                make_directory(goal.parent)
                runs = facts.st_mode & 0o100
                with open(os.open(goal, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700 if runs else 0o600), "wb") as file:
                    raw = source.read_bytes(name, most=self._size)
                    file.write(raw)
                digests[name] = (digest(raw), bool(runs))
        return digests

    def _remove_old(self, opened: OpenBrain, *, without: str) -> None:
        """Keep the files of the latest runs. A directory that a person named is not ours to remove."""
        runs = opened.directory / _RUNS
        if not runs.is_dir():
            return
        homes = sorted((one for one in runs.iterdir() if one.is_dir() and not one.is_symlink()), key=_age, reverse=True)
        for home in [one for one in homes if one.name != without][self._kept - 1 :]:
            if held(home / ALIVE):
                continue
            if (home / _APPLIED).is_dir():  # what it replaced in the project can still be taken back
                shutil.rmtree(home / "work", ignore_errors=True)
                shutil.rmtree(home / "tmp", ignore_errors=True)
            else:
                shutil.rmtree(home, ignore_errors=True)


def _named(place: str) -> Path:
    path = Path(place).expanduser()
    if not path.is_absolute() or not path.is_dir():
        raise InvalidParams(f"{shown(place)[:200]} is no directory", fix="give the whole path of a directory that is there")
    if path.resolve() == Path(path.anchor) or path.resolve() == Path.home().resolve():
        raise InvalidParams("a whole machine or home is no workspace", fix="name the directory of one project")
    return path


def _age(home: Path) -> int:
    try:
        return home.stat().st_mtime_ns
    except OSError:
        return 0
