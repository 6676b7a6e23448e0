"""Hooks as hosts start them: real processes on a fresh home."""

from tests.cli.conftest import program

__all__ = ["program"]
