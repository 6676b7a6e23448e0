"""What doctor may put right by itself: vectors that lag, a graph that is gone or old; and nothing where nothing is wrong."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.fire_brain import DAMAGES, Planted, copied, drop, plant
from tests.support.world import World


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    return plant(tmp_path)


def repairs(answer: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(one["kind"], one.get("done", False)) for one in answer["repairs"]]


def test_a_healthy_home_needs_no_repair_with_a_model_or_without(world: World) -> None:
    root = world.brain("x")
    world.at(root).memorize("Kettle", "It boils at ninety degrees up here.")

    told = world.at(root).call("doctor")

    assert told["status"] == "ok"
    assert [one["kind"] for one in told["notes"]] == ["no_model"], "a missing model is a note, not a fault"
    assert told["next_actions"] == ["nothing to do"]
    assert world.at(root).call("doctor.fix")["repairs"] == []


def test_rows_without_vectors_are_told_and_given_them(planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    world = copied(planted, tmp_path / "copy")
    here = world.at(planted.root)
    here.memorize("Kettle", "It boils at ninety degrees up here.")
    told = here.call("doctor")
    assert (told["status"], [one["kind"] for one in told["notes"]]) == ("ok", ["vectors_lag"]), "every row begins like this"
    assert repairs(here.call("doctor.fix")) == [("vectors", False)], "the plan alone changes nothing"
    assert [one["kind"] for one in here.call("doctor")["notes"]] == ["vectors_lag"]

    fixed = here.call("doctor.fix", yes=True)

    assert repairs(fixed) == [("vectors", True)]
    assert here.call("doctor")["status"] == "ok"
    assert here.call("model.status")["embedded"][0]["pending"] == 0
    world.close()


def test_everything_derived_is_repaired_in_one_go(planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    world = copied(planted, tmp_path / "copy")
    for name in ("index.db", "vectors.db", "graph.db"):
        drop(planted.file(world, name))
    here = world.at(planted.root)
    assert [section["section"] for section in here.call("doctor")["sections"] if section["status"] != "ok"] == ["indexes"]

    fixed = here.call("doctor.fix", yes=True)

    assert repairs(fixed) == [("vectors", True), ("graph", True)]
    assert here.call("doctor", scan=True)["status"] == "ok"
    world.close()


def test_a_repair_that_fails_is_named_and_stops_no_other(planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    world = copied(planted, tmp_path / "copy")
    for name in ("vectors.db", "graph.db"):
        drop(planted.file(world, name))
    victim = next((world.home.path / "models").glob("*/model.int8.onnx"))
    DAMAGES["truncated"](victim)
    here = world.at(planted.root)

    fixed = here.call("doctor.fix", yes=True)

    assert not fixed["ok"]
    assert repairs(fixed) == [("vectors", False), ("graph", True)]
    assert [one["kind"] for one in here.call("doctor")["warnings"]] == ["model_damaged"]
    world.close()
