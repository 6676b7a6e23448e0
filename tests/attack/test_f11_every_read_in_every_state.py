"""Every operation that reads, in every state of a home: no answer is an internal error, and all have their one shape."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fire_brain import DAMAGES, drop
from tests.support.full_home import directories, fill
from tests.support.reads import READS, check_answer
from tests.support.rich_brain import bare
from tests.support.world import Actor, Kept, World

FILES = ("brain.db", "files.db", "index.db", "vectors.db", "graph.db", "learned.db")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, tuple[Kept, str]]:
    """The rich home, without a model and with one."""
    made = {}
    for model in (False, True):
        world = World(tmp_path_factory.mktemp(f"rich-{model}"))
        root = fill(world, model=model)
        made[model] = (Kept(world), root)
    return made


def _stale(world: World, root: str) -> None:
    Path(root, "src/worker.py").write_text("def retry(n):\n    return n + 2\n", encoding="utf-8")
    Path(root, "src/user.py").unlink()


def _hurt(name: str, damage: str) -> Callable[[World, str], None]:
    def act(world: World, root: str) -> None:
        world.close()
        for directory in directories(world, root):
            if (path := directory / name).exists():
                DAMAGES[damage](path)

    return act


STATES: dict[str, Callable[[World, str], None]] = {
    "fresh": lambda world, root: None,
    "restarted": lambda world, root: world.close(),
    "stale": _stale,
    "dropped": lambda world, root: [
        drop(d / n) for d in directories(world, root) for n in FILES if n not in ("brain.db", "learned.db")
    ],
    **{f"{name} {damage}": _hurt(name, damage) for name in FILES for damage in DAMAGES},
}


ORDINARY = ("fresh", "restarted", "stale", "dropped")
CASES = [
    *((state, model, mission) for state in ORDINARY for model in (False, True) for mission in (False, True)),
    *((state, True, True) for state in STATES if state not in ORDINARY),
]


@pytest.mark.parametrize(("state", "model", "mission"), CASES)
def test_f11_every_read_answers_in_every_state(
    kept: dict[bool, tuple[Kept, str]], state: str, model: bool, mission: bool
) -> None:
    made, root = kept[model]
    world = made.again()
    try:
        here = world.at(root, "codex:prober")
        if mission:
            assert here.call("mission.start", task="find out how often the worker retries", mode="review")["ok"]
        STATES[state](world, root)

        answered = dict(check_answer(here))

        if not state.startswith("brain.db"):
            kinds = {row["node_id"].partition("::")[0] for row in answered["seek"]["results"]}
            assert {"light", "evidence"} <= kinds, "the matrix must reach rows of both kinds"
    finally:
        world.close()


def _brainless(world: World) -> Actor:
    return world.at(world.directory("nowhere"))


def _unknown(world: World) -> Actor:
    return world.at(None)


def _empty(world: World) -> Actor:
    return world.at(bare(world, "x"))


def _medulla_only(world: World) -> Actor:
    assert world.human(None).call("memorize", node_label="Kettle", text="Every kettle whistles.", tier="medulla")["ok"]
    return world.at(world.directory("nowhere"))


def _mission_in_empty(world: World) -> Actor:
    here = _empty(world)
    assert here.call("mission.start", task="look around", mode="review")["ok"]
    return here


@pytest.mark.parametrize("make", [_brainless, _unknown, _empty, _medulla_only, _mission_in_empty])
def test_f11_every_read_answers_where_there_is_little(world: World, make: Callable[[World], Actor]) -> None:
    assert len(dict(check_answer(make(world)))) == len(READS)
