"""Observed calls: what a call of Hindbrain's own tools was, as an event of the mission in which it was made. Pure."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.mission import EventType, EvidenceClass, Outcome
from hindbrain.engines.mission_chain import DIGEST, canonical
from hindbrain.policy.missions import OBSERVED

__all__ = ["Observed", "observed"]

_ROWS = ("results", "activated", "blast_radius", "modules")
_SAID = ("query", "pattern", "node_id", "path", "claim_text", "source", "space")
_FILE = "file::"
_CANDIDATES = 20
_HITS = 20
_TEXT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """An event to be."""

    event_type: EventType
    target: str
    outcome: Outcome
    evidence: EvidenceClass | None
    payload: dict[str, Any]


def observed(name: str, given: Mapping[str, Any], answer: Mapping[str, Any]) -> Observed | None:
    """What a call was; None for one that is no use of a tool."""
    kind = OBSERVED.get(name)
    if kind is None:
        return None
    if name == "search" and given.get("mode") == "semantic":
        kind = EventType.SEMANTIC_SEARCH
    said = next((str(given[one]) for one in _SAID if given.get(one)), name)
    rows = [row for one in _ROWS for row in answer.get(one) or () if isinstance(row, Mapping)]
    files = list(dict.fromkeys(path for row in rows if (path := _path(row))))[:_CANDIDATES]
    envelope = answer.get("agent_runtime_contract") or {}
    payload: dict[str, Any] = {
        "query": said[:_TEXT],
        "arguments_digest": DIGEST + hashlib.sha256(canonical([name, dict(given)])).hexdigest(),
        "candidates": files,
        "found": len(rows),
        "observed": True,
    }
    if scope := given.get("scope"):
        payload["scope"] = str(scope)[:_TEXT]
    if isinstance(generation := (envelope.get("graph_identity") or {}).get("graph_generation"), int):
        payload["graph_generation"] = generation
    evidence = None
    if kind is EventType.LITERAL_SEARCH:
        payload["hits"] = list(_hits(rows))
        payload["targets"] = list(dict.fromkeys(one["path"] for one in payload["hits"]))
        evidence = EvidenceClass.DIRECT_SEARCH if payload["hits"] else EvidenceClass.UNCLASSIFIED
    return Observed(
        event_type=kind,
        target=said[:_TEXT],
        outcome=_outcome(answer, rows, kind),
        evidence=evidence,
        payload=payload,
    )


def _outcome(answer: Mapping[str, Any], rows: list[Mapping[str, Any]], kind: EventType) -> Outcome:
    if answer.get("ok") is False:
        return Outcome.ERROR
    envelope = answer.get("agent_runtime_contract") or {}
    if envelope.get("status") == "blocked":
        return Outcome.BLOCKED
    if kind is EventType.GRAPH_INGEST:
        return Outcome.NOTED
    return Outcome.FOUND if rows else Outcome.EMPTY


def _path(row: Mapping[str, Any]) -> str | None:
    provenance = row.get("provenance")  # an object in rows of code and claims, one word in rows of evidence
    path = row.get("file_path") or (provenance.get("source_path") if isinstance(provenance, Mapping) else None)
    if path:
        return str(path)
    node = str(row.get("node_id") or "")
    return node.removeprefix(_FILE).split("::", 1)[0] if node.startswith(_FILE) else None


def _hits(rows: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows[:_HITS]:
        if row.get("file_path") and isinstance(row.get("line_number"), int):
            text = str(row.get("matched_line") or "")[:_TEXT]
            yield {"path": str(row["file_path"]), "line": row["line_number"], "text": text}
