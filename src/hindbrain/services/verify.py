"""Verify: compares the graph with the files as they are on the disk now. Changes nothing, parses nothing."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from hindbrain.domain.errors import PathRefused
from hindbrain.domain.graph import FileFacts
from hindbrain.services import anchors
from hindbrain.services.brains import OpenBrain
from hindbrain.services.graphs import Graphs, Place
from hindbrain.stores.checkout import FileFound, listing
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["CHECKS", "Verify"]

CHECKS = ("existence", "loc", "hash")
SHOWN = 200  # entries of one list; it counts all


class Verify:
    """How far a graph can be trusted."""

    def __init__(self, home: str, graphs: Graphs) -> None:
        self._home = home
        self._graphs = graphs

    def stale(self, opened: OpenBrain, files: Sequence[str] | None) -> dict[str, Any]:
        """Which of the ingested files changed on the disk since."""
        known = self._known(opened)
        asked = [self._named(opened, path) for path in files] if files is not None else sorted(known)
        unknown = [path for path in asked if path not in known]
        stale = [path for path in asked if path in known and self._changed(*known[path])]
        return {
            "stale": stale,
            "unknown": unknown,
            "checked": len(asked) - len(unknown),
            "is_stale": bool(stale),
            "needs_ingest": not known,
        }

    @staticmethod
    def _named(opened: OpenBrain, path: str) -> str:
        path = path.removeprefix("file::")
        root = opened.brain.root or ""
        return os.path.relpath(os.path.realpath(path), root) if os.path.isabs(path) else path.removeprefix("./")

    @staticmethod
    def _changed(facts: FileFacts, full: str) -> bool:
        try:
            now = os.lstat(full)
        except OSError:
            return True
        if (now.st_size, now.st_mtime_ns) == (facts.size, facts.mtime_ns):
            return False
        return _sha256(full) != facts.sha256

    def _known(self, opened: OpenBrain) -> dict[str, tuple[FileFacts, str]]:
        """path -> what the graph knows, and where the file lies."""
        if opened.graph is None or not opened.graph_path.exists():
            return {}
        places = sorted(self._graphs.places(opened), key=lambda place: -len(place.prefix))
        found = {}
        for path, facts in opened.graph.files().items():
            if place := next((one for one in places if path.startswith(one.prefix)), None):
                found[path] = (facts, os.path.join(place.root, path.removeprefix(place.prefix)))
        return found

    def graph_and_disk(
        self, opened: OpenBrain, *, checks: Sequence[str], scope: str | None, patterns: tuple[str, ...] | None
    ) -> dict[str, Any]:
        """Files that only one of them has, and files that differ in length or content."""
        prefix = (scope or "").removeprefix("file::").removeprefix("./")
        known = {path: value for path, value in self._known(opened).items() if path.startswith(prefix)}
        disk = {path: found for path, found in self._on_disk(opened, patterns) if path.startswith(prefix)}
        both = sorted(known.keys() & disk.keys())
        differing = [path for path in both if self._changed(*known[path])] if {"hash", "loc"} & set(checks) else []
        existence = "existence" in checks
        lists: dict[str, list[Any]] = {
            "missing_from_graph": sorted(disk.keys() - known.keys()) if existence else [],
            "missing_from_disk": sorted(known.keys() - disk.keys()) if existence else [],
            "loc_drift": [drift for path in differing if (drift := _drift(path, *known[path]))] if "loc" in checks else [],
            "hash_mismatches": differing if "hash" in checks else [],
        }
        wrong = {path for name in ("missing_from_graph", "missing_from_disk", "hash_mismatches") for path in lists[name]}
        every = known.keys() | disk.keys()
        return {
            "graph_vs_disk": {name: entries[:SHOWN] for name, entries in lists.items()},
            "counts": {name: len(entries) for name, entries in lists.items()},
            "files_in_graph": len(known),
            "files_on_disk": len(disk),
            "stale_confidence": round(len(wrong) / len(every), 4) if every else 0.0,
        }

    def _on_disk(self, opened: OpenBrain, patterns: tuple[str, ...] | None) -> Iterator[tuple[str, FileFound]]:
        places = self._graphs.places(opened) or [Place(root=opened.brain.root or os.sep, prefix="")]
        for place in places:
            chosen = place.patterns if patterns is None else patterns
            for found in listing(place.root, patterns=chosen, without=(self._home,)).files:
                if _is_text(found.full):
                    yield place.prefix + found.path, found


def _drift(path: str, facts: FileFacts, full: str) -> dict[str, Any] | None:
    content = anchors.content(os.path.dirname(full), os.path.basename(full)) or b""
    lines = content.count(b"\n") + (not content.endswith(b"\n")) if content else 0
    return {"path": path, "graph": facts.lines, "disk": lines} if lines != facts.lines else None


def _is_text(full: str) -> bool:
    """A file the graph would have: the same look as the ingest takes."""
    from hindbrain.policy.graph import BINARY_LOOK, MAX_FILE_BYTES

    try:
        if os.path.getsize(full) > MAX_FILE_BYTES:
            return False
        with open_ordinary(full) as file:
            return b"\x00" not in file.read(BINARY_LOOK)
    except (OSError, PathRefused):
        return False


def _sha256(full: str) -> str:
    content = anchors.content(os.path.dirname(full), os.path.basename(full))
    return "" if content is None else hashlib.sha256(content).hexdigest()
