"""Schemas: what the control loop and missions say and keep, as JSON Schema, made from the records so that both say
the same."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from hindbrain.domain.audit import AuditEvent
from hindbrain.domain.control import Loss, TaskCost
from hindbrain.domain.handover import FlightRecord, Handoff, ProofPacket, ProvEdge
from hindbrain.domain.message import PAYLOADS, BusMessage
from hindbrain.domain.mission import (
    ContextGuard,
    LoopWarning,
    MissionClaim,
    MissionEvent,
    MissionSpec,
    MissionState,
    NextMove,
    Policy,
    RecoveryPayload,
    TrustEnvelope,
    VerifyResult,
)
from hindbrain.domain.mission_run import Ran
from hindbrain.domain.notes import PotentialsNote, RuleNote
from hindbrain.domain.task import CheckSpec, Criterion, GapPoint, ToolCall, Verdict

__all__ = ["MISSION_RECORDS", "RECORDS", "WIRE_NAMES", "schema_of"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Names of the requirement catalog for records whose own name is another word of this house.
WIRE_NAMES: Mapping[str, str] = {
    "Verdict": "CriteriaVerdict",
    "GapPoint": "GapTrajectoryPoint",
    "MegramNote": "Megram",
    "RuleNote": "SOPRecord",
    "PotentialsNote": "Potentials",
    "Ran": "MissionRun",
}

# What a record checks beyond the form of its fields.
_CONDITIONS: Mapping[str, dict[str, Any]] = {
    "Verdict": {
        "if": {"properties": {"verdict": {"const": "pass"}}},
        "then": {"properties": {"failure_class": {"type": "null"}}},
    }
}


# What is said or kept whole; smaller records are parts of these and stand in their files.
_WHOLE: tuple[type[msgspec.Struct], ...] = (
    *PAYLOADS.values(),
    BusMessage,
    Criterion,
    CheckSpec,
    ToolCall,
    Verdict,
    GapPoint,
    Loss,
    TaskCost,
    RuleNote,
    PotentialsNote,
    AuditEvent,
)

_OF_MISSIONS: tuple[type[msgspec.Struct], ...] = (
    MissionSpec,
    MissionState,
    MissionEvent,
    MissionClaim,
    ContextGuard,
    TrustEnvelope,
    RecoveryPayload,
    NextMove,
    Policy,
    VerifyResult,
    FlightRecord,
    LoopWarning,
    ProofPacket,
    ProvEdge,
    Handoff,
    Ran,
)


def _named(kinds: Iterable[type[msgspec.Struct]]) -> dict[str, type[msgspec.Struct]]:
    return {WIRE_NAMES.get(kind.__name__, kind.__name__): kind for kind in kinds}


MISSION_RECORDS: Mapping[str, type[msgspec.Struct]] = _named(_OF_MISSIONS)
RECORDS: Mapping[str, type[msgspec.Struct]] = {**_named(_WHOLE), **MISSION_RECORDS}


def schema_of(name: str) -> dict[str, Any]:
    """One record's schema, complete in itself."""
    kind = RECORDS[name]
    (reference,), parts = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    for part, more in _CONDITIONS.items():
        if part in parts:
            parts[part] |= more
    own = reference["$ref"].rsplit("/", 1)[-1]
    whole = parts.pop(own) if not _refers(parts, own) else reference
    made = {"$schema": _DIALECT, "$id": f"hindbrain:{name}", **whole}
    if parts:
        made["$defs"] = dict(sorted(parts.items()))
    return {**made, "title": name}


def _refers(value: Any, own: str) -> bool:
    """Whether a part refers back to the record itself."""
    if isinstance(value, Mapping):
        return value.get("$ref") == f"#/$defs/{own}" or any(_refers(inner, own) for inner in value.values())
    return isinstance(value, list | tuple) and any(_refers(inner, own) for inner in value)
