"""Rollback: the claim stores byte for byte as they were, and nothing of anybody else's touched."""

import json
from typing import Any

import pytest

from tests.migration.mixed import applied, mixed, table
from tests.support.world import DAY, World, tree_hash


def rollback(world: World) -> dict[str, Any]:
    return world.human(None).call("migrate.rollback")


def runtime(world: World) -> str:
    return tree_hash(world.home.medulla_dir, world.home.brains_dir)


@pytest.mark.req("MED-326", "MED-086")
def test_med_326_rollback_restores_every_byte(any_world: World) -> None:
    world = any_world
    x = mixed(world, facts=3, laws=3, notes=2, born_here=1)
    world.at(x).memorize("Own", "A claim of x itself.")
    world.at(x).memorize("Own", "A claim of x itself, said again.", confidence=0.9)
    (world.home.medulla_dir / "ingest_roots.json").write_text(json.dumps([x, str(world.file(None, "gone"))]))
    path, before = table(world), runtime(world)
    applied(world, path)
    assert runtime(world) != before
    world.clock.forward(DAY)
    world.restart()

    answer = rollback(world)

    assert (answer["ok"], answer["rolled_back"], answer["left_alone"]) == (True, True, []), answer
    assert runtime(world) == before
    world.restart()
    doctor = world.at(x).call("doctor", scan=True)
    assert doctor["memory"]["volume_by_store"] == {x: 1, "medulla": 8}
    assert (doctor["memory"]["ambiguous"], [w["kind"] for w in doctor["warnings"]]) == (0, [])
    assert [row["tier"] for row in world.at(x).seek("importer number 0")["results"] if row["slug"] == "project-0"] == ["medulla"]
    for tier in ({}, {"tier": "medulla"}):
        assert world.at(x).call("ledger.verify", **tier)["ok"]
    acts = [entry["act"] for entry in world.at(x).call("ledger.show", tier="medulla", limit=500)["entries"]]
    assert {"claim.migrate", "medulla.migrate", "claim.rollback", "medulla.rollback"} <= set(acts), "the record only grows"
    assert rollback(world)["rolled_back"] is False
    assert applied(world, path)["counts"]["moved"] == 3, "and the same table can be applied again"


@pytest.mark.req("MED-326")
def test_med_326_with_memory_that_travels_with_git(world: World) -> None:
    x = mixed(world)
    assert world.at(x).call("init", path=x)["ok"]
    world.at(x).memorize("Own", "A claim of x itself.")
    path, before = table(world), tree_hash(world.home.medulla_dir, world.place / "x")
    applied(world, path)
    assert (world.place / "x" / ".hindbrain" / "agent-memory" / "project-0.light.md").is_file()

    assert rollback(world)["rolled_back"] is True

    assert tree_hash(world.home.medulla_dir, world.place / "x") == before


@pytest.mark.req("MED-326")
def test_med_326_what_was_written_since_is_not_thrown_away(world: World) -> None:
    x = mixed(world)
    applied(world)
    world.clock.forward(DAY)
    world.at(x).memorize("Project 0", "The importer was rewritten.", confidence=0.9)
    world.at(x).memorize("New", "Written after the migration.", tier="medulla")
    before = runtime(world)

    answer = rollback(world)

    assert answer["error"]["code"] == "stale_write"
    assert answer["error"]["changed"] == [f"{x}#project-0"]
    assert runtime(world) == before


@pytest.mark.req("MED-326")
def test_med_326_claims_that_came_later_stay(world: World) -> None:
    x = mixed(world)
    applied(world)
    world.at(x).memorize("Later", "Written after the migration.")
    world.at(x).memorize("Later law", "Written after the migration.", tier="medulla")

    assert rollback(world)["rolled_back"] is True

    assert world.file(x, "later").is_file()
    assert world.file(None, "later-law").is_file()
    assert not world.file(x, "project-0").exists()


@pytest.mark.req("MED-326")
def test_med_326_two_migrations_are_taken_back_one_by_one(world: World) -> None:
    x = mixed(world)
    start = runtime(world)
    applied(world)
    first = runtime(world)
    applied(world, table(world, "second.jsonl", ambiguous_0={"class": "project", "destination": x}))

    assert rollback(world)["restored"] == 1
    assert runtime(world) == first
    assert world.at(x).call("doctor")["memory"]["ambiguous_slugs"] == ["ambiguous-0"]
    assert rollback(world)["rolled_back"] is True
    assert runtime(world) == start


@pytest.mark.req("MED-326", "CONF-03")
def test_med_326_a_rejected_value_does_not_come_back_by_rollback(world: World) -> None:
    mixed(world)
    applied(world)
    assert world.human(None).call(
        "reject", claim="project-0", value="The importer number 0 was fixed to skip empty lines.", tier="medulla"
    )["ok"]

    assert rollback(world)["error"]["code"] == "rejected_value"


def test_a_forgotten_claim_is_in_no_backup_and_not_in_the_medulla(world: World) -> None:
    x = mixed(world)
    applied(world)
    said = b"The importer number 0 was fixed"

    answer = world.human(x).call("forget", claim="project-0")

    assert answer["ok"], answer
    world.close()
    assert [path for path in world.home.path.rglob("*") if path.is_file() and said in path.read_bytes()] == []
    assert rollback(world)["restored"] == 3
    assert not world.file(None, "project-0").exists()
    assert world.file(None, "project-1").read_text().count("State: authored") == 1
