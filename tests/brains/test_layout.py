"""Where things lie on disk, and that they get there whole."""

import json
import os
from pathlib import Path

import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.operations import REGISTRY
from tests.support.world import World, block, tree_hash

LIGHT = "---\nProtocol: L1GHT/1.0\nNode: {label}\nState: {state}\n{more}---\n\n{text}\n\n[⍂ entity: {label}]\n"


def by_hand(world: World, root: str | None, name: str, *, label: str, text: str, state: str = "authored", more: str = "") -> Path:
    path = world.store(root) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LIGHT.format(label=label, text=text, state=state, more=more))
    return path


def names_below(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*") if not path.name.endswith(("-wal", "-shm"))}


@pytest.mark.req("MED-041")
def test_med_041_directories_are_made_at_the_first_write_with_the_names_of_the_layout(world: World) -> None:
    x = world.brain("x")
    own = world.home.brains_dir / fingerprint(x)
    assert not (own / "agent-memory").exists()
    assert not world.home.medulla_dir.exists()

    world.at(x).memorize("Lesson")
    world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Lesson", reason="holds everywhere")
    world.close()

    claims = {"agent-memory", "agent-memory/lesson.light.md", "agent-memory/.locks", "agent-memory/.locks/lesson.lock"}
    databases = {"brain.db", "brain.db.lock", "index.db", "files.db"}
    history = {"agent-memory/.history"}
    assert names_below(world.home.medulla_dir) == claims | databases | history
    archived = {name for name in names_below(own) if name.startswith("agent-memory/.history/")}
    graph = {"graph.db", "graph.db.lock"}
    assert names_below(own) - archived == claims | databases | graph | history | {"project_brain.json", "repository.json"}
    assert {name for name in os.listdir(world.home.path) if not name.endswith(".lock")} == {"brains", "medulla"}


@pytest.mark.req("MED-042")
def test_med_042_the_tier_is_the_directory_and_a_tier_line_is_ignored(world: World) -> None:
    x = world.brain("x")
    world.human(x).memorize("Doctrine", tier="medulla")
    path = by_hand(world, x, "moved.light.md", label="Moved", text="a belief that moves", more="Tier: medulla\n")

    before = world.at(x).seek("belief moves")["results"]
    os.rename(path, world.file(None, "moved"))
    after = world.at(x).seek("belief moves")["results"]

    assert [(row["slug"], row["tier"]) for row in before] == [("moved", "project")]
    # The file in the medulla is a claim there; that the project lacks it now ends nothing.
    assert [(row["slug"], row["tier"]) for row in after] == [("moved", "project"), ("moved", "medulla")]
    assert world.human(x).call("claim.remove", claim="moved")["ok"]
    assert [(row["slug"], row["tier"]) for row in world.at(x).seek("belief moves")["results"]] == [("moved", "medulla")]
    world.at(x).memorize("Written", tier="project")
    assert "Tier" not in world.file(x, "written").read_text()


@pytest.mark.req("MED-043")
def test_med_043_no_other_verb_writes_a_claim_into_the_medulla(world: World) -> None:
    x = world.brain("x", src__a_py="1\n")
    world.human(x).memorize("Doctrine", "the doctrine", tier="medulla")
    before = tree_hash(world.store(None))
    likely = {
        "tier": "medulla",
        "claim": "Doctrine",
        "node_ids": ["doctrine"],
        "feedback": "wrong",
        "query": "doctrine",
        "path": x,
        "key": "doctrine",
        "value": 1,
        "action": "set",
        "reason": "because",
        "source": str(world.home.medulla_dir),
        "target": str(world.place / "out.tar.gz"),
        "old": "medulla",
        "new": x,
    }
    writers = {"memorize", "promote", "consolidate"}

    for name, operation in REGISTRY.items():
        if name not in writers:
            accepted = set(operation.arguments.__struct_fields__)
            world.at(x).call(name, **{key: value for key, value in likely.items() if key in accepted})

    assert tree_hash(world.store(None)) == before


@pytest.mark.req("MED-044")
def test_med_044_the_bound_brain_keeps_its_claims_like_any_project(world: World) -> None:
    world.bound_root = m = world.repository("m")
    world.brain("m")
    x = world.brain("x")

    answer = world.at(m).memorize("Private of m", "a private thing")

    assert answer["path"] == str(world.home.brains_dir / fingerprint(m) / "agent-memory" / "private-of-m.light.md")
    assert world.at(x).north("private thing")["memory"] == []


@pytest.mark.req("MED-046")
def test_med_046_the_manifest_is_data_and_an_extra_key_is_ignored(world: World) -> None:
    x = world.brain("x", src__a_py="1\n")
    path = world.home.manifest_path(x)
    manifest = json.loads(path.read_text())
    nodes = world.at(x).call("health")["node_count"]

    assert manifest["schema"] == "m1nd-project-brain-v0"
    assert (manifest["project_root"], manifest["fingerprint"], manifest["display_name"]) == (x, fingerprint(x), "x")
    assert (manifest["created_ms"], manifest["last_ingest_ms"]) == (world.clock.now, world.clock.now)
    assert manifest["node_count"] == nodes > 0
    assert manifest["edge_count"] > 0
    world.restart()
    trap = world.place / "trap"
    path.write_text(json.dumps({**manifest, "exec": f"touch {trap}", "hooks": {"open": f"touch {trap}"}}))
    assert world.at(x).memorize("Still served")["origin_brain"] == x
    assert not trap.exists()


@pytest.mark.req("MED-047", "MED-048")
def test_med_048_only_files_directly_in_the_store_that_are_not_outdated_count(world: World) -> None:
    x = world.brain("x")
    by_hand(world, x, "a.light.md", label="A", text="countable word")
    by_hand(world, x, "b.light.md", label="B", text="countable word", state="verified")
    by_hand(world, x, "c.light.md", label="C", text="moved_to: medulla countable word", state="outdated")
    by_hand(world, x, ".x.light.md", label="X", text="countable word")
    by_hand(world, x, "notes.md", label="Notes", text="countable word")
    for number in range(5):
        by_hand(world, x, f".history/a.{number}.light.md", label="A", text="countable word of history", state="outdated")

    found = world.at(x).seek("countable word history")

    assert found["memory_exists"] == 2
    assert {row["slug"] for row in found["results"]} == {"a", "b"}
    assert all("history" not in row["text"] for row in found["results"])
    (row,) = [one for one in world.at(x).call("instances")["instances"] if one["project_root"] == x]
    assert row["active_claims"] == 2


@pytest.mark.req("MED-049")
def test_med_049_boot_values_belong_to_their_brain(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    for root, value in ((x, "of x"), (y, {"of": "y"})):
        assert world.at(root).call("boot_memory", action="set", key="k", value=value)["ok"]
    world.human(x).call("boot_memory", action="set", key="k", value="doctrine", tier="medulla")
    world.restart()

    got = {root: world.at(root).call("boot_memory", action="get", key="k", tier="project")["entry"]["value"] for root in (x, y)}

    assert got == {x: "of x", y: {"of": "y"}}
    shown = [
        json.loads((place / "boot_memory_state.json").read_text())["entries"]["k"]["value"]
        for place in (world.home.brains_dir / fingerprint(x), world.home.brains_dir / fingerprint(y), world.home.medulla_dir)
    ]
    assert shown == ["of x", {"of": "y"}, "doctrine"]


@pytest.mark.req("MED-050")
def test_med_050_nothing_is_written_into_the_working_directory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Path(world.directory("nowhere"))
    monkeypatch.chdir(nowhere)
    x = world.brain("x", src__a_py="1\n")
    world.at(x).memorize("Kept", "kept elsewhere", evidence=["src/a.py"])
    world.at(x).call("boot_memory", action="set", key="k", value=1)
    world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Kept", reason="r")
    nodes = world.at(x).call("health")["node_count"]
    world.restart()

    assert [row["tier"] for row in world.at(x).north("kept elsewhere")["memory"]] == ["project", "medulla"]
    assert world.at(x).call("health")["node_count"] == nodes
    assert os.listdir(nowhere) == []


@pytest.mark.req("MED-058")
def test_med_058_history_is_never_deleted_or_rewritten(world: World) -> None:
    x = world.brain("x")
    seen: dict[Path, bytes] = {}
    for number in range(11):
        world.at(x).memorize("Label", f"version {number}")
        world.clock.forward(number % 2)
        for path in world.history(x, "label"):
            assert seen.setdefault(path, path.read_bytes()) == path.read_bytes()
    world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Label", reason="r")
    world.at(x).call("memorize", node_label="Label", claims=[block("weaker")], state="authored")
    world.at(x).call("learn", feedback="wrong", node_ids=["label"])
    world.at(x).call("consolidate", apply=True)
    world.restart()
    world.at(x).call("doctor", scan=True)

    assert len(seen) == 10
    assert len({path.name.split(".")[1] for path in seen}) == 10
    assert {path: path.read_bytes() for path in seen} == seen
