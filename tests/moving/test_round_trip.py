"""A brain goes out as one archive and becomes itself again in an empty home, byte for byte."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.engines.archiving import line_of, row_of
from hindbrain.policy.carrying import CARRIED, LEFT_TABLES, STAYS
from hindbrain.stores.learned import LEARNED_LAYOUT
from hindbrain.stores.sqlite import SqliteStore
from hindbrain.stores.table_port import LAYOUT
from tests.support.dying import DIED
from tests.support.rich_brain import FORGOTTEN, bare, lived
from tests.support.world import World, block, git


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str, Path]]:
    """One brain that has lived, and its archive."""
    place = tmp_path_factory.mktemp("origin")
    world = World(place)
    root = lived(world, "project")
    target = place / "out.tar.gz"
    answer = world.human(root).call("export", target=str(target))
    assert answer["ok"], answer
    yield world, root, target
    world.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[tuple[World, str]]:
    """Another home with a brain that holds nothing, whose repository lies elsewhere."""
    world = World(tmp_path / "elsewhere")
    yield world, bare(world, "moved")
    world.close()


def out(world: World, root: str | None, name: str, **more: Any) -> bytes:
    path = world.place / name
    answer = world.human(root).call("export", target=str(path), **more)
    assert answer["ok"], answer
    return path.read_bytes()


def test_export_import_export_gives_the_same_bytes(origin: tuple[World, str, Path], empty: tuple[World, str]) -> None:
    here, root, archive = origin
    there, moved = empty
    assert out(here, root, "again.tar.gz") == archive.read_bytes(), "the same brain gives the same bytes"

    answer = there.human(moved).call("import", source=str(archive))

    assert answer["ok"], answer
    assert answer["mode"] == "restore"
    assert out(there, moved, "back.tar.gz") == archive.read_bytes()
    there.restart()
    assert out(there, moved, "later.tar.gz") == archive.read_bytes(), "and after the home was closed"


def test_a_clone_that_brings_its_claims_and_letters_is_restored(origin: tuple[World, str, Path], tmp_path: Path) -> None:
    """The usual move: clone the repository, give it its brain, bring the archive."""
    _, root, archive = origin
    git(root, "add", ".hindbrain")
    git(root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "memory")
    there = World(tmp_path / "new")
    clone = there.directory("clone")
    git(root, "clone", "-q", root, clone)
    assert there.human(clone).call("init", path=clone)["ok"]
    assert there.at(clone).call("ledger.show", act="claim.")["entries"], "the claims came with the clone"

    answer = there.human(clone).call("import", source=str(archive))

    assert (answer["ok"], answer["mode"]) == (True, "restore"), answer
    assert out(there, clone, "back.tar.gz") == archive.read_bytes()
    there.close()

    changed = World(tmp_path / "changed")
    other = changed.directory("clone")
    git(root, "clone", "-q", root, other)
    with Path(other, ".hindbrain", "agent-memory", "retry-policy.light.md").open("a") as file:
        file.write("\nAnd then it gives up.\n")
    assert changed.human(other).call("init", path=other)["ok"]
    assert changed.human(other).call("import", source=str(archive))["mode"] == "merge", "what is only here is not replaced"
    changed.close()


def test_a_restored_brain_is_the_one_it_was(origin: tuple[World, str, Path], empty: tuple[World, str]) -> None:
    """What was known is known, what was forgotten stays away, and what is done next is done by this brain."""
    here, root, archive = origin
    there, moved = empty
    fresh = there.human(moved).call("ledger.verify")["head"]
    assert there.human(moved).call("import", source=str(archive))["ok"]

    agent, person = there.at(moved), there.human(moved)
    shown = agent.call("ledger.verify")
    assert (shown["intact"], shown["head"]) == (True, here.at(root).call("ledger.verify")["head"])
    assert shown["head"] != fresh
    assert [row["slug"] for row in agent.seek("worker retries")["results"] if row.get("slug")][:1] == ["retry-policy"]
    assert Path(moved, ".hindbrain", "agent-memory", "retry-policy.light.md").read_bytes() == (
        Path(root, ".hindbrain", "agent-memory", "retry-policy.light.md").read_bytes()
    )
    assert len(agent.call("history", claim="retry-policy")["versions"]) == 2
    for text in (FORGOTTEN, "The moon is made of green cheese."):
        again = agent.call("memorize", node_label="Again", text=text)
        assert again["refused"] == "rejected_value", again
    assert agent.call("boot_memory", action="get", key="deploy.target")["entry"]["value"]["n"] == [1, 2.5, None]
    assert "whistled" in json.dumps(agent.call("memory.search", query="kettle whistled")), "evidence of the old root is in reach"
    assert [card["status"] for card in agent.call("knowledge.list")["cards"]] == ["promoted"]
    assert [one["task"] for one in agent.call("mission.list")["missions"]] == ["find out how often the worker retries"]
    assert "whistle" in json.dumps(agent.call("experience.query", space="tool:kettle"))
    assert Path(moved, ".hindbrain", "inbox.jsonl").read_bytes() == Path(root, ".hindbrain", "inbox.jsonl").read_bytes()

    agent.memorize("Since then", "The worker lives in another place.")
    out(there, moved, "own.tar.gz")
    own = json.loads(_member(there.place / "own.tar.gz", "export.json"))
    assert own["brain"] == moved, "a brain that went on is itself"
    assert root in _member(there.place / "own.tar.gz", "tables/meta.jsonl").decode(), "and knows where it came from"
    assert person.call("ledger.verify")["intact"]


def _member(path: Path, name: str) -> bytes:
    with tarfile.open(path) as archive:
        held = archive.extractfile(name)
        assert held is not None
        return held.read()


def test_only_a_person_restores_what_needs_one(origin: tuple[World, str, Path], empty: tuple[World, str]) -> None:
    _, _, archive = origin
    there, moved = empty
    head = there.at(moved).call("ledger.verify")["entries"]

    archive = Path(shutil.copy(archive, there.place / "copy.tar.gz"))
    dry = there.at(moved).call("import", source=str(archive), dry_run=True)
    refused = there.at(moved).call("import", source=str(archive))

    assert (dry["mode"], dry["dry_run"]) == ("restore", True)
    assert {"active cards", "acts of a person", "packets that bind children"} <= set(dry["needs_human"])
    assert refused["error"]["code"] == "human_needed"
    assert "as_candidates" in refused["error"]["fix"]
    acts = there.at(moved).call("ledger.show", after=head)["entries"]
    assert [entry["act"] for entry in acts] == ["call.refused"], "nothing came in, and the refusal is on record"
    merged = there.at(moved).call("import", source=str(archive), as_candidates=True)
    assert (merged["ok"], merged["mode"]) == (True, "merge")
    assert [card["status"] for card in there.at(moved).call("knowledge.list")["cards"]] == ["candidate"]
    again = there.human(moved).call("import", source=str(archive))
    assert again["mode"] == "merge", "a brain that holds something is never replaced"


def test_a_person_restores_what_agents_wrote(tmp_path: Path) -> None:
    here, there = World(tmp_path / "a"), World(tmp_path / "b")
    a, b = here.brain("project"), there.brain("project")
    here.at(a).memorize("Retry policy", "The worker retries three times.")
    path = tmp_path / "a.tar.gz"
    assert here.human(a).call("export", target=str(path))["ok"]

    inside = Path(b, "a.tar.gz")
    inside.write_bytes(path.read_bytes())

    refused = there.at(b).call("import", source=str(inside))
    inside.unlink()
    answer = there.human(b).call("import", source=str(path))

    assert refused["error"]["code"] == "human_needed"
    assert (answer["ok"], answer["mode"]) == (True, "restore"), answer
    assert out(there, b, "back.tar.gz") == path.read_bytes()
    here.close()
    there.close()


def test_the_medulla_is_restored_by_a_person(origin: tuple[World, str, Path], empty: tuple[World, str]) -> None:
    here, root, _ = origin
    there, moved = empty
    assert here.human(root).call("promote", brain=root, claim="retry-policy", reason="holds everywhere")["ok"]
    first = out(here, root, "medulla.tar.gz", tier="medulla")
    source = str(shutil.copy(here.place / "medulla.tar.gz", there.place / "medulla.tar.gz"))

    assert there.at(moved).call("import", source=source, tier="medulla")["error"]["code"] == "human_needed"
    answer = there.human(moved).call("import", source=source, tier="medulla")

    assert (answer["ok"], answer["mode"]) == (True, "restore"), answer
    assert out(there, moved, "medulla-back.tar.gz", tier="medulla") == first
    assert there.human(moved).call("import", source=source)["mode"] == "merge", "a project does not become a medulla"


def test_a_brain_whose_origin_is_in_this_home_takes_in_by_the_gateway(origin: tuple[World, str, Path]) -> None:
    """Two brains of one home are not one memory: what the origin has forgotten since must not come back beside it."""
    here, _, archive = origin
    second = bare(here, "second")

    answer = here.human(second).call("import", source=str(archive))

    assert (answer["ok"], answer["mode"]) == (True, "merge"), answer


def test_an_archive_goes_to_a_server_and_back(origin: tuple[World, str, Path], tmp_path: Path, postgres_schema_url: str) -> None:
    _, _, archive = origin
    served, plain = World(tmp_path / "served", store_url=postgres_schema_url), World(tmp_path / "plain")
    on_server, back = bare(served, "project"), bare(plain, "project")

    assert served.human(on_server).call("import", source=str(archive))["mode"] == "restore"
    assert served.at(on_server).call("ledger.verify")["intact"]
    assert out(served, on_server, "server.tar.gz") == archive.read_bytes()
    assert plain.human(back).call("import", source=str(served.place / "server.tar.gz"))["mode"] == "restore"
    assert out(plain, back, "plain.tar.gz") == archive.read_bytes()
    assert [row["slug"] for row in served.at(on_server).seek("worker retries")["results"] if row.get("slug")][:1] == [
        "retry-policy"
    ]
    served.close()
    plain.close()


@pytest.mark.parametrize(("at", "comes"), [("plan.json", False), ("state.json", True)], ids=["staging", "placing"])
def test_a_restore_that_is_killed_leaves_nothing_or_is_finished(
    origin: tuple[World, str, Path], empty: tuple[World, str], at: str, comes: bool
) -> None:
    _, _, archive = origin
    there, moved = empty
    before = out(there, moved, "before.tar.gz")
    there.close()
    arguments = json.dumps({"source": str(archive)})
    obstacle = Path(moved, ".hindbrain", "inbox.jsonl")
    command = [sys.executable, "-m", "tests.support.dying", str(there.home.path), moved, at, "import", arguments, "human"]
    assert subprocess.run(command, check=False).returncode == DIED
    if comes:
        obstacle.mkdir()
        assert there.at(moved).call("ledger.verify")["intact"], "what is in the way of a file keeps nobody from the memory"
        obstacle.rmdir()
        there.restart()

    assert out(there, moved, "after.tar.gz") == (archive.read_bytes() if comes else before)
    assert there.human(moved).call("import", source=str(archive))["mode"] == ("merge" if comes else "restore")
    assert not list(there.home.brains_dir.rglob(".restore-*"))


def test_a_disk_that_is_full_after_the_rows_came_loses_no_file(
    origin: tuple[World, str, Path], empty: tuple[World, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is filled after the commit; a fault there must not take back the files, nor say that nothing was changed."""
    _, _, archive = origin
    there, moved = empty
    fill = SqliteStore.reindex

    def full(store: SqliteStore) -> None:
        if "scratch" not in str(store.path):
            raise StoreUnavailable("no space left", fix="free some")
        fill(store)

    monkeypatch.setattr(SqliteStore, "reindex", full)
    answer = there.human(moved).call("import", source=str(archive))
    monkeypatch.undo()

    assert (answer["ok"], answer["mode"]) == (True, "restore"), answer
    assert out(there, moved, "back.tar.gz") == archive.read_bytes()
    assert [row["slug"] for row in there.at(moved).seek("worker retries")["results"] if row.get("slug")][:1] == ["retry-policy"]


