"""Mission runs: one command of an agent, run here and told to its mission with exit status and digests. No other surface has it,
for memory never runs commands."""

from __future__ import annotations

import os

from hindbrain.surfaces import arguments, cli, helping, manifest, output
from hindbrain.surfaces.arguments import Usage

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["RECORDING", "run"]

RECORDING = "mission.ran"


def run(command: Command, words: list[str], given: dict[str, Any]) -> int:
    """Run one command of a mission and return its exit code."""
    place = words.index("--") if "--" in words else len(words)
    read = arguments.parse(command, words[:place], given)
    if given.get("help"):
        output.write(helping.command(command))
        return 0
    argv = words[place + 1 :]
    if not argv:
        raise Usage("hindbrain mission run has no command to run", "put it after --, as in hindbrain mission run -- pytest -q")
    operation = manifest.load(cli.home_of(given)).operations[RECORDING]
    # A mission that cannot take the event is told before the command runs, not after.
    asked = cli.answered(operation, {**read, "ran": None}, given)
    if not asked["ok"]:
        return output.present(asked, given)
    from hindbrain.services.missions.running import run as ran

    seen = ran(argv, cwd=os.getcwd(), env=dict(os.environ))
    if seen["not_started"]:
        output.tell(f"hindbrain: {argv[0]} cannot be run: {seen['output']}")
    told = cli.answered(operation, {"mission_id": asked["mission_id"], "ran": seen}, given)
    if output.wants_json(given) or not told["ok"]:
        output.tell(output.json_line(told))
    else:
        output.tell(str(told.get("rendered", "")))
    return int(seen["exit_status"] or 0) or (0 if told["ok"] else 1)
