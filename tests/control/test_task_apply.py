"""What a run made is brought into the project by a person, after a look, over nothing that changed, and can be taken back."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program, end_owner
from tests.support.goals import FILES, lay
from tests.support.world import World

SCRIPT = (
    "rm data/people.csv; echo more >> notes.md; mkdir -p out __pycache__; echo new > out/made.txt; echo c > __pycache__/a.pyc; "
    "printf '#!/bin/sh' > out/start.sh; chmod +x out/start.sh; echo secret > ignored.tmp"
)


class Yard:
    """A project, and a run that added, changed and deleted files in its copy."""

    def __init__(self, world: World) -> None:
        self.root = Path(world.repository("app"))
        lay(self.root)
        (self.root / ".gitignore").write_text("*.tmp\n", encoding="utf-8")
        assert world.at(str(self.root)).call("ingest", path=str(self.root), project_root=str(self.root))["ok"]
        world.clock.catch_up()
        self.person, self.agent = world.human(str(self.root)), world.at(str(self.root))
        self.task_id = self.person.call("run", goal=f'Run "{SCRIPT}"', wait_s=0)["task_id"]
        while (shown := self.person.call("task.show", task_id=self.task_id, wait_s=20))["state"] != "done":
            for one in shown["waiting"]:
                self.person.call("task.answer", task_id=self.task_id, request_id=one["request_id"], allowed=True)
        self.shown = shown

    def apply(self, **more: Any) -> dict[str, Any]:
        return self.person.call("task.apply", task_id=self.task_id, **more)  # type: ignore[no-any-return]

    def files(self) -> dict[str, str]:
        """What the project has, without what git and Hindbrain keep there."""
        found = (one for one in self.root.rglob("*") if one.is_file() and not {".git", ".hindbrain"} & set(one.parts))
        return {str(one.relative_to(self.root)): one.read_text(encoding="utf-8") for one in found}


@pytest.fixture
def yard(world: World) -> Yard:
    return Yard(world)


def test_ctl_311_a_run_is_shown_applied_once_and_taken_back(yard: Yard) -> None:
    before = yard.files()
    looked = yard.agent.call("task.apply", task_id=yard.task_id)
    by_agent = yard.agent.call("task.apply", task_id=yard.task_id, yes=True)
    other_plan = yard.apply(yes=True, plan_id="0" * 16)
    untouched = yard.files()
    applied = yard.apply(yes=True, plan_id=looked["plan_id"])
    after = yard.files()
    again = yard.apply(yes=True)
    undone = yard.apply(undo=True, yes=True)

    assert f"hindbrain task apply {yard.task_id}" in yard.shown["rendered"]
    assert {one["path"]: one["change"] for one in looked["files"]} == {
        "data/people.csv": "deleted",
        "notes.md": "changed",
        "out/made.txt": "new",
        "out/start.sh": "new",
    }
    assert looked["left_out"] == ["__pycache__/a.pyc", "ignored.tmp"]
    for line in ("-name,age", "+more", "+new", "becomes executable", "A person does it at a terminal"):
        assert line in looked["rendered"]
    assert by_agent["error"]["code"] == "human_needed"
    assert other_plan["error"]["code"] == "invalid_state"
    assert untouched == before
    assert applied["written"], applied
    assert after == {name: text for name, text in before.items() if name != "data/people.csv"} | {
        "notes.md": f"{FILES['notes.md']}more\n",
        "out/made.txt": "new\n",
        "out/start.sh": "#!/bin/sh",
    }
    assert f"hindbrain task apply {yard.task_id} --undo" in applied["rendered"]
    assert (again["files"], again["written"]) == ([], False)
    assert undone["written"]
    assert yard.files() == before
    assert not (yard.root / "out").exists()
    acts = [one["act"] for one in yard.person.call("ledger.show", subject=f"task:{yard.task_id}", limit=200)["entries"]]
    assert [one for one in acts if one.startswith("task.")] in (["task.applied", "task.undone"], ["task.undone", "task.applied"])


def test_ctl_311_nothing_is_written_over_a_file_that_changed_since(yard: Yard) -> None:
    (yard.root / "notes.md").write_text("mine\n", encoding="utf-8")
    (yard.root / "out").mkdir()
    (yard.root / "out" / "made.txt").write_text("also mine\n", encoding="utf-8")
    before = yard.files()

    looked, refused = yard.apply(), yard.apply(yes=True)
    (yard.root / "notes.md").write_text(FILES["notes.md"], encoding="utf-8")
    (yard.root / "out" / "made.txt").unlink()
    applied = yard.apply(yes=True)
    (yard.root / "notes.md").write_text("later\n", encoding="utf-8")
    not_undone = yard.apply(undo=True, yes=True)

    assert {one["path"]: one["conflict"] for one in looked["files"] if one["conflict"]} == {
        "notes.md": "it changed in the project since the run began",
        "out/made.txt": "the project has a file of this name already",
    }
    assert not looked["pending"]
    assert refused["error"]["code"] == "stale_write"
    assert before["notes.md"] == "mine\n"
    assert "data/people.csv" in before
    assert applied["written"], applied
    assert not_undone["error"]["code"] == "stale_write"
    assert yard.files()["notes.md"] == "later\n"
    assert os.access(yard.root / "out" / "start.sh", os.X_OK)


def test_ctl_311_nothing_is_written_through_a_link_or_outside_of_the_project(yard: Yard, tmp_path: Path) -> None:
    outside, aside = tmp_path / "outside", tmp_path / "aside"
    outside.mkdir()
    (outside / "people.csv").write_text(FILES["data/people.csv"], encoding="utf-8")
    (outside / "notes.md").write_text(FILES["notes.md"], encoding="utf-8")
    before = {one.name: one.read_bytes() for one in outside.iterdir()}

    for name, leads_to in (("out", outside), ("notes.md", outside / "notes.md"), ("data", outside)):
        link = yard.root / name
        if link.exists():
            link.rename(aside)
        link.symlink_to(leads_to)
        refused = yard.apply(yes=True)
        link.unlink()
        if aside.exists():
            aside.rename(link)

        assert refused["error"]["code"] == "stale_write", refused
        assert {one.name: one.read_bytes() for one in outside.iterdir()} == before
        assert not (yard.root / "out").exists()
    assert yard.apply(yes=True)["written"]


def test_ctl_311_a_task_that_runs_or_worked_in_place_has_nothing_to_apply(yard: Yard, tmp_path: Path) -> None:
    waiting = yard.person.call("run", goal="Run 'rm notes.md'", wait_s=0)["task_id"]
    running = yard.person.call("task.apply", task_id=waiting)
    yard.person.call("task.cancel", task_id=waiting)
    place = yard.person.call("run", goal='Create a.txt with "x"', workspace=str(tmp_path), wait_s=60)
    in_place = yard.person.call("task.apply", task_id=place["task_id"])
    nothing = yard.apply(undo=True)

    assert running["error"]["code"] == in_place["error"]["code"] == nothing["error"]["code"] == "invalid_state"
    assert place["apply"] is None


def test_ctl_311_at_a_terminal_the_diff_is_shown_and_asked_about_and_a_pipe_writes_nothing(yard: Yard, world: World) -> None:
    home, task_id = Path(world.home.path), yard.task_id
    world.close()
    program = Program(home=home, directory=yard.root, environ={"HINDBRAIN_MODE": "embedded"})
    piped = program.run("task", "apply", task_id, "--yes", "--json")
    no = program.at_terminal("task", "apply", task_id, say=[("in the project? [y/N] ", "n\n")])
    before = yard.files()
    yes = program.at_terminal("task", "apply", task_id, say=[("in the project? [y/N] ", "y\n")])
    after = yard.files()
    end_owner(home)

    assert piped.code != 0
    assert piped.json["error"]["code"] == "human_needed"
    assert no.code == 1
    assert "Nothing was changed." in no.out
    assert "+more" in yes.out
    assert "--undo" in yes.out
    assert "more" not in before["notes.md"]
    assert "more" in after["notes.md"]
