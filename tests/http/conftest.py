"""Owners for these tests are real processes."""

from tests.support.owner import owner, starter

__all__ = ["owner", "starter"]
