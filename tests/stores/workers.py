"""What other processes do to a brain while a test looks on. Importable, because each starts from nothing."""

import os
import signal
from pathlib import Path

from hindbrain.domain.brain import BrainId
from hindbrain.domain.evidence import EvidenceId
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.disks import Disk
from tests.stores.values import evidence, observe, put

__all__ = ["die_between_the_files", "die_while_observing", "write_claims"]


def write_claims(directory: Path, brain_id: BrainId, worker: int, number: int) -> None:
    """Open the brain, perhaps as the first one, and write claims that others write too."""
    store = SqliteStore(directory, brain_id)
    for one in range(number):
        put(store, f"c{one}", f"worker{worker} text{one}")
        store.find([f"worker{worker}"], limit=5)
    store.close()


def die_between_the_files(directory: Path, brain_id: BrainId) -> None:
    """Write one claim and be killed when brain.db has it and index.db does not."""
    disk = Disk("dying")
    store = SqliteStore(directory, brain_id, vfs=disk.name)

    def die(file: str) -> None:
        if file == "index.db-wal":
            os.kill(os.getpid(), signal.SIGKILL)

    disk.before_write = die
    put(store, "last", "written in the last moment")


def die_while_observing(directory: Path, brain_id: BrainId, change: str) -> None:
    """Change evidence and be killed when brain.db has it and index.db does not."""
    disk = Disk("dying")
    store = SqliteStore(directory, brain_id, vfs=disk.name)

    def die(file: str) -> None:
        if file == "index.db-wal":
            os.kill(os.getpid(), signal.SIGKILL)

    disk.before_write = die
    if change == "put":
        observe(store, evidence("new", "written in the last moment"))
        return
    with store.writing() as writer:
        if change == "near":
            writer.put_near({EvidenceId("old"): ["moment"]})
        else:
            writer.delete_evidence([EvidenceId("old")], at=2)
