"""Confusion: how often memory was delivered wrongly, by ISO week. Counts only: no score, no percentage, no verdict."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hindbrain.domain.letter import Letter
from hindbrain.domain.misdelivery import MISDELIVERY, REJECTED, Misdelivery
from hindbrain.engines.fates import Replies
from hindbrain.engines.moments import milliseconds

__all__ = ["Confusion", "confirmed", "confusion", "iso_week", "rejected", "sent_at"]

_KINDS = {kind.value: kind for kind in Misdelivery}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """What letters say of misdelivered memory."""

    weeks: tuple[dict[str, int], ...]  # for each week asked for, the confirmed events by kind
    by_kind: dict[str, int]  # all confirmed events, dated or not
    invalid_kind: int  # letters of the class whose kind is none of the five: kept, and no event
    rejected: int  # events that a closing letter called none
    undated: int  # letters of any class whose time cannot be read


def sent_at(letter: Letter) -> int | None:
    """When a letter was written, in milliseconds; None when it does not say so in a way that can be read."""
    return milliseconds(letter.ts) if letter.ts is not None else None


def iso_week(ms: int | None) -> str | None:
    """The ISO week (UTC) of a time, as 2026-W27; None for a time that no calendar has."""
    if ms is None:
        return None
    try:
        year, week, _ = (datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=ms)).isocalendar()
    except OverflowError:
        return None
    return f"{year}-W{week:02d}"


def rejected(letter: Letter, graph: Replies) -> bool:
    """Whether somebody closed the event by saying that it was none."""
    return any(one.closes and one.verdict == REJECTED for one in graph.answered_by(letter))


def confirmed(letter: Letter, graph: Replies) -> Misdelivery | None:
    """The kind of an event that counts: one of the five, and not rejected."""
    kind = _KINDS.get(letter.kind or "") if letter.klass == MISDELIVERY else None
    return None if kind is None or rejected(letter, graph) else kind


def confusion(letters: Iterable[Letter], graph: Replies, weeks: Sequence[str]) -> Confusion:
    """The numbers of these weeks, in their order."""
    by_week = {week: {kind.value: 0 for kind in Misdelivery} for week in weeks}
    by_kind = {kind.value: 0 for kind in Misdelivery}
    invalid = turned_away = undated = 0
    for letter in letters:
        week = iso_week(sent_at(letter))
        undated += week is None
        if letter.klass != MISDELIVERY:
            continue
        if letter.kind not in _KINDS:
            invalid += 1
        elif (kind := confirmed(letter, graph)) is None:
            turned_away += 1
        else:
            by_kind[kind.value] += 1
            if week in by_week:
                by_week[week][kind.value] += 1
    return Confusion(
        weeks=tuple(by_week[week] for week in weeks), by_kind=by_kind, invalid_kind=invalid, rejected=turned_away, undated=undated
    )
