"""OTLP in JSON: missions and memory operations as spans, in the form that files and collectors take (OTLP 1.x, JSON encoding: ids
in hexadecimal, 64-bit numbers as text)."""

from collections.abc import Iterable, Mapping
from typing import Any

from hindbrain.domain.mission import EventType, MissionEvent, MissionSpec, Outcome
from hindbrain.engines.flight import span_of, trace_of
from hindbrain.engines.moments import milliseconds
from hindbrain.policy.telemetry import SCHEMA_URL, SCOPE

__all__ = ["event_spans", "operation_span", "request"]

_INTERNAL = 1  # the kind of a span: it stays within this process
_ERROR = 2  # the status of one that failed
_NANOSECONDS = 1_000_000


def event_spans(
    spec: MissionSpec, events: Iterable[MissionEvent], *, root_span: str, loop_warnings: int, store_id: str
) -> list[dict[str, Any]]:
    """One span per event. `loop_warnings` is how many there are after the last of them; the first event of a mission is the root
    of its trace, and of a mission that goes on from a hand-over it links to the span that handed over."""
    held = tuple(events)
    later = sum(one.event_type is EventType.LOOP_WARNING for one in held)
    warned = loop_warnings - later
    made: list[dict[str, Any]] = []
    for one in held:
        warned += one.event_type is EventType.LOOP_WARNING
        made.append(_event_span(spec, one, root_span, warned, store_id))
    return made


def _event_span(spec: MissionSpec, event: MissionEvent, root_span: str, warned: int, store_id: str) -> dict[str, Any]:
    trace, span = trace_of(spec), span_of(event.event_id)
    outer = spec.inherited.get("parent_span_id")
    parent = root_span if span != root_span else outer
    end = (milliseconds(event.timestamp) or 0) * _NANOSECONDS
    told: dict[str, str | int] = {
        "hindbrain.mission.id": spec.mission_id,
        "hindbrain.mission.phase": event.phase.value,
        "hindbrain.mission.tool_family": event.tool_family.value,
        "hindbrain.mission.evidence_class": event.evidence_class.value,
        "hindbrain.mission.outcome": event.outcome.value,
        "hindbrain.mission.loop_warnings": warned,
        "hindbrain.event.id": event.event_id,
        "hindbrain.event.seq": event.seq,
        "hindbrain.event.type": event.event_type.value,
        "gen_ai.agent.id": spec.agent_id,
    }
    name = event.event_type.value
    if event.event_type is EventType.RECALL:
        name = "search_memory"
        told |= {"gen_ai.operation.name": name, "gen_ai.memory.store.id": store_id}
        if isinstance(hits := event.payload.get("hits"), int):
            told["gen_ai.memory.record.count"] = hits
    failed = "error" if event.outcome is Outcome.ERROR else None
    made = _span(trace, span, parent, name, end - event.duration_ms * _NANOSECONDS, end, told, failed)
    if span == root_span and outer:
        made["links"] = [{"traceId": trace, "spanId": str(outer)}]
    return made


def operation_span(
    name: str,
    *,
    operation: str,
    trace: str,
    span: str,
    started_ns: int,
    ended_ns: int,
    agent: str,
    store_id: str | None,
    records: int | None,
    error: str | None,
) -> dict[str, Any]:
    """A memory operation, under the name that the conventions have for it."""
    told: dict[str, str | int] = {"gen_ai.operation.name": name, "hindbrain.operation": operation, "gen_ai.agent.id": agent}
    if store_id is not None:
        told["gen_ai.memory.store.id"] = store_id
    if records is not None:
        told["gen_ai.memory.record.count"] = records
    return _span(trace, span, None, name, started_ns, ended_ns, told, error)


def _span(
    trace: str, span: str, parent: object, name: str, start: int, end: int, told: Mapping[str, str | int], error: str | None
) -> dict[str, Any]:
    attributes = {**told, **({"error.type": error} if error else {})}
    made: dict[str, Any] = {
        "traceId": trace,
        "spanId": span,
        "name": name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(max(0, min(start, end))),
        "endTimeUnixNano": str(max(0, end)),
        "attributes": _attributes(attributes),
        "status": {"code": _ERROR} if error else {},
    }
    if parent:
        made["parentSpanId"] = str(parent)
    return made


def _attributes(values: Mapping[str, str | int]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in values.items()
    ]


def request(spans: Iterable[dict[str, Any]], *, version: str) -> dict[str, Any]:
    """Spans as one request for an exporter."""
    resource = {
        "service.name": SCOPE,
        "service.version": version,
        "telemetry.sdk.name": SCOPE,
        "telemetry.sdk.language": "python",
    }
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": {"name": SCOPE, "version": version}, "spans": list(spans), "schemaUrl": SCHEMA_URL}],
            }
        ]
    }
