"""A copied id opens no brain: only the directory itself, moved with its witness, takes its memory along."""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.world import World, git


def claims_of(world: World, root: str) -> list[str]:
    return [row["text"] for row in world.at(root).north("where the harbour lamp is kept")["memory"]]


@pytest.fixture
def away(world: World) -> tuple[World, str]:
    """A repository with memory whose directory was renamed while nobody looked."""
    x = world.repository("x")
    assert world.at(x).call("init", path=x)["ok"]
    world.at(x).memorize("Harbour lamp", "The harbour lamp is kept in the shed.")
    git(x, "add", "-A")
    git(x, "commit", "-qm", "first")
    moved = str(world.place / "moved")
    os.rename(x, moved)
    return world, moved


def test_a_repository_that_was_moved_keeps_its_brain(away: tuple[World, str]) -> None:
    world, moved = away

    answer = world.at(moved).call("init", path=moved)

    assert answer["moved_from"] == str(world.place / "x")
    assert f"came along from {world.place / 'x'}" in answer["rendered"]
    assert claims_of(world, moved) == ["The harbour lamp is kept in the shed."]
    assert world.at(moved).call("history", claim="harbour-lamp")["ok"]


def test_the_fix_that_a_moved_repository_is_told_brings_its_brain_along(away: tuple[World, str]) -> None:
    world, moved = away
    actor = world.at(moved)
    refused = actor.call("record", text="the lamp was lit")["error"]
    beat = actor.north("lamp")
    gaps = {gap["kind"]: gap["text"] for gap in beat["honest_gaps"]}

    done = actor.call(refused["fix"]["call"]["tool"], **refused["fix"]["call"]["arguments"])

    for told in (refused["message"], beat["reception"]["honest"], gaps["project_brain_absent"]):
        assert "the memory it carries waits for `hindbrain init`" in told
    assert (done["reused_existing_brain"], done["moved_from"]) == (True, str(world.place / "x"))
    assert claims_of(world, moved) == ["The harbour lamp is kept in the shed."]
    assert [one["channel"] for one in actor.call("history", claim="harbour-lamp")["versions"]] == ["agent"]  # not from a file
    assert actor.call("record", text="the lamp was lit")["ok"]


def test_a_repository_that_copied_the_id_of_an_absent_one_gets_nothing_of_it(away: tuple[World, str]) -> None:
    world, moved = away
    thief = world.repository("thief")
    Path(thief, ".hindbrain").mkdir()
    shutil.copy(Path(moved, ".hindbrain", "brain.json"), Path(thief, ".hindbrain", "brain.json"))

    answer = world.at(thief).call("init", path=thief)

    assert (answer["ok"], answer["moved_from"]) == (True, None)
    assert claims_of(world, thief) == []
    assert world.at(moved).call("init", path=moved)["moved_from"] == str(world.place / "x"), "the rightful one still can"


def test_the_witness_is_not_committed_and_goes_with_uninit(world: World) -> None:
    x = world.repository("x")
    world.at(x).call("init", path=x)

    assert git(x, "check-ignore", ".hindbrain/.witness").strip() == ".hindbrain/.witness"

    world.human(x).call("uninit", path=x)
    assert not Path(x, ".hindbrain").exists()


def test_a_full_copy_gets_nothing_once_the_moved_repository_took_its_brain_back(away: tuple[World, str]) -> None:
    world, moved = away
    assert world.at(moved).call("init", path=moved)["ok"]
    assert world.at(moved).call("boot_memory", action="set", key="lamp", value="only in the home")["ok"]
    copy = str(world.place / "copy")
    shutil.copytree(moved, copy, symlinks=True)

    answer = world.at(copy).call("init", path=copy)

    assert answer["ok"]
    assert "moved_from" not in answer or answer["moved_from"] is None
    assert world.at(copy).call("boot_memory", action="list")["entries"] == []
    assert [one["value"] for one in world.at(moved).call("boot_memory", action="list")["entries"]] == ["only in the home"]


def test_a_full_copy_cannot_be_told_from_a_repository_that_left_and_only_one_of_them_has_the_brain(world: World) -> None:
    """Decision 24: the witness and a common first commit prove the repository, as after a restored backup."""
    x, moved, copy = world.repository("x"), str(world.place / "moved"), str(world.place / "copy")
    git(x, "add", "-A")
    git(x, "commit", "-qm", "first")
    assert world.at(x).call("init", path=x)["ok"]
    os.rename(x, moved)
    shutil.copytree(moved, copy, symlinks=True)

    first, second = [world.at(root).call("init", path=root) for root in (copy, moved)]

    assert (first["moved_from"], second["moved_from"]) == (x, None)
    assert world.at(copy).call("boot_memory", action="set", key="lamp", value="of the copy")["ok"]
    assert world.at(moved).call("boot_memory", action="list")["entries"] == []
