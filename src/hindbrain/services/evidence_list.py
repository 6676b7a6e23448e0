"""The evidence list: rows of evidence in pages, by filters and by when they were added. Looks only."""

import heapq
from dataclasses import dataclass
from itertools import chain
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.evidence import Evidence
from hindbrain.services.brains import Brains
from hindbrain.services.cursors import opened_cursor, sealed_cursor
from hindbrain.services.evidence import Observations, wire_row
from hindbrain.stores.port import Where

__all__ = ["EvidenceList", "Wanted"]

_Place = tuple[int, int, Evidence]  # of the brain, turn, row
_START = (0, -1)  # time and turn where nothing of a brain was shown yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows are asked for."""

    where: Where
    anchor_id: str | None = None  # the row's own anchor, or that of its repository
    deleted: bool = False
    limit: int = 50
    newest: bool = True
    cursor: str | None = None

    @property
    def kind(self) -> str:
        return "newest evidence" if self.newest else "oldest evidence"


class EvidenceList:
    """`memory.list`."""

    def __init__(self, brains: Brains, observations: Observations) -> None:
        self._brains = brains
        self._observations = observations

    def page(self, caller: Caller, wanted: Wanted, *, tier: str | None) -> dict[str, Any]:
        """A page of the rows of the caller's brain and the medulla, and how many there are in all."""
        brains = self._observations.readable(caller, tier)
        if wanted.deleted:
            return self._gone(brains, wanted)
        begin = _begin(wanted, len(brains))
        found: list[list[_Place]] = []
        total = 0
        for place, (brain, after) in enumerate(zip(brains, begin, strict=True)):
            with self._brains.use(brain) as opened:
                withheld = opened.store.withheld() if brain.root is None else {}
                total += opened.store.evidence_count(wanted.where, anchor_id=wanted.anchor_id)
                total -= len(opened.store.turns(wanted.where).intersection(withheld)) if withheld else 0
                rows = opened.store.evidence_page(
                    wanted.where,
                    anchor_id=wanted.anchor_id,
                    limit=wanted.limit + 1 + len(withheld),
                    after=None if after == _START else after,
                    newest=wanted.newest,
                )
                found.append([(place, turn, row) for turn, row in rows if turn not in withheld])
        shown = _merged(found, newest=wanted.newest)[: wanted.limit]
        reached = list(begin)
        for place, turn, row in shown:
            reached[place] = (row.added_at, turn)
        told = [wire_row(row) | {"brain": brains[place].name} for place, _, row in shown]
        following = sealed_cursor(wanted.kind, *chain(*reached)) if sum(map(len, found)) > len(shown) else None
        return {"ok": True, "schema": "hindbrain-evidence-list-v0", "rows": told, "total": total, "next_cursor": following}

    def _gone(self, brains: list[Brain], wanted: Wanted) -> dict[str, Any]:
        """What was deleted and can be brought back: little enough to be told at once."""
        rows: list[tuple[str, Evidence]] = []
        for brain in brains:
            with self._brains.use(brain) as opened:
                rows += [(brain.name, row) for row in self._observations.deleted(opened) if _anchored(row, wanted.anchor_id)]
        rows.sort(key=lambda one: one[1].added_at, reverse=wanted.newest)
        shown = [wire_row(row) | {"brain": name} for name, row in rows[: wanted.limit]]
        return {"ok": True, "schema": "hindbrain-evidence-list-v0", "rows": shown, "total": len(rows), "next_cursor": None}


def _begin(wanted: Wanted, brains: int) -> list[tuple[int, int]]:
    """How far each brain was shown."""
    if not wanted.cursor:
        return [_START] * brains
    numbers = opened_cursor(wanted.cursor, wanted.kind, 2 * brains)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _merged(found: list[list[_Place]], *, newest: bool) -> list[_Place]:
    """Rows of several brains by when they were added, each brain in its own order."""
    sign = -1 if newest else 1
    return list(heapq.merge(*found, key=lambda one: sign * one[2].added_at))


def _anchored(row: Evidence, anchor_id: str | None) -> bool:
    return anchor_id is None or anchor_id in (row.anchor.id, row.anchor.parent)
