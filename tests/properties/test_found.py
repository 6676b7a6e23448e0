"""What the machine of `test_no_leak` found once, as plain cases."""

import shutil
from pathlib import Path

import pytest

from tests.support.world import World

CHIEF = "claude:orchestrator"


def slugs(world: World, root: str) -> list[str]:
    return sorted(row["slug"] for row in world.at(root).seek("lamp")["results"])


@pytest.mark.parametrize("move", ["init", "uninit"])
def test_a_file_removed_by_hand_ends_no_claim_when_its_directory_moves(world: World, move: str) -> None:
    x = world.brain("x")
    if move == "uninit":
        world.at(x).call("init", path=x)
    for name in ("one", "two"):
        world.at(x).memorize(f"Lamp {name}", f"lamp {name} burns")
    next(world.place.rglob("lamp-one.light.md")).unlink()

    assert world.human(x).call(move, path=x)["ok"]

    assert slugs(world, x) == ["lamp-one", "lamp-two"]
    assert [row["ended_by"] for row in world.at(x).call("history", claim="lamp-one")["versions"]] == [None]


def test_a_directory_that_is_gone_as_a_whole_removes_no_claim(world: World) -> None:
    """Another branch, or a checkout that was deleted: nobody removed the claims one by one."""
    x = world.brain("x")
    world.at(x).call("init", path=x)
    for name in ("one", "two"):
        world.at(x).memorize(f"Lamp {name}", f"lamp {name} burns")

    shutil.rmtree(Path(x, ".hindbrain"))

    assert slugs(world, x) == ["lamp-one", "lamp-two"]
    assert world.file(x, "lamp-one").is_file()


def test_a_directory_that_is_gone_as_a_whole_is_named_once_until_init_writes_it_again(world: World) -> None:
    x = world.brain("x y")
    world.at(x).call("init", path=x)
    for name in ("one", "two"):
        world.at(x).memorize(f"Lamp {name}", f"lamp {name} burns")
    assert [one["kind"] for one in world.at(x).call("doctor")["warnings"]] == []
    shutil.rmtree(Path(x, ".hindbrain"))

    for _ in range(2):
        gaps = [one for one in world.at(x).call("north", task="lamp")["honest_gaps"] if one["kind"] == "memory_directory_gone"]
        found = [one for one in world.at(x).call("doctor")["warnings"] if one["kind"] == "memory_directory_gone"]
        assert [one["fix"] for one in gaps] == [one["fix"] for one in found] == [f"hindbrain init '{x}'"]
        assert str(Path(x, ".hindbrain/agent-memory")) in gaps[0]["text"]
        world.restart()
    world.at(x).memorize("Lamp three", "lamp three burns")

    assert world.at(x).call("init", path=x)["claims_moved"] == 3
    assert slugs(world, x) == ["lamp-one", "lamp-three", "lamp-two"]
    assert sorted(one.name for one in Path(x, ".hindbrain/agent-memory").glob("*.md")) == [
        "lamp-one.light.md",
        "lamp-three.light.md",
        "lamp-two.light.md",
    ]
    assert world.at(x).call("doctor")["warnings"] == []


def test_a_directory_that_uninit_took_away_is_not_missed(world: World) -> None:
    x = world.brain("x")
    world.at(x).call("init", path=x)
    world.at(x).memorize("Lamp", "the lamp burns")

    assert world.human(x).call("uninit", path=x)["ok"]

    assert not Path(x, ".hindbrain").exists()
    assert world.at(x).call("doctor")["warnings"] == []
    assert "memory_directory_gone" not in [one["kind"] for one in world.at(x).call("north", task="lamp")["honest_gaps"]]


def test_a_grade_is_about_the_text_that_was_graded(world: World) -> None:
    """A belief written after the demotion was asked for is not demoted with the one it replaced."""
    x = world.brain("x")
    for more in ({}, {"tier": "medulla"}):
        world.at(x, CHIEF).memorize("Lamp", "the lamp burns all night", **more)
    world.at(x).call("learn", feedback="wrong", node_ids=["lamp"])
    assert [(row["tier"], row.get("graded_wrong")) for row in world.at(x).seek("lamp")["results"]] == [("project", True)]

    for more in ({}, {"tier": "medulla"}):
        world.at(x, CHIEF).memorize("Lamp", "the lamp burns until two", **more)

    rows = world.at(x).seek("lamp")["results"]
    assert [(row["tier"], row.get("graded_wrong")) for row in rows] == [("project", None), ("medulla", None)]
    assert world.at(x, CHIEF).call("consolidate", apply=True)["done"] == []


@pytest.mark.parametrize("move", ["init", "uninit"])
def test_a_claim_edited_by_hand_keeps_the_edit_when_its_directory_moves(world: World, move: str) -> None:
    x = world.brain("x")
    if move == "uninit":
        world.at(x).call("init", path=x)
    world.at(x).memorize("Lamp", "the lamp burns all night")
    path = next(world.place.rglob("lamp.light.md"))
    path.write_text(path.read_text().replace("all night", "until two"))

    assert world.human(x).call(move, path=x)["ok"]

    assert [row["text"] for row in world.at(x).seek("lamp")["results"]] == ["the lamp burns until two"]
    assert "until two" in next(world.place.rglob("lamp.light.md")).read_text()
