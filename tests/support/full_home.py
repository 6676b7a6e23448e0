"""A home with something of every kind in it: a rich brain with code, the medulla, messages, and optionally a model."""

from pathlib import Path
from typing import Any

from tests.support.model import tiny_weights
from tests.support.rich_brain import lived
from tests.support.world import World

__all__ = ["directories", "fill"]


def _ok(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def fill(world: World, *, model: bool, rows: int = 30) -> str:
    """Fill a new home and return the root of its repository."""
    if model:
        _ok(world.human(None).call("model.install", path=str(tiny_weights(world.place / "weights"))))
    root = lived(world, "x")
    here, person = world.at(root), world.human(root)
    _ok(here.call("ingest", path=root))
    for number in range(rows):
        here.memorize(f"Worker {number}", f"Worker {number} retries the queue {number} times.", evidence=["src/worker.py"])
        _ok(here.call("record", text=f"worker {number} whistled like a kettle at the queue", source=f"log-{number}"))
    _ok(here.call("record", text="the samovar hums at dusk", source="ear"))
    for agent in ("codex-maker", "claude-reviewer"):
        _ok(here.call("cowork.register", agent_id=agent, tool=agent.partition("-")[0]))
    _ok(here.call("cowork.send", **{"from": "codex-maker"}, to="claude-reviewer", message="the kettle is on"))
    _ok(here.call("cowork.session.create", session_id="tea", title="Tea", agents=["codex-maker", "claude-reviewer"]))
    _ok(here.call("cowork.reserve", agent_id="codex-maker", paths=["src/worker.py"]))
    _ok(person.call("promote", claim="worker-1", reason="it holds everywhere"))
    if model:
        assert _ok(here.call("model.embed"))["pending"] == 0
    return root


def directories(world: World, root: str) -> tuple[Path, ...]:
    """Where the brain of the repository and the medulla lie."""
    brain = world.home.project(root)
    assert brain is not None
    return (world.home.brain_dir(brain), world.home.medulla_dir)
