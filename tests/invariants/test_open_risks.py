"""Open risks as named checks, and what is not built on purpose (MED-395 … MED-403)."""

import inspect
import shutil
from pathlib import Path

import pytest

from hindbrain.operations import REGISTRY
from hindbrain.policy.limits import DAY_MS
from hindbrain.policy.texts import INSTRUCTIONS
from tests.support.world import Clock, World

CHIEF = "claude:orchestrator"


@pytest.mark.req("MED-395", "MED-131")
def test_med_395_all_brains_is_never_a_default(world: World) -> None:
    """No operation has it as the value of an argument that was left out, and no other word means it."""
    x, y = world.brain("x"), world.brain("y")
    world.at(y).memorize("Harbour", "the harbour opens at seven")
    signatures = {op.name: inspect.signature(op.run).parameters for op in REGISTRY.values()}
    # Of a card `tier` is its rank; everywhere else it says which brains are asked.
    asked = {name: found for name, found in signatures.items() if not name.startswith("knowledge.")}
    defaults = {name: found["tier"].default for name, found in asked.items() if "tier" in found}

    assert {"north", "seek", "recall", "boot_memory"} <= set(defaults)
    assert set(defaults.values()) == {None}
    for word in ("", "*", "all", "any", "everything", "ALL-BRAINS", y, "project+medulla+y"):
        for answer in (world.at(x).seek("harbour", tier=word), world.at(x).north("harbour", tier=word)):
            assert "groups" not in answer
            assert "seven" not in str(answer.get("results", answer.get("memory")))
            assert word == "" or "tier_warning" in answer
    assert world.at(x).seek("harbour", tier="all-brains")["groups"]


@pytest.mark.req("MED-396", "MED-191", "MED-177")
def test_med_396_a_file_put_into_the_medulla_by_hand_is_found(world: World) -> None:
    x = world.brain("x")
    world.at(x, CHIEF).memorize("Doctrine", "lanterns are checked at dusk", tier="medulla")
    world.file(None, "by-hand").write_text("Protocol: L1GHT/1.0\nNode: By hand\nState: authored\n\nlanterns need no check\n")

    audit = {row["slug"]: row["flags"] for row in world.at(x).call("audit_promotions")["claims"]}

    assert world.at(x).call("consolidate")["unattributed"] == ["by-hand"]
    assert world.at(x).call("doctor")["memory"]["unattributed"] == ["by-hand"]
    assert audit["doctrine"] == []
    assert any(flag.startswith("unattributed") for flag in audit["by-hand"])


