"""Rows of evidence: turns and documents as rows, with the words they are found by. Writes nothing."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hindbrain.domain.anchor import Anchor
from hindbrain.domain.errors import HindbrainError, HygieneRefused, Rejected
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType, evidence_id, is_machine
from hindbrain.engines.chunking import Chunk, Shape, chunked, is_short, without
from hindbrain.engines.text import terms
from hindbrain.engines.transcripts import Turn
from hindbrain.policy.evidence import NEAR_TURNS, NORMALIZE_VERSION
from hindbrain.services.brains import OpenBrain
from hindbrain.services.evidence_guard import Secret, Trace, check_words, row_print, secrets_in, traces_of
from hindbrain.services.gateway import Gateway
from hindbrain.stores.port import Words

__all__ = ["Piece", "Refused", "Row", "Scope", "admitted", "document_words", "near_words", "pieces_of", "rows_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What all rows of one source share."""

    source: str
    source_type: SourceType
    provenance: Provenance
    anchor: Anchor
    domain: Domain
    field: str
    wing: str
    room: str | None
    added_at: int
    tags: tuple[str, ...] = ()
    importance: int = 0
    recorded_by: str | None = None

    def row(self, content: str, *, thread: str | None, position: int, chunk_index: int, message: str, turn: Turn) -> Evidence:
        """One row. Inside a thread each place is its own; elsewhere the same text is the same observation."""
        provenance = self.provenance_of(turn)
        made = evidence_id(
            content,
            anchor=self.anchor,
            domain=self.domain,
            field=self.field,
            provenance=provenance,
            wing=self.wing,
            room=self.room,
            thread=thread,
            position=position,
        )
        return Evidence(
            id=made,
            content=content,
            source=self.source or f"hindbrain://evidence/{made}",
            source_type=self.source_type,
            provenance=provenance,
            anchor=self.anchor,
            added_at=self.added_at,
            domain=self.domain,
            field=self.field,
            wing=self.wing,
            room=self.room,
            tags=self.tags,
            importance=self.importance,
            chunk_index=chunk_index,
            normalize_version=NORMALIZE_VERSION,
            thread=thread,
            position=position,
            message=message,
            speaker=turn.speaker,
            role=turn.role,
            recorded_by=self.recorded_by,
            said_at=turn.said_at,
        )

    def provenance_of(self, turn: Turn) -> Provenance:
        """That of the source; what a machine said in a conversation is no person's word."""
        machine = self.provenance is Provenance.HUMAN and is_machine(turn.role) and not turn.of_people
        return Provenance.RUNTIME if machine else self.provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A piece of a source that is not kept, and why."""

    source: str
    line: int
    error: HindbrainError

    def told(self) -> dict[str, object]:
        return {"source_file": self.source, "line": self.line, "code": self.error.code, "reason": self.error.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One text of a source, cut and looked at, before anybody asked whether its values are buried."""

    text: str
    turn: Turn
    thread: str | None
    first: int  # position of its first chunk
    chunks: Sequence[Chunk]
    secrets: Sequence[Secret]
    traces: Sequence[Trace]
    document: bool
    index: int = 0  # number of its first chunk, where a source counts its pieces itself
    scope: Scope | None = None  # its own, where the pieces of a batch come from different places


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row with its words, and whether it is a short turn."""

    evidence: Evidence
    words: Words
    short: bool = field(default=False)


def pieces_of(
    gateway: Gateway, opened: OpenBrain, turns: Iterable[Turn], salt: str, *, default_thread: str | None, shape: Shape, site: str
) -> Iterator[Piece]:
    """Each text with its chunks, its secrets and its traces. A place in a thread is taken also by what is refused."""
    places: dict[str | None, int] = {}
    for turn in turns:
        thread = turn.thread if turn.thread is not None else default_thread
        chunks = chunked(turn.text, shape)
        if shape is Shape.MESSAGE and len(chunks) == 1:
            chunks = [Chunk(start=0, end=len(turn.text))]  # word for word, the white space around it too
        first = places.get(thread, 0)
        places[thread] = first + len(chunks)
        yield Piece(
            text=turn.text,
            turn=turn,
            thread=thread,
            first=first,
            chunks=chunks,
            secrets=_beside(gateway, opened, turn, site) or secrets_in(gateway, opened, turn.text, site=site),
            traces=traces_of(turn.text, salt),
            document=shape is not Shape.MESSAGE,
        )


def _beside(gateway: Gateway, opened: OpenBrain, turn: Turn, site: str) -> list[Secret]:
    """A secret in the words beside a text closes all of it."""
    try:
        check_words(gateway, opened, (turn.speaker, turn.role), (turn.thread, turn.message), site=site)
    except HygieneRefused as refusal:
        return [Secret(start=0, end=len(turn.text), line=1, refusal=refusal)]
    return []


def admitted(piece: Piece, buried: frozenset[str], source: str) -> tuple[list[tuple[int, Chunk]], list[Refused]]:
    """The chunks that may be kept, with their index: none with a secret in it, and none of a buried value."""
    spans = [(start, end) for mark, start, end in piece.traces if mark in buried]
    kept: list[tuple[int, Chunk]] = []
    refused = []
    for index, chunk in enumerate(piece.chunks):
        hit = next((s for s in piece.secrets if s.start < chunk.end and s.end > chunk.start), None)
        if hit is not None:
            refused.append(Refused(source=source, line=hit.line, error=hit.refusal))
            continue
        inside = [(start, end) for start, end in spans if start < chunk.end and end > chunk.start]
        kept += [(index, part) for part in (without(chunk, inside, piece.text) if inside else (chunk,))]
        if inside:
            line = piece.text.count("\n", 0, max(chunk.start, min(start for start, _ in inside))) + 1
            refused.append(Refused(source=source, line=line, error=_REJECTED))
    return kept, refused


_REJECTED = Rejected("this value was rejected or forgotten here", fix="write what holds instead")


def rows_of(piece: Piece, scope: Scope, kept: Sequence[tuple[int, Chunk]], salt: str, buried: frozenset[str]) -> list[Row]:
    """The rows of a piece; those that somebody deleted before stay deleted."""
    rows = []
    several = len(piece.chunks) > 1 and not piece.document
    message = piece.turn.message or (f"{piece.thread}#{piece.first}" if several else "")
    for index, chunk in kept:
        content = piece.text[chunk.start : chunk.end]
        evidence = scope.row(
            content,
            thread=piece.thread,
            position=piece.first + index,
            chunk_index=piece.index + index,
            message=message,
            turn=piece.turn,
        )
        if row_print(salt, evidence.id) in buried:
            continue
        # The headings and the name of a document say what a chunk is about, at half the weight of its own words.
        near = document_words(scope.source, chunk.headings) if piece.document else ()
        short = not piece.document and len(piece.chunks) == 1 and is_short(content)
        rows.append(Row(evidence=evidence, words=Words(text=terms(content), near=near), short=short))
    return rows


def document_words(source: str, headings: Sequence[str]) -> list[str]:
    """What stands over a chunk: the headings it is under, and the name of its document."""
    return terms(" ".join([*headings, os.path.basename(source)]))


def near_words(rows: Sequence[Row]) -> dict[EvidenceId, list[str]]:
    """For each short turn of one thread, in order, the words of the short turns around it."""
    made = {}
    for at, row in enumerate(rows):
        if row.short:
            place = row.evidence.position
            around = [*rows[max(0, at - NEAR_TURNS) : at], *rows[at + 1 : at + 1 + NEAR_TURNS]]
            made[row.evidence.id] = [
                word
                for other in around
                if other.short and abs(other.evidence.position - place) <= NEAR_TURNS
                for word in other.words.text
            ]
    return made
