"""The wide read: every hosted store, one at a time, grouped by origin, with what it cost."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.brain import Brain
from hindbrain.engines.fence import tokens
from hindbrain.operations import dispatch
from hindbrain.services.call import Call
from hindbrain.services.house import House
from hindbrain.settings import Settings
from hindbrain.stores.opening import store_opener
from hindbrain.stores.port import BrainStore
from tests.support.light import light_file
from tests.support.scholar import Scholar
from tests.support.world import World

LEGACY = light_file("Old kettle", "The old kettle.")


def kettles(world: World, *names: str) -> list[str]:
    """Brains of these names and the medulla, each with one claim about a kettle."""
    roots = [world.brain(name) for name in names]
    for root in roots:
        world.at(root).memorize(f"Kettle of {Path(root).name}", "A kettle boils here.")
    world.at(roots[0]).memorize("Kettle doctrine", "A kettle boils everywhere.", tier="medulla")
    return roots


def wide(world: World, root: str, query: str = "kettle", **more: Any) -> dict[str, Any]:
    answer = world.at(root).seek(query, tier="all-brains", **more)
    assert answer["ok"], answer
    return answer


@pytest.mark.req("MED-124", "MED-125", "MED-127")
def test_med_124_the_wide_read_reaches_warm_and_dormant_stores(world: World) -> None:
    x, y = kettles(world, "x", "y")
    world.restart()
    world.at(x).north("kettle")  # X is warm now, Y sleeps
    brains = set(world.home.brains_dir.iterdir())

    answer = wide(world, x)

    groups = {group["origin_brain"]: group for group in answer["groups"]}
    assert set(groups) == {x, y, "medulla"}
    assert len(answer["groups"]) == 3
    assert {name: group["dormant"] for name, group in groups.items()} == {x: False, y: True, "medulla": False}
    assert {row["origin_brain"] for row in groups[y]["rows"]} == {y}
    assert groups[y]["store_brain"] == y
    assert {row["store_brain"] for row in answer["results"]} == {x, y, "medulla"}, "every row is labelled"
    assert set(world.home.brains_dir.iterdir()) == brains, "asking creates no brain"


@pytest.mark.req("MED-124", "MED-125", "RC-031")
def test_med_124_the_wide_read_finds_what_the_default_finds_and_evidence_and_cards_of_others(world: World) -> None:
    x = world.brain("x", src__quokka_py="def quokka_fact() -> str:\n    return 'quokka'\n")
    y = Scholar(world, world.brain("y"))
    here = Scholar(world, x)
    here.saw("the quokka fact was seen in x")
    card = y.promoted("A quokka fact needs two sightings.", tier="qi")
    far = y.saw("the quokka fact was seen again in y")
    world.at(x).memorize("Quokka doctrine", "A quokka fact is a fact.", tier="medulla")
    default = world.at(x).seek("quokka fact")
    world.restart()

    answer = wide(world, x, "quokka fact")

    rows = {row.get("id", row["kind"]): row for group in answer["groups"] for row in group["rows"]}
    assert {f"card::{card}", f"evidence::{far}"} <= rows.keys()
    assert {rows[f"card::{card}"][key] for key in ("origin_brain", "store_brain")} == {y.root}
    listed = [row.get("id") or row["node_id"] for row in answer["results"]]
    assert {row.get("id") or row["node_id"] for row in default["results"]} <= set(listed), "the widest tier finds no less"
    assert answer["sufficiency"]["top_score"] == max(row["score"] for row in answer["results"])
    assert answer["agent_runtime_contract"]["status"] == "ok"
    for text in ("A quokka fact needs two sightings", "seen again in y", "src/quokka.py", f"in {y.root}: "):
        assert text in answer["rendered"]
    nothing = wide(world, x, "zebra crossing xylophone")
    assert (nothing["results"], nothing["groups"]) == ([], [])
    assert nothing["agent_runtime_contract"]["status"] != "ok"


@pytest.mark.req("MED-125")
def test_med_125_the_text_of_a_wide_north_shows_the_other_brains_within_its_budget(world: World) -> None:
    names = [f"r{number}" for number in range(6)]
    roots = kettles(world, *names)
    for root in roots:
        for number in range(4):
            world.at(root).memorize(f"Kettle {number} of {root}", f"A kettle boils here, {'again ' * 200}{number}.")

    for tokens_allowed in (2000, 800):
        world.restart(beat_tokens=tokens_allowed)
        answer = world.at(roots[0]).north("kettle", tier="all-brains")

        text = answer["rendered"]
        assert {group["store_brain"] for group in answer["groups"]} == {*roots, "medulla"}
        assert tokens(text) <= tokens_allowed
        assert all(f"in {root}: " in text for root in roots[1:]), "every brain with a match is named"
        assert f"in {roots[0]}: " not in text, "what is the caller's own stands above, once"
    alone = world.at(roots[0]).north("kettle")
    assert not any(root in alone["rendered"] for root in roots[1:])


@pytest.mark.req("MED-127")
def test_med_127_a_store_without_a_snapshot_answers_from_its_claim_files(world: World) -> None:
    x, y = kettles(world, "x", "y")
    world.at(y).memorize("Second kettle of y", "A second kettle boils here.")
    world.close()
    for name in ("brain.db", "index.db", "files.db"):
        for path in world.store(y).parent.glob(f"{name}*"):
            path.unlink()

    groups = {group["origin_brain"]: group for group in wide(world, x)["groups"]}

    assert {row["claim"] for row in groups[y]["rows"]} == {"Kettle of y", "Second kettle of y"}
    assert groups[y]["dormant"] is True


@pytest.mark.req("MED-126")
def test_med_126_a_claim_that_does_not_say_its_origin_is_grouped_by_its_store(world: World) -> None:
    x, y = kettles(world, "x", "y")
    (world.store(y) / "old-kettle.light.md").write_text(LEGACY, encoding="utf-8")

    groups = [group for group in wide(world, x, "old kettle")["groups"] if group["store_brain"] == y]
    row = next(row for group in groups for row in group["rows"] if row["slug"] == "old-kettle")

    assert [group["origin_brain"] for group in groups] == [y]
    assert groups[0]["group_basis"] == "store"
    assert row["origin_brain"] == "unknown"
    assert row["store_brain"] == y


@pytest.mark.req("MED-128")
@pytest.mark.parametrize("damage", ["garbage", "directory"])
def test_med_128_a_store_that_cannot_be_read_is_named_and_the_others_answer(world: World, damage: str) -> None:
    x, y = kettles(world, "x", "y")
    world.close()
    spoil(world.store(y).parent, damage)

    answer = wide(world, x)

    assert {group["origin_brain"] for group in answer["groups"]} == {x, "medulla"}
    assert [one["store_brain"] for one in answer["unreachable"]] == [y]
    assert answer["unreachable"][0]["reason"]


@pytest.mark.req("MED-128", "MED-140")
def test_med_128_a_damaged_brain_does_not_silence_what_looks_at_all_of_them(world: World) -> None:
    x, y = kettles(world, "x", "y")
    world.at(y).call("promote", brain=y, claim="kettle-of-y", reason="holds everywhere")
    for root in (x, y):
        world.at(root).call("boot_memory", action="set", key="kettle", value=root)
    world.close()
    spoil(world.store(y).parent, "garbage")

    doctor = world.at(x).call("doctor", scan=True)
    boot = world.at(x).call("boot_memory", action="list", tier="all-brains")
    there = world.at(y).call("session_handshake")

    assert (doctor["schema"], doctor["status"]) == ("m1nd-doctor-v0", "blocked")
    assert y in next(warning["text"] for warning in doctor["warnings"] if warning["kind"] == "brain_unreachable")
    assert [entry["value"] for entry in boot["entries"]] == [x]
    assert [one["store_brain"] for one in boot["unreachable"]] == [y]
    assert there["ok"] is True
    assert there["can_retrieve"] is False
    assert world.at(y).call("boot_memory", action="get", key="kettle")["error"]["code"] == "store_unavailable"
    assert world.at(x).call("consolidate")["ok"] is True


def spoil(directory: Path, damage: str) -> None:
    """A brain's database as nobody can read it (permissions do not stop a superuser)."""
    for path in directory.glob("brain.db*"):
        path.unlink()
    if damage == "garbage":
        (directory / "brain.db").write_bytes(b"not a database at all, and long enough to be looked at as one " * 100)
    else:
        (directory / "brain.db").mkdir()


