"""Applying a run at a terminal: shows what would change in the project, asks once, and writes exactly what was shown."""

import sys
from typing import Any

from hindbrain.surfaces import cli, output
from hindbrain.surfaces.manifest import Command

__all__ = ["walk"]


def walk(op: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Show, ask, write; the exit code. Anything but a yes changes nothing."""
    if read.get("yes"):
        return output.present(cli.answered(op, read, given, person=True), given)
    shown = cli.answered(op, read, given, person=True)
    code = output.present(shown, given)
    if not shown["ok"] or not shown["pending"]:
        return code
    sys.stderr.write(f"Change these {len(shown['files'])} file(s) in the project? [y/N] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        output.tell("")  # the end of the input leaves the question's line open
    if line.strip().lower() not in ("y", "yes"):
        output.tell("Nothing was changed.")
        return 1
    agreed = {**read, "yes": True, "plan_id": shown["plan_id"]}
    return output.present(cli.answered(op, agreed, given, person=True), given)
