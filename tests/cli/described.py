"""Operations as an owner writes them into its manifest, for tests of the command line alone."""

import json
from pathlib import Path
from typing import Any

from hindbrain import __version__

__all__ = ["described", "write_manifest"]


def described(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One operation with every key that `operations.describe` gives."""
    return {
        "name": name,
        "effect": "read",
        "summary": f"The summary of {name}.",
        "help": f"The summary of {name}.\n\nAnd what else there is to say.",
        "schema": {"type": "object", "properties": properties or {}, "required": []},
        "everyday": False,
        "retrieval": False,
        "human": False,
        "idempotent": False,
        "progress": False,
        "positional": [],
        "raises": [],
        "surfaces": ["cli", "mcp", "http"],
        "left_out": {},
        **more,
    }


def write_manifest(home: Path, *operations: dict[str, Any], version: str = __version__) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "manifest.json").write_text(json.dumps({"version": version, "operations": list(operations)}))
