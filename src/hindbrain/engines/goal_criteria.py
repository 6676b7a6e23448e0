"""Goal criteria: what must hold when a goal is reached, each with the check that shows it."""

from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.plan import DraftCriterion
from hindbrain.domain.task import CheckKind, CheckSpec, CriterionMore
from hindbrain.engines.goals import Goal
from hindbrain.engines.ways import writes_of

__all__ = ["criteria_for"]


def criteria_for(goal: Goal) -> tuple[DraftCriterion, ...]:
    """What must hold, each with the check that shows it."""
    return _CRITERIA.get(goal.kind, _answered)(goal)


def _must(criterion: str, kind: CheckKind, **args: Any) -> DraftCriterion:
    return DraftCriterion(criterion=criterion, x=CriterionMore(check=CheckSpec(kind=kind, args=args)))


def _counted(goal: Goal) -> tuple[DraftCriterion, ...]:
    of = goal.files[0] if goal.files else goal.parts.get("text") or goal.parts.get("pattern", "")
    return (_must(f"the output is one number, counted for {of}", "regex", pattern=r"(?m)^\s*\d+\s*$"),)


def _answered(goal: Goal) -> tuple[DraftCriterion, ...]:
    of = f" of {goal.files[0]}" if goal.files else ""
    return (_must(f"the output shows at least one line{of}", "count_at_least", n=1),)


def _made(goal: Goal) -> tuple[DraftCriterion, ...]:
    path = writes_of(goal)[0]
    return (_must(f"file {path} exists and is not empty", "path_nonempty", path=path),)


def _ran(goal: Goal) -> tuple[DraftCriterion, ...]:
    return (_must("exit status is 0", "exit_status", equals=0),)


def _existing(goal: Goal) -> tuple[DraftCriterion, ...]:
    if goal.parts.get("filled"):
        return tuple(_must(f"file {path} exists and is not empty", "path_nonempty", path=path) for path in goal.files)
    return tuple(_must(f"file {path} exists", "path_exists", path=path) for path in goal.files)


def _holding(goal: Goal) -> tuple[DraftCriterion, ...]:
    word = "missing" if goal.parts.get("absent") else "found"
    said = _must(f"the comparison with {goal.files[0]} says {word!r}", "regex", pattern=rf"(?m)^{word}\s*$")
    return (said, *_existing(goal))


def _equal(goal: Goal) -> tuple[DraftCriterion, ...]:
    word = "different" if goal.parts.get("differ") else "equal"
    said = _must(f"the comparison with {goal.files[-1]} says {word!r}", "regex", pattern=rf"(?m)^{word}\s*$")
    return (said, *_existing(goal))


def _digest(goal: Goal) -> tuple[DraftCriterion, ...]:
    wanted = goal.parts.get("digest") or ""
    if wanted:
        return (_must(f"the digest of {goal.files[0]} is {wanted}", "contains", text=wanted),)
    return (_must(f"the output states the SHA-256 of {goal.files[0]}", "regex", pattern=r"\b[0-9a-f]{64}\b"),)


_CRITERIA: Mapping[str, Callable[[Goal], tuple[DraftCriterion, ...]]] = {
    "find_files": lambda goal: (_must("output names at least one existing path", "count_at_least", n=1, of="paths"),),
    "find_text": lambda goal: (_must("the output shows at least one line that was found", "count_at_least", n=1),),
    "count_in_file": _counted,
    "count_in_files": _counted,
    "count_files": _counted,
    "count_text": _counted,
    "transform": _made,
    "concat": _made,
    "create": _made,
    "file_exists": _existing,
    "file_holds": _holding,
    "file_equals": _equal,
    "same_files": _equal,
    "checksum": _digest,
    "tests": _ran,
    "build": _ran,
    "command": _ran,
}
