"""Slice M7b: fates, counts and kinds of confusion (MED-378, MED-381 … MED-390). Cases of distribution are in `tests/mailbox`."""

import os
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.engines.battery import drafted, judged
from hindbrain.services.recall import Beat, Recall
from tests.support.mail import box_of, dropped, into
from tests.support.world import World, tree_hash


@pytest.mark.req("MED-378")
def test_med_378_sweep_union(world: World) -> None:
    x, y, gone = world.brain("x"), world.brain("y"), world.brain("gone")
    sent = [dropped(world, what=f"letter {number}", repo=root) for number, root in enumerate((x, y, x))]
    world.at(x).call("mailbox.distribute")
    sent += [
        into(box_of(world, x), what="by git"),
        into(box_of(world, y), what="by git too"),
        dropped(world, what="unfiled", repo=y),
    ]
    os.rename(gone, f"{gone}-away")

    found = world.at(x).call("inbox_sweep")

    assert sorted(one["id"] for one in found["letters"]) == sorted(sent)
    assert [one["box"] for one in found["unreachable"]] == [gone]


@pytest.mark.req("MED-381", "MED-267")
def test_med_381_fate_derivation(world: World) -> None:
    x = world.brain("x")
    report = world.at(x).call("report", **{"class": "bug"}, what="it broke")["id"]
    seen = []
    for klass in (None, "friction", "receipt", "friction"):
        if klass is not None:
            assert world.at(x).call("report", **{"class": klass}, what=f"about it {len(seen)}", answers=[report])["ok"]
        rows = {one["id"]: one["state"] for one in world.at(x).call("inbox_sweep")["letters"]}
        seen.append(rows[report])

    assert seen == ["wet_ink", "in_flight", "fired_clay", "fired_clay"]


@pytest.mark.req("MED-382", "MED-271")
def test_med_382_external_excluded_from_count(world: World) -> None:
    x = world.brain("x")
    into(box_of(world, x), what="ours", tool="north")
    into(box_of(world, x), what="theirs", tool="context7")

    found = world.at(x).call("mailbox.show")

    assert (found["open"], found["counts"]["external"]) == (1, 1)
    (row,) = (one for one in world.at(x).call("instances")["instances"] if one["project_root"] == x)
    assert row["mailbox_open_count"] == 1


@pytest.mark.req("MED-390", "MED-231")
def test_med_390_triage_flips_target(world: World) -> None:
    x = world.brain("x")
    bug = world.at(x).call("report", **{"class": "bug"}, what="it broke")["id"]

    triage = world.at(x).call("triage", answers=[bug], what="mended", verdict="fixed")

    rows = {one["id"]: one for one in world.at(x).call("inbox_sweep")["letters"]}
    assert rows[triage["id"]]["answers"] == [bug]
    assert (rows[bug]["state"], rows[bug]["answered_by"]) == ("fired_clay", [triage["id"]])


# -- the five kinds ------------------------------------------------------------------------------------------------------


def verdict(world: World, root: str) -> dict[str, Any]:
    """What the one case of the battery comes to."""
    (found,) = world.at(root).call("battery.run")["cases"]
    return dict(found)


class ThirdStore(Recall):
    """A composer that reads a third store: the leak that the law forbids."""

    @classmethod
    def injected(cls, recall: Recall, rows: list[dict[str, Any]]) -> "ThirdStore":
        made = cls.__new__(cls)
        made.__dict__.update(recall.__dict__)
        made.foreign = rows
        return made

    foreign: list[dict[str, Any]]

    def beat(self, *given: Any, **named: Any) -> Beat:
        beat = super().beat(*given, **named)
        beat.rows.extend(self.foreign)
        return beat


