"""Ingest roots: the lists that an older runtime left beside its stores, swept of what is dead, doubled or not theirs."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.engines.triage import Swept, swept
from hindbrain.stores.home import Home

__all__ = ["RootsFile", "roots_files"]

_NAME = "ingest_roots.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RootsFile:
    """One list of ingest roots and what a sweep makes of it."""

    path: Path
    text: str
    result: Swept

    @property
    def swept_text(self) -> str:
        return json.dumps(list(self.result.kept), indent=2, ensure_ascii=False) + "\n"

    def told(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "kept": list(self.result.kept),
            "removed": [{"entry": entry, "reason": reason} for entry, reason in self.result.removed],
        }


def roots_files(home: Home) -> list[RootsFile]:
    """The lists that a sweep would change. Other lists, and files that are no list, are left alone."""
    found = []
    for path in _candidates(home):
        try:
            text = path.read_bytes().decode("utf-8")
            entries = json.loads(text)
        except (FileNotFoundError, ValueError):
            continue
        if isinstance(entries, list) and all(isinstance(one, str) for one in entries):
            medulla = path.parent == home.medulla_dir
            result = swept(entries, exists=os.path.exists, medulla=medulla)
            if result.removed:
                found.append(RootsFile(path=path, text=text, result=result))
    return found


def _candidates(home: Home) -> Iterator[Path]:
    yield home.medulla_dir / _NAME
    if home.brains_dir.is_dir():
        yield from sorted(path / _NAME for path in home.brains_dir.iterdir() if path.is_dir())
