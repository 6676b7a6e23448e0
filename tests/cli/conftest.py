"""The program on a fresh home."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program, end_owner

__all__ = ["program"]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """`hindbrain` on a fresh home, started in an empty directory. Whatever owner a test leaves behind ends with it."""
    directory = tmp_path / "somewhere"
    directory.mkdir()
    yield Program(home=tmp_path / "home", directory=directory, environ={})
    end_owner(tmp_path / "home")
