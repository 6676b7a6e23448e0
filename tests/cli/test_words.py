"""What the answers of the house say in words: short, countable, and with the reason when there is nothing."""

from pathlib import Path

import pytest

from tests.support.world import World


def test_words_one_claim_is_not_many(world: World) -> None:
    x = world.brain("x")
    nothing = world.at(x).call("north", task="retry")["rendered"]
    world.at(x).memorize("Retry policy", "The worker retries three times.")

    one = world.at(x).call("north", task="retry")["rendered"]

    assert "(0 claims known)" in nothing
    assert "(1 claim known)" in one


@pytest.mark.req("MED-037")
def test_words_an_empty_seek_says_that_no_brain_covers_the_directory(world: World, tmp_path: Path) -> None:
    x = world.brain("x")
    bare = tmp_path / "bare"
    bare.mkdir()

    here = world.at(x).call("seek", query="retry")["rendered"]
    outside = world.at(str(bare)).call("seek", query="retry")["rendered"]

    assert here == "nothing relevant (0 claims known)"
    assert f"gap project_brain_absent: no brain covers {bare}" in outside


@pytest.mark.req("MED-094")
def test_words_a_weaker_version_is_told_what_it_met(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Retry policy", "three times", state="verified", confidence=0.9)

    told = world.at(x).call("memorize", node_label="Retry policy", text="five times")["rendered"]

    assert told.startswith("Kept “Retry policy” in x as it is: the live version (verified, confidence 0.9) is stronger.")
    assert "would_downgrade" in told


@pytest.mark.parametrize("confidence", [7, -0.1, "1.01", "inf", "nan"])
def test_words_a_confidence_outside_of_its_range_is_refused(world: World, confidence: object) -> None:
    x = world.brain("x")

    answer = world.at(x).call("memorize", node_label="Retry policy", text="three times", confidence=confidence)

    assert answer["error"]["code"] == "invalid_params"
    assert "between 0 and 1" in answer["error"]["message"]
    assert world.at(x).call("recall")["memory"] == []


def test_words_history_says_when_and_recall_at_which_time_nothing_was_known(world: World) -> None:
    x = world.brain("x")
    world.at(x, "codex:maker").memorize("Retry policy", "three times")

    versions = world.at(x).call("history", claim="Retry policy")["rendered"]
    before = world.at(x).call("recall", as_of="2020-01-02")["rendered"]
    about = world.at(x).call("recall", query="zebra", as_of="2020-01-02T03:04")["rendered"]

    assert "by codex:maker on 20" in versions
    assert before == "nothing was live at 2020-01-02 00:00:00 UTC"
    assert about == "nothing about this was live at 2020-01-02 03:04:00 UTC"


@pytest.mark.req("MED-185")
def test_words_a_grade_says_what_follows_from_it(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Idempotent jobs", "A job may run twice.")
    world.at(x, "codex:orchestrator").call("promote", claim="Idempotent jobs", reason="seen twice")

    told = world.at(x, "codex:maker").call("learn", feedback="wrong", node_ids=["Idempotent jobs"], tier="medulla")["rendered"]

    assert told.startswith("Graded 'idempotent-jobs' in medulla as wrong. It has left every default answer")
    assert "Etiquette:" in told


def test_words_boot_memory_and_failures_name_what_they_are_about(world: World, tmp_path: Path) -> None:
    x = world.brain("x")

    said = world.at(x).call("boot_memory", action="set", key="deploy.target", value="staging")["rendered"]
    unknown = world.at(x).call("promote", claim="Nothing", reason="r")
    nowhere = world.human(x).call("export", target=str(tmp_path / "nowhere" / "x.tar.gz"))

    assert said == "Set “deploy.target” in x."
    assert unknown["error"]["fix"] == "seek shows what there is"
    assert nowhere["error"]["code"] == "invalid_params"
    assert str(tmp_path / "nowhere") in nowhere["error"]["message"]


@pytest.mark.req("MED-306")
def test_words_instances_and_doctor_count_alike(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Retry policy", "three times")

    listed = {row["project_root"]: row["node_count"] for row in world.at(x).call("instances")["instances"]}
    looked = {row["root"]: row["node_count"] for row in world.at(x).call("doctor")["brains"]}

    assert listed[str(x)] == looked[str(x)] > 0