class Watched:
    """A house whose stores tell when they are opened and closed, and who was in use at that moment."""

    def __init__(self, world: World, **settings: Any) -> None:
        self.world = world
        self.open: set[str] = set()
        self.most = 0
        self.together: list[set[str]] = []
        world.close()
        self.house = House(
            world.home,
            Settings(settings),
            clock=world.clock,
            open_store=self._opener(store_opener("")),
            bound_root=None,
            resident=False,
        )

    def _opener(self, real: Callable[[Brain, Path], BrainStore]) -> Callable[[Brain, Path], BrainStore]:
        def opened(brain: Brain, directory: Path) -> BrainStore:
            used = {one.brain.name for one in self.house.brains.each_warm() if one.users}
            self.together.append(used | {brain.name})
            store = real(brain, directory)
            if brain.root is not None:
                self.open.add(brain.name)
                self.most = max(self.most, len(self.open))
                close = store.close

                def closed() -> None:
                    self.open.discard(brain.name)
                    close()

                store.close = closed  # type: ignore[method-assign]
            return store

        return opened

    def call(self, root: str, operation: str, **arguments: Any) -> dict[str, Any]:
        call = Call(caller=self.world.at(root).caller, house=self.house, progress=lambda *_: None)
        return dispatch(call, operation, arguments)


