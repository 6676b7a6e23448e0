"""Runs as people and agents meet them: started, watched, asked, allowed, cancelled, lost; the same on every surface."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.runs import Runs
from hindbrain.services.control.workspaces import Workspaces
from tests.cli.program import Program, end_owner
from tests.support.goals import lay
from tests.support.owner import RunningOwner
from tests.support.world import World


class Yard:
    """A project with a brain, and who works there."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = world.repository("app")
        lay(Path(self.root))
        assert world.at(self.root).call("ingest", path=self.root, project_root=self.root)["ok"]
        world.clock.catch_up()
        self.person, self.agent = world.human(self.root), world.at(self.root)

    def until(self, task_id: str, *states: str) -> dict[str, Any]:
        """The task once it is in one of these states."""
        while (shown := self.person.call("task.show", task_id=task_id, wait_s=20))["state"] not in states:
            assert shown["state"] in ("running", "waiting"), shown
        return shown


@pytest.fixture
def yard(world: World) -> Yard:
    return Yard(world)


def test_ctl_044_talk_is_answered_without_a_task_and_recorded_without_its_words(yard: Yard) -> None:
    told = yard.person.call("run", goal="who are you")

    assert told["task_id"] is None
    assert told["state"] == "answered"
    assert "Hindbrain" in told["rendered"]
    assert yard.person.call("task.list")["tasks"] == []
    (entry,) = yard.person.call("ledger.show", act="control.conversation")["entries"]
    assert "who are you" not in json.dumps(entry)


def test_ctl_102_ctl_292_what_cannot_be_taken_back_waits_and_one_answer_is_for_one_act(yard: Yard) -> None:
    begun = yard.person.call("run", goal="Run 'rm notes.md'. Then run 'rm notes.md'", wait_s=0)
    waiting = yard.until(begun["task_id"], "waiting")
    work = Path(waiting["workspace"])
    there = (work / "notes.md").exists()
    first = waiting["waiting"][0]
    told = yard.person.call("task.answer", task_id=begun["task_id"], request_id=first["request_id"], allowed=True)
    again = yard.person.call("task.answer", task_id=begun["task_id"], request_id=first["request_id"], allowed=True)
    asked = yard.until(begun["task_id"], "waiting", "done")

    assert there
    assert told["ok"]
    assert again["error"]["code"] == "invalid_params"
    assert not (work / "notes.md").exists()
    assert Path(yard.root, "notes.md").exists()  # it worked on a copy
    assert [one["request_id"] for one in asked["waiting"]] != [first["request_id"]]
    assert yard.person.call("task.cancel", task_id=begun["task_id"])["directive"] == "abandon"


def test_ctl_292_a_command_of_an_agents_run_waits_for_a_person_and_no_agent_may_allow_it(yard: Yard) -> None:
    begun = yard.agent.call("run", goal="Run 'echo hello > said.txt'", wait_s=0)
    waiting = yard.until(begun["task_id"], "waiting")
    asked = waiting["waiting"][0]["request_id"]
    forged = yard.agent.call("task.answer", task_id=begun["task_id"], request_id=asked, allowed=True)
    yard.person.call("task.answer", task_id=begun["task_id"], request_id=asked, allowed=True)
    done = yard.until(begun["task_id"], "done")

    assert waiting["waiting"][0]["texts"] == ["echo hello > said.txt"]
    assert waiting["waiting"][0]["waits_s"] > 0
    assert waiting["plan"]["number"] == 1
    assert [one["state"] for one in waiting["plan"]["parts"]] == ["open"]
    assert [one["state"] for one in done["plan"]["parts"]] == ["matched"]
    assert all(one["at"] for one in done["rounds"])
    (listed,) = yard.person.call("task.list")["tasks"]
    assert (listed["rounds"], listed["waiting"]) == (len(done["rounds"]), 0)
    assert forged["error"]["code"] == "human_needed"
    assert done["directive"] == "accept"
    assert done["changed"] == ["said.txt"]


