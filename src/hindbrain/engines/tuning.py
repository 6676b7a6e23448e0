"""Tuning: what recorded tasks would have come to with other numbers, and which numbers that speaks for. Only ever proposes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hindbrain.domain.control import Loss
from hindbrain.engines.gradient import Macro, rounded
from hindbrain.engines.solving import Reading, stepped
from hindbrain.policy.control import KEYS, Params, altered
from hindbrain.policy.tuning import GRID, PASSES

__all__ = ["Assessment", "Proposal", "Trail", "assessed", "proposed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """One recorded task: its rounds, what was decided in each, how it ended, and whether that held."""

    task_id: str
    readings: tuple[Reading, ...]
    decisions: tuple[str, ...]  # of each round, as it was
    ended: str  # the last directive: accept, success or abandon
    contradicted: bool = False  # it ended as a success, and something later speaks against that

    @property
    def well(self) -> bool:
        return self.ended == "accept" or (self.ended == "success" and not self.contradicted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What a set of numbers makes of recorded tasks."""

    tasks: int = 0
    rounds: int = 0
    decision_changes: int = 0
    successes: int = 0
    false_successes: int = 0
    lost_results: int = 0  # ended well, and would have been given up
    wasted_rounds: int = 0  # spent on tasks that came to nothing, or on a result that was good enough already

    @property
    def false_success_rate(self) -> float:
        return rounded(self.false_successes / self.successes) if self.successes else 0.0

    @property
    def harm(self) -> tuple[int, int]:
        """Telling people what is not so, and taking from them what they would have had; then what it cost."""
        return self.false_successes + self.lost_results, self.wasted_rounds

    def told(self) -> dict[str, Any]:
        return asdict(self) | {"false_success_rate": self.false_success_rate}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Numbers that would have done better; none when those in force did as well as any."""

    values: Mapping[str, Any]
    before: Assessment
    after: Assessment


def assessed(trails: Sequence[Trail], params: Params) -> Assessment:
    """Replay every task with these numbers. A replay ends where the numbers end the task, or where the record does."""
    counts: dict[str, int] = dict.fromkeys(Assessment.__dataclass_fields__, 0)
    for trail in trails:
        for name, number in _replayed(trail, params).items():
            counts[name] += number
    return Assessment(**counts)


def _replayed(trail: Trail, params: Params) -> dict[str, int]:
    loss: Loss | None = None
    worse = directed = changes = 0
    end = "accept" if trail.ended == "accept" else ""  # where the record ends and the numbers would go on, it is open
    for number, (reading, was) in enumerate(zip(trail.readings, trail.decisions, strict=False), start=1):
        step = stepped(reading, rounds=number, before=loss, worse=worse, params=params)
        changes += step.macro != was
        loss, worse = step.loss, step.worse
        if step.macro in (Macro.SUCCESS, Macro.ABANDON):
            end = step.macro
            break
        directed += 1
    success = end == Macro.SUCCESS
    # A success where the record went on is false if nothing good ever came of the task.
    false = success and not trail.well
    wasted = directed if trail.ended == "abandon" else int(not end and trail.well)
    return {
        "tasks": 1,
        "rounds": len(trail.readings),
        "decision_changes": changes,
        "successes": int(success),
        "false_successes": int(false),
        "lost_results": int(end == Macro.ABANDON and trail.well),
        "wasted_rounds": wasted,
    }


def proposed(trails: Sequence[Trail], params: Params) -> Proposal:
    """The few changes that would have done least harm. Of equals the one that changes fewest decisions, and moves least."""
    before = best = assessed(trails, params)
    values: dict[str, Any] = {}
    current = params
    for _ in range(PASSES):
        found = min(
            ((_key(again := assessed(trails, trial), moved), change, trial, again) for change, trial, moved in _trials(current)),
            key=lambda one: one[0],
            default=None,
        )
        if found is None or found[3].harm >= best.harm:
            break
        _, change, current, best = found
        values |= change
    return Proposal(values=values, before=before, after=best)


def _key(found: Assessment, moved: float) -> tuple[float, ...]:
    return (*found.harm, found.decision_changes, moved)


def _trials(params: Params) -> Iterator[tuple[dict[str, Any], Params, float]]:
    """Every set of numbers that differs from these in one, and how far."""
    for key, choices in GRID.items():
        here = getattr(params, KEYS[key])
        for value in choices:
            if value == here:
                continue
            change: dict[str, Any] = {key: value}
            if key == "ggs.w1":
                change["ggs.w2"] = rounded(1 - float(value))
            moved = abs(float(value) - here) if isinstance(value, float) else 1.0
            yield change, altered(params, change), moved
