"""The manifest: what every operation is called and takes, as the owner wrote it down or as the registry says."""

from __future__ import annotations

import json
import os

from hindbrain import __version__

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["Command", "Manifest", "load", "of_the_code"]

Command = dict[str, "Any"]  # one operation as `operations.describe` tells it; a local command has the same keys


class Manifest:
    """Every operation the command line offers, by name."""

    operations: Mapping[str, Command]
    offered: Mapping[str, Command]

    def __init__(self, operations: list[Command]) -> None:
        self.operations = {str(op["name"]): op for op in operations}
        self.offered = {name: op for name, op in self.operations.items() if "cli" in op["surfaces"]}

    def resolve(self, words: list[str]) -> tuple[Command, int] | None:
        """The operation that the first words name, and how many words that took. The longest name wins."""
        for count in (3, 2, 1):
            if len(words) >= count:
                name = ".".join(word.replace("-", "_") for word in words[:count])
                if found := self.offered.get(name):
                    return found, count
        # A family that begins with a plan shows the plan when no verb is named: nothing is changed by leaving a word out.
        if words and (len(words) == 1 or words[1].startswith("-")) and (plan := self.offered.get(f"{words[0]}.plan")):
            return plan, 1
        return None


def load(home: str) -> Manifest:
    """The manifest of this release: from the owner's file if it is there, else from the registry, slower but the same."""
    found = _from_file(home)
    return of_the_code() if found is None else Manifest(found)


def _from_file(home: str) -> list[Command] | None:
    try:
        with open(os.path.join(home, "manifest.json"), "rb") as file:
            found = json.loads(file.read())
        # Another release's commands would be offered and then refused, or hidden although they work.
        return list(found["operations"]) if found["version"] == __version__ and found["operations"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def of_the_code() -> Manifest:
    """The manifest as the registry says it now."""
    from hindbrain.surfaces import described

    known = Manifest([])
    known.operations, known.offered = described.every(), described.offered()
    return known
