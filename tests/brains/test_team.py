"""A team: clones of one repository on two machines meet in one brain on PostgreSQL; rows come by the database, files by git."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.world import World, git


@pytest.fixture
def team(tmp_path: Path, postgres_schema_url: str) -> Iterator[tuple[World, World, str, str]]:
    """Two homes on one database, and a repository with its clone, both initialised."""
    here, there = World(tmp_path / "a", store_url=postgres_schema_url), World(tmp_path / "b", store_url=postgres_schema_url)
    original = here.repository("app", src__a_py="print(1)\n")
    assert here.at(original).call("init", path=original)["ok"]
    git(original, "add", "-A")
    git(original, "commit", "-qm", "first")
    there.place.mkdir(parents=True, exist_ok=True)
    clone = there.directory("clone")
    git(str(there.place), "clone", "-q", original, clone)
    assert there.at(clone).call("init", path=clone)["ok"]
    yield here, there, original, clone
    here.close()
    there.close()


def test_a_claim_of_one_machine_is_known_on_the_other_and_its_file_comes_by_git(team: tuple[World, World, str, str]) -> None:
    here, there, original, clone = team

    here.at(original, "alice:maker").memorize("Retry with jitter", "Retries without jitter collide.", evidence=["src/a.py"])

    rows = there.at(clone, "bob:maker").north("why do retries collide")["memory"]
    assert [(row["claim"], row["source_agent"]) for row in rows] == [("Retry with jitter", "alice:maker")]
    name = Path(".hindbrain", "agent-memory", "retry-with-jitter.light.md")
    assert not Path(clone, name).exists()
    git(original, "add", "-A")
    git(original, "commit", "-qm", "a claim")
    git(clone, "pull", "-q")
    assert Path(clone, name).read_bytes() == Path(original, name).read_bytes()
    assert there.at(clone).north("why do retries collide")["memory"] == rows
    assert len(there.at(clone).call("history", claim="retry-with-jitter")["versions"]) == 1


def test_versions_of_two_machines_are_one_history(team: tuple[World, World, str, str]) -> None:
    here, there, original, clone = team
    here.at(original).memorize("Retry with jitter", "Retries collide, says A.")
    there.at(clone).north("retries collide")

    there.at(clone).memorize("Retry with jitter", "Retries collide, says B.")
    here.at(original).memorize("Retry with jitter", "Retries collide, says A again.")

    for world, root in ((here, original), (there, clone)):
        (row,) = world.at(root).north("retries collide")["memory"]
        assert row["text"] == "Retries collide, says A again."
        told = [one["text"] for one in world.at(root).call("history", claim="retry-with-jitter")["versions"]]
        assert ["A again" in told[0], "says B" in told[1], "says A." in told[2]] == [True, True, True]
        assert world.at(root).call("ledger.verify")["intact"]
    texts = [Path(root, ".hindbrain", "agent-memory", "retry-with-jitter.light.md").read_text() for root in (original, clone)]
    assert ["says A again" in texts[0], "says B" in texts[1]] == [True, True]  # each clone has what its own caller wrote


def test_an_edit_by_hand_on_one_machine_reaches_the_other(team: tuple[World, World, str, str]) -> None:
    here, there, original, clone = team
    here.at(original).memorize("Default port", "The port is 1338.")
    git(original, "add", "-A")
    git(original, "commit", "-qm", "a claim")
    git(clone, "pull", "-q")
    there.at(clone).north("default port")
    file = Path(clone, ".hindbrain", "agent-memory", "default-port.light.md")
    file.write_text(file.read_text(encoding="utf-8").replace("1338", "1339"), encoding="utf-8")

    there.at(clone).north("default port")

    (row,) = here.at(original).north("default port")["memory"]
    assert row["text"] == "The port is 1339."
    assert there.at(clone).call("doctor")["status"] == "ok"


def test_the_medulla_is_the_teams(team: tuple[World, World, str, str]) -> None:
    here, there, original, _clone = team
    here.at(original).memorize("Sign every tag", "Release tags are signed.")

    here.at(original, "alice:orchestrator").call("promote", brain=original, claim="sign-every-tag", reason="holds everywhere")

    other = there.brain("unrelated")
    (row,) = there.at(other).north("sign the release tag")["memory"]
    assert (row["tier"], row["chain"]["promoted_by"]) == ("medulla", "alice:orchestrator")
    assert here.file(None, "sign-every-tag").exists()
    assert not there.file(None, "sign-every-tag").exists()


@pytest.mark.parametrize("same_home", [True, False], ids=["one home", "two homes"])
def test_a_forged_id_opens_no_brain_of_the_team(tmp_path: Path, postgres_schema_url: str, same_home: bool) -> None:
    here, there = World(tmp_path / "a", store_url=postgres_schema_url), World(tmp_path / "b", store_url=postgres_schema_url)
    there.place.mkdir(parents=True, exist_ok=True)
    original = here.repository("app")
    git(original, "add", "-A")
    git(original, "commit", "-qm", "first")
    assert here.at(original).call("init", path=original)["ok"]
    here.at(original).memorize("Harbour lamp", "The harbour lamp is in the shed.")
    world = here if same_home else there
    hostile = world.repository("hostile", evil_py="1\n")
    git(hostile, "add", "-A")
    git(hostile, "commit", "-qm", "another first")
    Path(hostile, ".hindbrain").mkdir()
    Path(hostile, ".hindbrain", "brain.json").write_bytes(Path(original, ".hindbrain", "brain.json").read_bytes())

    for name, more in (("init", {}), ("ingest", {"project_root": hostile})):
        refused = world.at(hostile).call(name, path=hostile, **more)
        assert refused["error"]["code"] == "human_needed", refused
        assert world.at(hostile).north("where is the harbour lamp")["memory"] == []
    assert world.at(hostile).call("memorize", node_label="Planted", text="planted")["refused"] == "brainless_root"

    assert world.human(hostile).call("brain.confirm", path=hostile)["ok"]
    assert [row["claim"] for row in world.at(hostile).north("where is the harbour lamp")["memory"]] == ["Harbour lamp"]
    here.close()
    there.close()


def test_a_second_clone_in_one_home_still_joins_by_its_history(tmp_path: Path, postgres_schema_url: str) -> None:
    world = World(tmp_path, store_url=postgres_schema_url)
    original = world.repository("app")
    git(original, "add", "-A")
    git(original, "commit", "-qm", "first")
    assert world.at(original).call("init", path=original)["ok"]
    world.at(original).memorize("Harbour lamp", "The harbour lamp is in the shed.")
    git(original, "add", "-A")
    git(original, "commit", "-qm", "second")
    clone = str(world.place / "clone")
    git(original, "clone", "-q", original, clone)

    assert world.at(clone).call("init", path=clone)["ok"]

    assert [row["claim"] for row in world.at(clone).north("where is the harbour lamp")["memory"]] == ["Harbour lamp"]
    world.close()
