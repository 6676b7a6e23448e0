"""Workspaces of runs: a copy that leaves the project alone, an empty one, or a directory as it stands."""

import os
import subprocess
from pathlib import Path

import pytest

from hindbrain.domain.brain import Brain, BrainId
from hindbrain.domain.errors import InvalidParams
from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.workspaces import Workspaces
from hindbrain.stores.locks import try_lock
from hindbrain.stores.memory import MemoryStore


@pytest.fixture
def opened(tmp_path: Path) -> OpenBrain:
    project, directory = tmp_path / "project", tmp_path / "brain"
    for name, text in {"a.txt": "A", "src/b.py": "B", "build/out": "O", ".gitignore": "build/\n", ".hindbrain/m.md": "M"}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "run.sh").write_text("#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    (project / "link").symlink_to("/etc/passwd")
    directory.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    brain = Brain(id=BrainId("11111111-1111-4111-8111-111111111111"), root=str(project), created_ms=0)
    return OpenBrain(brain, directory, MemoryStore(brain.id))


def test_ctl_097_a_run_works_on_a_copy_of_what_git_would_keep(opened: OpenBrain) -> None:
    spaces = Workspaces()

    space = spaces.made(opened, "tsk_1")
    space.write("a.txt", "changed", over=True)
    (space.root / "new.txt").write_text("new")

    assert space.glob("*").paths == (".gitignore", "a.txt", "new.txt", "run.sh", "src/b.py")
    assert os.access(space.root / "run.sh", os.X_OK)
    assert Path(str(opened.brain.root), "a.txt").read_text() == "A"
    assert spaces.place(opened, "tsk_1") == space.root == opened.directory / "runs" / "tsk_1" / "work"
    assert spaces.changed(opened, "tsk_1") == ("a.txt", "new.txt")
    assert spaces.temporary(opened, "tsk_1").is_dir()
    assert space.own


def test_ctl_097_a_run_can_begin_empty_or_in_a_directory_as_it_stands(opened: OpenBrain, tmp_path: Path) -> None:
    spaces = Workspaces()
    place = tmp_path / "mine"
    place.mkdir()
    (place / "x.txt").write_text("x")

    empty = spaces.made(opened, "tsk_1", empty=True)
    named = spaces.made(opened, "tsk_2", place=str(place))
    named.write("y.txt", "y", over=False)

    assert empty.glob("*").paths == ()
    assert named.root == place
    assert not named.own
    assert spaces.changed(opened, "tsk_2") == ("y.txt",)
    assert (place / "y.txt").read_text() == "y"


@pytest.mark.parametrize("place", ["/", "~", "relative", "/no/such/place"])
def test_ctl_097_a_whole_machine_is_no_workspace(opened: OpenBrain, place: str) -> None:
    with pytest.raises(InvalidParams):
        Workspaces().made(opened, "tsk_1", place=place)


@pytest.mark.parametrize("limit", [{"files": 3}, {"size": 8}])
def test_ctl_097_a_project_that_is_too_large_is_refused_with_a_way_out(opened: OpenBrain, limit: dict[str, int]) -> None:
    with pytest.raises(InvalidParams, match="too large") as refused:
        Workspaces(**limit).made(opened, "tsk_1")

    assert "empty workspace" in str(refused.value.fix)


def test_ctl_097_only_the_latest_workspaces_are_kept_and_none_that_is_in_use(opened: OpenBrain) -> None:
    spaces = Workspaces(kept=3)
    for number in range(1, 6):
        spaces.made(opened, f"tsk_{number}", empty=True)
        home = opened.directory / "runs" / f"tsk_{number}"
        os.utime(home, ns=(number, number))
        if number == 1:
            held = try_lock(home / "alive.lock")
            os.utime(home, ns=(number, number))

    assert sorted(os.listdir(opened.directory / "runs")) == ["tsk_1", "tsk_3", "tsk_4", "tsk_5"]
    assert spaces.changed(opened, "tsk_2") == ()
    assert held is not None
    os.close(held)


@pytest.mark.parametrize("task_id", ["../x", "", "a/b", "."])
def test_ctl_097_the_id_of_a_task_is_no_path(opened: OpenBrain, task_id: str) -> None:
    with pytest.raises(InvalidParams):
        Workspaces().place(opened, task_id)
