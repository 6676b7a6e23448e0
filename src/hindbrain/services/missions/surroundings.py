"""Surroundings: what the router has to know of a repository and cannot read in events, by a few looks at its top directory; and
who may look there."""

import json
import os
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from hindbrain.domain.brain import contains
from hindbrain.domain.caller import Channel
from hindbrain.engines.course import Course
from hindbrain.engines.mission_facts import Facts
from hindbrain.services.missions.log import Turn
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.repository import main_path, upwards
from hindbrain.stores.source_file import SeenFile, named_within, seen_file

__all__ = ["existing", "facts_of", "may_read", "may_write", "release_files", "test_command"]

_VERSIONS = ("pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "setup.py", "VERSION", "version.txt", "go.mod")
_CHANGES = ("CHANGELOG.md", "CHANGELOG", "CHANGELOG.rst", "CHANGES.md", "CHANGES", "CHANGES.rst", "HISTORY.md", "NEWS.md", "NEWS")
_READ_MOST = 262_144


def may_read(turn: Turn) -> bool:
    """Whether files of a mission's repository may be read for a caller. Over MCP an agent may have no shell: nothing of a
    directory outside of its own is shown to it, whatever it begins a mission for."""
    caller, brain, repo = turn.caller, turn.opened.brain, turn.course.spec.repo
    if caller.channel is Channel.HUMAN:
        return True
    own = [one for one in (caller.root, brain.root, *brain.ingest_roots) if one is not None]
    return any(contains(one, path) for one in own for path in (repo, main_path(repo)))


def may_write(turn: Turn) -> bool:
    """Whether a note of a mission may be written in its repository: that of the brain, or for a person any that is there."""
    brain, repo = turn.opened.brain, turn.course.spec.repo
    if turn.caller.channel is Channel.HUMAN:
        return os.path.isdir(repo)
    if brain.root is None or not os.path.isdir(repo):
        return False
    path = main_path(repo)
    # A directory inside may be a repository or a project of its own.
    between = [one for one in upwards(path) if one != brain.root and contains(brain.root, one)]
    return contains(brain.root, path) and not any(os.path.exists(os.path.join(one, REPO_DIR, "brain.json")) for one in between)


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
    except (ValueError, RecursionError):
        return False
    scripts = told.get("scripts") if isinstance(told, dict) else None
    return isinstance(scripts, dict) and bool(scripts.get("test"))


def _pytest(root: Path) -> bool:
    if (root / "pytest.ini").is_file() or (root / "conftest.py").is_file() or (root / "tests" / "conftest.py").is_file():
        return True
    try:
        told = tomllib.loads(_text(root / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    tool = told.get("tool")
    return (isinstance(tool, dict) and "pytest" in tool) or "pytest" in _text(root / "pyproject.toml")


def _text(file: Path) -> str:
    """A small file of the repository; empty when there is none to read."""
    found = seen_file((str(file.parent),), file.name)
    return found.content[:_READ_MOST].decode("utf-8", "replace") if isinstance(found, SeenFile) else ""


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
        return named_within((str(root),), target) is not None and (root / target).is_file()
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
