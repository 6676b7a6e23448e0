"""Memory's vectors: what nearness means, without any index."""

import math
from array import array
from collections.abc import Callable, Collection, Sequence

from hindbrain.stores.vector_port import Embedded, Near, Pending, Shelf

__all__ = ["MemoryVectors"]

_Kept = dict[tuple[str, Shelf], dict[int, dict[int, Embedded]]]  # by stamp and shelf, turn, part


class MemoryVectors:
    """Vectors as long as the process lives. `live` says which units a shelf has now: turn -> key."""

    def __init__(self, live: Callable[[Shelf], dict[int, str]]) -> None:
        self._live = live
        self._kept: _Kept = {}

    def _units(self, stamp: str, shelf: Shelf) -> dict[int, dict[int, Embedded]]:
        live = self._live(shelf)
        return {turn: parts for turn, parts in self._kept.get((stamp, shelf), {}).items() if turn in live}

    def stamps(self, shelf: Shelf) -> dict[str, int]:
        found = {stamp: len(self._units(stamp, shelf)) for stamp, its in sorted(self._kept) if its is shelf}
        return {stamp: number for stamp, number in found.items() if number}

    def pending(self, stamp: str, shelf: Shelf, *, limit: int, newest: bool = False) -> tuple[Pending, ...]:
        has, live = self._units(stamp, shelf), self._live(shelf)
        found = [Pending(turn=turn, key=live[turn]) for turn in sorted(live, reverse=newest) if turn not in has]
        return tuple(found[: max(limit, 0)])

    def missing(self, stamp: str) -> dict[Shelf, int]:
        return {shelf: len(self._live(shelf)) - len(self._units(stamp, shelf)) for shelf in Shelf}

    def put(self, stamp: str, shelf: Shelf, rows: Sequence[Embedded]) -> None:
        live, fresh = self._live(shelf), dict[int, dict[int, Embedded]]()
        for row in rows:
            if row.turn in live:
                fresh.setdefault(row.turn, {})[row.part] = row
        self._kept.setdefault((stamp, shelf), {}).update(fresh)

    def raw(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        units = self._units(stamp, shelf)
        return {turn: units[turn][0].raw for turn in turns if turn in units and 0 in units[turn]}

    def late(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        units = self._units(stamp, shelf)
        return {turn: units[turn][0].late for turn in turns if turn in units and 0 in units[turn] and units[turn][0].late}

    def nearest(
        self, stamp: str, shelf: Shelf, query: Sequence[float], *, limit: int, among: Collection[int] | None = None
    ) -> Near:
        units = self._units(stamp, shelf)
        found = self.cosines(stamp, shelf, query, [turn for turn in units if among is None or turn in among])
        best = sorted(found, key=lambda turn: (-found[turn], turn))[: max(limit, 0)]
        return Near(turns=tuple(best), cosines=tuple(found[turn] for turn in best))

    def cosines(self, stamp: str, shelf: Shelf, query: Sequence[float], turns: Sequence[int]) -> dict[int, float]:
        units = self._units(stamp, shelf)
        return {turn: max(_cosine(query, part.searched) for part in units[turn].values()) for turn in turns if turn in units}

    def drop(self, stamp: str) -> None:
        for key in [key for key in self._kept if key[0] == stamp]:
            del self._kept[key]


def _cosine(query: Sequence[float], row: bytes) -> float:
    values = array("b", row)
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return sum(mine * its for mine, its in zip(query, values, strict=True)) / length
