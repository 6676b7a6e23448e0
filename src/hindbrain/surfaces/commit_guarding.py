"""The guard of commits on the command line, as the pre-commit hook calls it. It reads the reservations itself and loads little,
for somebody waits; and only a reservation holds up a commit, no fault of ours."""

from __future__ import annotations

import os
import time

from hindbrain.surfaces import cli, output

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["go"]

_GIT_S = 30.0
_BUS_S = 5.0  # a turn of the bus takes milliseconds


def go(read: dict[str, Any], given: dict[str, Any]) -> int:
    """Compare what is staged with what is reserved. 1 when somebody else holds it, 0 else."""
    try:
        answer = _checked(read, given)
    except Exception as fault:  # noqa: BLE001 - the last place: whatever it is, a commit does not wait until it is mended
        output.tell(f"hindbrain: reserved files were not checked: {fault}")
        return 0
    if answer["clear"]:
        return output.present(answer, given)
    warned = os.environ.get("HINDBRAIN_GUARD") == "warn"
    output.tell(f"hindbrain: {'others reserved' if warned else 'not committed, others reserved'}:\n{answer['rendered']}")
    if output.wants_json(given):
        output.write(output.json_line(answer))
    return 0 if warned else 1


def _checked(read: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    from pathlib import Path

    from msgspec.structs import replace

    from hindbrain.engines.commit_guard import verdict
    from hindbrain.engines.reserving import live
    from hindbrain.stores.bus_files import BusFiles
    from hindbrain.stores.commit_hook import staged
    from hindbrain.stores.home import Home
    from hindbrain.stores.repository import canonical_root, repository_of
    from hindbrain.stores.reservations import read_reservations
    from hindbrain.stores.runtime_place import settle_runtime

    # A hook runs at the top of its checkout. What a host says of the open project may name another one.
    checkout = canonical_root(given.get("root") or os.getcwd())
    root = repository_of(checkout).root
    # A commit of some paths has an index of its own, which git names to its hooks.
    paths = read["paths"] if "paths" in read else staged(checkout, index=os.environ.get("GIT_INDEX_FILE"), seconds=_GIT_S)
    if paths is None:
        raise OSError(f"git does not say what is staged in {checkout}")
    home, held = Home(Path(cli.home_of(given))), []
    # A brain inside the repository has a bus of its own; a commit here takes its files along.
    inner = {one.root for one in home.projects() if one.root is not None and one.root.startswith(f"{root}/")}
    for project in (root, *sorted(inner)):
        settle_runtime(home, project)
        with BusFiles(home, project, wait_s=_BUS_S).look() as look:
            found = live(read_reservations(look), time.time_ns() // 1_000_000)
        prefix = project.removeprefix(root).removeprefix("/")
        held += [replace(one, path=f"{prefix}/{one.path}") if prefix else one for one in found]
    agent = read.get("agent_id") or given.get("agent") or os.environ.get("HINDBRAIN_AGENT_ID")
    return verdict(held, paths, agent, project=root)
