"""Goal criteria: what must hold when a goal is reached by a way, each with the check that shows it.

No criterion is weaker than the words it stands for: a check of output is aimed at the very call that the plan makes for the goal,
and a file that is made is compared with the text that it must have."""

from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.plan import DraftCriterion
from hindbrain.domain.task import CheckKind, CheckSpec, CriterionMore
from hindbrain.engines.goals import Goal
from hindbrain.engines.ways import Way, text_to_write, writes_of

__all__ = ["criteria_for"]

_TARGETS = ("command", "query", "path")  # what a step is aimed at, the most telling first
_UNITS = {"matches": "occurrences", "matching_lines": "matching lines"}


def criteria_for(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    """What must hold, each with the check that shows it."""
    return (*_CRITERIA.get(goal.kind, _answered)(goal, way), *_placed(goal))


def _must(criterion: str, kind: CheckKind, **args: Any) -> DraftCriterion:
    given = {key: value for key, value in args.items() if value is not None}
    return DraftCriterion(criterion=criterion, x=CriterionMore(check=CheckSpec(kind=kind, args=given)))


def _aim(way: Way) -> str | None:
    """The target of the call that gives the result; None where it is only known once an earlier step has run."""
    last = way.steps[-1].input
    return next((last[name] for name in _TARGETS if isinstance(last.get(name), str)), None)


def _named(path: str, way: Way) -> str:
    """A file as a criterion names it: by its own name, or as the one whose name comes nearest."""
    near = any("path_from" in step.input for step in way.steps)
    return f"the file whose name is nearest to {path}" if near else path


def _placed(goal: Goal) -> tuple[DraftCriterion, ...]:
    place = goal.parts.get("place", "")
    return (_must(f"{place} exists", "path_exists", path=place),) if place and goal.kind != "tests" else ()


def _counted(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    what = goal.parts.get("what") or "files"
    of = _named(goal.files[0], way) if goal.files else goal.parts.get("pattern") or "all files"
    text = f" of {goal.parts['text']!r}" if what.startswith("match") or goal.kind == "count_text" else ""
    told = f"the output is one number: {_UNITS.get(what, what)}{text} in {of}"
    return (_must(told, "regex", pattern=r"(?m)^\s*\d+\s*$", target=_aim(way)),)


def _answered(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    of = f" of {_named(goal.files[0], way)}" if goal.files else ""
    return (_must(f"the output shows at least one line{of}", "count_at_least", n=1, target=_aim(way)),)


def _found(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    return (_must("output names at least one existing path", "count_at_least", n=1, of="paths", target=_aim(way)),)


def _found_text(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    told = f"the output shows at least one line that contains {goal.parts['text']!r}"
    return (_must(told, "count_at_least", n=1, target=_aim(way)),)


def _made(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    """A file that is there, and that has the text it must have."""
    path = writes_of(goal)[0]
    there = _must(f"file {path} exists and is not empty", "path_nonempty", path=path)
    if goal.kind == "create":
        return there, _must(f"file {path} has exactly the given text", "path_equals", path=path, text=text_to_write(goal))
    sources = " and ".join(_named(one, way) for one in goal.files)
    done = " and ".join(name.replace("_", " ") for name, _ in goal.changes) or "one after another"
    changes = [[name, dict(args)] for name, args in goal.changes]
    told = f"file {path} has exactly the text of {sources}: {done}"
    return there, _must(told, "path_equals", path=path, sources=list(goal.files), changes=changes)


def _ran(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    command = _aim(way)
    of = {"command": goal.parts.get("command", ""), "tests": f"tests {goal.parts.get('place', '')}".strip()}.get(
        goal.kind, goal.kind
    )
    ended = _must(f"exit status is 0: {of}", "exit_status", equals=0, target=command)
    if command is not None and "-m unittest" in command and goal.kind == "tests":  # it also ends well without any test
        return ended, _must("at least one test ran", "regex", pattern=r"\bRan [1-9]\d* tests?\b", target=command)
    return (ended,)


def _existing(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    if goal.parts.get("filled"):
        return tuple(_must(f"file {path} exists and is not empty", "path_nonempty", path=path) for path in goal.files)
    return tuple(_must(f"file {path} exists", "path_exists", path=path) for path in goal.files)


def _holding(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    word = "missing" if goal.parts.get("absent") else "found"
    told = f"the comparison of {goal.files[0]} with {goal.parts['text']!r} says {word!r}"
    return (_must(told, "regex", pattern=rf"(?m)^{word}\s*$", target=_aim(way)), *_existing(goal, way))


def _equal(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    word = "different" if goal.parts.get("differ") else "equal"
    said = _must(f"the comparison with {goal.files[-1]} says {word!r}", "regex", pattern=rf"(?m)^{word}\s*$", target=_aim(way))
    return (said, *_existing(goal, way))


def _digest(goal: Goal, way: Way) -> tuple[DraftCriterion, ...]:
    wanted, path, target = goal.parts.get("digest") or "", goal.files[0], _aim(way)
    if wanted:
        said = _must(f"the digest of {path} is {wanted}", "contains", text=wanted, target=target)
    else:
        said = _must(f"the output states the SHA-256 of {path}", "regex", pattern=r"\b[0-9a-f]{64}\b", target=target)
    return (said, *_existing(goal, way))


_CRITERIA: Mapping[str, Callable[[Goal, Way], tuple[DraftCriterion, ...]]] = {
    "find_files": _found,
    "find_text": _found_text,
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
