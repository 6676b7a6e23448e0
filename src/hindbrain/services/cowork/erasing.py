"""Erasing messages: a forgotten value leaves the buses of a repository and the inboxes of its partner pair. Records stay, with
the text cut out, so that ids and counts still agree."""

from collections.abc import Callable

from hindbrain.domain.brain import fingerprint
from hindbrain.domain.caller import Caller
from hindbrain.policy.cowork import BUS_WAIT_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.experience.erasing import Value
from hindbrain.services.forgetting import redacted
from hindbrain.stores.bus_files import BusFiles
from hindbrain.stores.bus_watch import known_buses
from hindbrain.stores.home import Home

__all__ = ["BusErasure"]


class BusErasure:
    """What `forget` does to the bus: inboxes, batches, log, sessions, reservations, and messages between partners."""

    name = "messages"

    def __init__(self, home: Home, brains: Brains) -> None:
        self._home = home
        self._brains = brains

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Every text that holds it, on the buses of all checkouts of this brain."""
        if opened.brain.root is None:
            return 0
        projects = [root for _, root in known_buses(self._home) if self._brains.name_covering(root) == opened.brain.name]
        cut = 0
        for root in {opened.brain.root, *projects}:
            bus = BusFiles(self._home, root, wait_s=BUS_WAIT_S)
            cut += bus.rewrite(_editor(value, lambda name: True)) if bus.exists else 0
        inboxes = {f"{fingerprint(root)}.jsonl" for root in {opened.brain.root, *projects}}
        pair = BusFiles(self._home, "", wait_s=BUS_WAIT_S, directory=self._home.pair_dir)
        if pair.exists:
            cut += pair.rewrite(_editor(value, lambda name: name.rsplit("/", 1)[-1] in inboxes))
        return cut


def _editor(value: Value, meant: Callable[[str], bool]) -> Callable[[str, bytes], tuple[bytes, int]]:
    """How one file of a bus is rewritten: line by line, or as one document."""

    def edited(name: str, raw: bytes) -> tuple[bytes, int]:
        if not meant(name):
            return raw, 0
        if name.endswith(".json"):
            made, cut = redacted(raw, value)
            return (made + b"\n" if cut else raw), cut
        lines = [redacted(line, value) if line.strip() else (line, 0) for line in raw.split(b"\n")]
        return b"\n".join(line for line, _ in lines), sum(cut for _, cut in lines)

    return edited
