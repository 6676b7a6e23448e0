"""Import of the MCP reference memory server: what was observed of each entity, and relations as sentences, once."""

import json
from pathlib import Path

from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.moving_notes import graph_memory
from tests.support.moving_sources import secret, tree
from tests.support.world import World


def test_the_graph_that_the_server_wrote_comes_as_evidence_once(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    actor, before = world.at(root), state(world, root)
    path = graph_memory(tmp_path / "graph")
    files = tree(tmp_path / "graph")

    plan = actor.call("memory.import", path=str(path))
    assert state(world, root) == before
    first = taken(actor, str(path))
    after = state(world, root)
    second = taken(actor, str(tmp_path / "graph"))

    assert (plan["kind"], plan["counts"]) == ("mcp-memory", first["counts"])
    assert first["counts"] == {"evidence": 7, "refused": 0, "flagged": 0}
    assert (second["kind"], second["writes"], second["counts"]["evidence_unchanged"]) == ("mcp-memory", False, 7)
    assert state(world, root) == after
    assert tree(tmp_path / "graph") == files
    kept = {row["content"]: row for row in rows(actor)}
    assert set(kept) == {
        "Ferry (boat)\nThe ferry waits for the tide",
        'Ferry (boat)\nIts bell was "cast" in 1912\nand rings twice',
        "Ferry (boat)\nLow water cancels three trips",
        "Harbour master (person)\nHer name is Ines — she keeps the second key",
        "Pier two (place)",
        "Ferry leaves from Pier two",
        "Harbour master calls Ferry",
    }
    assert (kept["Pier two (place)"]["wing"], kept["Pier two (place)"]["room"]) == ("mcp-memory", "place")
    assert kept["Ferry leaves from Pier two"]["tags"] == ["fact"]
    with opened(world, root) as brain:
        assert not list(brain.store.each_live())


def test_broken_lines_are_named_and_the_rest_comes(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    world.at(root).memorize("Second key", "The lighthouse keeper has the second key.")
    assert world.human(root).call("forget", claim="Second key", reason="private")["ok"]
    told = ["fine", 7, "", "The lighthouse keeper has the second key.", f"the key is {secret()}", "\ud800 half\u0000"]
    many = [f"it rang {n} times" for n in range(3)]
    lines = [
        json.dumps({"type": "entity", "name": "Bell", "entityType": "thing", "observations": told}).encode(),
        b'{"type":"entity","name":"B\xff","entityType":null,"observations":["bad \xff bytes"]}',
        b'{"type":"entity","name":"torn","observ',
        b"",
        b"[" * 100_000,
        json.dumps({"type": "entity", "name": secret(), "entityType": "x", "observations": ["named by a key"]}).encode(),
        json.dumps({"type": "entity", "name": "Huge", "entityType": "x", "observations": ["y" * (10 << 20), *many]}).encode(),
        b'{"type":"relation","from":"Bell","to":"","relationType":"hangs_in"}',
        b'{"type":"entity","name":"","observations":[]}',
        b'{"type":"entity","name":"No list","observations":"text"}',
        b'{"type":"other"}',
        b"17",
        b"x" * ((32 << 20) + 5),
        b'{"type":"relation","from":"Bell","to":"Tower","relationType":"hangs_in"}',
    ]
    path = tmp_path / "memory.json"
    path.write_bytes(b"\n".join(lines))

    answer = taken(world.at(root), str(path))
    again = taken(world.at(root), str(path))

    assert answer["kind"] == "mcp-memory"
    assert {row["content"].replace("\ufffd", "?") for row in rows(world.at(root))} == {
        "Bell (thing)",  # what was left around a sentence that was forgotten here
        "Bell (thing)\nfine",
        "Bell (thing)\n? half?",
        "B?\nbad ? bytes",
        "Huge (x)\nit rang 0 times",
        "Huge (x)\nit rang 1 times",
        "Huge (x)\nit rang 2 times",
        "Bell hangs in Tower",
    }
    assert answer["refused_by_code"] == {"hygiene": 2, "invalid_params": 10, "rejected_value": 1}
    unread = {one["name"] for one in answer["refused"] if one["name"].startswith("line ")}
    assert unread == {f"line {n}" for n in (1, 3, 5, 8, 9, 10, 11, 12, 13)}
    assert secret() not in str(answer)
    assert (again["writes"], again["refused_by_code"]) == (False, answer["refused_by_code"])


def test_what_is_no_graph_is_refused_whole(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    (tmp_path / "empty").mkdir()

    none = world.at(root).call("memory.import", path=str(tmp_path / "empty"), kind="mcp-memory")

    assert none["error"]["code"] == "invalid_params"
    assert "MEMORY_FILE_PATH" in none["error"]["fix"]
