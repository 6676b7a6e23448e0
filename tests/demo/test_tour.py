"""The tour at a terminal: it stays until Ctrl-C and leaves nothing; interrupted half way it leaves nothing either."""

import os
import resource
import signal
from pathlib import Path

import pytest

from hindbrain.domain.errors import HindbrainError, PathRefused, StoreUnavailable
from hindbrain.surfaces.client import find_owner
from hindbrain.surfaces.demo import command, repositories
from hindbrain.surfaces.demo import world as demo
from hindbrain.surfaces.demo.stage import Scene, Stage
from tests.cli.program import Program


@pytest.fixture
def visitor(tmp_path: Path) -> Program:
    (tmp_path / "mine").mkdir()
    (tmp_path / "tmp").mkdir()
    return Program(home=tmp_path / "mine" / "home", directory=tmp_path / "mine", environ={"TMPDIR": str(tmp_path / "tmp")})


def _left(visitor: Program) -> list[str]:
    return os.listdir(visitor.directory.parent / "tmp") + os.listdir(visitor.directory)


def test_hall_demo_at_a_terminal_it_stays_until_ctrl_c_and_removes_everything(visitor: Program) -> None:
    ended = visitor.at_terminal("demo", "--no-open", say=[("Ctrl-C ends the tour and removes it.", "^C")])

    assert ended.code == 0, ended.out
    assert "A small world is ready in" in ended.out
    assert "/?ticket=" in ended.out
    assert "Nothing of it is left." in ended.out
    assert _left(visitor) == []


def test_hall_demo_interrupted_half_way_it_leaves_nothing(visitor: Program, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()

    ended = visitor.at_terminal("demo", "--no-open", "--home", str(there), say=[("harbor-shop: ", "^C")])

    assert ended.code == 130, ended.out
    assert "Nothing of it is left." in ended.out
    assert _left(visitor) == []
    assert list(there.iterdir()) == []  # the directory was there before, and stays
    assert find_owner(str(there / "home")) is None


def test_hall_demo_an_act_that_is_refused_ends_the_world_with_what_was_said(tmp_path: Path) -> None:
    stage = Stage(home=tmp_path / "home", roots={"harbor-shop": tmp_path / "nowhere"})

    with pytest.raises(HindbrainError, match=r"memorize answered .*brainless_root"):
        stage.agent("harbor-shop").call("memorize", node_label="a", text="b")

    stage.close()


def test_hall_demo_a_full_disk_is_told_as_what_it_is(tmp_path: Path) -> None:
    stage = Stage(home=tmp_path / "home", roots={"harbor-shop": tmp_path / "shop"})
    repositories.begin(stage.roots["harbor-shop"])
    agent = stage.agent("harbor-shop")
    agent.call("init", path=str(stage.roots["harbor-shop"]))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    taken = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        with pytest.raises(StoreUnavailable) as told:
            agent.call("memorize", node_label="a", text="b" * 4000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, taken)
        stage.close()
    assert told.value.fix


def test_hall_demo_a_tour_removes_nothing_that_another_began_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"

    def begun(*given: object) -> bool:
        there.mkdir(exist_ok=True)
        (there / "theirs").write_text("kept")
        return False

    for name in [name for name in os.environ if name.startswith("HINDBRAIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_PORT", "0")
    monkeypatch.setattr(os, "isatty", begun)  # asked between the look at the directory and the first file in it
    with pytest.raises(PathRefused):
        command.take_the_tour({"home": str(there), "no_open": True}, {})

    assert (there / "theirs").read_text() == "kept"


def test_hall_demo_the_clock_of_the_stage_never_runs_back_and_ends_before_now() -> None:
    days = [scene.day for scene in sorted(demo.scenes(), key=lambda scene: scene.day)]
    clock = Stage(home=Path("unused"), roots={}).clock
    seen = []
    for day in days:
        clock.set(clock.moment(day))
        clock.forward(20)
        seen.append(clock())

    assert all(isinstance(scene, Scene) and scene.name for scene in demo.scenes())
    assert seen == sorted(seen)
    assert seen[-1] < clock.moment(22) + 120_000
