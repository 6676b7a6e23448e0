"""Mission runs at a terminal: the shell sees the command's own output and exit code; what was recorded goes to stderr."""

from __future__ import annotations

from hindbrain.surfaces import cli, output

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["go"]


def go(op: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Run one command of a mission, in this process, and return its exit code."""
    answer = cli.answered(op, read, given)
    if not answer["ok"]:
        return output.present(answer, given)
    output.tell(output.json_line(answer) if output.wants_json(given) else str(answer["rendered"]))
    status = answer["exit_status"]
    return status if isinstance(status, int) else 1