def test_ctl_087_ctl_239_ctl_241_a_cancelled_task_ends_its_command_and_says_how_far_it_came(yard: Yard) -> None:
    seconds = 600_000 + os.getpid()  # a sleep that nobody else on this machine sleeps
    begun = yard.person.call("run", goal=f"Run 'echo begun > mark; sleep {seconds}'", wait_s=0)
    mark = Path(begun["workspace"], "mark")
    while not mark.exists():
        yard.person.call("task.show", task_id=begun["task_id"], wait_s=0.1)
        for one in yard.person.call("task.show", task_id=begun["task_id"])["waiting"]:
            yard.person.call("task.answer", task_id=begun["task_id"], request_id=one["request_id"], allowed=True)
    ended = yard.person.call("task.cancel", task_id=begun["task_id"], why="enough")
    again = yard.person.call("task.cancel", task_id=begun["task_id"])

    assert ended["state"] == again["state"] == "done"
    assert ended["final"]["x"]["abandon_reason"] == "cancelled"
    assert "enough" in ended["final"]["summary"]
    assert subprocess.run(["pgrep", "-f", f"^sleep {seconds}$"], capture_output=True, check=False).returncode == 1


def test_ctl_247_ctl_327_a_count_of_an_early_round_is_handed_over_though_a_later_round_could_not_repeat_it(yard: Yard) -> None:
    """The part that cannot be done blocks the tools of the other one; what is left of those waits for a person, who refuses."""
    task_id = yard.agent.call("run", goal="Read missing_report.txt. Count the python files.", wait_s=0)["task_id"]
    while (shown := yard.until(task_id, "waiting", "done"))["state"] == "waiting":
        for one in shown["waiting"]:
            yard.person.call("task.answer", task_id=task_id, request_id=one["request_id"], allowed=False)

    assert shown["directive"] == "abandon"
    assert len(shown["rounds"]) >= 3
    assert [str(one).strip() for one in shown["final"]["output"]["partial"]] == ["3"]
    assert "Done: count names that match *.py" in shown["rendered"]


class SlowLook(Workspaces):
    """Somebody who looks whether a task is alive, and is kept from his answer until it has ended."""

    def __init__(self) -> None:
        self.looking = threading.Event()

    def alive(self, opened: OpenBrain, task_id: str) -> bool:
        self.looking.set()
        while super().alive(opened, task_id):
            self.looking.wait(0.01)
        return False


def test_ctl_280_a_task_that_ends_while_somebody_looks_is_done_and_not_lost(yard: Yard) -> None:
    house, workspaces = yard.world.app.house, SlowLook()
    looker = Runs(house.brains, house.router, house.gateway, house.lines, cast(Any, None), workspaces)  # it starts no task
    task_id = yard.person.call("run", goal="Run 'rm notes.md'", wait_s=0)["task_id"]
    yard.until(task_id, "waiting")

    with ThreadPoolExecutor(1) as pool:
        shown = pool.submit(looker.show, yard.person.caller, task_id=task_id, after=0, wait_s=0)
        assert workspaces.looking.wait(30)
        ended = yard.person.call("task.cancel", task_id=task_id)

    assert ended["state"] == "done"
    assert shown.result()["state"] == "done"


def test_ctl_280_a_task_whose_process_was_killed_is_lost_and_the_brain_goes_on(yard: Yard) -> None:
    yard.world.close()
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom hindbrain.app import embedded, local_caller\n"
        "from hindbrain.domain.caller import Channel\nfrom hindbrain.settings import Settings\n"
        "from hindbrain.stores.home import Home\n"
        "home, root = sys.argv[1:]\ncaller = local_caller(root=root, agent='codex:maker', channel=Channel.HUMAN, environ={})\n"
        "session = embedded(Home(Path(home)), Settings({}), caller)\n"
        "print(session.call('run', goal=\"Run 'rm notes.md'\", wait_s=0)['task_id'], flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(yard.world.home.path), yard.root]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        task_id = process.stdout.readline().strip()
        while not (shown := yard.person.call("task.show", task_id=task_id, wait_s=5))["waiting"]:
            assert shown["state"] in ("running", "waiting"), shown
        seen_alive = shown["state"]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
    lost = yard.person.call("task.show", task_id=task_id)
    after = yard.person.call("run", goal="Count the python files", wait_s=60)

    assert seen_alive == "waiting"  # another process sees what it waits for
    assert lost["state"] == "lost"
    assert "run the goal again" in lost["rendered"]
    assert after["directive"] == "accept"
    assert yard.agent.call("ledger.verify")["intact"]


