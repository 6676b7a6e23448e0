"""File pairs: which file a test file tests, told by its name and confirmed by what it imports."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from hindbrain.engines.code.table import Table

__all__ = ["Tested", "is_test", "stems_told_by"]

_PATTERNS = (
    re.compile(r"^tests?_(?P<stem>.+)$"),
    re.compile(r"^(?P<stem>.+)_(?:tests?|spec|unittest)$"),
    re.compile(r"^(?P<stem>.+)\.(?:tests?|spec|e2e|cy)$"),
    re.compile(r"^(?P<stem>.+)-(?:tests?|spec)$"),
    re.compile(r"^(?P<stem>.+?)(?:Tests?|Spec|TestCase|IT)$"),
    re.compile(r"^Test(?P<stem>[A-Z].*)$"),
)
_PLACES = frozenset({"tests", "test", "__tests__", "spec", "specs", "testing"})


def is_test(path: str) -> bool:
    """Whether a file is a test, by its name or by the directory it lies in."""
    *directories, name = path.split("/")
    return any(one in _PLACES for one in directories) or bool(_stem_of(name))


def stems_told_by(path: str) -> list[str]:
    """The names, without ending, that a test file may be about: the longest first."""
    stem = _stem_of(path.rsplit("/", 1)[-1])
    if not stem:
        return []
    parts = stem.split("_")
    return ["_".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _stem_of(name: str) -> str:
    bare = name.rpartition(".")[0] or name
    for pattern in _PATTERNS:
        if (found := pattern.match(bare)) is not None:
            return found["stem"]
    return ""


class Tested:
    """The files of a tree by the names that tests call them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            if not is_test(path):
                self._by_stem[_plain(path)].append(path)

    def by(self, path: str, table: Table, imports: Collection[str]) -> str | None:
        """The file that a test file is about; `imports` are the files it imports."""
        for at, stem in enumerate(stems_told_by(path)):
            same = self._by_stem.get(stem.lower()) or self._by_stem.get(stem.lower().lstrip("_"), [])
            candidates = [one for one in same if table.family(one) == table.family(path)]
            chosen = [one for one in candidates if one in imports]
            if not chosen and at == 0:  # a part of the name alone proves nothing without an import
                chosen = candidates
            if len(chosen) > 1:
                chosen = _closest(chosen, path)
            if len(chosen) == 1:
                return chosen[0]
        return None


def _plain(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    stem = name.split(".", 1)[0] or name
    if stem in ("__init__", "index", "mod") and "/" in path:
        stem = path.rsplit("/", 2)[-2]
    return stem.lower()


def _closest(candidates: list[str], path: str) -> list[str]:
    """Those that share most directory names with the test, places of tests left out."""
    mine = {part for part in path.split("/")[:-1] if part not in _PLACES}
    shared = {one: len(mine & set(one.split("/")[:-1])) for one in candidates}
    best = max(shared.values())
    return [one for one in candidates if shared[one] == best]
