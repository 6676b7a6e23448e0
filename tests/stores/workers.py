"""What other processes do to a brain while a test looks on. Importable, because each starts from nothing."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import apsw

from hindbrain.domain.brain import BrainId
from hindbrain.domain.evidence import EvidenceId
from hindbrain.domain.experience import EventKind, Megram, MegramEvent, MegramId, Writer
from hindbrain.stores.port import StoredMessage
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.disks import Disk
from tests.stores.values import act, evidence, observe, put

__all__ = ["die_before_each_statement", "die_between_the_files", "die_while_observing", "write_claims"]


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


def die_before_each_statement(directory: Path, brain_id: BrainId, said: Path) -> None:
    """Change experience again and again, each time in a process that is killed one statement later, until none is left to be
    killed before. A line says before which statement it died and what the brain then holds. Each has a copy of the brain."""
    number, brain = 0, directory
    with said.open("w") as lines:
        while True:
            directory = brain.with_name(f"death-{number}")
            shutil.copytree(brain, directory)
            reading, writing = os.pipe()
            if (pid := os.fork()) == 0:
                os.close(reading)
                _change_experience(directory, brain_id, number, writing)
                os._exit(0)
            os.close(writing)
            _, status = os.waitpid(pid, 0)
            with os.fdopen(reading, "rb") as pipe:
                statement = pipe.read().decode()
            if not os.WIFSIGNALED(status) and status != 0:
                raise AssertionError(statement)
            lines.write(json.dumps({"statement": statement, "held": _experience_held(directory, brain_id)}) + "\n")
            if not os.WIFSIGNALED(status):
                return
            number += 1


def _change_experience(directory: Path, brain_id: BrainId, number: int, told: int) -> None:
    store = SqliteStore(directory, brain_id)
    left = number

    def step(cursor: apsw.Cursor, statement: str, values: Any) -> bool:
        nonlocal left
        plain = " ".join(statement.split()).lower().removeprefix("insert into ").removeprefix("delete from ")
        if plain.startswith(("select", "pragma", "begin")):
            return True
        if left == 0:
            os.write(told, plain[:80].encode())
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return True

    while store._idle:  # its connections are opened again and watched
        store._idle.pop()[0].close()
    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", step))
    made = Megram(
        id=MegramId("m1"),
        space="s",
        entity="e",
        content="c",
        state="accept",
        f=0.9,
        sigma=1.0,
        k=0.05,
        created_at=1,
        writer=Writer.SOLVER,
        tags=("new",),
    )
    with store.writing() as writer:
        seq = writer.append(act("control.message", subject="task:t")).seq
        writer.put_message(
            StoredMessage(seq=seq, id="a", at=1, sender="R7", recipient="R5", type="Megram", task_id="t", body="{}")
        )
        writer.put_megram(made)
        writer.put_megram_event(MegramEvent(megram_id=made.id, kind=EventKind.PROMOTED_K, at=2))
        writer.recall_megrams([made.id], at=3)
        writer.forget_megrams([MegramId("old")], at=4)


def _experience_held(directory: Path, brain_id: BrainId) -> dict[str, object]:
    store = SqliteStore(directory, brain_id)
    try:
        return {
            "megrams": [one.megram.id for one in store.effective()],
            "tags": [one.megram.id for one in store.megrams_tagged(["new", "gone"], limit=9)],
            "events": [one.kind.value for one in store.megram_events()],
            "messages": len(store.messages()),
            "entries": len(store.entries()),
        }
    finally:
        store.close()
