"""How a directory gets its brain: one call, never in silence."""

import os

import pytest

from hindbrain.domain.brain import fingerprint
from tests.support.world import World, tree_hash


@pytest.mark.req("MED-008")
def test_med_008_one_call_creates_the_brain_ingests_binds_and_answers_with_its_north(world: World) -> None:
    x = world.repository("x", src__a_py="print(1)\n")

    answer = world.at(x, session="s").call("ingest", path=x, project_root=x, agent_id="a")

    assert answer["schema"] == "m1nd-project-brain-bootstrap-v0"
    assert answer["project_root"] == x
    assert answer["store_dir"] == str(world.home.brains_dir / fingerprint(x))
    assert answer["reused_existing_brain"] is False
    assert answer["ingest"]["node_count"] > 0
    assert answer["north"]["binding"]["workspace_root"] == x
    assert answer["routing"]["bound_project_root"] == x
    assert world.at(None, session="s").north()["binding"]["workspace_root"] == x


@pytest.mark.req("MED-009")
def test_med_009_a_repeated_bootstrap_uses_the_same_store_and_loses_nothing(world: World) -> None:
    x = world.brain("x")
    for number in range(3):
        world.at(x).memorize(f"Lesson {number}", f"lesson number {number} of three")

    answer = world.at(x).call("ingest", path=x, project_root=x)

    assert answer["reused_existing_brain"] is True
    assert os.listdir(world.home.brains_dir) == [fingerprint(x)]
    assert {row["slug"] for row in world.at(x).seek("lesson")["results"]} == {"lesson-0", "lesson-1", "lesson-2"}


@pytest.mark.req("MED-010")
def test_med_010_a_directory_of_the_bound_brain_is_home_already(world: World) -> None:
    world.bound_root = world.repository("app")
    world.brain("app")
    sub = world.directory("app/sub")
    before = os.listdir(world.home.brains_dir)

    answer = world.at(sub).call("ingest", path=sub, project_root=sub)

    assert answer["error"]["code"] == "already_covered"
    assert "home" in answer["error"]["message"]
    assert os.listdir(world.home.brains_dir) == before


@pytest.mark.req("MED-011")
def test_med_011_nothing_but_the_bootstrap_and_init_creates_a_brain(world: World) -> None:
    world.brain("x")
    z = world.repository("z")
    stranger = world.at(z)
    before = tree_hash(world.home.brains_dir)

    stranger.north("anything")
    stranger.seek("anything", tier="all-brains")
    stranger.call("memorize", node_label="Z", text="z")
    for operation in (
        "health",
        "session_handshake",
        "trust_selftest",
        "recovery_playbook",
        "doctor",
        "instances",
        "cross_verify",
    ):
        stranger.call(operation)
    stranger.call("boot_memory", action="list")
    stranger.call("ingest", path=z)
    stranger.call("promote", claim="z", reason="r", brain=z)

    assert tree_hash(world.home.brains_dir) == before
    assert not (world.home.brains_dir / fingerprint(z)).exists()
    assert not world.home.medulla_dir.exists()


@pytest.mark.req("MED-003")
@pytest.mark.parametrize("arguments", [{"tier": "medulla"}, {"tier": "medulla", "adapter": "light"}], ids=["code", "light"])
def test_med_003_the_medulla_takes_no_repository(world: World, arguments: dict[str, str]) -> None:
    x = world.brain("x", src__a_py="print(1)\n")
    world.human(x).memorize("Doctrine", tier="medulla")
    with world.app.house.brains.use(world.home.medulla()) as opened:
        before = opened.store.counts()

        answer = world.at(x).call("ingest", path=x, **arguments)

        assert answer["error"]["code"] == "medulla_forbids_code"
        assert "project brain" in answer["error"]["message"]
        assert answer["error"]["fix"] == {"tool": "ingest", "arguments": {"path": x, "project_root": x}}
        assert opened.store.counts() == before


@pytest.mark.req("MED-003", "MED-004")
def test_med_004_code_aimed_at_the_medulla_store_is_refused_and_its_own_claims_are_taken_in(world: World) -> None:
    x = world.brain("x")
    world.human(x).memorize("Doctrine", tier="medulla")
    store = str(world.store(None))
    world.store(None).joinpath("by-hand.light.md").write_text(
        "---\nProtocol: L1GHT/1.0\nNode: By hand\nState: authored\n---\n\nwritten by hand\n\n[⍂ entity: By hand]\n"
    )

    refused = world.at(x).call("ingest", path=store, adapter="code")
    taken = world.at(x).call("ingest", path=store, adapter="light", mode="merge")

    assert refused["error"]["code"] == "medulla_forbids_code"
    assert (taken["ok"], taken["files_loaded"]) == (True, 1)
    assert [row["slug"] for row in world.at(x).seek("written hand", tier="medulla")["results"]] == ["by-hand"]


@pytest.mark.req("MED-054")
def test_med_054_taking_in_memory_leaves_the_workspace_root_alone(world: World) -> None:
    x = world.brain("x")
    actor = world.at(x)
    actor.memorize("First")
    actor.call("ingest", path=str(world.store(x)), adapter="light")

    finger = actor.call("session_handshake")["binding_fingerprint"]

    assert finger["workspace_root"] == x
    assert finger["ingest_roots"] == [x]


@pytest.mark.req("MED-053")
def test_med_053_claims_add_no_ingest_roots(world: World) -> None:
    x = world.brain("x")
    manifest = world.home.manifest_path(x)
    before = manifest.read_bytes()

    for number in range(5):
        world.at(x).memorize(f"Claim {number}")

    assert manifest.read_bytes() == before
    assert not (world.home.brains_dir / "ingest_roots.json").exists()


@pytest.mark.req("MED-055")
def test_med_055_a_replacing_ingest_restores_the_claims(world: World) -> None:
    x = world.brain("x")
    for number in range(3):
        world.at(x).memorize(f"Lesson {number}", "lesson")

    answer = world.at(x).call("ingest", path=x, project_root=x, mode="replace")

    assert answer["ingest"]["agent_memory_restored"]["loaded_count"] == 3
    assert len(world.at(x).seek("lesson")["results"]) == 3
