"""Fixtures of the MCP tests: owners that serve MCP, project directories, and the event loop of the SDK's client."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.hosts import mcp_is_up
from tests.support.owner import RunningOwner, Starter

Repositories = Callable[[str], Path]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def owner(owner: RunningOwner) -> RunningOwner:
    """The owner of the module, once it serves MCP."""
    return mcp_is_up(owner)


@pytest.fixture
def starter(starter: Starter) -> Starter:
    """Start owners that serve MCP when they are given out."""

    def start(home: Path, **options: Any) -> RunningOwner:
        return mcp_is_up(starter(home, **options))

    return start


@pytest.fixture
def repository(tmp_path: Path) -> Repositories:
    """Git repositories by name."""

    def made(name: str) -> Path:
        root = tmp_path / name
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        return root

    return made
