"""Letters as other programs write them: a line appended to a spool or a box, and its id by definition."""

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.support.world import World

__all__ = ["box_of", "dropped", "into", "spool_of"]


def box_of(world: World, root: str | None) -> Path:
    return world.home.path / "medulla" / "inbox.jsonl" if root is None else Path(root, ".hindbrain", "inbox.jsonl")


def spool_of(world: World) -> Path:
    return world.home.path / "field-reports.jsonl"


def into(path: Path, class_: str = "bug", **fields: Any) -> str:
    """Append one letter to a file and say its id."""
    line = json.dumps({"class": class_, **fields}, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return hashlib.sha256(line.encode()).hexdigest()[:12]


def dropped(world: World, class_: str = "bug", **fields: Any) -> str:
    """The same into the spool of a world."""
    return into(spool_of(world), class_, **fields)
