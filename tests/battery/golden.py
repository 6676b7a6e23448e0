"""Golden answers: what callers without `tier` get, with what differs from run to run masked.

`python -m tests.battery.golden` records them anew; the change then stands in the commit for everybody to read.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.support.world import Actor, World

__all__ = ["ANSWERS", "REQUESTS", "masked", "prepared", "stored"]

ANSWERS = Path(__file__).parent / "golden"

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "north_with_a_match": ("north", {"task": "why do the retries collide"}),
    "north_without_a_match": ("north", {"task": "paint the fence"}),
    "seek": ("seek", {"query": "retries"}),
    "seek_in_memory": ("seek", {"query": "lantern", "scope": "light::"}),
    "boot_memory_list": ("boot_memory", {"action": "list"}),
    "boot_memory_get": ("boot_memory", {"action": "get", "key": "lamp"}),
}

# Facts of one process on one machine; everything else is fixed by the world's clock.
_MASKED = {"process_id", "current_exe", "executable", "version", "uptime_seconds", "elapsed_ms"}


def prepared(world: World) -> Actor:
    """A project with five claims and one key, and a medulla with a claim that no request matches."""
    x = world.brain("x", src__a_py="print(1)\n")
    maker = world.at(x, session="golden")
    maker.memorize(
        "Retry with jitter",
        "Retries without jitter made two workers hit the same lock at once.",
        evidence=["src/a.py:1"],
        confidence=0.9,
        state="verified",
    )
    for number in range(4):
        world.clock.forward(60_000)
        maker.memorize(f"Lantern {number}", f"lantern number {number} hangs in the east wing")
    maker.call("boot_memory", action="set", key="lamp", value={"wing": "east"}, tags=["lamps"], source_refs=["src/a.py"])
    world.at(x, "claude:orchestrator").memorize("Tea", "tea is served at five", tier="medulla")
    world.clock.forward(60_000)
    return maker


def masked(world: World, answer: Any) -> Any:
    """The answer with paths of this run and facts of this process taken out."""
    if isinstance(answer, dict):
        return {key: "<masked>" if key in _MASKED else masked(world, value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [masked(world, one) for one in answer]
    if not isinstance(answer, str):
        return answer
    brain = world.store(str(world.place / "x")).parent
    return answer.replace(brain.name, "<fingerprint>").replace(str(world.place), "<place>")


def stored(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))


def _record() -> None:
    ANSWERS.mkdir(exist_ok=True)
    for name, (operation, arguments) in REQUESTS.items():
        with tempfile.TemporaryDirectory() as place:
            world = World(Path(place))
            answer = masked(world, prepared(world).call(operation, **arguments))
            world.close()
        text = json.dumps(answer, indent=1, ensure_ascii=False) + "\n"
        (ANSWERS / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _record()
