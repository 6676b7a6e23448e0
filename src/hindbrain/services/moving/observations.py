"""Observations that move in: rows in batches through the door of foreign evidence, files through the one of ingest."""

from collections.abc import Sequence
from typing import Any

from hindbrain.domain.anchor import GLOBAL, LEGACY, Anchor
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain
from hindbrain.domain.moving import Item
from hindbrain.engines.legacy import Observed
from hindbrain.engines.legacy_values import line_of, tags_of, text_of
from hindbrain.policy.evidence import SOURCE_MAX, WORD_MAX
from hindbrain.policy.legacy import CELL_MAX_BYTES
from hindbrain.services.brains import OpenBrain
from hindbrain.services.evidence_ingest import Ingest, Request
from hindbrain.services.foreign_evidence import ForeignEvidence, Taken

__all__ = ["FileTaking", "RowTaking", "observed_of"]


def observed_of(item: Item, kind: str) -> tuple[Observed, Anchor]:
    """An item as a row of evidence. The place where it lay is the name of its message."""
    odd: list[str] = []
    content = text_of(item.text, odd)
    if not content.strip():
        raise InvalidParams("the row says nothing", fix="leave it where it is")
    if len(content.encode("utf-8", "surrogatepass")) > CELL_MAX_BYTES:
        raise InvalidParams(f"the row has more than {CELL_MAX_BYTES} bytes", fix="take it in as a file: hindbrain memory ingest")
    named = line_of(f"{kind}:{item.key}", SOURCE_MAX)
    return Observed(
        id=named,
        content=content,
        wing=line_of(item.wing, WORD_MAX) or kind,
        room=line_of(item.room, WORD_MAX) or None,
        source=line_of(item.source, SOURCE_MAX) or named,
        source_type=item.source_type,
        provenance=item.provenance,
        domain=Domain.GLOBAL if item.shared else Domain.PROJECT,
        field="general",
        importance=0,
        chunk_index=item.place,
        added_at=item.at,
        anchor_kind="",
        anchor_id="",
        parent=None,
        tags=tags_of(item.tags),
        speaker=line_of(item.author, WORD_MAX) or None,
        thread=line_of(item.thread, SOURCE_MAX) or None,
        odd=tuple(odd),
    ), GLOBAL if item.shared else LEGACY


class RowTaking:
    """Rows, some hundred in one transaction."""

    def __init__(self, evidence: ForeignEvidence) -> None:
        self._evidence = evidence

    def take(
        self, caller: Caller, opened: OpenBrain, rows: Sequence[tuple[Observed, Anchor]], *, kind: str, execute: bool
    ) -> Taken:
        return self._evidence.put(caller, opened, rows, name=kind, execute=execute)


class FileTaking:
    """Conversations and texts on disk, read as `memory ingest` reads them: the same file taken both ways is taken once."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest

    def take(self, caller: Caller, item: Item, *, execute: bool) -> dict[str, Any]:
        request = Request(
            path=item.path,
            wing=item.wing,
            room=item.room,
            tags=tags_of(item.tags),
            channel=Channel.IMPORT,
            dry_run=not execute,
        )
        return self._ingest.run(caller, request, lambda _done, _of, _name: None)
