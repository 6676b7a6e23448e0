"""Hooks as hosts start them: real processes on a fresh home."""

from tests.cli.conftest import program
from tests.support.owner import owner, starter

__all__ = ["owner", "program", "starter"]
