"""Installing at a terminal: shows what would change in each file, asks once, and carries out exactly what was shown."""

import sys
from typing import Any

from hindbrain.surfaces import cli, output
from hindbrain.surfaces.manifest import Command

__all__ = ["walk"]


def walk(op: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Show, ask, do; the exit code. Anything but a yes changes nothing."""
    if read.get("yes") or read.get("dry_run") or read.get("print"):
        return cli.carry_out(op, read, given)
    shown = cli.answered(op, read, given)
    if not shown["ok"] or not shown["pending"]:
        return output.present(shown, given)
    output.present(shown, given)
    sys.stderr.write("Change these files? [y/N] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        output.tell("")  # the end of the input leaves the question's line open
    if line.strip().lower() not in ("y", "yes"):
        output.tell("Nothing was changed.")
        return 1
    return cli.carry_out(op, {**read, "yes": True, "plan_id": shown["plan_id"]}, given)