@pytest.mark.parametrize("way", ["hindbrain", "inbox", "history"])
def test_nothing_is_restored_where_its_files_have_no_place(origin: tuple[World, str, Path], tmp_path: Path, way: str) -> None:
    """What a checkout holds in the place of ours is found before the rows are committed."""
    _, _, archive = origin
    there = World(tmp_path)
    moved = bare(there, "moved")
    ours = Path(moved, ".hindbrain")
    if way == "hindbrain":
        shutil.rmtree(ours, ignore_errors=True)
        ours.write_text("x")
    elif way == "inbox":
        (ours / "inbox.jsonl").mkdir(parents=True)
    else:
        (ours / "agent-memory").mkdir(parents=True, exist_ok=True)
        (ours / "agent-memory" / ".history").write_text("x")
    head = there.at(moved).call("ledger.verify")

    answer = there.human(moved).call("import", source=str(archive))

    assert answer["error"]["code"] == "path_refused", answer
    assert "in the way" in answer["error"]["message"]
    there.restart()
    shown = there.at(moved).call("ledger.show", after=head["entries"] - 1)
    assert shown["ok"], shown
    assert shown["entries"][0]["hash"] == head["head"]
    later = there.at(moved).call("ledger.show", after=head["entries"])["entries"]
    assert {entry["act"] for entry in later} <= {"call.refused"}
    there.close()


