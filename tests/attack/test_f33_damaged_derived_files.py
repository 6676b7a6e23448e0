"""Damage to files of a brain: a derived file is replaced and named, a truth file is left as it is and named."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from hindbrain.stores.checked_file import attach_name, is_plain
from tests.support.fire_brain import Planted, answers, copied, plant
from tests.support.world import World

PAGE = 4096


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return plant(tmp_path_factory.mktemp("planted"))


def _flip(path: Path, page: int) -> None:
    """Change one bit of a page below its header, where SQLite's own check of the structure sees nothing."""
    data = bytearray(path.read_bytes())
    data[page * PAGE + PAGE - 200] ^= 4
    path.write_bytes(data)


def _named(doctor: dict[str, Any], name: str) -> bool:
    return any(name in str(one["text"]) for one in (*doctor["warnings"], *doctor["notes"]))


@pytest.mark.parametrize("page", [1, 2])
def test_f33_a_damaged_files_db_is_named_and_replaced(planted: Planted, tmp_path: Path, page: int) -> None:
    world = copied(planted, tmp_path)
    before = answers(world.at(planted.root).call)
    world.close()
    path = planted.file(world, "files.db")
    data = bytearray(path.read_bytes())
    data[page * PAGE : page * PAGE + 2000] = bytes((number * 37 + 11) % 256 for number in range(2000))
    path.write_bytes(data)
    here = world.at(planted.root)

    assert here.north("worker retries")["ok"]
    assert here.memorize("After", "After the damage.")["ok"]
    assert _named(here.call("doctor"), "files.db")
    assert here.call("doctor.fix", yes=True)["ok"]

    assert not _named(here.call("doctor"), "files.db")
    assert {key: value for key, value in answers(here.call).items() if key != "north"}["search"] == before["search"]
    world.close()


def test_f34_a_flipped_bit_in_any_page_of_graph_db_is_named_and_repaired(planted: Planted, tmp_path: Path) -> None:
    world = copied(planted, tmp_path)
    before = answers(world.at(planted.root).call)
    world.close()
    path = planted.file(world, "graph.db")
    sound = path.read_bytes()
    named = 0
    for page in range(1, len(sound) // PAGE):
        path.write_bytes(sound)
        _flip(path, page)
        here = world.at(planted.root)
        if not _named(here.call("doctor"), "graph.db"):
            assert answers(here.call) == before, "only a page that no answer needs may go unnoticed"
            world.close()
            continue
        named += 1
        assert here.seek("worker retries queue")["ok"]
        assert here.call("doctor.fix", yes=True)["ok"]
        assert answers(here.call) == before
        assert here.call("doctor", scan=True)["status"] == "ok"
        world.close()
    assert named > len(sound) / PAGE / 2


@pytest.mark.parametrize(("name", "version"), [("graph.db", 2), ("vectors.db", 1), ("index.db", 2), ("files.db", 0)])
def test_f34_files_of_a_release_without_checksums_are_brought_forward(
    planted: Planted, tmp_path: Path, name: str, version: int
) -> None:
    world = copied(planted, tmp_path)
    before = answers(world.at(planted.root).call)
    world.close()
    path = planted.file(world, name)
    _take_checksums_away(path, version)
    assert is_plain(path)

    assert answers(world.at(planted.root).call) == before

    assert not is_plain(path)
    assert [one.name for one in path.parent.glob("*.corrupt.*")] == []
    assert world.at(planted.root).call("doctor", scan=True)["status"] == "ok"
    world.close()


def _take_checksums_away(path: Path, version: int) -> None:
    """The same rows in a file as the release before checksums wrote it."""
    plain = path.with_name("plain.tmp")
    connection = apsw.Connection(str(plain), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI)
    connection.execute("attach ? as checked", (attach_name(path),))
    made = connection.execute(
        "select type, name, sql from checked.sqlite_master order by sql like 'create virtual%' desc"
    ).fetchall()
    for kind, name, sql in made:
        there = connection.execute("select 1 from main.sqlite_master where name = ?", (name,)).fetchall()
        if sql is not None and not there and name != "sqlite_sequence":
            connection.execute(sql)
        if kind == "table" and not str(sql).lower().startswith("create virtual"):
            connection.execute(f"delete from main.{name}")
            connection.execute(f"insert into main.{name} select * from checked.{name}")
    connection.execute("detach checked")
    connection.pragma("user_version", version)
    connection.pragma("journal_mode", "wal")
    connection.close()
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    plain.replace(path)


@pytest.mark.parametrize("payload", ["{}", "[]", "not json", json.dumps({"slug": 5, "at": "x"})])
@pytest.mark.parametrize("kind", ["promote", "card.publish", "something.later"])
def test_l6_a_malformed_intent_row_is_named_and_the_brain_works(world: World, kind: str, payload: str) -> None:
    root = world.brain("x")
    world.at(root).memorize("Kettle", "It boils.")
    world.close()
    brain = world.home.project(root)
    assert brain is not None
    connection = apsw.Connection(str(world.home.brain_dir(brain) / "brain.db"))
    connection.execute(
        "insert into intent (brain_id, id, kind, payload, at) values (?, 'i1', ?, ?, 1)", (brain.id, kind, payload)
    )
    connection.close()

    here = world.at(root)

    assert here.seek("kettle")["results"] != []
    told = here.call("doctor")
    assert [one["kind"] for one in told["warnings"] if "intent" in one["text"]] == ["malformed_row"]
