"""The hygiene scan: every claim file, archived version, letter box and the spool against the hygiene floor. Changes nothing."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.hygiene import scan
from hindbrain.engines.letters import secret_classes
from hindbrain.services.brains import Brains
from hindbrain.stores.home import BOX, REPO_DIR, Home
from hindbrain.stores.letter_files import box_lines, lines
from hindbrain.stores.repository import canonical_root, repository_of

__all__ = ["HygieneScan"]


class HygieneScan:
    """Lists secrets and conflict markers by path, line and class; never the text itself."""

    def __init__(self, home: Home, brains: Brains, *, roots: Callable[[], Sequence[str]]) -> None:
        self._home = home
        self._brains = brains
        self._roots = roots  # repositories that may have a letter box

    def findings(self, caller: Caller, brains: Sequence[Brain]) -> list[dict[str, Any]]:
        """Return one row for each finding. A brain or box that cannot be read is skipped: the doctor's table names it."""
        return [*self._claims(brains), *self._letters(caller)]

    def _claims(self, brains: Sequence[Brain]) -> Iterator[dict[str, Any]]:
        for brain in brains:
            try:
                with self._brains.use(brain) as opened:
                    places = opened.places
            except (HindbrainError, OSError):
                continue
            paths = [place.file(facts.slug) for place in places for facts in place.scan()]
            paths += [path for place in places if place.history_path.is_dir() for path in place.history_path.glob("*.light.md")]
            for path in paths:
                for hit in scan(path.read_bytes().decode("utf-8", "replace")):
                    yield _finding(brain.name, path, hit.line, hit.pattern_class)

    def _letters(self, caller: Caller) -> Iterator[dict[str, Any]]:
        # A repository without a brain may have a box that nobody has read yet: the caller's own is looked at in any case.
        here = [repository_of(canonical_root(caller.root)).root] if caller.root is not None else []
        files: list[tuple[str | None, Path, Callable[[], Iterable[bytes | None]]]] = [
            (None, path, partial(lines, path)) for path in (self._home.field_reports_file, self._home.medulla_box)
        ]
        files += [(root, Path(root, REPO_DIR, BOX), partial(box_lines, root)) for root in dict.fromkeys((*self._roots(), *here))]
        for root, path, read in files:
            if not os.path.lexists(path):
                continue
            try:
                for number, raw in enumerate(read(), start=1):
                    for found in secret_classes(raw) if raw else ():
                        yield _finding(root, path, number, found)
            except OSError:
                continue  # a link or an oversized file in the place of a box; the sweep lists it as unreachable


def _finding(brain: str | None, path: Path, line: int, pattern_class: str) -> dict[str, Any]:
    """One finding; `brain` is None for a file of the whole home."""
    return {"brain": brain, "path": str(path), "pattern_class": pattern_class, "line": line}
