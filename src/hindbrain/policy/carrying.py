"""Carrying: what an archive of a brain holds beside its tables, what it leaves behind and why, and how large it may be."""

from dataclasses import dataclass
from typing import Final

__all__ = [
    "ARCHIVE_MAX_BYTES",
    "BIRTH_ACTS",
    "CARRIED",
    "FILE_ACT",
    "LEFT_TABLES",
    "LOCAL_MARKS",
    "LOCAL_META",
    "MEMBERS_MOST",
    "MOVED_META",
    "NAME_MAX",
    "ORIGIN_KEY",
    "PENDING_KEY",
    "PLAIN_META",
    "RESERVE_BYTES",
    "STAYS",
    "Room",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Files of a brain that are carried as they are. `depth` is how many directories lie below the room; 0 is one file."""

    name: str
    depth: int
    why: str
    in_repository: bool = False  # it lies in `.hindbrain/` of the checkout, not beside the database


CARRIED: Final = (
    Room(name="missions", depth=2, why="what people read of a mission: events, flight, hand-overs, proof"),
    Room(name="delegations", depth=2, why="packets that were handed to children, and what came of them"),
    Room(name="battery", depth=2, why="cases that confirmed confusions became"),
    Room(name="audit/log.jsonl", depth=0, why="what the auditor saw; its chain goes on where it ended"),
    Room(name="tuning", depth=1, why="proposals about the controller, each under the digest of its text"),
    Room(name="consolidation.jsonl", depth=0, why="what was consolidated and when"),
    Room(name="hygiene_allow.json", depth=0, why="lines that a person let through"),
    Room(name="boot_memory_state.json", depth=0, why="the boot memory as people and old tools read it"),
    Room(name="inbox.jsonl", depth=0, why="the letter box of the medulla"),
    Room(name="inbox.jsonl", depth=0, in_repository=True, why="the letter box of the repository"),
)

# What lies beside the database and is not carried. A name that ends in * stands for all that begin so.
STAYS: Final[dict[str, str]] = {
    "brain.db*": "its rows are carried as tables",
    "learned.db*": "its rows are carried as tables",
    "learned.saved.db*": "a copy that somebody took of learned.db, whose rows are carried",
    "index.db*": "derived from the rows",
    "vectors.db*": "derived from the rows",
    "graph.db*": "derived from the checkout",
    "files.db*": "what the files of this machine looked like",
    "repos": "graphs of other checkouts of this machine",
    "runs": "workspaces of the last tasks; what they showed is in the messages",
    "agent-memory": "the text of each claim is a row; its history is carried by itself",
    "locks": "nobody holds a lock over a move",
    "dream.lock": "nobody holds a lock over a move",
    "project_brain.json": "where this machine has the repository",
    "repository.json": "by what this machine knows the repository again",
    "witness": "a secret between this home and this checkout",
}

LEFT_TABLES: Final = frozenset(("intent",))  # an act between two brains of one home; another home has not the other brain

ORIGIN_KEY: Final = "export.origin"  # meta: which brain this one was restored from, and how far its chain was then
PENDING_KEY: Final = "restore.pending"  # meta: files of a restore that are staged and not yet in their place

# Notes of a database about itself and its indexes, and when it was last asked here.
LOCAL_META: Final = frozenset(
    (ORIGIN_KEY, PENDING_KEY, "graph.generation", "store.endings", "store.scrub", "erasing", "journal_probe", "beat.last")
)

# Notes that any caller may bring along; every other one is a person's decision.
PLAIN_META: Final = frozenset(("salt", "terms_version", "anchor.former"))
MOVED_META: Final = ("moved:", "moved-claim:")  # how they begin: by what an import knows again what it brought

# Marks of files that were kept out: the file is in this checkout, refused, and no part of the memory.
LOCAL_MARKS: Final = frozenset(("conflict_markers", "file_refused", "secret_in_file"))

# What a brain records before it holds anything: that it was made, that its checkout was read, that a call was refused.
BIRTH_ACTS: Final = frozenset(("brain.create", "brain.init", "brain.uninit", "graph.ingest", "call.refused"))
FILE_ACT: Final = "claim.file"  # a claim that came as a file, by git or an editor

ARCHIVE_MAX_BYTES: Final = 64 * 1024**3  # unpacked; a brain of ten million rows has a third of it
MEMBERS_MOST: Final = 1_000_000
NAME_MAX: Final = 600  # characters of a member's name; a label and two directories need half of it
RESERVE_BYTES: Final = 64 * 1024**2  # room that unpacking leaves on the disk
