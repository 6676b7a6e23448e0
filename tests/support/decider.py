"""A controller at work in its own process: decides round after round and tells which of its messages became durable.

usage: python -m tests.support.decider DIRECTORY

It prints the ids of each message and its megram once their ticket says that they are durable."""

import sys
from itertools import count
from pathlib import Path

from hindbrain.domain.brain import BrainId
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MegramNote
from hindbrain.services.control.bus import Bus
from hindbrain.services.control.journal import Journal
from hindbrain.services.experience.experience import Experience
from hindbrain.stores.sqlite import SqliteStore
from tests.support.examples import VALID

__all__ = ["BRAIN", "SALT", "opened"]

BRAIN = BrainId("0195c1a0-0000-7000-8000-000000000001")
SALT = "salt"


def opened(directory: Path) -> tuple[SqliteStore, Journal, Bus]:
    """A store with its journal and its bus, as the house makes them."""
    store = SqliteStore(directory, BRAIN)
    with store.writing() as writer:
        if store.meta("salt") is None:
            writer.set_meta("salt", SALT)
    journal = Journal(store, written=lambda: bus.wake())
    experience = Experience(store, journal, clock=lambda: 1_783_209_431_408, salt=SALT)
    bus = Bus(store, journal, clock=lambda: 1_783_209_431_408, salt=SALT, deposit=experience.heard)
    return store, journal, bus


def main(directory: str) -> None:
    _, _, bus = opened(Path(directory))
    for number in count():
        note = MegramNote(**{**VALID[MessageType.MEGRAM], "id": f"00000000-0000-4000-8000-{number:012d}"})
        said = bus.publish(Role.SOLVER, Role.MEMORY, note, task_id=f"tsk_{number}")
        if said.ticket.wait(60):
            sys.stdout.write(f"{said.id} {note.id}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
