"""Import of claude-mem: what its own database holds comes in as evidence, of this project only, once."""

import sqlite3
from pathlib import Path

from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.moving_sources import claude_mem, secret, tree
from tests.support.world import World


def test_observations_summaries_and_prompts_of_this_project_come_as_evidence_once(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    actor, before = world.at(root), state(world, root)
    claude_mem(tmp_path / ".claude-mem")
    files = tree(tmp_path / ".claude-mem")

    plan = actor.call("memory.import", path=str(tmp_path / ".claude-mem"))
    assert state(world, root) == before, "a plan writes nothing"
    first = taken(actor, str(tmp_path / ".claude-mem"))
    after = state(world, root)
    second = taken(actor, str(tmp_path / ".claude-mem" / "claude-mem.db"), kind="claude-mem")

    assert (plan["kind"], plan["source_version"], plan["writes"], plan["execute"]) == ("claude-mem", 52, False, False)
    assert plan["counts"] == first["counts"]
    assert first["counts"] == {"evidence": 4, "other_projects": 1, "refused": 1, "flagged": 0}
    assert [one["name"] for one in first["refused"]] == ["claude-mem:observation:2"]
    assert first["refused_by_code"] == {"hygiene": 1}
    assert secret() not in str(first)
    assert (second["counts"]["evidence"], second["counts"]["evidence_unchanged"], second["writes"]) == (0, 4, False)
    assert state(world, root)[1:] == after[1:]
    assert tree(tmp_path / ".claude-mem") == files

    kept = {row["content"].split("\n")[0]: row for row in rows(actor)}
    seen = kept["The ferry waits for the tide"]
    assert "- Low water cancels two trips" in seen["content"]
    assert "Files changed: src/ferry.py" in seen["content"]
    assert {"discovery", "how-it-works", "gotcha"} <= set(seen["tags"])
    assert (seen["wing"], seen["room"]) == ("claude-mem", "discovery")
    assert "Learned: Tides come second" in kept["Asked: Find why the ferry stops"]["content"]
    assert "why does the ferry stop at noon?" in kept
    with opened(world, root) as brain:
        held = {row.message: row for row in brain.store.each_evidence()}
        acts = [entry.act for entry in brain.store.entries(after=0, limit=1_000)]
    assert held["claude-mem:observation:1"].added_at == 1_772_359_260_000
    assert held["claude-mem:prompt:1"].speaker == "user"
    assert acts.count("brain.import") == 2, "the second one is told for what it refused"
    assert world.at(root).call("ledger.verify")["ok"]
    assert "opens at nine" not in str(world.at(root).call("memory.search", query="when does the vault open"))


def test_a_person_maps_another_project_and_an_agent_does_not(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    path = str(claude_mem(tmp_path / "mem"))

    refused = world.at(root).call("memory.import", path=path, project=["other"])
    agent, person = world.at(root).call("memory.import", path=path), world.human(root).call("memory.import", path=path)
    mapped = taken(world.human(root), path, project=["Other"])

    assert refused["error"]["code"] == "human_needed"
    assert (agent["other_projects"], person["other_projects"]) == ({}, {"other": 1})
    assert "--project NAME" in person["rendered"]
    assert mapped["counts"]["evidence"] == 5
    assert "The vault of the other project opens at nine." in str(rows(world.at(root)))


def test_a_worktree_is_its_repository_and_what_was_merged_has_moved(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    path = claude_mem(tmp_path / "mem", project="app/feature-x")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE observations SET merged_into_project = 'app' WHERE project = 'other'")
    connection.close()

    answer = world.at(root).call("memory.import", path=str(path))

    assert answer["counts"]["evidence"] == 5
    assert "other_projects" not in answer["counts"]


def test_odd_cells_and_an_older_database_are_read_for_what_they_are(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    path = tmp_path / "claude-mem.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, project TEXT);"
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, text TEXT, type TEXT, facts TEXT, created_at TEXT);"
            "INSERT INTO sdk_sessions VALUES (1, 'c', 'app');"
        )
        connection.executemany(
            "INSERT INTO observations VALUES (?, 'app', ?, 'change', ?, ?)",
            [
                (1, "an old text", "not json", "2025-01-02T03:04:05Z"),
                (2, b"bad \xff bytes\x00", None, "never"),
                (3, "", "[1, {}]", None),
                (4, "x" * (1 << 20) + "more", "[]", None),
            ],
        )
    connection.close()

    answer = taken(world.at(root), str(path))

    assert answer["counts"] == {"evidence": 2, "refused": 2, "flagged": 1}
    assert {one["name"] for one in answer["refused"]} == {"observation:3", "observation:4"}
    assert answer["flagged"] == [{"name": "observation:1", "flag": "facts is not JSON"}]
    assert {row["content"] for row in rows(world.at(root))} == {"an old text", "bad \ufffd bytes\ufffd"}


def test_a_value_that_was_forgotten_here_stays_out(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    told = "The lighthouse keeper has the second key."
    world.at(root).memorize("Second key", told)
    assert world.human(root).call("forget", claim="Second key", reason="private")["ok"]

    answer = taken(world.at(root), str(claude_mem(tmp_path / "mem")))

    assert answer["refused_by_code"].get("rejected_value") == 1
    assert told not in str(rows(world.at(root)))


def test_what_is_no_database_of_claude_mem_is_refused_whole(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    (tmp_path / "claude-mem.db").write_bytes(b"SQLite format 3\x00 but torn")
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()

    torn = world.at(root).call("memory.import", path=str(tmp_path))
    other = world.at(root).call("memory.import", path=str(tmp_path / "other.db"), kind="claude-mem")
    wings = world.at(root).call("memory.import", path=str(claude_mem(tmp_path / "mem")), wings=["app"])

    assert [one["error"]["code"] for one in (torn, other, wings)] == ["invalid_params"] * 3
