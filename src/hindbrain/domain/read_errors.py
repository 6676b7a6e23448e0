"""Errors of reads: a node that is not there, and a check whose verdict is negative."""

from typing import Any

from hindbrain.domain.error import HindbrainError

__all__ = ["CheckFailed", "UnknownNode"]


class CheckFailed(HindbrainError):
    """A check ran to its end and found a problem. The answer holds the whole report beside the error."""

    code = "check_failed"
    http_status = 200  # the question was answered; only the verdict is negative

    def report(self, found: dict[str, Any]) -> dict[str, Any]:
        """The report with this error beside it, as every negative verdict is answered."""
        return {**found, **self.answer()}


class UnknownNode(HindbrainError):
    """The graph has no node of this name."""

    code = "unknown_node"
    http_status = 404