@pytest.mark.req("MED-385", "MED-308")
def test_med_385_kind_leak_synthetic(world: World) -> None:
    """No leak has happened, so the detector is shown on one that is injected."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Lantern", "a lantern hangs in the east wing")
    world.at(y).memorize("Harbour", "the harbour opens at six")
    added = world.at(x).call("battery.add", kind="leak", about="harbour lantern")
    assert (added["case"]["synthetic"], added["battery"]) == (True, "medulla")

    clean = verdict(world, x)
    assert (clean["passed"], clean["asked"], list(clean["failing"])) == (True, 2, [])
    house = world.app.house
    stolen = world.at(y).north("harbour")["memory"]
    house.recall = ThirdStore.injected(house.recall, stolen)
    house.north._recall = house.recall

    leaking = verdict(world, x)
    assert not leaking["passed"]
    assert {one["call"] for one in leaking["failing"]} == {"north", "seek"}
    assert all(f"harbour of {y}" in one["seen"] for one in leaking["failing"])
    assert world.at(x).call("battery.run")["exit_code"] == 1


@pytest.mark.req("MED-386", "MED-361")
def test_med_386_kind_false_absence(world: World) -> None:
    """The precedent: the beat said that there was no memory, over 25 claims (2026-07-05)."""
    x = world.brain("x")
    letter = dropped(
        world,
        "memory_misdelivery",
        kind="false_absence",
        ts="2026-07-05T09:12:00Z",
        repo=x,
        what="paint the fence",
        snippet="memory: []",
    )
    added = world.at(x).call("battery.add", letter_id=letter)
    assert (added["case"]["kind"], added["case"]["date"], added["case"]["letter"]) == ("false_absence", "2026-07-05", letter)
    assert not verdict(world, x)["passed"], "an empty store shows nothing of the kind"
    for number in range(25):
        world.at(x).memorize(f"Lantern {number}", f"lantern number {number}")

    assert verdict(world, x)["passed"]
    beat = world.at(x).north("paint the fence")
    assert beat["memory_exists"] == 25
    assert "no_memory" not in {one["kind"] for one in beat["honest_gaps"]}


@pytest.mark.req("MED-387")
def test_med_387_kind_wrong_store_write(world: World) -> None:
    """The precedent: sessions of one project on the owner of another (2026-07-04)."""
    m = world.repository("m1nd")
    world.bound_root = m
    world.restart()
    world.brain("m1nd")
    y = world.repository("cherry")
    before = tree_hash(world.store(m)), world.home.medulla_dir.exists()

    refused = world.at(y).call("memorize", node_label="Cherry", text="cherries are red")

    assert (refused["ok"], refused["refused"]) == (False, "brainless_root")
    assert (tree_hash(world.store(m)), world.home.medulla_dir.exists()) == before

    world.brain("cherry")
    world.at(y).memorize("Cherry", "cherries are red")
    for root in (m, y):
        assert world.at(root).call("battery.add", kind="wrong_store_write", absent=["cherries"] if root == m else None)["ok"]
        assert verdict(world, root)["passed"]
    world.at(m).memorize("Misplaced", "cherries are red, said the wrong store")
    failing = verdict(world, m)["failing"]
    assert [(one["call"], "misplaced" in one["seen"]) for one in failing] == [("seek", True)]


@pytest.mark.req("MED-388", "MED-310")
def test_med_388_kind_misattribution(world: World) -> None:
    """The precedent: owner-wide counters on the cards of each brain (2026-07-04)."""
    x, y = world.brain("x"), world.brain("y")
    for root, count in ((x, 5), (y, 1)):
        for number in range(count):
            world.at(root, session=f"{root}-{number % 2}").north("harbour")
    added = world.at(x).call("battery.add", kind="misattribution")
    assert Path(added["path"]).parent == Path(x, ".hindbrain", "battery"), "of X, so it lies in X's battery"

    rows = {one["project_root"]: one for one in world.at(x).call("instances")["instances"]}
    assert (rows[x]["queries_processed"], rows[y]["queries_processed"]) == (5, 1)
    assert all(row["queries_processed"] != 6 for row in rows.values())
    assert verdict(world, x)["passed"]
    answer, (probe,) = world.at(x).call("instances"), drafted(Misdelivery.MISATTRIBUTION, about="")
    assert judged(probe, answer, own=x) == []
    wearing = {name: answer["self"][name] for name in ("queries_processed", "memory_beats_served")}
    once = answer | {"instances": [row | wearing for row in answer["instances"]]}  # every row wears the owner's numbers
    assert [one.expected for one in judged(probe, once, own=x)] == [f"{name} of each brain alone" for name in wearing]


@pytest.mark.req("MED-389", "MED-035")
def test_med_389_kind_vanished(world: World) -> None:
    """The precedent: brains missing from the list after a restart (2026-07-04)."""
    roots = [world.brain(name) for name in ("x", "y", "z")]
    assert world.at(roots[0]).call("battery.add", kind="vanished")["ok"]
    world.restart()

    listed = [one["project_root"] for one in world.at(roots[0]).call("instances")["instances"]]

    assert sorted(listed) == sorted(roots)
    assert verdict(world, roots[0])["passed"]
    answer, (probe,) = world.at(roots[0]).call("instances"), drafted(Misdelivery.VANISHED, about="")
    loaded = answer | {"instances": answer["instances"][1:]}  # a list of what is loaded, as it was once
    assert [one.seen for one in judged(probe, loaded, own=str(answer["instances"][0]["project_root"]))] == ["no such row"]
    broken = answer | {"instances": [row | {"unreachable": "torn"} for row in answer["instances"]]}
    assert [one.seen for one in judged(probe, broken, own=roots[0])] == ["torn"]
