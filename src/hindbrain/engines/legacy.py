"""Legacy observations: rows and facts of other programs as values of ours. Odd ones are taken for the best they can be, and every
guess is told."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain, Provenance, SourceType
from hindbrain.engines.legacy_values import json_of, line_of, place_of, tags_of, text_of, whole_of, word_of
from hindbrain.engines.transcripts import time_of
from hindbrain.policy.evidence import SOURCE_MAX, WORD_MAX
from hindbrain.policy.legacy import CELL_MAX_BYTES, FACT_TAG, PROVENANCES

__all__ = ["Observed", "fact", "observed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A row of evidence as it stood elsewhere. `odd` says what was guessed."""

    id: str
    content: str
    wing: str
    room: str | None
    source: str
    source_type: SourceType
    provenance: Provenance
    domain: Domain
    field: str
    importance: int
    chunk_index: int | None
    added_at: int | None
    anchor_kind: str
    anchor_id: str
    parent: str | None
    tags: tuple[str, ...]
    speaker: str | None
    thread: str | None
    odd: tuple[str, ...]


def observed(row: Mapping[str, Any]) -> Observed:
    """A row as a value; InvalidParams when it has no name, says nothing, or has no end."""
    odd: list[str] = []
    old_id, content = line_of(row.get("id"), SOURCE_MAX), text_of(row.get("content"), odd)
    if not old_id:
        raise InvalidParams("a row without an id")
    if not content.strip():
        raise InvalidParams("the row says nothing")
    if len(content.encode("utf-8", "surrogatepass")) > CELL_MAX_BYTES:
        raise InvalidParams(f"the row has more than {CELL_MAX_BYTES} bytes")
    source_type = word_of(SourceType, row.get("source_type"), SourceType.MANUAL, "source_type", odd)
    provenance = row.get("provenance")
    added_at = time_of(row.get("added_at"))
    if added_at is None:
        odd.append("added_at is not a time")
    importance = whole_of(row.get("importance"), 0)
    if not 0 <= importance <= 5:
        odd.append(f"importance {importance}")
    tags = row.get("tags")
    if isinstance(tags, str):
        tags = json_of(tags, [], "tags", odd)
    return Observed(
        id=old_id,
        content=content,
        wing=line_of(row.get("wing"), WORD_MAX),
        room=line_of(row.get("room"), WORD_MAX) or None,
        source=line_of(row.get("source_file"), SOURCE_MAX),
        source_type=source_type,
        provenance=word_of(Provenance, provenance, PROVENANCES[source_type], "provenance", odd)
        if provenance is not None
        else PROVENANCES[source_type],
        domain=word_of(Domain, row.get("domain"), Domain.PROJECT, "domain", odd),
        field=line_of(row.get("field"), WORD_MAX) or "general",
        importance=min(5, max(0, importance)),
        chunk_index=place_of(row.get("chunk_index")),
        added_at=added_at,
        anchor_kind=str(row.get("anchor_kind") or ""),
        anchor_id=line_of(row.get("anchor_id"), SOURCE_MAX),
        parent=line_of(row.get("parent_anchor_id"), SOURCE_MAX) or None,
        tags=tags_of(tags),
        speaker=line_of(row.get("speaker"), WORD_MAX) or None,
        thread=line_of(row.get("thread"), SOURCE_MAX) or None,
        odd=tuple(odd),
    )


def fact(row: Mapping[str, Any], program: str) -> Observed:
    """A relation of another program as one line that a person would write, with the time it held."""
    parts = [line_of(row.get(name), WORD_MAX * 10) for name in ("subject", "predicate", "object")]
    if not all(parts):
        raise InvalidParams("the fact lacks a subject, a predicate or an object")
    subject, predicate, target = parts
    held = [f"{word} {line_of(row[name], 40)}" for name, word in (("valid_from", "from"), ("valid_to", "until")) if row.get(name)]
    span = f" ({', '.join(held)})" if held else ""
    made = {
        "id": row.get("id"),
        "content": f"{subject} {predicate.replace('_', ' ')} {target}{span}",
        "wing": program,
        "room": FACT_TAG,
        "source_file": row.get("source_file"),
        "source_type": "project",
        "domain": "project",
        "added_at": row.get("extracted_at") or row.get("valid_from"),
        "anchor_kind": "repo",
        "anchor_id": "repo://legacy",
        "tags": [FACT_TAG],
    }
    return replace(observed(made), odd=())  # most facts were never dated
