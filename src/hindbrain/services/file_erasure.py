"""Erasing files that were made from memory: exports and copies in the home, and cases of the battery that quote a letter."""

import gzip
import json
from pathlib import Path

from hindbrain.domain.caller import Caller
from hindbrain.services.brains import OpenBrain
from hindbrain.services.experience.erasing import Value
from hindbrain.stores.battery_files import drop_cases
from hindbrain.stores.home import Home
from hindbrain.stores.migrations import COPIES
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["CaseErasure", "CopyErasure", "ExportErasure"]

_PIECE = 1 << 20


class CaseErasure:
    """What `forget` does to the cases of a brain's battery."""

    name = "battery"

    def __init__(self, home: Home) -> None:
        self._home = home

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Delete the cases that quote it: those of the brain, and those that its letters made in the medulla."""
        places = {self._home.battery_dir(brain) for brain in (opened.brain, self._home.medulla())}
        return sum(drop_cases(place, lambda raw: value.held_in(raw.decode("utf-8", "replace"))) for place in places)


class ExportErasure:
    """What `forget` does to the export directory of a brain. An export is a copy: it goes whole."""

    name = "exports"

    def __init__(self, home: Home) -> None:
        self._home = home

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Delete the exports that hold it word for word, packed or not."""
        needles = [
            form.encode()
            for text in value.texts
            for form in {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        ]
        place = self._home.exports_dir(opened.brain)
        held = [path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink() and _holds(path, needles)]
        for path in held:
            path.unlink()
        return len(held)


class CopyErasure:
    """What `forget` does to copies of a brain's database that were made before a repair: they go whole."""

    name = "copies"

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Delete every copy. A text may lie in several pages of a database, so none is searched for it."""
        copies = list(opened.directory.glob(COPIES))
        for path in copies:
            path.unlink(missing_ok=True)
        return len(copies)


def _holds(path: Path, needles: list[bytes]) -> bool:
    longest = max(map(len, needles), default=0)
    with open_ordinary(path, follow=False) as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        stream = gzip.GzipFile(fileobj=file) if packed else file
        before = b""
        try:
            while piece := stream.read(_PIECE):
                if any(needle in before + piece for needle in needles):
                    return True
                before = piece[-longest:]
        except (EOFError, gzip.BadGzipFile):
            return False  # cut off; nobody can import it either
    return False
