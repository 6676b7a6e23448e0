"""The flight record: one line per event of a mission, with totals up to there. Follows from the events alone, so it can be made
again to the byte."""

import hashlib
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

from hindbrain.domain.handover import FlightRecord
from hindbrain.domain.mission import EventType, Family, MissionEvent, MissionSpec
from hindbrain.engines.mission_chain import DIGEST
from hindbrain.policy.missions import COUNTED_OUT, GRADES

__all__ = ["Recorder", "kept_target", "recorded", "span_of", "trace_of"]

_JUDGED = frozenset(("verified_for_mission", "rejected", "stale"))
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def span_of(event_id: str) -> str:
    """The span of an event: sixteen hexadecimal digits that follow from its id, and are never all zero."""
    made = hashlib.sha256(f"span:{event_id}".encode()).hexdigest()[:16]
    return made if made.strip("0") else "0" * 15 + "1"


def trace_of(spec: MissionSpec) -> str:
    """The trace of a mission: the one it was given, or one that follows from its id."""
    return spec.trace_id or hashlib.sha256(f"trace:{spec.mission_id}".encode()).hexdigest()[:32]


def kept_target(target: str | None, repo: str) -> str | None:
    """A target as it is kept where nothing from outside the repository may be named: an address, or a path that leads out of it,
    becomes its digest. A query or a command is neither."""
    if target is None or target.startswith(DIGEST) or not _leads_out(target, repo):
        return target
    return DIGEST + hashlib.sha256(target.encode("utf-8", "surrogatepass")).hexdigest()


def _leads_out(target: str, repo: str) -> bool:
    if _ADDRESS.match(target) or target.startswith("~"):
        return True
    root = posixpath.normpath(repo)
    if posixpath.isabs(target):
        path = posixpath.normpath(target)
        return path != root and not path.startswith(root.rstrip("/") + "/")
    return posixpath.normpath(target).split("/", 1)[0] == ".."


@dataclass(slots=True, kw_only=True)
class Recorder:
    """The totals of a mission so far. Grows by `add`, one event at a time, in order."""

    mission_id: str
    trace_id: str
    outer_span: str | None = None  # of the hand-over it was begun from
    seq: int = 0
    root_span: str | None = None
    direct: int = 0
    graph: int = 0
    loops: int = 0
    confidence: float | None = None  # what was last said of the open claim

    @classmethod
    def of(cls, spec: MissionSpec) -> "Recorder":
        """A recorder at the beginning of a mission."""
        outer = spec.inherited.get("parent_span_id")
        return cls(mission_id=spec.mission_id, trace_id=trace_of(spec), outer_span=str(outer) if outer else None)

    def add(self, event: MissionEvent) -> FlightRecord:
        """Take in the next event, and give its line."""
        if event.event_type not in COUNTED_OUT:
            self.graph += event.tool_family is Family.GRAPH and event.event_type is not EventType.GRAPH_INGEST
            self.direct += GRADES[event.evidence_class] == "direct"
        self.loops += event.event_type is EventType.LOOP_WARNING
        self.seq = event.seq
        before, span = self.confidence, span_of(event.event_id)
        parent = self.outer_span if self.root_span is None else self.root_span
        self.root_span = self.root_span or span
        if event.agent_confidence is not None:
            self.confidence = event.agent_confidence
        if event.event_type is EventType.VERIFY and _verdict(event) in _JUDGED:
            self.confidence = None  # of the next claim nothing was said yet
        return FlightRecord(
            mission_id=self.mission_id,
            step_id=event.seq,
            tool_family=event.tool_family,
            target=event.target,
            phase=event.phase,
            duration_ms=event.duration_ms,
            outcome=event.outcome,
            confidence_before=before,
            confidence_after=event.agent_confidence,
            direct_evidence_count=self.direct,
            graph_call_count=self.graph,
            loop_warning_count=self.loops,
            event_id=event.event_id,
            timestamp=event.timestamp,
            trace_id=self.trace_id,
            span_id=span,
            parent_span_id=parent,
        )


def _verdict(event: MissionEvent) -> str | None:
    claim = event.payload.get("claim")
    return claim.get("verdict") if isinstance(claim, dict) else None


def recorded(spec: MissionSpec, events: Iterable[MissionEvent]) -> tuple[FlightRecord, ...]:
    """The whole record of a mission."""
    recorder = Recorder.of(spec)
    return tuple(recorder.add(event) for event in events)
