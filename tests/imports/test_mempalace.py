"""Import of a MemPalace palace: what was filed, by whom, and the facts beside it; read without any vector database."""

from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_mempal import rows, state, taken
from tests.support.moving_notes import mempalace
from tests.support.moving_sources import tree
from tests.support.palaces import chroma, facts
from tests.support.world import World

FILED: list[dict[str, Any]] = [
    {
        "id": "drawer_app_backend_1",
        "document": "the ferry leaves at noon",
        "wing": "app",
        "room": "backend",
        "source_file": "/src/ferry.py",
        "chunk_index": 2,
        "added_by": "miner",
        "filed_at": "2026-01-02T03:04:05.678901",
        "hall": "hall_facts",
    },
    {
        "id": "drawer_app_talk_1",
        "document": "> why?\nbecause",
        "wing": "app",
        "room": "talk",
        "source_file": "/logs/a.jsonl",
        "chunk_index": 0,
        "ingest_mode": "convos",
        "filed_at": "2026-01-03T00:00:00",
    },
    {"id": "diary_1", "document": "I fixed it", "wing": "wing_codex", "room": "diary", "type": "diary_entry", "agent": "codex"},
    {"id": "drawer_note_1", "document": "a note", "wing": "app", "room": "general", "source_file": "", "importance": 4.0},
    {"id": "reg_1", "document": "[registry] /logs/a.jsonl", "wing": "app", "room": "_registry", "ingest_mode": "registry"},
    {"id": "drawer_empty", "wing": "app", "room": "general"},
    {"id": "drawer_bytes", "document": b"bad \xff bytes", "wing": "app", "room": "general"},
]


@pytest.fixture
def palace(tmp_path: Path) -> Path:
    chroma(tmp_path / ".mempalace" / "palace", FILED, other=[{"id": "closet_1", "document": "derived", "wing": "app"}])
    facts(tmp_path / ".mempalace" / "knowledge_graph.sqlite3", ("Max", "works_at", "Harbour"))
    return tmp_path / ".mempalace"


def test_a_palace_comes_in_whole_and_once(any_world: World, palace: Path) -> None:
    root = any_world.brain("app")
    actor = any_world.at(root)
    before, bytes_before = state(any_world, root), (palace / "palace" / "chroma.sqlite3").read_bytes()

    plan = actor.call("memory.import", path=str(palace))
    assert state(any_world, root) == before
    first = taken(actor, str(palace))
    after = state(any_world, root)
    second = taken(actor, str(palace / "palace"), kind="mempalace")

    assert plan["counts"] == first["counts"]
    assert (first["kind"], first["counts"]["evidence"], first["counts"]["facts"]) == ("mempalace", 6, 1)
    assert first["left_out"] == {"mempalace_closets": 1, "registry": 1}
    assert [(one["name"], one["code"]) for one in first["refused"]] == [("drawer_empty", "invalid_params")]
    assert (second["writes"], state(any_world, root)[1:]) == (False, after[1:])
    assert (palace / "palace" / "chroma.sqlite3").read_bytes() == bytes_before

    held = {row["message_id"]: row for row in rows(actor)}
    told = ("content", "wing", "room", "source_file", "source_type", "provenance", "chunk_index", "tags", "added_at")
    assert [held["drawer_app_backend_1"][name] for name in told] == [
        *("the ferry leaves at noon", "app", "backend", "/src/ferry.py", "project", "research", 2, ["hall_facts"]),
        "2026-01-02T03:04:05.678Z",
    ]
    assert (held["drawer_app_talk_1"]["source_type"], held["drawer_app_talk_1"]["provenance"]) == ("conversation", "human")
    assert (held["diary_1"]["provenance"], held["diary_1"]["speaker"]) == ("runtime", "codex")
    assert (held["drawer_note_1"]["importance"], held["drawer_note_1"]["source_type"]) == (4, "manual")
    assert held["drawer_bytes"]["content"] == "bad \ufffd bytes"
    assert held["t_0"]["content"] == "Max works at Harbour (from 2025-10-01)"


def test_one_wing_of_a_palace(world: World, palace: Path) -> None:
    root = world.brain("app")

    answer = taken(world.at(root), str(palace), wings=["wing_codex"])

    assert [row["content"] for row in rows(world.at(root))] == ["I fixed it"]
    assert answer["wings"] == {"wing_codex": 1}


def test_the_wrong_kind_is_refused(world: World, palace: Path) -> None:
    answer = world.at(world.brain("app")).call("memory.import", path=str(palace), kind="mempal", execute=True)

    assert answer["error"]["code"] == "invalid_params"
    assert "not a database of mempal" in answer["error"]["message"]


def test_what_mempalace_wrote_itself_comes_from_both_of_its_directories(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    palace, graph = mempalace(tmp_path / "you")
    files = tree(tmp_path / "you")

    drawers = taken(world.at(root), str(palace.parent.parent))
    known = taken(world.at(root), str(graph.parent))
    again = [taken(world.at(root), str(path)) for path in (palace, graph)]

    assert (drawers["kind"], drawers["wings"], drawers["left_out"]) == (
        "mempalace",
        {"app": 1, "proj": 1, "wing_codex": 1},
        {"mempalace_closets": 1},
    )
    assert (known["kind"], known["counts"]["evidence"], known["counts"]["refused"]) == ("mempalace", 1, 0)
    assert [one["writes"] for one in again] == [False, False]
    kept = {row["content"]: row["room"] for row in rows(world.at(root))}
    assert kept == {
        "The ferry waits for the tide. Low water cancels two trips. The pier needs new planks before the market.": "src",
        "The harbour master is called Ines and keeps the second key": "harbour",
        "Fixed the bell today": "diary",
        "Ferry leaves from Pier two (from 2026-01-01)": "fact",
    }
    assert tree(tmp_path / "you") == files
