"""Whole files or none: what a reader sees after a writer died, and what is said when the disk refuses."""

import contextlib
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from hindbrain.domain.claim import parse
from tests.support.dying import DIED
from tests.support.world import World


def dies(world: World, root: str, suffix: str, operation: str, **arguments: Any) -> None:
    """Run a call in another process which is cut off at the rename of a file with this suffix."""
    words = [str(world.home.path), root, suffix, operation, json.dumps(arguments)]
    done = subprocess.run([sys.executable, "-m", "tests.support.dying", *words], check=False, timeout=60)
    assert done.returncode == DIED


@pytest.mark.req("MED-052")
def test_med_052_a_writer_killed_before_the_rename_leaves_the_whole_old_file(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Label", "the old text")
    old = world.file(x, "label").read_bytes()
    world.close()

    dies(world, x, "label.light.md", "memorize", node_label="Label", text="the new text")

    assert world.file(x, "label").read_bytes() == old
    assert [path.name for path in world.store(x).glob("*.light.md")] == ["label.light.md"]


@pytest.mark.req("MED-052", "MED-095")
def test_med_052_the_next_reader_completes_what_was_committed_and_loses_nothing(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Label", "the old text")
    world.close()
    dies(world, x, "label.light.md", "memorize", node_label="Label", text="the new text")

    rows = world.at(x).seek("text")["results"]

    assert [row["text"] for row in rows] == ["the new text"]
    assert parse(world.file(x, "label").read_text()).blocks[0].text == "the new text"
    assert [parse(path.read_text()).blocks[0].text for path in world.history(x, "label")] == ["the old text"]
    assert world.at(x).call("doctor", scan=True)["warnings"] == []


@pytest.mark.req("MED-052")
def test_med_052_a_first_write_that_dies_shows_no_file_and_arrives_with_the_next_reader(world: World) -> None:
    x = world.brain("x")
    world.close()

    dies(world, x, "first.light.md", "memorize", node_label="First", text="the very first text")

    assert list(world.store(x).glob("*.light.md")) == []
    assert [row["slug"] for row in world.at(x).seek("very first text")["results"]] == ["first"]
    assert "the very first text" in world.file(x, "first").read_text()


@pytest.mark.req("MED-052")
@pytest.mark.parametrize(
    ("name", "operation", "arguments"),
    [
        ("project_brain.json", "ingest", {"adapter": "code"}),
        ("boot_memory_state.json", "boot_memory", {"action": "set", "key": "k", "value": "new"}),
    ],
)
def test_med_052_manifest_and_key_values_stay_whole(world: World, name: str, operation: str, arguments: dict[str, Any]) -> None:
    x = world.brain("x")
    world.at(x).call("boot_memory", action="set", key="k", value="old")
    path = world.home.manifest_path(x).with_name(name)
    before = path.read_bytes()
    world.close()

    dies(world, x, name, operation, **arguments)

    assert path.read_bytes() == before
    assert world.at(x).north()["binding"]["workspace_root"] == x


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow: every write fails, as on a disk without room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.req("MED-051", "GR-148")
def test_med_051_a_disk_that_refuses_is_named_and_the_house_goes_on_serving(world: World) -> None:
    x = world.brain("x")
    actor = world.at(x)
    actor.memorize("Label", "a text to serve")
    actor.north()

    with full_disk():
        world.app.house.tick()
        north = actor.north("text to serve")
        handshake = actor.call("session_handshake")
        refused = actor.call("memorize", node_label="Other", text="cannot be kept")
        doctor = actor.call("doctor")

    assert [row["slug"] for row in north["memory"]] == ["label"]
    assert north["persistence_degraded"] is True
    (told,) = [gap for gap in north["honest_gaps"] if gap["kind"] == "persistence_degraded"]
    assert str(world.home.manifest_path(x).parent) in told["text"]
    assert handshake["persistence_degraded"] is True
    assert str(world.home.manifest_path(x).parent) in json.dumps(doctor["runtime_state"])
    assert refused["ok"] is False
    assert refused["error"]["code"] == "store_unavailable"


@pytest.mark.req("MED-051")
def test_med_051_when_the_disk_has_room_again_nothing_was_lost(world: World) -> None:
    x = world.brain("x")
    actor = world.at(x)
    actor.north()
    with full_disk():
        world.app.house.tick()
        actor.call("memorize", node_label="Other", text="cannot be kept")
    world.app.house.tick()

    north = actor.north()

    beats = actor.call("health")["memory_beats_served"]
    assert beats > 1
    assert north["persistence_degraded"] is False
    assert list(world.store(x).glob("*.light.md")) == []
    assert actor.memorize("Other", "can be kept")["ok"] is True
    world.restart()
    assert world.at(x).call("health")["memory_beats_served"] == beats
