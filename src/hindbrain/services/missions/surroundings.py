"""Surroundings: what the router has to know of a repository and cannot read in events. A few looks at its top directory."""

import json
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from hindbrain.engines.course import Course
from hindbrain.engines.mission_facts import Facts

__all__ = ["existing", "facts_of", "release_files", "test_command"]

_VERSIONS = ("pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "setup.py", "VERSION", "version.txt", "go.mod")
_CHANGES = ("CHANGELOG.md", "CHANGELOG", "CHANGELOG.rst", "CHANGES.md", "CHANGES", "CHANGES.rst", "HISTORY.md", "NEWS.md", "NEWS")
_READ_MOST = 262_144


def test_command(repo: str) -> tuple[str, ...]:
    """How the tests of a repository are run, by what stands in its top directory; empty when nothing tells."""
    root = Path(repo)
    if _has_script(root / "package.json"):
        return ("npm", "test", "--")
    if (root / "Cargo.toml").is_file():
        return ("cargo", "test")
    if (root / "go.mod").is_file():
        return ("go", "test", "./...")
    if _pytest(root):
        return ("python", "-m", "pytest", "-q")
    return ("python", "-m", "unittest") if (root / "tests").is_dir() and any((root / "tests").glob("test*.py")) else ()


def _has_script(file: Path) -> bool:
    try:
        told = json.loads(_text(file))
    except ValueError:
        return False
    scripts = told.get("scripts") if isinstance(told, dict) else None
    return isinstance(scripts, dict) and bool(scripts.get("test"))


def _pytest(root: Path) -> bool:
    if (root / "pytest.ini").is_file() or (root / "conftest.py").is_file() or (root / "tests" / "conftest.py").is_file():
        return True
    try:
        told = tomllib.loads(_text(root / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return False
    tool = told.get("tool")
    return (isinstance(tool, dict) and "pytest" in tool) or "pytest" in _text(root / "pyproject.toml")


def _text(file: Path) -> str:
    """A small file of the repository; empty when there is none to read."""
    try:
        with file.open("rb") as source:
            return source.read(_READ_MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def release_files(repo: str) -> tuple[str, ...]:
    """Where the version and the changes of a repository stand, one file each."""
    root = Path(repo)
    found = (next((name for name in names if (root / name).is_file()), None) for names in (_VERSIONS, _CHANGES))
    return tuple(name for name in found if name is not None)


def existing(repo: str, targets: Iterable[str]) -> tuple[str, ...]:
    """Those targets that are files of the repository."""
    root = Path(repo)
    return tuple(one for one in targets if _is_file(root, one))


def _is_file(root: Path, target: str) -> bool:
    try:
        return (root / target).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def facts_of(
    course: Course,
    now: int,
    *,
    experience: tuple[tuple[str, str, str], ...] = (),
    missing_tools: Collection[str] = (),
    graph: bool = True,
) -> Facts:
    """What the router decides by, now."""
    repo = course.spec.repo
    return Facts(
        course=course,
        now=now,
        experience=experience,
        missing_tools=frozenset(missing_tools),
        graph=graph,
        test_command=test_command(repo),
        release_files=release_files(repo),
    )
