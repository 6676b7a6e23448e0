"""Ten goals for the loop without a model: a project to work on, what is asked, and what must be there afterwards."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FILES", "GOALS", "Asked", "lay"]

FILES = {
    "notes.md": "# Notes\nalpha\nbeta\n",
    "src/calc.py": "def add(a, b):\n    return a + b\n\n# TODO: subtract\n",
    "src/shapes.py": "def area(w, h):\n    return w * h\n",
    "docs/meeting_notes.txt": "pear\napple\npear\nfig\n",
    "data/people.csv": "name,age\nAda,36\nAlan,41\n",
    "deep/er/config_settings.ini": "timeout = 30\n",
    "logs/server_events.log": "start\nerror one\nerror two\nstop\n",
    "tests/test_calc.py": (
        "import sys, unittest\n\nsys.path.insert(0, 'src')\nfrom calc import add\n\n\n"
        "class Adding(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
    ),
}

Holds = Callable[[dict[str, Any], Path], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One goal. `turns` is how many different directives it takes at least before it ends; `ends` how."""

    goal: str
    holds: Holds
    turns: int = 0
    ends: str = "accept"


def _output(shown: dict[str, Any]) -> str:
    return str(shown["final"]["output"]).strip()


def _written(name: str, text: str) -> Holds:
    return lambda shown, work: (work / name).read_text(encoding="utf-8") == text


def _people(shown: dict[str, Any], work: Path) -> bool:
    found = json.loads((work / "people.json").read_text(encoding="utf-8"))
    return [(one["name"], str(one["age"])) for one in found] == [("Ada", "36"), ("Alan", "41")]


def _partial(shown: dict[str, Any], work: Path) -> bool:
    left = shown["final"]["output"]
    return [str(one).strip() for one in left["partial"]] == ["3"] and 2 <= len(left["next_moves"]) <= 3


GOALS: tuple[Asked, ...] = (
    Asked(goal="Count the python files", holds=lambda shown, _: _output(shown) == "3"),
    Asked(goal='Find the files that contain "TODO"', holds=lambda shown, _: "src/calc.py" in _output(shown)),
    Asked(goal="Convert data/people.csv to people.json", holds=_people),
    Asked(goal='Create hello.txt with "hello world"', holds=_written("hello.txt", "hello world\n")),
    Asked(goal='Verify that notes.md contains "beta"', holds=lambda shown, _: _output(shown) == "found"),
    Asked(
        goal="Run 'python3 -m unittest discover -s tests'",
        holds=lambda shown, _: shown["final"]["loss"]["D"] == 0,
    ),
    # The names in these are not quite those of the files: each way that fails says something else is wrong.
    Asked(goal="Count the words of meeting_nots.txt", holds=lambda shown, _: _output(shown) == "4", turns=2),
    Asked(
        goal='Replace "timeout" with "limit" in settings.ini and write it to new.ini',
        holds=_written("new.ini", "limit = 30\n"),
        turns=2,
    ),
    Asked(goal='Count the lines containing "error" in events.log', holds=lambda shown, _: _output(shown) == "2", turns=2),
    # One half of it cannot be done: what was reached is handed over, with what to do next.
    Asked(goal="Read missing_report.txt. Count the python files.", holds=_partial, turns=2, ends="abandon"),
)


def lay(root: Path) -> None:
    """The project."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
