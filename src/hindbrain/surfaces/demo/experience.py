"""Experience of the tour: tasks that ran by themselves, what they taught, the rule it became, and a person's word on it."""

import time

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["SCENES"]

_WAIT_S = 60.0
_MOMENT_S = 0.02
_ERRAND, _SPACE = "Count the python files", "intent:count_the_python"


def _run(stage: Stage, repository: str, goal: str, name: str = "", *, memory: bool = True) -> None:
    told = stage.person(repository).call("run", goal=goal, wait_s=_WAIT_S, memory=memory)
    if name:
        stage.ids[name] = told["task_id"]


def _course(stage: Stage) -> None:
    """The name of the file is not quite right: the loop has to change its course before it finds it."""
    _run(stage, HARBOR, "Count the words of deploy_page.md", "task-steered", memory=False)


def _in_vain(stage: Stage) -> None:
    told = stage.person(HARBOR).try_call("run", goal="Read missing_report.txt. Count the python files.", wait_s=_WAIT_S)
    stage.ids["task-abandoned"] = str(told["task_id"])


def _counted(number: int) -> Scene:
    """The same errand every few days, so that it hardens."""

    def play(stage: Stage) -> None:
        _run(stage, HARBOR, _ERRAND, f"task-{number}")

    return Scene(day=14.05 + number, name="an errand that is done again and again", play=play)


def _client(stage: Stage) -> None:
    _run(stage, TIDE, "Sort the lines of docs/errors.md and write them to sorted.txt", "tide-task")


def _stated(stage: Stage) -> None:
    """What a person states by hand, at every level."""
    for repository, text, level, space, entity, tags in (
        (HARBOR, "Run the tests of the part you changed before all of them.", "C", "intent:change_code", "env:local", ["tests"]),
        (HARBOR, "The provider's sandbox is down on Sundays.", "K", "tool:shell", "env:sandbox", ["payments", "sandbox"]),
        (HARBOR, "sqlite3 .backup took four seconds for a year of orders.", "M", "tool:shell", "path:harbor.db", ["database"]),
        (TIDE, "Type check before the tests; it is faster and finds more.", "C", "intent:change_code", "env:local", ["types"]),
        (TIDE, "Playing with localStorage in tests needs a fake of it.", "M", "tool:shell", "path:src/session.ts", ["tests"]),
    ):
        told = stage.person(repository).call("experience.remember", text=text, level=level, space=space, entity=entity, tags=tags)
        stage.ids.setdefault("megram", told["megram_id"])


def _dreamt(stage: Stage) -> None:
    """The Dreamer has made a rule of what recurred, and the person speaks against another."""
    person = stage.person(HARBOR)
    while person.call("experience.dream")["skipped"]:  # the one beside the work has the brain for a moment
        time.sleep(_MOMENT_S)
    known = person.call("experience.query", space=_SPACE, entity="env:local")
    stage.ids["rule"] = known["rules"][0]["id"]
    stage.person(HARBOR).call(
        "experience.feedback", rule=stage.ids["megram"], content="For one line of text all of the tests are faster."
    )


SCENES: tuple[Scene, ...] = (
    Scene(day=6.2, name="a task changes its course", play=_course),
    Scene(day=8.4, name="a person states what holds", play=_stated),
    Scene(day=13.7, name="a task is given up", play=_in_vain),
    Scene(day=16.8, name="a task of the client", play=_client),
    *map(_counted, range(7)),
    Scene(day=20.8, name="the Dreamer", play=_dreamt),
)
