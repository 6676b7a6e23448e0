"""The sweep of ingest roots: dead and per-file entries go, with their reasons."""

import json
from pathlib import Path

import pytest

from tests.migration.mixed import applied, mixed, plan, table
from tests.support.world import World, tree_hash


@pytest.mark.req("MED-325")
def test_med_325_ghosts_go_and_files_fold_into_their_directory(world: World) -> None:
    x = mixed(world)
    store = world.store(x)
    store.mkdir(parents=True, exist_ok=True)
    exists, missing = store / "a.light.md", store / "tokenvalidator.light.md"
    exists.write_text("---\nProtocol: L1GHT/1.0\nNode: A\nState: authored\n---\n\nA.\n\n[⍂ entity: A]\n")
    listed = store.parent / "ingest_roots.json"
    listed.write_text(json.dumps([x, str(store), str(exists), str(missing)]))
    removed = [
        {"entry": str(exists), "reason": f"folded into {store}"},
        {"entry": str(missing), "reason": "the file does not exist"},
    ]
    before = tree_hash(world.home.path)

    (planned,) = plan(world)["ghost_roots"]
    assert (planned["removed"], tree_hash(world.home.path)) == (removed, before)
    (swept,) = applied(world)["roots"]

    assert json.loads(listed.read_text()) == [x, str(store)] == swept["kept"]
    assert swept["removed"] == removed


@pytest.mark.req("MED-325", "MED-327")
def test_med_325_a_clean_list_and_what_is_no_list_are_left_alone(world: World) -> None:
    x = mixed(world)
    own, broken = world.store(x).parent / "ingest_roots.json", world.home.medulla_dir / "ingest_roots.json"
    own.write_text(json.dumps([x, "/gone/but/no/claim/file"]))
    broken.write_text("{not json")
    index = world.home.brains_dir / "ingest_roots.json"
    world.home.add_ingest_root(world.directory("more"), x)
    before = [path.read_bytes() for path in (own, broken, index)]

    assert applied(world, table(world))["roots"] == []

    assert [path.read_bytes() for path in (own, broken, index)] == before


@pytest.mark.req("MED-325", "MED-326")
def test_med_325_a_list_that_was_changed_since_is_not_overwritten_by_rollback(world: World) -> None:
    mixed(world)
    listed = world.home.medulla_dir / "ingest_roots.json"
    listed.write_text(json.dumps(["/nowhere/x.light.md"]))
    applied(world)
    listed.write_text(json.dumps(["/somewhere/else"]))

    answer = world.human(None).call("migrate.rollback")

    assert answer["error"]["changed"] == [str(listed)]
    assert json.loads(Path(listed).read_text()) == ["/somewhere/else"]
