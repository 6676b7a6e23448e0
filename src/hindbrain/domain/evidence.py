"""Evidence: one raw observation with its source. Cheap to write, kept word for word, never knowledge by itself."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.errors import InvalidParams

__all__ = ["Domain", "Evidence", "EvidenceId", "Provenance", "SourceType", "evidence_id", "is_machine"]

EvidenceId = NewType("EvidenceId", str)

_DIGITS = 24  # of a sha256: far beyond any clash by chance, short enough to paste


class Domain(StrEnum):
    """For whom a memory is."""

    PROJECT = "project"
    AGENT = "agent"
    SKILL = "skill"
    GLOBAL = "global"


# Roles of a conversation that no person has: what a model answered, what its tools gave, what its host set.
_MACHINES = frozenset({"assistant", "ai", "agent", "bot", "developer", "function", "gemini", "model", "system", "tool"})


def is_machine(role: str | None) -> bool:
    """Return True if a role of a conversation is not a person's."""
    return (role or "").strip().lower() in _MACHINES


class Provenance(StrEnum):
    """How an observation was made."""

    HUMAN = "human"
    RESEARCH = "research"
    RUNTIME = "runtime"


class SourceType(StrEnum):
    """What kind of source an observation was read from."""

    PROJECT = "project"
    CONVERSATION = "conversation"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One row. A long message or file is several rows that share `message` and count up in `chunk_index`."""

    id: EvidenceId
    content: str
    source: str  # path relative to what was ingested, URL, or conversation; `source_file` on the wire
    source_type: SourceType
    provenance: Provenance
    anchor: Anchor
    added_at: int
    domain: Domain = Domain.PROJECT
    field: str = "general"
    wing: str = ""
    room: str | None = None
    tags: tuple[str, ...] = ()
    importance: int = 0
    chunk_index: int = 0
    normalize_version: int = 0
    thread: str | None = None  # the conversation or document that neighbours are looked for in
    position: int = 0  # place of the row inside its thread
    message: str = ""  # what a chunk is a piece of; the whole is found by its best piece
    speaker: str | None = None
    role: str | None = None  # user, assistant, ...
    recorded_by: str | None = None  # the agent that observed it, or that took its source in
    origin: str | None = None  # of a copy: the brain it was copied from, by name and id
    said_at: int | None = None
    deleted_at: int | None = None

    def __post_init__(self) -> None:
        if (self.anchor.kind is AnchorKind.GLOBAL) and self.domain is not Domain.GLOBAL:
            raise InvalidParams(
                f"a global anchor needs the domain global, not {self.domain.value}",
                fix="give domain=global, or anchor it at the repository",
            )
        if not 0 <= self.importance <= 5:
            raise InvalidParams(f"importance {self.importance} is not 0 to 5", fix="give importance from 0 to 5")

    @property
    def author(self) -> str | None:
        """Who says so: who spoke, else who observed it. Whoever takes a document in has not written it."""
        return self.speaker or self.role or (self.recorded_by if self.source_type is SourceType.MANUAL else None)


def evidence_id(
    content: str,
    *,
    anchor: Anchor,
    domain: Domain,
    field: str,
    provenance: Provenance,
    wing: str,
    room: str | None,
    thread: str | None = None,
    position: int = 0,
) -> EvidenceId:
    """The same observation gets the same id by whichever way it comes; inside a conversation each turn is its own."""
    parts = (
        "evidence",
        domain.value,
        field,
        anchor.kind.value,
        anchor.id,
        anchor.parent or "",
        provenance.value,
        wing,
        room or "",
    )
    placed = (*parts, thread, str(position)) if thread is not None else parts
    digest = hashlib.sha256("\x1f".join((*placed, content)).encode("utf-8", "surrogatepass")).hexdigest()
    return EvidenceId(f"ev_{digest[:_DIGITS]}")
