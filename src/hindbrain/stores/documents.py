"""Documents: JSON files of a home, whole or by lines; whether one can be read, and what is done when it cannot."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.cowork import CoworkEvent, CoworkMessage
from hindbrain.domain.delegation import DelegationRecord, OutcomeRow
from hindbrain.domain.handshake import Change, Handshake
from hindbrain.domain.hook_session import HookDues, HookSession
from hindbrain.domain.typed import decoded, names_its_schema
from hindbrain.stores.atomic import set_aside, write_bytes
from hindbrain.stores.bus_files import BUS_LOCK, BusFiles
from hindbrain.stores.bus_records import AgentsFile, SessionsFile
from hindbrain.stores.home import Home
from hindbrain.stores.host_records import HostRecord
from hindbrain.stores.locks import locked
from hindbrain.stores.reservations import ReservationsFile

__all__ = ["DamagedDocument", "Document", "Remedy", "damaged_documents", "mend", "problem_of", "set_aside_unreadable"]

_BUS_WAIT_S = 5.0


class Remedy(StrEnum):
    """What a repair may do with a document that cannot be read."""

    REMOVE = "remove"  # it lives for hours, or is written again: what cannot be read of it is removed
    KEEP = "keep"  # a person decides; nothing is changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A kind of file below a home."""

    pattern: str
    kind: Any = dict[str, Any]  # None: it only has to be a plain file
    lines: bool = False
    remedy: Remedy = Remedy.KEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedDocument:
    """A file that cannot be read as what it should be."""

    path: Path
    document: Document
    why: str


_REMOVE = Remedy.REMOVE
_INTENTS = "intents."  # what turns of a bus wrote down before they began; an entry that cannot be read is skipped
DOCUMENTS = (
    Document(pattern="manifest.json", remedy=_REMOVE),
    Document(pattern="field-reports.jsonl", lines=True),
    Document(pattern="field-reports.links.json"),
    Document(pattern="field-reports.boxes.json"),
    Document(pattern="places.json"),
    Document(pattern="refusals.jsonl", lines=True),
    Document(pattern="medulla/inbox.jsonl", lines=True),
    Document(pattern="recovery/handshakes.jsonl", kind=Handshake, lines=True, remedy=_REMOVE),
    Document(pattern="recovery/changes.jsonl", kind=Change, lines=True, remedy=_REMOVE),
    Document(pattern="hosts/*/record.json", kind=HostRecord),
    Document(pattern="brains/ingest_roots.json"),
    Document(pattern="checkouts/*.json", kind=tuple[list[int] | None, list[int] | None], remedy=_REMOVE),
    Document(pattern="brains/*/hygiene_allow.json"),
    Document(pattern="medulla/hygiene_allow.json"),
    Document(pattern="brains/*/delegations/dlg_*.json", kind=DelegationRecord),
    Document(pattern="brains/*/delegations/outcomes.jsonl", kind=OutcomeRow, lines=True),
    Document(pattern="runtime/*/agents.json", kind=AgentsFile, remedy=_REMOVE),
    Document(pattern="runtime/*/sessions.json", kind=SessionsFile, remedy=_REMOVE),
    Document(pattern="runtime/*/reservations.json", kind=ReservationsFile, remedy=_REMOVE),
    Document(pattern="runtime/*/events*.jsonl", kind=CoworkEvent, lines=True, remedy=_REMOVE),
    Document(pattern="runtime/*/inbox/*.jsonl", kind=CoworkMessage, lines=True, remedy=_REMOVE),
    Document(pattern=f"runtime/*/{_INTENTS}*", kind=None, remedy=_REMOVE),
    Document(pattern="runtime/*/hooks/s-*.json", kind=HookSession, remedy=_REMOVE),
    Document(pattern="runtime/*/hooks/due.json", kind=HookDues, remedy=_REMOVE),
)


def damaged_documents(home: Home) -> Iterator[DamagedDocument]:
    """Every document of a home that cannot be read."""
    for document in DOCUMENTS:
        for path in sorted(home.path.glob(_by_listing(document.pattern))):
            if (why := problem_of(path, document)) is not None:
                yield DamagedDocument(path=path, document=document, why=why)


def _by_listing(pattern: str) -> str:
    """The same pattern, matched against the names in a directory: `glob` passes over a plain name that leads nowhere."""
    above, slash, name = pattern.rpartition("/")
    return pattern if "*" in name else f"{above}{slash}[{name[0]}]{name[1:]}"


def problem_of(path: Path, document: Document) -> str | None:
    """Why a file cannot be read as such a document; None when it can, or is not there."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return "it is not a plain file"
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as failure:
        return failure.strerror or str(failure)
    if document.lines:
        bad = sum(not _reads(line, document.kind) for line in raw.split(b"\n") if line.strip())
        return f"{bad} of its lines cannot be read" if bad else None
    return None if _reads(raw, document.kind) else "it is damaged, cut short or of another release"


def _reads(raw: bytes, kind: Any) -> bool:
    if kind is None:
        return True
    try:
        found = decoded(raw, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return not isinstance(found, msgspec.Struct) or names_its_schema(found)


def mend(home: Home, damaged: DamagedDocument) -> None:
    """Remove what cannot be read. What is no file is somebody else's work and is only put aside."""
    if damaged.path.parent != home.path and damaged.path.is_relative_to(home.runtime):
        place = home.runtime / damaged.path.relative_to(home.runtime).parts[0]
        if damaged.path.name.startswith(_INTENTS):
            with locked(place / BUS_LOCK, wait_s=_BUS_WAIT_S):
                _mend(damaged)
            return
        with BusFiles(home, "", wait_s=_BUS_WAIT_S, directory=place).look():  # no turn of the bus is half done
            _mend(damaged)
    else:
        _mend(damaged)


def _mend(damaged: DamagedDocument) -> None:
    path, document = damaged.path, damaged.document
    if not stat.S_ISREG(path.lstat().st_mode):
        set_aside(path)
    elif document.lines:
        good = [line for line in path.read_bytes().split(b"\n") if line and _reads(line, document.kind)]
        write_bytes(path, b"".join(line + b"\n" for line in good))
    else:
        path.unlink(missing_ok=True)


def set_aside_unreadable(path: Path) -> None:
    """Before a document is written again: keep one that nobody can read under another name, so that nothing is lost with it."""
    if problem_of(path, Document(pattern=path.name)) is not None:
        set_aside(path)
