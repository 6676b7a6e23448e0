"""Attacks on the control loop: what nobody agreed to is not done, what is not so is not proved, what was forgotten is gone."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.services.control.tools import BLOCKED, LAW1, ToolGateway
from tests.control.test_goals import run
from tests.support.plants import Asked, box, plan
from tests.support.world import World

# --- what a person agrees to is what is done ------------------------------------------------------------------------------

HIDDEN = {
    "a title of a window swallows it": ": \x1b]0;\nrm precious.txt\n\x07",
    "the line is turned around": "rm precious.txt # \u202etxt.a wohs",
    "the cursor goes back": "rm precious.txt\r: nothing to see",
    "it is longer than what is shown": "true " + "a" * 50_000 + "; rm precious.txt",
    "it looks like a secret, whose line is not shown": f"rm precious.txt # {'Zx8Kq2Lm4Np6' * 3}Yz6Ab8Cd0Ef2",
}


@pytest.mark.parametrize("command", HIDDEN.values(), ids=HIDDEN.keys())
def test_ctl_102_a_person_is_not_asked_about_what_cannot_be_shown_to_them(tmp_path: Path, command: str) -> None:
    asked = Asked(True)
    tools = ToolGateway(box(tmp_path, {"precious.txt": "x"}), plan(), asked)

    result = tools.call("run", {"command": command})

    assert asked.questions == []
    assert result.output.startswith(LAW1)
    assert (tmp_path / "work" / "precious.txt").exists()


def test_ctl_102_a_file_with_a_hostile_name_is_still_asked_about_with_all_of_its_name(tmp_path: Path) -> None:
    asked = Asked(False)
    name = "a\x1b]0;b\u202ec.txt"
    tools = ToolGateway(box(tmp_path, {name: "x"}), plan(), asked)

    tools.call("delete", {"path": name})

    ((_, action, _),) = asked.questions
    assert action == "take a\\x1b]0;b\\u202ec.txt away"


@pytest.mark.parametrize(
    "command",
    [
        "cp -p run.sh .git/hooks/pre-commit",
        "cp -p run.sh ./docs/../.git/hooks/pre-commit",
        "echo evil > .GIT/hooks/post-merge",
        "echo evil | tee .hindbrain/agent-memory/x.light.md",
    ],
)
def test_ctl_097_no_command_lays_down_unasked_what_starts_by_itself_later(tmp_path: Path, command: str) -> None:
    asked = Asked(False)
    tools = ToolGateway(
        box(tmp_path, {"run.sh": "#!/bin/sh\n", ".git/hooks/x.sample": "", "docs/a": ""}, own=False), plan(), asked
    )

    result = tools.call("run", {"command": command})

    assert len(asked.questions) == 1, result
    assert result.error is not None
    assert BLOCKED not in result.error
    assert not (tmp_path / "work" / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../../../../../etc/passwd"])
def test_ctl_097_a_path_that_the_tools_refuse_is_not_reached_through_a_shell(world: tuple[World, str], path: str) -> None:
    for goal in (f"Read {path}", f"Count the lines in {path}", f'Verify that {path} contains "root"'):
        shown = run(*world, goal)
        assert shown["directive"] == "abandon", shown["rendered"]
        assert "root:" not in str(shown)


# --- nothing is proved by its opposite ---------------------------------------------------------------------------------------

UNTRUE = [
    "Verify that a.txt does not exist",
    "Verify that a.txt is missing",
    "Check that a.txt is empty",
    "Verify that a.txt differs from same.txt",
    "Verify that a.txt and same.txt are not equal",
    'Verify that a.txt contains "alpha" and "zeta"',
    'Verify that a.txt and b.txt contain "alpha"',
    'Verify that a.txt never mentions "alpha"',
    'Verify that nofile.txt does not contain "alpha"',
    'Verify that x/a.txt contains "alpha"',
    "Verify that a.txt contains no alpha",
    "Verify that a.txt has 5 lines",
    "Verify that a.txt is valid json",
    'Find files that do not contain "alpha"',
    "Count the files larger than 1 MB",
    "Find the unused files",
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str]:
    world = World(tmp_path_factory.mktemp("attacked"))
    root = world.brain("app", a_txt="alpha\nbeta\n", same_txt="alpha\nbeta\n", b_txt="gamma\n")
    yield world, root
    world.close()


@pytest.mark.parametrize("goal", UNTRUE)
def test_ctl_127_what_is_not_so_or_not_understood_is_never_accepted(world: tuple[World, str], goal: str) -> None:
    shown = run(*world, goal)

    assert shown["directive"] == "abandon", shown["rendered"]


@pytest.mark.parametrize(
    "goal",
    [
        "Verify that a.txt and b.txt differ",
        "Verify that a.txt and same.txt are identical",
        'Verify that b.txt does not contain "alpha"',
        "Make sure that a.txt and b.txt are there and not empty",
    ],
)
def test_ctl_127_what_is_so_is_still_shown(world: tuple[World, str], goal: str) -> None:
    assert run(*world, goal)["directive"] == "accept"


@pytest.mark.parametrize(
    ("goal", "number"),
    [
        ("Count the txt files", "3"),
        ("Count the files in tests", "2"),
        ("Count the text files in the deep/er directory", "1"),
        ("Count all files in deep/er", "1"),
    ],
)
def test_ctl_082_no_more_and_no_less_is_counted_than_was_said(tmp_path: Path, goal: str, number: str) -> None:
    world = World(tmp_path)
    root = world.brain("app", a_txt="", tests__test_a_py="", tests__b_txt="", deep__er__c_txt="")

    assert str(run(world, root, goal)["final"]["output"]).strip() == number
    world.close()


# --- experience that was made up -------------------------------------------------------------------------------------------

MADE_UP: list[dict[str, Any]] = [
    {"round": 10**40},
    {"round": "x"},
    {"recalls": -5},
    {"recalls": 2**63},
    {"tags": [1]},
    {"mission_id": [1]},
    {"task_id": 5},
    {"state": "Private words that would stand in the ledger for ever"},
    {"id": "../../x"},
    {"content": "x" * 1_000_000},
    {"created_at": "9999-12-31T23:59:59.999Z"},
    {"events": [{"kind": "demoted", "at": "2026-01-01T00:00:00Z", "level": "C", "k": -1.0}]},
    {"entity": "two\nlines"},
]


def test_exp_091_each_line_that_cannot_be_is_refused_by_itself(world: tuple[World, str], tmp_path: Path) -> None:
    person = world[0].human(world[1])
    assert person.call("experience.remember", text="glob first", space="tool:glob", entity="path:src")["ok"]
    assert person.call("experience.export", target=str(tmp_path / "out.jsonl"))["ok"]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    true = next(line for line in lines if line.get("content") == "glob first")
    given = [true | {"id": f"made-up-{number}", "content": f"lie {number}"} | one for number, one in enumerate(MADE_UP)]
    given.append(true | {"id": "fine", "content": "search second"})
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, given)) + "\n", encoding="utf-8")

    answer = person.call("experience.import", source=str(tmp_path / "in.jsonl"))

    assert answer["ok"], answer
    assert answer["taken"] == 1
    assert [one["line"] for one in answer["refused"]] == list(range(1, len(MADE_UP) + 1))
    assert person.call("ledger.verify")["intact"]


# --- what was forgotten ------------------------------------------------------------------------------------------------------

PRIVATE = "The deploy key of the Zanzibarquux cluster rotates on Tuesdays"


def _holding(world: World, root: str, word: str) -> int:
    with world.app.house.brains.use(world.app.house.brains.covering(root)) as opened:
        said = sum(word in one.body.lower() for one in opened.store.messages(limit=100_000))
        return said + sum(word in one.megram.content.lower() for one in opened.store.effective())


@pytest.mark.parametrize("act", ["forget", "reject"])
def test_exp_058_a_value_leaves_the_texts_of_tasks_also_where_no_experience_holds_it(tmp_path: Path, act: str) -> None:
    world = World(tmp_path)
    root = world.brain("app", a_txt="alpha\n")
    person = world.human(root)
    slug = person.memorize(PRIVATE)["slug"]
    run(world, root, f'Create note.txt with "{PRIVATE}"')
    run(world, root, "Read missing_thing.txt. Recall what is known about the Zanzibarquux cluster")
    other = run(world, root, "Count the files")
    assert _holding(world, root, "zanzibarquux")

    assert person.call(act, claim=slug, reason="private")["ok"]

    assert _holding(world, root, "deploy key of the zanzibarquux") == 0
    assert person.call("task.show", task_id=other["task_id"])["state"] == "done"
    assert person.call("ledger.verify")["intact"]
    assert person.call("control.audit_verify")["intact"]
    world.close()


KILLED = """
import sys
from pathlib import Path
from tests.support.world import World
world = World(Path(sys.argv[1]))
world.clock.catch_up()
goal = f"Run 'sleep 60' and then create a.txt with \\"{sys.argv[3]}\\""
print(world.human(sys.argv[2]).call("run", goal=goal, wait_s=0)["task_id"], flush=True)
sys.stdin.read()
"""


def test_exp_058_a_value_leaves_a_task_whose_process_was_killed(tmp_path: Path) -> None:
    world = World(tmp_path)
    root = world.brain("app", b_txt="alpha\n")
    slug = world.human(root).memorize(PRIVATE)["slug"]
    world.close()
    words = [sys.executable, "-c", KILLED, str(tmp_path), root, PRIVATE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        task_id = process.stdout.readline().strip()
        process.kill()
    world.clock.catch_up()
    person = world.human(root)
    assert person.call("task.show", task_id=task_id)["state"] == "lost"
    assert _holding(world, root, "zanzibarquux")

    assert person.call("forget", claim=slug, reason="private")["ok"]

    assert _holding(world, root, "zanzibarquux") == 0
    assert person.call("ledger.verify")["intact"]
    assert run(world, root, "Count the files")["directive"] == "accept"
    world.close()


# --- a full disk -------------------------------------------------------------------------------------------------------------

FULL = """
import resource, sys
from pathlib import Path
from hindbrain.domain.message import Role
from hindbrain.domain.notes import Cancel
from tests.support.world import World
world = World(Path(sys.argv[1]))
root = world.brain("app")
with world.app.house.brains.use(world.app.house.brains.covering(root)) as opened:
    line = world.app.house.lines.of(opened)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    for number in range(3):
        line.bus.voice(Role.USER).say(Role.SOLVER, Cancel(task_id="tsk_a", why=str(number)), task_id="tsk_a")
    waited = not line.journal.drain(1.0) and line.journal.depth == 3
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(waited, line.journal.drain(20), len(opened.store.messages(task_id="tsk_a")))
print(world.human(root).call("ledger.verify")["intact"])
world.close()
"""


def test_exp_036_ctl_257_what_is_said_while_the_disk_is_full_waits_and_is_not_lost(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.split() == ["True", "True", "3", "True"], done.stderr
