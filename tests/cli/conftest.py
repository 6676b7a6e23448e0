"""The program on a fresh home."""

from pathlib import Path

import pytest

from tests.cli.program import Program

__all__ = ["program"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """`hindbrain` on a fresh home, started in an empty directory."""
    directory = tmp_path / "somewhere"
    directory.mkdir()
    return Program(home=tmp_path / "home", directory=directory, environ={})
