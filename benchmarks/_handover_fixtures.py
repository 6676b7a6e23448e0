"""Repositories for the benchmark of hand-overs: three small Python programs, written by this script, each with faults of one kind
planted among modules that look alike. The answer key stays here; agents see only the files."""

import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FIXTURES", "Fixture", "Planted", "plant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """One program: its packages and modules, what the fault looks like in a file, and the words one would search for."""

    name: str
    task: str
    packages: dict[str, tuple[str, ...]]
    queries: tuple[str, ...]
    right: str  # the body of a function as it ought to be
    wrong: str  # the same with the fault
    beside: str  # one that the same words find, and that has nothing to do with it
    faulty: Callable[[str], int | None]  # line of the fault in a file's text
    faults: int
    regression: bool = False  # a file that was fine when it was read is broken before the work goes on


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A repository on disk, and where its faults are."""

    fixture: Fixture
    root: Path
    faults: tuple[str, ...]
    fine: tuple[str, ...]


def _line(text: str, found: Callable[[list[str], int], bool]) -> int | None:
    lines = text.splitlines()
    return next((number + 1 for number in range(len(lines)) if found(lines, number)), None)


def _unclosed(text: str) -> int | None:
    return _line(text, lambda lines, at: "= open(" in lines[at] and not any(".close()" in one for one in lines[at:]))


def _unlocked(text: str) -> int | None:
    return _line(text, lambda lines, at: ".acquire()" in lines[at] and not any(".release()" in one for one in lines[at:]))


def _swallowed(text: str) -> int | None:
    return _line(text, lambda lines, at: "except " in lines[at] and at + 1 < len(lines) and lines[at + 1].strip() == "pass")


FIXTURES = (
    Fixture(
        name="ledger",
        task="find every function that opens a file and never closes it",
        packages={
            "books": ("accounts", "entries", "journal", "periods", "rates", "totals", "years"),
            "inbox": ("bank", "card", "csvfile", "mail", "paper", "scan"),
            "outbox": ("archive", "letter", "printed", "statement", "summary"),
        },
        queries=("open(", "encoding=", "handle", ".read("),
        right="""
            handle = open(path, encoding="utf-8")
            try:
                return len(handle.read())
            finally:
                handle.close()
        """,
        wrong="""
            handle = open(path, encoding="utf-8")
            return len(handle.read())
        """,
        beside="""
            return len(Path(path).read_text(encoding="utf-8"))  # no handle is left
        """,
        faulty=_unclosed,
        faults=5,
    ),
    Fixture(
        name="queue",
        task="find every place where a lock is taken and not given back",
        packages={
            "work": ("batch", "delay", "fanout", "item", "order", "retry", "slot"),
            "keep": ("cache", "disk", "index", "memory", "spill"),
            "wire": ("client", "frame", "pool", "reader", "server", "writer"),
        },
        queries=("acquire(", "lock", "Lock()", "release("),
        right="""
            lock.acquire()
            try:
                return len(path)
            finally:
                lock.release()
        """,
        wrong="""
            lock.acquire()
            return len(path)
        """,
        beside="""
            with lock:
                return len(path)
        """,
        faulty=_unlocked,
        faults=4,
    ),
    Fixture(
        name="report",
        task="find every handler that swallows an error",
        packages={
            "layout": ("box", "column", "grid", "line", "page", "table"),
            "values": ("amount", "date", "digit", "name", "share", "unit"),
            "render": ("ansi", "html", "latex", "markdown", "plain", "svg"),
        },
        queries=("except ", "Error", "try:", "raise"),
        right="""
            try:
                return int(path)
            except ValueError as wrong:
                raise LookupError(path) from wrong
        """,
        wrong="""
            try:
                return int(path)
            except ValueError:
                pass
            return 0
        """,
        beside="""
            if not path.isdigit():
                raise ValueError(path)
            return int(path)
        """,
        faulty=_swallowed,
        faults=5,
        regression=True,
    ),
)

_HEAD = '''"""{name}: part of {package}."""

import threading
from pathlib import Path

lock = threading.Lock()
__all__ = ["{name}", "Path"]


def {name}(path):
    """What {package} does with {name}."""
'''

_TEST = '''"""The modules of {package} can be read."""

import importlib
import unittest


class {title}(unittest.TestCase):
    def test_they_load(self):
        for name in {names!r}:
            self.assertTrue(importlib.import_module(f"{package}.{{name}}").__all__)
'''


def module(package: str, name: str, body: str) -> str:
    """The text of a module with one function."""
    return _HEAD.format(package=package, name=name) + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def plant(fixture: Fixture, root: Path, *, seed: int) -> Planted:
    """Write the repository. The same seed writes the same files."""
    rng = random.Random(f"{fixture.name}:{seed}")
    paths = [f"{package}/{name}.py" for package, names in fixture.packages.items() for name in names]
    faults = sorted(rng.sample(paths, fixture.faults))
    fine = [one for one in paths if one not in faults]
    for package, names in fixture.packages.items():
        (root / package).mkdir(parents=True, exist_ok=True)
        (root / package / "__init__.py").write_text("", encoding="utf-8")
        for name in names:
            path = f"{package}/{name}.py"
            body = fixture.wrong if path in faults else rng.choice((fixture.right, fixture.beside))
            (root / path).write_text(module(package, name, body), encoding="utf-8")
        test = _TEST.format(package=package, title=package.title(), names=list(names))
        (root / f"test_{package}.py").write_text(test, encoding="utf-8")
    return Planted(fixture=fixture, root=root, faults=tuple(faults), fine=tuple(fine))