@pytest.mark.req("MED-397", "MED-190", "MED-200")
def test_med_397_a_copy_whose_witness_moved_on_is_labelled_and_left_alone(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port", "the port is 1337")
    world.at(x, CHIEF).call("promote", claim="port", reason="asked everywhere")
    copy = world.file(None, "port").read_bytes()
    world.at(x).memorize("Port", "the port is 1338")

    beat = world.at(x).north("which port")
    report = world.at(x, CHIEF).call("consolidate", apply=True)

    assert [(row["tier"], row.get("witness_superseded")) for row in beat["memory"]] == [("project", None), ("medulla", True)]
    assert report["witness_superseded"] == [{"slug": "port", "witness_superseded": True}]
    assert world.file(None, "port").read_bytes() == copy


@pytest.mark.req("MED-397")
def test_med_397_a_claim_that_came_back_by_a_merge_is_reported(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port", "the port is 1337")
    first = world.file(x, "port").read_bytes()
    world.clock.forward(1000)
    world.at(x).memorize("Port", "the port is 1338")
    assert "resurrected" not in [one["kind"] for one in world.at(x).call("doctor")["warnings"]]

    merged = world.file(x, "port").with_name("merged")
    merged.write_bytes(first)
    merged.replace(world.file(x, "port"))  # as git puts a file in place

    (warning,) = [one for one in world.at(x).call("doctor")["warnings"] if one["kind"] == "resurrected"]
    assert f"{x}#port" in warning["text"]


@pytest.mark.req("MED-398")
def test_med_398_no_machine_decides_the_tier_of_a_claim(world: World) -> None:
    """Whatever a text says of itself, it lies where its writer put it, and every pass conserves the count of each tier."""
    x, y = world.brain("x"), world.brain("y")
    for root in (x, y):
        world.at(root).memorize("Same everywhere", "candidate for promotion: this holds in every project")
    world.at(x, CHIEF).memorize("Only about x", f"the file {x}/package.json of this one project", tier="medulla")

    def counts() -> dict[str, int]:
        found: dict[str, int] = world.at(x).call("doctor")["memory"]["volume_by_store"]
        return found

    before = counts()
    for _ in range(3):
        world.clock.forward(40 * DAY_MS)
        world.at(x, CHIEF).call("consolidate", apply=True)
        world.app.house.tick()
        world.restart()

    assert counts() == before == {x: 1, y: 1, "medulla": 1}
    assert "memory_misdelivery" in INSTRUCTIONS
    assert "wrong_store_write" in INSTRUCTIONS


@pytest.mark.req("MED-399", "MED-146")
def test_med_399_the_fallback_is_not_noise(world: World) -> None:
    x = world.brain("x")
    here = world.at(x)
    for number in range(20):
        here.memorize(f"Old lamp {number}", f"lamp {number}")
    world.clock.forward(31 * DAY_MS)
    for fresh in (0, 1, 5):
        for number in range(fresh):
            here.memorize(f"New lamp {number}", f"lamp {number}")

        beat = here.north("paint the fence")

        assert len(beat["memory"]) == min(fresh, 3)
        assert all(row["match"] == "recent" and row["stale"] is False for row in beat["memory"])
        assert ("memory_note" in beat) == bool(fresh)
        assert not fresh or beat["memory_note"] == "memory exists, not necessarily about your task"


class Watch(Clock):
    """A clock that is asked in the middle of every read, and looks then how many brains are warm."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world, self.most = world, 0

    def __call__(self) -> int:
        app = self._world._app
        if app is not None:
            self.most = max(self.most, sum(name.startswith("/") for name in app.house.brains.warm()))
        return super().__call__()


@pytest.mark.req("MED-400", "MED-129")
def test_med_400_a_wide_read_is_bounded(world: World) -> None:
    world.clock = Watch(world)
    world.restart(warm_brain_cap=2)
    roots = [world.brain(f"r{number}") for number in range(20)]
    for root in roots:
        world.at(root).memorize("Harbour", f"the harbour of {root}")
    world.restart()
    world.clock.most = 0

    wide = world.at(roots[0]).seek("harbour", tier="all-brains")

    assert {group["origin_brain"] for group in wide["groups"]} == set(roots)
    assert wide["fanout"]["stores"] == 20
    assert 1 <= world.clock.most <= 2


@pytest.mark.req("MED-401")
def test_med_401_a_caller_that_lies_about_its_root_is_served_and_the_record_says_whence(world: World) -> None:
    x = world.brain("x")
    liar = world.at(x)  # a process elsewhere whose header names x

    handshake = liar.call("session_handshake")

    assert handshake["binding_fingerprint"]["workspace_root"] == x
    assert handshake["caller_root_source"] == "header"
    assert liar.call("session_handshake")["caller_root_source"] == "header"


@pytest.mark.req("MED-402")
def test_med_402_tier_is_an_argument_of_memory_and_of_nothing_else(world: World) -> None:
    x = world.brain("x")
    without = [op.name for op in REGISTRY.values() if "tier" not in op.arguments.__struct_fields__ and not op.human]

    for name in without:
        required = {field: "x" for field in ("claim", "old", "new") if field in op_required(name)}
        answer = world.at(x).call(name, tier="all-brains", **required)
        assert answer["error"]["code"] == "invalid_params", name
    assert {"health", "doctor", "instances"} <= set(without)


def op_required(name: str) -> tuple[str, ...]:
    kind = REGISTRY[name].arguments
    return kind.__struct_fields__[: len(kind.__struct_fields__) - len(kind.__struct_defaults__)]


@pytest.mark.req("MED-403")
def test_med_403_what_is_not_built_has_no_verb() -> None:
    words = {part for name in REGISTRY for part in name.replace("_", ".").split(".")}

    assert not words & {"eject", "compose", "thread", "threads", "comment", "comments", "spawn", "relocate"}
    assert not {name for name in REGISTRY if name.startswith("medulla.")}, "nothing moves the medulla"


@pytest.mark.req("MED-403")
def test_med_403_one_process_serves_every_repository(world: World) -> None:
    """No process per repository: two brains answer from this one, and a repository that goes away takes none with it."""
    x, y = world.brain("x"), world.brain("y")
    processes = {world.at(root).call("session_handshake")["binding_fingerprint"]["process_id"] for root in (x, y)}
    shutil.rmtree(Path(y))

    assert len(processes) == 1
    assert world.at(x).north("anything")["ok"]
