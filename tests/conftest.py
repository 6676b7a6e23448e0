"""What every test may ask for."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

pytest_plugins = ["tests.support.owner", "tests.support.postgres", "tests.support.tmux"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and what they start ignores it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _quiet_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the developer's own home, root or agent."""
    told = ("HOME", "MODE", "WORKSPACE_ROOT", "AGENT_ID", "DELEGATION", "STORE_URL", "EMBEDDER", "MODEL_DIR")
    for name in told:
        monkeypatch.delenv(f"HINDBRAIN_{name}", raising=False)


# Tests of what operations do with files outside a repository. A person registered the directory of each test there; tests of
# what an agent may reach have other directories, or register nothing.
_REGISTERED = {
    "conformance",
    "moving",
    "imports",
    "experience",
    "graph",
    "evidence",
    "search",
    "knowledge",
    "model",
    "research",
    "gym",
    "docs",
}


@pytest.fixture(autouse=True)
def _registered_place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.parent.name in _REGISTERED:
        monkeypatch.setattr(World, "registers_place", True)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A home on SQLite with a clock that stands still."""
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgres"])
def any_world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """The same, on SQLite and on PostgreSQL."""
    url: Any = request.getfixturevalue("postgres_schema_url") if request.param == "postgres" else ""
    made = World(tmp_path, store_url=url)
    yield made
    made.close()
