"""What goes wrong in the middle: a disk, a person's Ctrl-C, a power cut, another writer. Each time all or nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.surfaces.output import exit_code
from tests.migration.mixed import applied, claim_file, mixed, put, table
from tests.support.dying import DIED
from tests.support.world import World, tree_hash

REPOSITORY = Path(__file__).parents[2]


# Temporary files of a writer that died are swept by the next brain that wakes an hour later.
DERIVED = (".db", ".db-wal", ".db-shm", ".lock", ".tmp")


def runtime(world: World) -> str:
    return tree_hash(world.home.medulla_dir, world.home.brains_dir, leave=DERIVED)


def apply(world: World, path: str, progress: Callable[[int, int, str], None] | None = None) -> dict[str, Any]:
    return world.app.call("migrate.apply", {"table": path}, caller=world.human(None).caller, progress=progress)


@pytest.mark.req("MED-321")
def test_med_321_a_file_that_cannot_be_written_takes_everything_back(any_world: World) -> None:
    world = any_world
    x = mixed(world, facts=3)
    y = world.brain("y", src__other_py="pass\n")
    put(world, "zebra", claim_file("Zebra", "Fixed the other.", evidence="src/other.py"))
    path = table(world)
    world.store(y).mkdir(parents=True)
    blocked = world.store(y) / ".history"
    blocked.write_text("where the history should be, there is a file: nothing can be staged")
    before = runtime(world)

    answer = apply(world, path)

    assert (answer["error"]["code"], answer["error"]["rolled_back"]) == ("migration_failed", True), answer
    assert exit_code(answer) == 1
    assert runtime(world) == before
    assert world.at(x).call("doctor")["memory"]["volume_by_store"] == {x: 0, y: 0, "medulla": 7}
    blocked.unlink()
    assert applied(world, path)["counts"]["moved"] == 4, "and once the disk is right, the same table passes"


@pytest.mark.req("MED-321", "MED-322")
@pytest.mark.parametrize("victim", ["there", "history"])
def test_med_321_a_gate_that_fails_takes_everything_back(world: World, victim: str) -> None:
    """Somebody removes what the migration wrote before it looks: the gates see files, not intentions."""
    x = mixed(world)
    path, before = table(world), runtime(world)

    def meddle(done: int, total: int, text: str) -> None:
        if text == "proving the result":
            if victim == "there":
                world.file(x, "project-0").unlink()
            else:
                world.history(None, "project-0")[0].unlink()

    answer = apply(world, path, meddle)

    assert (answer["error"]["code"], answer["error"]["rolled_back"]) == ("migration_failed", True), answer
    assert exit_code(answer) == 1
    assert "project-0" in answer["error"]["message"]
    assert runtime(world) == before


@pytest.mark.req("MED-321")
@pytest.mark.parametrize("at", range(6))
def test_med_321_ctrl_c_leaves_everything_as_it_was(world: World, at: int) -> None:
    mixed(world, facts=2, laws=2)
    path, before = table(world), runtime(world)

    def interrupt(done: int, total: int, text: str) -> None:
        if done == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apply(world, path, interrupt)

    assert runtime(world) == before


@pytest.mark.req("MED-321", "MED-326")
@pytest.mark.parametrize("way", ["rollback", "apply"])
@pytest.mark.parametrize(
    "suffix", ["agent-memory/project-0.light.md", "agent-memory/project-1.light.md", "agent-memory/stay-1.light.md"]
)
def test_med_321_a_process_that_dies_in_the_middle_is_taken_back(world: World, suffix: str, way: str) -> None:
    x = mixed(world)
    path, before = table(world), runtime(world)
    world.close()
    words = [
        sys.executable,
        "-m",
        "tests.support.dying",
        str(world.home.path),
        x,
        suffix,
        "migrate.apply",
        json.dumps({"table": path}),
        "human",
    ]
    died = subprocess.run(words, cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, check=False)
    assert died.returncode == DIED
    assert any(warning["kind"] == "half_migrated" for warning in world.at(x).call("doctor")["warnings"])

    if way == "rollback":
        assert world.human(None).call("migrate.rollback")["rolled_back"] is True
        assert runtime(world) == before
    else:
        assert applied(world, path)["gates"] == {
            "active_before": 5,
            "active_in_projects": 2,
            "active_in_medulla": 3,
            "history_files": 4,
        }
    assert not any(warning["kind"] == "half_migrated" for warning in world.at(x).call("doctor")["warnings"])


@pytest.mark.req("MED-321")
def test_med_321_a_claim_that_is_written_meanwhile_is_not_overwritten(world: World) -> None:
    x = mixed(world)
    path = table(world)
    newer = claim_file("Stay 1", "Doctrine: newer than the plan.")

    def meddle(done: int, total: int, text: str) -> None:
        if done == 2:
            world.file(None, "stay-1").write_text(newer)

    answer = apply(world, path, meddle)

    assert (answer["error"]["code"], answer["error"]["cause"]) == ("migration_failed", "stale_write"), answer
    assert answer["error"]["left_alone"] == ["stay-1"]
    assert world.file(None, "stay-1").read_text() == newer
    assert not world.file(x, "project-0").exists()
    assert "State: authored" in world.file(None, "project-0").read_text()


@pytest.mark.req("MED-316")
def test_med_316_a_damaged_manifest_is_named_and_not_guessed_at(world: World) -> None:
    x = mixed(world)
    backup = Path(applied(world)["backup"])
    (backup / "manifest.json").write_text("{")

    answer = world.human(None).call("migrate.rollback")

    assert answer["error"]["code"] == "store_unavailable"
    assert str(backup) in answer["error"]["message"]
    assert any(str(backup) in warning["text"] for warning in world.at(x).call("doctor")["warnings"])
