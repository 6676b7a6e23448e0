"""Honest gaps: each situation has its own kind, a text, and at most one way out (GR-148).

`warming` and `persistence_degraded` are made in tests/invariants/test_two_tier_laws.py and tests/brains/test_durability.py."""

import shutil
from collections.abc import Callable

import pytest

from hindbrain.domain.brain import fingerprint
from tests.contract.test_modes import empty_brain
from tests.recall.test_wide import spoil
from tests.support.fire_brain import DAMAGES
from tests.support.light import light_file
from tests.support.world import DAY, Actor, World


def _absent(world: World) -> Actor:
    return world.at(world.repository("stranger"))


def _empty(world: World) -> Actor:
    return world.at(empty_brain(world))


def _nowhere(world: World) -> Actor:
    return world.at(None)


def _stale(world: World) -> Actor:
    x = world.brain("x")
    world.at(x).memorize("Walnut", "The walnut of x.")
    world.clock.forward(31 * DAY)
    return world.at(x)


def _conflict(world: World) -> Actor:
    x = world.brain("x")
    world.at(x).memorize("Other")
    (world.store(x) / "bad.light.md").write_text(light_file("bad", "A lantern.\n>>>>>>> branch"), encoding="utf-8")
    return world.at(x)


def _sticky(world: World) -> Actor:
    x = world.brain("x")
    actor = world.at(x, session="s")
    actor.call("health")
    shutil.rmtree(world.home.brains_dir / fingerprint(x))
    return actor


def _medulla(world: World) -> Actor:
    x = world.brain("x")
    world.at(x).memorize("Walnut", tier="medulla")
    world.close()
    spoil(world.home.medulla_dir, "garbage")
    return world.at(x)


def _corrupt(world: World) -> Actor:
    x = world.brain("x", a_py="def harbour(): ...\n")
    world.close()
    DAMAGES["middle"](world.home.brains_dir / fingerprint(x) / "graph.db")
    found = world.at(x).seek("harbour")["honest_gaps"]  # the read that meets the damage sets the file aside
    assert "code_unreachable" in {gap["kind"] for gap in found}
    return world.at(x)


def _lost(world: World) -> Actor:
    x = world.brain("x", a_py="def harbour(): ...\n")
    world.close()
    (world.home.brains_dir / fingerprint(x) / "graph.db").unlink()
    return world.at(x)


SITUATIONS: dict[str, Callable[[World], Actor]] = {
    "project_brain_absent": _absent,
    "needs_ingest": _empty,
    "caller_root_unknown": _nowhere,
    "no_task_match": _stale,
    "conflict_markers": _conflict,
    "sticky_brain_missing": _sticky,
    "medulla_unreachable": _medulla,
    "snapshot_corrupt_recovered": _corrupt,
    "graph_lost": _lost,
}


@pytest.mark.req("GR-148")
@pytest.mark.parametrize("kind", SITUATIONS)
def test_gr_148_each_situation_has_its_kind_in_the_answer_and_in_its_text(world: World, kind: str) -> None:
    actor = SITUATIONS[kind](world)

    answer = actor.north("repaint the harbour crane")

    (found,) = [gap for gap in answer["honest_gaps"] if gap["kind"] == kind]
    assert found["text"]
    assert set(found) <= {"kind", "text", "fix"}
    assert isinstance(found.get("fix"), str | dict | None), "one way out at most"
    assert f"gap {kind}: " in answer["rendered"]
    others = {"snapshot_corrupt_recovered", "graph_lost"} - {kind}
    assert not others & {gap["kind"] for gap in answer["honest_gaps"]}
