"""Age is an overlay: computed at every read from Created, written nowhere."""

import os
from typing import Any

import pytest

from hindbrain.domain.claim import stamped
from tests.support.world import DAY, World

HOUR = 3_600_000


def row_of(world: World, root: str, words: str = "an old belief") -> dict[str, Any]:
    (row,) = world.at(root).seek(words)["results"]
    return row


@pytest.mark.req("MED-108")
@pytest.mark.parametrize(("age", "stale"), [(30 * DAY - 1, False), (30 * DAY, False), (30 * DAY + 1, True)])
def test_med_108_more_than_thirty_days_is_stale(world: World, age: int, stale: bool) -> None:
    x = world.brain("x")
    world.at(x).memorize("Belief", "an old belief")

    world.clock.forward(age)

    row = row_of(world, x)
    assert (row["age_ms"], row["stale"]) == (age, stale)


@pytest.mark.req("MED-108")
def test_med_108_the_threshold_is_the_setting_stale_after_days(world: World) -> None:
    world.restart(stale_after_days=2)
    x = world.brain("x")
    world.at(x).memorize("Belief", "an old belief")

    world.clock.forward(2 * DAY + 1)

    assert row_of(world, x)["stale"] is True


@pytest.mark.req("MED-109")
@pytest.mark.parametrize(
    ("hours", "changed", "reasons"),
    [
        (720, False, []),
        (721, False, ["aged_out"]),
        (721, True, ["aged_out", "evidence_changed"]),
        (1, True, ["evidence_changed"]),
    ],
)
def test_med_109_age_and_changed_evidence_are_two_reasons(world: World, hours: int, changed: bool, reasons: list[str]) -> None:
    x = world.brain("x", src__a_py="1\n")
    world.at(x).memorize("Belief", "an old belief", evidence=["src/a.py"])
    world.clock.forward(hours * HOUR)
    if changed:
        world.repository("x", src__a_py="2\n")

    found = world.at(x).call("cross_verify", check=["evidence_freshness"])["stale_evidence"]

    assert sorted(one["reason"] for one in found) == reasons
    assert {one["slug"] for one in found} <= {"belief"}


@pytest.mark.req("MED-110")
def test_med_110_growing_old_writes_nothing(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Belief", "an old belief")
    path = world.file(x, "belief")
    before, touched = path.read_bytes(), os.stat(path).st_mtime_ns
    assert row_of(world, x)["stale"] is False

    world.clock.forward(31 * DAY)

    assert row_of(world, x)["stale"] is True
    assert world.at(x).call("cross_verify")["stale_evidence_count"] == 1
    assert (path.read_bytes(), os.stat(path).st_mtime_ns) == (before, touched)


@pytest.mark.req("MED-111")
def test_med_111_without_a_birth_stamp_there_is_no_age(world: World) -> None:
    x = world.brain("x")
    world.store(x).mkdir(parents=True)
    path = world.file(x, "legacy")
    path.write_text("---\nProtocol: L1GHT/1.0\nNode: Legacy\nState: authored\n---\n\nan old belief\n\n[⍂ entity: Legacy]\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))

    row = row_of(world, x)

    assert row["age_ms"] is None
    assert "stale" not in row
    assert world.at(x).call("cross_verify")["stale_evidence"] == []


@pytest.mark.req("MED-112")
def test_med_112_every_surface_shows_the_flag(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Belief", "an old belief")
    world.clock.forward(31 * DAY)

    north = world.at(x).north("an old belief")["memory"]
    seek = world.at(x).seek("an old belief", scope="light::")["results"]
    wide = [row for group in world.at(y).seek("an old belief", tier="all-brains")["groups"] for row in group["rows"]]
    recall = world.at(x).call("recall", query="belief")["memory"]

    for rows in (north, seek, wide, recall):
        assert [(row["slug"], row["stale"]) for row in rows] == [("belief", True)]


@pytest.mark.req("MED-113")
def test_med_113_an_aged_claim_stays_live_and_promotable(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Belief", "an old belief")
    world.clock.forward(31 * DAY)

    answer = world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Belief", reason="still true")

    assert (answer["promoted"], answer["warnings"]) == (True, ["stale"])
    assert {row["state"] for row in world.at(x).seek("an old belief")["results"]} == {"project_private", "promoted"}


@pytest.mark.req("MED-105")
def test_med_105_writing_the_same_text_again_makes_a_belief_young(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Belief", "an old belief")
    world.clock.forward(40 * DAY)
    assert row_of(world, x)["stale"] is True

    answer = world.at(x).memorize("Belief", "an old belief")

    assert answer["superseded"] is True
    row = row_of(world, x)
    assert (row["stale"], row["age_ms"]) == (False, 0)
    assert len(world.history(x, "belief")) == 1


@pytest.mark.req("MED-114")
def test_med_114_superseded_versions_are_not_checked(world: World) -> None:
    x = world.brain("x", src__a_py="1\n")
    world.at(x).memorize("Belief", "an old belief", evidence=["src/a.py"])
    world.at(x).memorize("Belief", "a new belief")
    world.repository("x", src__a_py="2\n")

    assert world.at(x).call("cross_verify")["stale_evidence"] == []


@pytest.mark.req("MED-115")
def test_med_115_a_birth_in_the_future_counts_as_now_and_is_named(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Belief", "an old belief")
    path = world.file(x, "belief")
    path.write_text(stamped(path.read_text(), "Created", str(world.clock.now + HOUR)))

    row = row_of(world, x)

    assert (row["age_ms"], row["stale"]) == (0, False)
    (told,) = world.at(x).call("doctor")["warnings"]
    assert (told["kind"], "belief" in told["text"]) == ("future_created", True)
