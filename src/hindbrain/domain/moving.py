"""Moving: one thing that another program remembered, on its way in. A value; knows no file, no database and no program."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hindbrain.domain.evidence import Provenance, SourceType

__all__ = ["Item", "ItemKind", "Unread"]


class ItemKind(StrEnum):
    """What a thing becomes here."""

    CLAIM = "claim"
    EVIDENCE = "evidence"
    FILE = "file"  # a conversation or a text on disk; read line by line, as `memory ingest` reads it
    LETTER = "letter"
    BOOT = "boot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing. `key` says where it lay in its source and is the same at every reading."""

    kind: ItemKind
    key: str
    text: str = ""  # what it says; of a claim its prose, or its whole file when `light`
    label: str = ""  # of a claim
    light: bool = False  # the text is a claim file, taken as it stands
    path: str = ""  # of a file: where it lies, absolute
    raw: bytes = b""  # of a letter: its line without the end of line
    value: Any = None  # of a boot entry, whose key is the label
    author: str | None = None
    at: int | None = None  # milliseconds UTC; None when nobody wrote it down
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()  # files a claim or a boot entry rests on
    project: str | None = None  # the project it belonged to, as the other program calls it; None: that program knows none
    root: str | None = None  # the directory of that project, where the program wrote it down; stronger than the name
    shared: bool = False  # it held for every project: goes to the medulla, by a person only
    wing: str = ""  # of evidence; the kind of the source when empty
    room: str | None = None
    source: str = ""  # of evidence: what it was read from, as people would say it
    source_type: SourceType = SourceType.MANUAL
    provenance: Provenance = Provenance.RUNTIME
    thread: str | None = None  # the conversation or document it was part of,
    place: int | None = None  # and where in it
    odd: tuple[str, ...] = ()  # what was guessed


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A thing that could not be read: a code of ours, and why."""

    key: str
    code: str
    reason: str
