"""The overview: a card for every brain, from outside. It wakes nothing, counts nothing and makes nothing."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World, git

Cards = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("overview"))
    ferry, lamp = made.brain("ferry", src__pier_py="def land():\n    return 1\n"), made.brain("lamp")
    agent = made.at(ferry, "claude:orchestrator")
    agent.memorize("Ferry hours", "The ferry leaves at noon.")
    agent.memorize("Harbour rule", "Ask before you moor.", tier="medulla")
    assert agent.call("record", text="the gate was shut at noon")["ok"]
    assert agent.call("mission.start", task="land the ferry")["ok"]
    assert agent.call("cowork.register", agent_id="claude-1", tool="claude")["ok"]
    made.at(lamp).memorize("Lamp oil", "Oil comes on Mondays.")
    assert agent.call("north", task="when does the ferry leave")["ok"]
    made.restart()
    yield made
    made.close()


def cards(answer: dict[str, Any]) -> Cards:
    assert answer["ok"], answer
    return {one["display_name"]: one for one in answer["brains"]}


def listing(place: Path) -> dict[str, tuple[int, int]]:
    return {str(one): (one.stat().st_size, one.stat().st_mtime_ns) for one in place.rglob("*") if one.is_file()}


def test_overview_tells_of_cold_brains_and_leaves_them_cold(world: World) -> None:
    looker = world.human(str(world.place / "ferry"))
    before = listing(world.home.path)
    looker.call("overview")
    seen = looker.call("overview")

    found = cards(seen)
    assert seen["brains"][0]["kind"] == "medulla"
    assert {name: one["state"] for name, one in found.items()} == {"medulla": "dormant", "ferry": "dormant", "lamp": "dormant"}
    ferry = found["ferry"]
    assert (ferry["claims"], ferry["evidence"], ferry["missions_open"]) == (1, 1, 1)
    assert (ferry["agents_present"], ferry["health"]["status"]) == (["claude-1"], "ok")
    assert ferry["last_beat_ms"] == ferry["last_change_ms"] == world.clock.now
    assert ferry["nodes"] > 1
    assert found["lamp"]["last_beat_ms"] is None or found["lamp"]["last_beat_ms"] <= world.clock.now
    assert world.app.house.brains.warm() == set()
    assert listing(world.home.path) == before


def test_overview_counts_as_no_query_and_no_beat(world: World) -> None:
    looker = world.at(str(world.place / "ferry"))
    first = cards(looker.call("overview"))["ferry"]
    second = cards(looker.call("overview"))["ferry"]

    assert (first["beats"], first["queries"]) == (second["beats"], second["queries"])
    assert first["beats"] >= 1


def test_overview_totals_wear_their_caption_and_add_up(world: World) -> None:
    seen = world.human(None).call("overview")

    assert seen["totals"]["scope"] == "across all brains"
    assert seen["totals"]["claims"] == sum(one["claims"] for one in seen["brains"]) == 3
    assert seen["totals"]["brains"] == 3
    assert seen["owner"]["process_id"]


def test_overview_names_agents_of_another_project_to_a_person_only(world: World) -> None:
    other = cards(world.at(str(world.place / "lamp")).call("overview"))["ferry"]

    assert (other["agents_present"], other["agents_online"]) == ([], 1)


def test_overview_of_an_open_brain_follows_its_writes(world: World) -> None:
    agent = world.at(str(world.place / "ferry"), "claude:orchestrator")
    agent.memorize("Second pier", "The second pier is closed.")
    ferry = cards(agent.call("overview"))["ferry"]

    assert (ferry["state"], ferry["claims"]) == ("warm", 2)


def test_overview_gives_a_broken_brain_a_card_with_its_reason(tmp_path: Path) -> None:
    world = World(tmp_path)
    broken, newer, gone, fine = (world.brain(name) for name in ("broken", "newer", "gone", "fine"))
    for root in (broken, newer, gone, fine):
        world.at(root).memorize("A claim", "of mine")
    world.close()
    place = {root: world.home.brains_dir / path.name for root in (broken, newer, gone) for path in [_store(world, root)]}
    (place[broken] / "brain.db").write_bytes(b"no database at all" * 100)
    with sqlite3.connect(place[newer] / "brain.db") as connection:
        connection.execute("pragma user_version = 9999")
    shutil.rmtree(gone)
    stray = world.home.brains_dir / "00000000deadbeef"
    stray.mkdir()

    seen = world.human(fine).call("overview")
    found = cards(seen)

    assert found["fine"]["health"]["status"] == "ok"
    assert (found["broken"]["state"], found["broken"]["health"]["status"], found["broken"]["claims"]) == (
        "unreachable",
        "error",
        None,
    )
    assert "upgrade" in str(found["newer"]["health"]["why"])
    assert (found["gone"]["state"], found["gone"]["health"]["status"], found["gone"]["claims"]) == ("missing", "warning", 1)
    assert found["00000000deadbeef"]["health"]["status"] == "error"
    assert seen["totals"]["claims"] == 2
    world.close()


def _store(world: World, root: str) -> Path:
    return world.store(root).parent


def test_overview_finds_an_agent_of_a_linked_checkout(tmp_path: Path) -> None:
    world = World(tmp_path)
    root = world.brain("ferry")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    git(root, "worktree", "add", "-q", str(tmp_path / "beside"))
    assert world.at(str(tmp_path / "beside")).call("cowork.register", agent_id="codex-2", tool="codex")["ok"]

    assert cards(world.human(root).call("overview"))["ferry"]["agents_present"] == ["codex-2"]
    world.close()


def test_overview_reads_brains_on_a_server(tmp_path: Path, postgres_schema_url: str) -> None:
    world = World(tmp_path, store_url=postgres_schema_url)
    ferry, lamp = world.brain("ferry"), world.brain("lamp")
    world.at(ferry).memorize("Ferry hours", "The ferry leaves at noon.")
    world.restart()
    found = cards(world.human(lamp).call("overview"))

    assert (found["ferry"]["claims"], found["lamp"]["claims"], found["ferry"]["state"]) == (1, 0, "dormant")
    assert world.app.house.brains.warm() == set()
    world.close()
