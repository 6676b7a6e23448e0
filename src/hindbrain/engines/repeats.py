"""Repeated work: how much of what a mission did had been done by those before it, and what a hand-over saved."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hindbrain.domain.handover import Covered
from hindbrain.domain.mission import AGENT_STARTED, MissionEvent
from hindbrain.engines.handover import covers, path_of

__all__ = ["Repeats", "reduction", "repeated_work"]

_DECIMALS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Reads, searches, tests and graph calls of a mission, those that were done before, and entries of dead paths."""

    counted: int
    covered: int
    dead: int = 0

    @property
    def share(self) -> float:
        return round(self.covered / self.counted, _DECIMALS) if self.counted else 0.0


def _always(item: Covered) -> bool:
    return True


def repeated_work(
    covered: Iterable[Covered],
    events: Iterable[MissionEvent],
    *,
    repo: str = "",
    rechecks: Iterable[str] = (),
    dead: Iterable[str] = (),
    unchanged: Callable[[Covered], bool] = _always,
) -> Repeats:
    """Compare the events of a mission with what was covered. A recheck that the runtime asked for is not counted, once each."""
    by_key: dict[tuple[str, str, str], set[str | None]] = {}
    for before in covered:
        by_key.setdefault((before.family, before.item, before.scope), set()).add(before.digest)
    due, closed = set(rechecks), {path_of(one, repo) for one in dead}
    counted = repeated = entered = 0
    for event in events:
        one = covers(event, repo)
        if one is None or not event.actor.startswith(AGENT_STARTED):  # what the runtime reads to check a claim is no one's work
            continue
        entered += one.item in closed or path_of(event.target or "", repo) in closed
        if one.item in due:
            due.discard(one.item)
            continue
        counted += 1
        digests = by_key.get((one.family, one.item, one.scope))
        # A digest that nobody knows cannot tell two contents apart: then the path decides.
        same = digests is not None and (one.digest in digests or None in digests or one.digest is None)
        repeated += same and unchanged(one)
    return Repeats(counted=counted, covered=repeated, dead=entered)


def reduction(with_it: Repeats, without: Repeats) -> float | None:
    """How much of the repeated share a hand-over saved; None when there was nothing to save."""
    if not without.share:
        return None
    return round(1 - with_it.share / without.share, _DECIMALS)
