"""The program on a fresh home, and real owners where a test needs one."""

from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.support.owner import owner, starter

__all__ = ["owner", "program", "starter"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """`hindbrain` on a fresh home, started in an empty directory."""
    directory = tmp_path / "somewhere"
    directory.mkdir()
    return Program(home=tmp_path / "home", directory=directory, environ={})
