"""The watcher: a resident process keeps its graphs fresh by itself, one ingest for many changes, and stops with the brain."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.services.events import Event
from tests.graph.test_ingest import graph, write
from tests.support.fire_brain import DAMAGES
from tests.support.world import World, git

PATIENCE = 60  # seconds; a busy machine needs some of them


class Ear:
    """Hears what a process tells, and waits until it was told enough."""

    def __init__(self, world: World) -> None:
        self.heard: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self.stop = world.app.events.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        with self._changed:
            self.heard.append(dict(event.data))
            self._changed.notify_all()

    def until(self, enough: Callable[[], bool]) -> bool:
        with self._changed:
            return self._changed.wait_for(enough, timeout=PATIENCE)


@pytest.fixture
def resident(world: World) -> Iterator[World]:
    world.resident = True
    yield world
    world.close()


def watched(world: World, root: str) -> Ear:
    """Start to watch, and wait until the watch stands: a first change is seen."""
    world.app.house.tick()
    assert world.app.house.watching.watched() == {root}
    ear = Ear(world)
    write(root, first_py="def first(): ...\n")
    assert ear.until(lambda: "first.py" in graph(world, root).files())
    return ear


@pytest.mark.req("GR-176")
def test_gr_176_a_changed_file_is_in_the_graph_without_a_call(resident: World) -> None:
    x = resident.brain("x", a_py="def old(): ...\n")
    ear = watched(resident, x)

    write(x, a_py="def fresh(): ...\n")

    assert ear.until(lambda: "file::a.py::fn::fresh" in graph(resident, x).arrays().ids)
    told = [event for event in ear.heard if event["act"] == "graph.refresh"]
    assert told
    assert {event["brain"] for event in told} == {x}
    assert "file::a.py::fn::old" not in graph(resident, x).arrays().ids


def test_gr_176_a_deleted_file_leaves_the_graph(resident: World) -> None:
    x = resident.brain("x", a_py="x = 1\n")
    ear = watched(resident, x)

    os.unlink(Path(x, "a.py"))

    assert ear.until(lambda: "a.py" not in graph(resident, x).files())


def test_gr_176_what_changed_before_the_watch_stood_is_caught_up(resident: World) -> None:
    x = resident.brain("x", a_py="x = 1\n")
    write(x, late_py="def late(): ...\n")
    ear = Ear(resident)

    resident.app.house.tick()

    assert ear.until(lambda: "late.py" in graph(resident, x).files())


def test_gr_176_a_branch_switch_is_few_ingests(resident: World) -> None:
    x = resident.repository("x", **{f"m{number}_py": f"def f{number}(): ...\n" for number in range(60)})
    git(x, "add", "-A")
    git(x, "commit", "-q", "-m", "first")
    git(x, "checkout", "-q", "-b", "other")
    write(x, **{f"m{number}_py": f"def g{number}(): ...\n" for number in range(60)})
    git(x, "add", "-A")
    git(x, "commit", "-q", "-m", "second")
    resident.brain("x")
    ear = watched(resident, x)
    before = graph(resident, x).counts()[2]

    git(x, "checkout", "-q", "-f", "main")

    assert ear.until(lambda: "file::m59.py::fn::f59" in graph(resident, x).arrays().ids)
    assert graph(resident, x).counts()[2] - before <= 6  # sixty files changed


def test_gr_176_ignored_files_are_no_change(resident: World) -> None:
    x = resident.repository("x")
    Path(x, ".gitignore").write_text("ignored/\n")
    resident.brain("x")
    ear = watched(resident, x)
    before = graph(resident, x).counts()[2]

    write(x, **{f"ignored__n{number}_py": "x = 1\n" for number in range(50)})
    write(x, seen_py="x = 1\n")

    assert ear.until(lambda: "seen.py" in graph(resident, x).files())
    assert not [path for path in graph(resident, x).files() if path.startswith("ignored/")]
    assert graph(resident, x).counts()[2] - before <= 2


def test_gr_176_the_watch_ends_with_the_brain_and_never_begins_when_it_is_off(world: World) -> None:
    world.resident = True
    x = world.brain("x")
    world.app.house.tick()
    watching = world.app.house.watching
    assert watching.watched() == {x}

    world.close()

    assert watching.watched() == set()
    world.restart(watch=False)
    world.at(x).north()
    world.app.house.tick()
    assert world.app.house.watching.watched() == set()
    world.close()


def test_gr_176_a_process_that_does_not_stay_watches_nothing(world: World) -> None:
    world.brain("x")

    world.app.house.tick()

    assert world.app.house.watching.watched() == set()


def test_f34_an_owner_makes_a_damaged_graph_again_by_itself(resident: World) -> None:
    x = resident.brain("x", a_py="def old(): ...\n")
    resident.close()
    brain = resident.home.project(x)
    assert brain is not None
    DAMAGES["middle"](resident.home.brain_dir(brain) / "graph.db")
    here = resident.at(x)
    assert here.seek("old")["ok"]
    assert "snapshot_corrupt_recovered" in {gap["kind"] for gap in here.seek("old")["honest_gaps"]}
    ear = Ear(resident)

    resident.app.house.tick()

    assert ear.until(lambda: any(event["act"] == "graph.rebuild" for event in ear.heard))
    assert "file::a.py::fn::old" in graph(resident, x).arrays().ids
    assert here.seek("old")["honest_gaps"] == []
