"""Slice M5b: a claim is recalled at once where it belongs, and nowhere else unasked (MED-359 … MED-363; the golden answers
of MED-362 are in `tests/recall`)."""

import time
from itertools import product
from typing import Any

import pytest

from tests.support.honesty import rows_of
from tests.support.world import Actor, World

SENTINEL = "MedullaProbeSentinel"


def told(answer: dict[str, Any]) -> str:
    """Everything an answer says of memory. The question itself comes back in some answers and is no memory."""
    return " ".join(str(row.get("text", row.get("value"))) for row in rows_of(answer)) + str(answer.get("rendered", ""))


@pytest.mark.req("MED-359")
def test_med_359_probe_repro(any_world: World) -> None:
    c, m = any_world.brain("cherry"), any_world.brain("gitrooms")
    nodes = {root: any_world.at(root).call("health")["node_count"] for root in (c, m)}

    any_world.at(c).memorize(SENTINEL, f"{SENTINEL}: the probe was here", evidence=["package.json"])
    any_world.clock.forward(1500)

    for answer in (any_world.at(c).seek(SENTINEL), any_world.at(c).north(SENTINEL)):
        (row,) = list(rows_of(answer))
        assert (row["source_agent"], row["age_ms"], row["origin_brain"]) == ("codex:maker", 1500, c)
    for answer in (any_world.at(m).seek(SENTINEL), any_world.at(m).north(SENTINEL)):
        assert list(rows_of(answer)) == []
        assert "the probe was here" not in str(answer)
    assert any_world.file(c, "medullaprobesentinel").is_file()
    assert any_world.at(c).call("health")["node_count"] > nodes[c]
    assert any_world.at(m).call("health")["node_count"] == nodes[m]
    first = any_world.file(c, "medullaprobesentinel").read_text()

    any_world.at(c).memorize(SENTINEL, f"{SENTINEL}: the probe went on", evidence=["package.json"])

    (archived,) = any_world.history(c, "medullaprobesentinel")
    assert archived.read_text() == first.replace("State: authored", "State: outdated")


SURFACES = ("north", "seek", "seek light::", "boot_memory", "recall", "delegate")
WIDE = ("north", "seek", "seek light::", "boot_memory")  # a packet never reads wide: MED-206


def ask(reader: Actor, surface: str, word: str, **more: Any) -> dict[str, Any]:
    if surface == "boot_memory":
        return reader.call("boot_memory", action="list", **more)
    if surface == "north":
        return reader.north(word, **more)
    if surface == "delegate":
        return reader.call("delegate", task=word, scope={"paths": ["package.json"]}, budget={"tokens": 8000}, **more)
    if surface == "recall":
        return reader.call("recall", query=word, **more)
    return reader.seek(word, **({"scope": "light::"} if surface.endswith("light::") else {}), **more)


@pytest.mark.req("MED-360", "MED-332", "MED-395")
def test_med_360_no_leak_permutation_matrix(any_world: World) -> None:
    """Every holder against every reader on every surface; the one project is the brain the owner is bound to."""
    bound = any_world.repository("bound")
    any_world.bound_root = bound
    any_world.restart()
    roots: dict[str, str | None] = {"bound": any_world.brain("bound"), "x": any_world.brain("x"), "y": any_world.brain("y")}
    roots["medulla"] = None
    outside = any_world.directory("nobody")
    for name, root in roots.items():
        more = {"tier": "medulla"} if root is None else {}
        writer = any_world.at(root or str(roots["x"]), "claude:orchestrator")
        writer.memorize(f"Sentinel of {name}", f"lighthouse text of {name}", **more)
        writer.call("boot_memory", action="set", key=f"sentinel-{name}", value=f"lighthouse text of {name}", **more)

    for reader, surface in product(roots, SURFACES):
        answer = ask(
            any_world.at(roots[reader] or outside), surface, "sentinel lighthouse"
        )  # without a brain: the medulla's reader
        handed = surface != "delegate" or reader != "medulla"  # who has no brain has nothing to hand over
        assert answer["ok"] == handed, answer
        for holder in roots:
            unasked = f"lighthouse text of {holder}" in told(answer)
            assert unasked == (handed and holder in (reader, "medulla")), (holder, reader, surface)

    for reader, surface in product(roots, WIDE):
        wide = ask(any_world.at(roots[reader] or outside), surface, "sentinel lighthouse", tier="all-brains")
        for holder in roots:
            found = [row for row in rows_of(wide) if f"lighthouse text of {holder}" in (row.get("text"), row.get("value"))]
            labels = {row["origin_brain"] for row in found}
            assert labels == {roots[holder] or "medulla"}, (holder, reader, surface, found)
    packet = ask(any_world.at(str(roots["x"])), "delegate", "sentinel lighthouse", tier="all-brains")
    shown = {holder for holder in roots if f"lighthouse text of {holder}" in told(packet)}
    assert shown == {"x", "medulla"}, "no argument widens a packet"


@pytest.mark.req("MED-361")
def test_med_361_false_absence(any_world: World) -> None:
    x = any_world.brain("x")
    for number in range(25):
        any_world.at(x).memorize(f"Lantern {number}", f"lantern number {number}")

    beat = any_world.at(x).north("paint the fence")

    assert beat["memory_exists"] == 25
    assert beat["memory"]
    assert "No durable memory yet" not in str(beat)
    assert any_world.at(x).seek("lantern", scope="light::")["results"]


@pytest.mark.req("MED-363", "MED-130")
def test_med_363_fanout_latency_recorded(any_world: World, record_property: Any) -> None:
    any_world.clock = lambda: time.time_ns() // 1_000_000  # type: ignore[assignment]  # the cost is real time
    roots = [any_world.brain(f"r{number}") for number in range(4)]
    for root in roots:
        any_world.at(root).memorize("Harbour", f"the harbour of {root}")
    any_world.at(roots[0]).memorize("Harbours", "a harbour is asked, not guessed", tier="medulla")
    any_world.restart()
    any_world.at(roots[0]).north("harbour")

    wide = any_world.at(roots[0]).seek("harbour", tier="all-brains")

    assert sorted(group["dormant"] for group in wide["groups"]) == [False, False, True, True, True]
    assert wide["fanout"]["stores"] == 5
    assert isinstance(wide["fanout"]["elapsed_ms"], int)
    record_property("fanout_elapsed_ms_5_stores_3_dormant", wide["fanout"]["elapsed_ms"])