def test_what_a_checkout_holds_beside_history_stays_behind(tmp_path: Path) -> None:
    """Odd files of a repository neither stop an export nor make one that cannot be restored."""
    here, there = World(tmp_path / "a"), World(tmp_path / "b")
    a, b = bare(here, "project"), bare(there, "project")
    for text in ("three", "four"):
        here.at(a).memorize("Retry policy", f"The worker retries {text} times.")
    history = Path(a, ".hindbrain", "agent-memory", ".history")
    (history / "NOTES.txt").write_text("x")
    (history / "a.1.light.md").symlink_to("/etc/passwd")
    (history / "b.1.light.md").mkdir()
    os.mkfifo(history / "c.1.light.md")
    Path(os.fsdecode(os.fsencode(history) + b"/\xff.1.light.md")).write_text("x")
    path = tmp_path / "a.tar.gz"

    assert here.human(a).call("export", target=str(path))["history"] == 1
    assert there.human(b).call("import", source=str(path))["mode"] == "restore"
    assert out(there, b, "back.tar.gz") == path.read_bytes()
    here.close()
    there.close()


def test_every_table_has_rows_in_the_brain_that_makes_the_round(origin: tuple[World, str, Path]) -> None:
    """Byte equality of an empty table shows nothing."""
    _, _, archive = origin
    with tarfile.open(archive) as opened:
        names = set(opened.getnames())

    assert {table for table in LAYOUT if f"tables/{table}.jsonl" not in names} == LEFT_TABLES
    assert {table for table in LEARNED_LAYOUT if f"learned/{table}.jsonl" not in names} == set()
    assert {"files/hygiene_allow.json", "repository/inbox.jsonl"} <= names


