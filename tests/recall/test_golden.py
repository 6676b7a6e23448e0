"""Golden answers: callers who do not use `tier` see no change. Rewrite them on purpose with HINDBRAIN_GOLDEN=write."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import DAY, World

GOLDEN = Path(__file__).parents[1] / "golden" / "recall"

# Keys whose value depends on the machine, the process or the run; `tier` is an added key that the comparison masks (MED-133).
VOLATILE = {
    *("process_id", "current_exe", "version", "elapsed_ms", "uptime_seconds"),
    *("graph_generation", "cache_generation", "node_count", "edge_count"),
}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "seek": ("seek", {"query": "retry with jitter"}),
    "seek-light": ("seek", {"query": "retry", "scope": "light::", "top_k": 1}),
    "seek-nothing": ("seek", {"query": "harbour crane"}),
    "boot-list": ("boot_memory", {"action": "list"}),
    "boot-get": ("boot_memory", {"action": "get", "key": "owner"}),
    "north": ("north", {"task": "fix the retry of the worker"}),
    "north-recent": ("north", {"task": "repaint the harbour crane"}),
    "north-bare": ("north", {}),
}


def golden_world(world: World) -> str:
    """A home whose medulla has no claim that matches the requests."""
    x = world.brain("cherry", src__worker_py="def retry(): ...\n")
    actor = world.at(x, session="golden")
    actor.memorize("Retry with jitter", "Retries without jitter meet at one lock.", evidence=["src/worker.py:1"], confidence=0.9)
    world.clock.forward(DAY)
    actor.memorize("Retry budget", "A worker gives up after five retries.", state="verified")
    for number in range(3):
        world.clock.forward(DAY)
        actor.memorize(f"Walnut {number}", f"Walnut trees grow in row {number}.")
    actor.memorize("Walnut doctrine", "Prune walnuts in late summer.", tier="medulla")
    actor.call("boot_memory", action="set", key="owner", value={"team": "core"}, tags=["people"])
    world.clock.forward(40_000_000)
    return x


def masked(value: Any, places: dict[str, str]) -> Any:
    """The answer with everything that a run decides taken out."""
    if isinstance(value, dict):
        return {key: "<masked>" if key in VOLATILE else masked(one, places) for key, one in value.items()}
    if isinstance(value, list):
        return [masked(one, places) for one in value]
    if isinstance(value, str):
        for found, name in places.items():
            value = value.replace(found, name)
    return value


@pytest.mark.req("MED-119", "MED-362", "MED-146")
@pytest.mark.parametrize("name", REQUESTS)
def test_med_119_answers_without_tier_are_the_recorded_ones(world: World, name: str) -> None:
    x = golden_world(world)
    operation, arguments = REQUESTS[name]

    answer = world.at(x, session="golden").call(operation, **arguments)

    places = {str(world.store(x).parent): "<brain>", str(world.home.path): "<home>", x: "<cherry>"}
    said = answer.pop("tier")
    shown = json.dumps(masked(answer, places), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    path = GOLDEN / f"{name}.json"
    if os.environ.get("HINDBRAIN_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")
    assert said == "project+medulla"


@pytest.mark.req("MED-362")
def test_med_362_the_golden_pins_the_rendering_of_the_recent_claims(world: World) -> None:
    recorded = json.loads((GOLDEN / "north-recent.json").read_text(encoding="utf-8"))

    assert [row["match"] for row in recorded["memory"]] == ["recent"] * 3
    assert "memory exists, not necessarily about your task" in recorded["rendered"]
    assert world.place.name not in json.dumps(recorded)