def test_ctl_322_a_run_is_the_same_by_command_line_http_and_library(owner: RunningOwner, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    lay(root)
    assert owner.call("ingest", root=root, path=str(root), project_root=str(root))["ok"]
    by_http = owner.call("run", root=root, goal="Count the python files")
    program = Program(home=owner.home, directory=root, environ={})
    by_program = program.answer("run", "Count the python files", "--json")
    listed = program.answer("task", "list", "--json")

    assert by_http["directive"] == by_program["directive"] == "accept"
    assert by_http["final"]["output"] == by_program["final"]["output"]
    assert [one["state"] for one in listed["tasks"]] == ["done", "done"]
    assert set(by_http) == set(by_program)


@pytest.fixture
def program(yard: Yard) -> Iterator[Program]:
    home = Path(yard.world.home.path)
    yield Program(home=home, directory=Path(yard.root), environ={"HINDBRAIN_MODE": "embedded"})
    end_owner(home)


def test_ctl_261_at_a_terminal_the_loop_is_drawn_and_the_person_is_asked(yard: Yard, program: Program) -> None:
    yard.world.close()

    ended = program.at_terminal("run", "Run 'rm notes.md'", say=[("Type yes, anything else refuses: ", "yes\n")])

    assert ended.code == 0, ended.out
    for told in ("R2 plan", "init→accept", "∇L", "budget", "rm notes.md", "done"):
        assert told in ended.out
    assert Path(yard.root, "notes.md").exists()


def test_ctl_087_ctrl_c_ends_the_task_and_not_the_shell(yard: Yard, program: Program) -> None:
    yard.world.close()

    ended = program.at_terminal("run", "Run 'rm notes.md'", say=[("anything else refuses: ", "^C"), ("given up", "")])

    assert ended.code == 1, ended.out
    assert "cancelling the task" in ended.out
    assert "it was called off" in ended.out
    assert "Traceback" not in ended.out


def test_ctl_262_a_pipe_gets_json_and_its_exit_code_says_whether_it_was_given_up(yard: Yard, program: Program) -> None:
    yard.world.close()

    good = program.run("run", "Count the python files")
    bad = program.run("run", "Knit a scarf")

    assert (good.code, good.json["directive"]) == (0, "accept")
    assert (bad.code, bad.json["directive"]) == (1, "abandon")
    assert bad.json["final"]["x"]["abandon_reason"] == "plan_failure"
    assert good.err == ""


def test_ctl_043_a_task_is_known_in_its_own_project_only(yard: Yard) -> None:
    done = yard.person.call("run", goal="Count the python files")
    other = yard.world.human(yard.world.brain("elsewhere"))

    for operation in ("task.show", "task.cancel"):
        assert other.call(operation, task_id=done["task_id"])["error"]["code"] == "unknown_task"
    assert other.call("task.list")["tasks"] == []
    assert yard.agent.call("task.show", task_id=done["task_id"][:12])["directive"] == "accept"


def test_exp_058_exp_096_forgetting_an_experience_takes_the_workspace_of_its_task_along(yard: Yard) -> None:
    done = yard.person.call("run", goal='Create note.txt with "quokka was here"')
    (kept,) = yard.person.call("experience.query", space="intent:create_notetxt_with")["recent"]
    work = Path(done["workspace"])
    before = (work / "note.txt").exists()

    assert yard.person.call("experience.forget", megram=kept["id"])["ok"]

    assert before
    assert not work.exists()
    assert yard.person.call("task.list")["tasks"] == []


def test_ctl_304_ctl_305_a_task_in_a_fresh_brain_goes_by_rules_when_its_model_is_not_there(world: World) -> None:
    """A model is set, nobody listens at its address, and nothing was experienced yet."""
    world.restart(model_provider="openai", model_base_url="http://127.0.0.1:9/v1", model_name="none")
    yard = Yard(world)

    told = yard.person.call("run", goal="Count the python files", wait_s=60)

    assert told["state"] == "done", told
    assert told["directive"] == "accept"