def test_a_full_disk_leaves_no_half_archive(origin: tuple[World, str, Path]) -> None:
    here, root, archive = origin
    target = here.place / "half"
    target.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (archive.stat().st_size // 2, hard))
    try:
        answer = here.human(root).call("export", target=str(target / "half.tar.gz"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert answer["error"]["code"] == "store_unavailable", answer
    assert "space" in answer["error"]["fix"]
    assert list(target.iterdir()) == []


def test_every_file_beside_the_database_is_carried_or_left_for_a_reason(origin: tuple[World, str, Path]) -> None:
    here, root, _ = origin
    assert here.human(root).call("memorize", node_label="Release day", claims=[block("Day", "Tuesdays.")], tier="medulla")["ok"]
    rooms = {room.name.split("/")[0] for room in CARRIED}
    for directory in (here.home.medulla_dir, *here.home.brains_dir.iterdir()):
        for found in directory.iterdir():
            stays = any(found.name == name or (name.endswith("*") and found.name.startswith(name[:-1])) for name in STAYS)
            assert stays != (found.name in rooms), f"{found.name} is in both tables or in none"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.text() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)))
def test_a_row_comes_back_as_it_was(row: list[Any]) -> None:
    columns = [f"c{number}" for number in range(len(row))]

    back = row_of(columns, line_of(columns, row))

    assert [(type(value), value) for value in back] == [(type(value), value) for value in row]