@pytest.mark.req("MED-129", "MED-135")
def test_med_129_a_fan_out_keeps_the_warm_cap_and_one_brain_at_a_time(world: World) -> None:
    roots = kettles(world, "a", "b", "c", "d", "e")
    watched = Watched(world, warm_brain_cap=2)

    try:
        answer = watched.call(roots[0], "seek", query="kettle", tier="all-brains")
        watched.call(roots[1], "north", task="kettle", tier="all-brains")
    finally:
        watched.house.close()

    assert {group["origin_brain"] for group in answer["groups"]} == {*roots, "medulla"}
    assert watched.most == 2
    assert all(len(used) == 1 for used in watched.together), watched.together


@pytest.mark.req("MED-130")
def test_med_130_the_fan_out_reports_what_it_cost(world: World, record_property: Callable[[str, object], None]) -> None:
    x, *_ = kettles(world, "x", "y", "z")
    world.restart()

    began = time.perf_counter()
    fanout = wide(world, x)["fanout"]
    record_property("fanout_of_4_stores_ms", round(1000 * (time.perf_counter() - began), 1))

    assert set(fanout) == {"stores", "warm_booted", "elapsed_ms"}
    assert fanout["stores"] == 4
    assert fanout["warm_booted"] == 4
    assert fanout["elapsed_ms"] >= 0


@pytest.mark.req("MED-134")
def test_med_134_one_label_in_two_stores_is_two_rows(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    for root in (x, y):
        world.at(root).memorize("Build flags", "The build wants its flags.")

    groups = wide(world, x, "build flags")["groups"]
    rows = [row for group in groups for row in group["rows"]]

    assert {row["store_brain"] for row in rows} == {x, y}
    assert len({row["node_id"] for row in rows}) == 1


@pytest.mark.req("RC-034")
def test_rc_034_the_envelope_is_the_primarys_and_each_group_has_its_short_identity(world: World) -> None:
    x, y = kettles(world, "x", "y")

    answer = wide(world, x)

    assert answer["agent_runtime_contract"]["served_brain"]["project_root"] == x
    identities = {group["origin_brain"]: group["graph_identity"] for group in answer["groups"]}
    assert set(identities) == {x, y, "medulla"}
    assert all(set(one) == {"node_count", "graph_generation", "dormant"} and one["node_count"] for one in identities.values())


@pytest.mark.req("MED-158", "MED-125")
def test_med_125_a_promoted_claim_is_grouped_under_its_birthplace(world: World) -> None:
    x, y = kettles(world, "x", "y")
    world.at(y).call("promote", brain=y, claim="Kettle of y", reason="holds everywhere")
    shutil.rmtree(y)

    groups = [group for group in wide(world, x)["groups"] if group["store_brain"] == "medulla"]

    assert {group["origin_brain"]: [row["slug"] for row in group["rows"]] for group in groups} == {
        "medulla": ["kettle-doctrine"],
        y: ["kettle-of-y"],
    }
