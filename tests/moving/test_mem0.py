"""Import of mem0: memories of an export and of its history come as evidence once; what was deleted there stays deleted."""

import json
import sqlite3
from pathlib import Path

from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.moving_notes import mem0_export, mem0_history
from tests.support.moving_sources import secret, tree
from tests.support.world import World


def test_an_export_that_mem0_answered_comes_as_evidence_once(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    actor, before = world.at(root), state(world, root)
    path = mem0_export(tmp_path / "old")
    files = tree(tmp_path / "old")

    plan = actor.call("memory.import", path=str(path))
    assert state(world, root) == before
    first = taken(actor, str(path))
    after = state(world, root)
    second = taken(actor, str(tmp_path / "old"))

    assert (plan["kind"], plan["counts"]) == ("mem0", first["counts"])
    assert first["counts"] == {"evidence": 3, "refused": 0, "flagged": 0}
    assert (second["kind"], second["writes"], second["counts"]["evidence_unchanged"]) == ("mem0", False, 3)
    assert state(world, root) == after
    assert tree(tmp_path / "old") == files
    kept = {row["content"]: row for row in rows(actor)}
    assert set(kept) == {"The ferry waits for the tide", "Low water cancels three trips", "The pier needs new planks"}
    assert set(kept["The pier needs new planks"]["tags"]) == {
        "user:ines",
        "agent:planner",
        "run:run-1",
        "category:repairs",
        "priority:2",
    }
    with opened(world, root) as brain:
        held = {row.content: row for row in brain.store.each_evidence()}
    assert held["The ferry waits for the tide"].speaker == "ines"
    assert held["Low water cancels three trips"].speaker == "assistant"
    assert held["Low water cancels three trips"].added_at == 1_794_854_388_088
    assert held["Low water cancels three trips"].message == "mem0:memory:9f37b698-c3e5-4464-a431-fca7a099b518"


def test_the_history_brings_the_last_version_and_nothing_that_was_deleted(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    mem0_history(tmp_path / ".mem0")
    (tmp_path / ".mem0" / "config.json").write_text('{"user_id": "x"}')
    files = tree(tmp_path / ".mem0")

    first = taken(world.at(root), str(tmp_path / ".mem0"))
    export = taken(world.at(root), str(mem0_export(tmp_path / "old")))
    mem0_export(tmp_path / ".mem0")
    both = world.at(root).call("memory.import", path=str(tmp_path / ".mem0"))

    assert (first["kind"], first["counts"]) == ("mem0", {"evidence": 4, "refused": 0, "flagged": 0})
    assert first["left_out"] == {"deleted memories": 1, "earlier versions of memories": 2}
    assert {row["content"] for row in rows(world.at(root))} == {
        "The ferry waits for the tide",
        "Low water cancels three trips",
        "The pier needs new planks",
        "The oven is cold",
    }
    assert (export["writes"], export["counts"]["evidence_unchanged"]) == (False, 3), "the same memories, from the other file"
    assert (both["counts"]["evidence"], both["counts"]["evidence_unchanged"]) == (0, 4)
    assert tree(tmp_path / ".mem0").items() >= files.items()


def test_odd_memories_are_named_and_the_rest_comes(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    world.at(root).memorize("Second key", "The lighthouse keeper has the second key.")
    assert world.human(root).call("forget", claim="Second key", reason="private")["ok"]
    memories = [
        {"id": "1", "memory": "The bell rings twice", "categories": ["sounds", 7], "metadata": {"deep": {"a": 1}, "none": None}},
        {"id": "2", "memory": f"the key is {secret()}"},
        {"id": "3", "memory": "The lighthouse keeper has the second key."},
        {"id": "4", "memory": "   "},
        {"id": "5", "memory": "y" * (10 << 20)},
        {"id": "6", "memory": "was deleted", "state": "deleted"},
        {"id": "7", "memory": "half \ud800 and \u0000", "created_at": "never"},
        {"id": "8", "memory": "tagged with a key", "metadata": {"key": secret()}},
        {"memory": "has no id", "created_at": 1772359260},
        "a text",
        None,
    ]
    relations = [{"source": "ines", "relationship": "calls", "target": "ferry"}, {"source": "ines"}, 3]
    path = tmp_path / "export.json"
    path.write_bytes(json.dumps({"count": 11, "next": None, "results": memories, "relations": relations}).encode())

    answer = taken(world.at(root), str(path))
    again = taken(world.at(root), str(path))

    assert answer["kind"] == "mem0"
    assert {row["content"].replace("\ufffd", "?") for row in rows(world.at(root))} == {
        "The bell rings twice",
        "half ? and ?",
        "has no id",
        "ines calls ferry",
    }
    assert answer["refused_by_code"] == {"hygiene": 2, "invalid_params": 6, "rejected_value": 1}
    assert {"memory:4", "memory:5", "memory 10", "memory 11", "relation 2", "relation 3"} <= {
        one["name"] for one in answer["refused"]
    }
    assert answer["flagged"] == [{"name": "memory:1", "flag": "a part of its metadata is no word and was left out"}]
    assert answer["left_out"] == {"deleted memories": 1}
    assert secret() not in str(answer)
    assert (again["writes"], again["counts"]["evidence_unchanged"]) == (False, 4)


def test_what_is_no_memory_of_mem0_is_refused_whole(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    (tmp_path / "torn.json").write_bytes(b'{"results": [{"id": "1", "memory": "tor')
    (tmp_path / "deep.json").write_bytes(b"[" * 200_000)
    (tmp_path / "none.json").write_bytes(b'{"results": {}, "memory": "x"}')
    (tmp_path / "empty").mkdir()
    with sqlite3.connect(tmp_path / "history.db") as connection:
        connection.execute("CREATE TABLE history (url TEXT)")
    connection.close()

    found = {
        name: world.at(root).call("memory.import", path=str(tmp_path / name), kind="mem0")
        for name in ("torn.json", "deep.json", "none.json", "empty", "history.db")
    }

    assert {name: answer["error"]["code"] for name, answer in found.items()} == dict.fromkeys(found, "invalid_params")
    assert rows(world.at(root)) == []
