"""`init`: memory that travels with the repository, and what of it git may see."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.world import World

TRACKED = ("brain.json", "agent-memory/a.light.md", "inbox.jsonl", ".gitignore", "battery/case.json")
IGNORED = (
    "agent-memory/.history/x",
    "agent-memory/.locks/x",
    "graph_snapshot.json",
    "graph_snapshot.corrupt.1.json",
    "plasticity_state.json",
    "calibration_state.json",
    "boot_memory_state.json",
    "ingest_roots.json",
    "counters.json",
    "brain.db",
    "brain.db-wal",
    "owner.log",
    "x.tmp",
    "cache/x",
    ".witness",
)


def ignored(root: str, name: str) -> bool:
    done = subprocess.run(["git", "-C", root, "check-ignore", "-q", f".hindbrain/{name}"], check=False)
    assert done.returncode in (0, 1)
    return done.returncode == 0


@pytest.mark.req("MED-040", "MED-057")
def test_med_040_init_says_to_git_what_travels_and_warns(world: World) -> None:
    x = world.repository("x")

    answer = world.at(x).call("init", path=x)

    assert answer["ok"], answer
    assert "committed" in answer["warning"]
    assert answer["warning"] in answer["rendered"]
    assert sorted(os.listdir(Path(x, ".hindbrain"))) == [".gitignore", ".witness", "agent-memory", "brain.json"]
    assert [name for name in TRACKED if ignored(x, name)] == []
    assert [name for name in IGNORED if not ignored(x, name)] == []


def test_med_040_outside_git_nothing_is_said_of_a_commit(world: World) -> None:
    plain = world.place / "plain"
    plain.mkdir()

    answer = world.at(str(plain)).call("init", path=str(plain))

    assert answer["ok"], answer
    assert answer["warning"] is None
    assert "commit" not in answer["rendered"]


@pytest.mark.req("MED-040", "MED-057")
def test_med_040_private_keeps_claims_and_letters_out_of_git(world: World) -> None:
    x = world.repository("x")

    answer = world.at(x).call("init", path=x, private=True)

    assert answer["warning"] is None
    private = ("agent-memory/a.light.md", "inbox.jsonl")
    assert all(ignored(x, name) for name in (*private, *IGNORED))
    assert not any(ignored(x, name) for name in TRACKED if name not in private)


@pytest.mark.req("MED-040")
def test_med_040_the_home_directory_is_no_project(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    user = world.directory("user")
    monkeypatch.setenv("HOME", user)

    answers = [world.at(user).call("init", path=user), world.at(user).call("ingest", path=user, project_root=user)]

    assert [answer["error"]["code"] for answer in answers] == ["path_refused", "path_refused"]
    assert os.listdir(user) == []
    assert not world.home.brains_dir.exists()


@pytest.mark.req("MED-040")
def test_med_040_the_carried_manifest_is_data_only(world: World) -> None:
    x = world.repository("x")
    world.at(x).call("init", path=x)

    text = Path(x, ".hindbrain/brain.json").read_text()

    assert set(json.loads(text)) == {"schema", "id"}
    assert x not in text


@pytest.mark.req("MED-039")
def test_med_039_the_store_in_the_repository_wins_and_both_are_recalled(world: World) -> None:
    x = world.brain("x")
    owner_side = world.store(x)
    world.at(x).memorize("Before", "shared word before")
    answer = world.at(x).call("init", path=x)
    carried = Path(x, ".hindbrain/agent-memory")

    written = world.at(x).memorize("After", "shared word after")
    (owner_side / "late.light.md").write_text((carried / "before.light.md").read_text().replace("Before", "Late"))
    found = world.at(x).seek("shared word")["results"]

    assert answer["claims_moved"] == 1
    assert Path(written["path"]).parent == carried
    assert {row["slug"] for row in found} == {"before", "after", "late"}
    assert {row["tier"] for row in found} == {"project"}
    assert (owner_side / "before.light.md").exists() is False


@pytest.mark.req("MED-039")
def test_med_039_the_medulla_never_moves(world: World) -> None:
    x = world.brain("x")
    world.human(x).memorize("Doctrine", tier="medulla")
    world.at(x).call("init", path=x)

    answer = world.human(x).memorize("More doctrine", tier="medulla")

    assert Path(answer["path"]).parent == world.store(None)
    assert list(Path(x, ".hindbrain/agent-memory").glob("*.light.md")) == []


@pytest.mark.req("MED-039")
def test_med_039_a_label_written_again_lives_in_one_place(world: World) -> None:
    x = world.brain("x")
    world.at(x).call("init", path=x)
    late = world.store(x) / "late.light.md"
    late.parent.mkdir(parents=True, exist_ok=True)
    late.write_text("---\nProtocol: L1GHT/1.0\nNode: Late\nState: authored\n---\n\nlate words\n\n[⍂ entity: Late]\n")
    assert [row["slug"] for row in world.at(x).seek("late words")["results"]] == ["late"]

    written = world.at(x).memorize("Late", "late words again")

    assert (written["superseded"], Path(written["path"]).parent) == (True, Path(x, ".hindbrain/agent-memory"))
    assert not late.exists()
    assert [row["text"] for row in world.at(x).seek("late words")["results"]] == ["late words again"]
