"""A planted brain for tests of fire: claims, evidence and code with words made by chance, its answers, and ways to harm it."""

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import fingerprint
from tests.support.model import tiny_weights
from tests.support.world import World

__all__ = ["DAMAGES", "DERIVED", "Caller", "Planted", "answers", "copied", "drop", "every_token", "plant"]

DERIVED = ("index.db", "vectors.db", "graph.db")
ROWS = 6

Caller = Callable[..., dict[str, Any]]  # (operation, **arguments) -> answer


@dataclass(frozen=True, kw_only=True)
class Planted:
    """Where the home and the checkout are, and the words that nothing else has."""

    home: Path
    root: str
    claims: tuple[str, ...]
    evidence: tuple[str, ...]
    code: tuple[str, ...]

    def file(self, world: World, name: str) -> Path:
        return world.home.brains_dir / fingerprint(self.root) / name


def _words(rng: random.Random, count: int) -> tuple[str, ...]:
    return tuple("".join(rng.choices("bcdfghjklmnpqrstvwz", k=9)) for _ in range(count))


def plant(place: Path, *, seed: int = 7) -> Planted:
    """A home with a model, a brain with code, claims and evidence, everything indexed, and nobody in it."""
    rng = random.Random(seed)
    claims, evidence, code = (_words(rng, ROWS) for _ in range(3))
    world = World(place)
    try:
        assert world.human(None).call("model.install", path=str(tiny_weights(place / "weights")))["ok"]
        files = {
            f"src__part{number}_py": f'"""Part {number} of the queue."""\n\n\ndef retry_{word}(queue):\n'
            f'    """The worker retries the {word} queue."""\n    return queue\n\n\n'
            f"class Worker{number}:\n    def run(self):\n        return retry_{word}(1)\n"
            for number, word in enumerate(code)
        }
        root = world.brain("x", **files)
        here = world.at(root)
        for number, word in enumerate(claims):
            here.memorize(f"Retry {number}", f"The worker retries the {word} queue {number} times.")
        for number, word in enumerate(evidence):
            kept = here.call("record", text=f"the lock of the {word} queue was seen by worker {number}", source=f"log-{number}")
            assert kept["ok"], kept
        assert here.call("model.embed")["pending"] == 0
    finally:
        world.close()
    return Planted(home=world.home.path, root=root, claims=claims, evidence=evidence, code=code)


def copied(planted: Planted, place: Path) -> World:
    """The same home once more, so that a test may harm it."""
    shutil.copytree(planted.home, place / "home", symlinks=True)
    return World(place)


def answers(call: Caller) -> dict[str, list[Any]]:
    """What a caller gets from each way of asking, in its order and with its scores."""
    seek, north = call("seek", query="worker retries queue"), call("north", task="worker retries queue")
    memory = call("memory.search", query="lock of the queue")
    activated = call("activate", query="retry worker")
    return {
        "seek": [(row["node_id"], row["score"]) for row in seek["results"]],
        "memory.search": [(row["id"], row["score"]) for row in memory["results"]],
        "north": [(row["node_id"], row["score"]) for row in (*north["memory"], *north["anchors"])],
        "activate": [(row["node_id"], row["activation"]) for row in activated["activated"]],
        "search": [(row["node_id"], row["line_number"]) for row in call("search", query="retry_")["results"]],
    }


def every_token(call: Caller, planted: Planted, *, code: bool = True) -> None:
    """Each word that was planted leads to its own row, whichever way it is asked for."""
    for word in planted.claims:
        assert any(word in str(row.get("text")) for row in call("seek", query=word)["results"]), word
    for word in planted.evidence:
        assert any(word in row["content"] for row in call("memory.search", query=word)["results"]), word
    for word in planted.code if code else ():
        assert any(str(row["node_id"]).endswith(f"retry_{word}") for row in call("search", query=word)["results"]), word


# -- ways to harm a file -----------------------------------------------------------------------------------------------


def drop(path: Path) -> None:
    """The file and its log."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def _middle(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 4)
        file.write(os.urandom(size // 2))


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database " * 500)


def _directory(path: Path) -> None:
    drop(path)
    path.mkdir()
    (path / "note").write_text("somebody's own")


def _unreadable(path: Path) -> None:
    """A link to itself: nobody can open it, not even a superuser, whom a mode would not stop."""
    drop(path)
    path.symlink_to(path.name)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "middle": _middle,
    "truncated": _truncated,
    "garbage": _garbage,
    "directory": _directory,
    "unreadable": _unreadable,
}
