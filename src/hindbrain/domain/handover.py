"""Hand-over and proof: what one agent leaves for the next, and what a mission leaves for everybody. Closed records."""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hindbrain.domain.mission import ContextGuard, Family, MissionClaim, MissionMode, Outcome, Phase, Route
from hindbrain.domain.task import Count, Record, Share

__all__ = [
    "Covered",
    "DeadPath",
    "FileRead",
    "FlightRecord",
    "GraphAnchor",
    "Handoff",
    "Inheritance",
    "LedgerPlace",
    "PacketCounters",
    "ProofPacket",
    "ProvEdge",
    "Relation",
    "Staleness",
    "TestRun",
]

Relation = Literal[
    "used",
    "wasGeneratedBy",
    "wasDerivedFrom",
    "wasAssociatedWith",
    "wasAttributedTo",
    "wasInformedBy",
    "actedOnBehalfOf",
]


class DeadPath(Record, frozen=True, kw_only=True):
    target: str
    why_ruled_out: str
    event_ids: tuple[str, ...] = ()
    until: str | None = None


class FileRead(Record, frozen=True, kw_only=True):
    path: str
    digest: str | None
    ranges: tuple[tuple[int, int], ...] = ()
    times: Count = 1
    last_event_id: str = ""


class TestRun(Record, frozen=True, kw_only=True):
    command: str
    outcome: str
    exit_status: int | None
    event_id: str


class GraphAnchor(Record, frozen=True, kw_only=True):
    node_or_query: str
    graph_generation: Count
    event_id: str


class Staleness(Record, frozen=True, kw_only=True):
    """When a hand-over may no longer be trusted."""

    kind: Literal["file_digest", "graph_generation", "binary_version", "age_hours", "branch_head"]
    subject: str
    value: str
    effect: Literal["recheck", "drop"] = "recheck"


class Covered(Record, frozen=True, kw_only=True):
    """One thing that was looked at already: a read, a search, a test or a question to the graph."""

    family: Family
    item: str  # path, normalised query or command
    digest: str | None = None
    scope: str = ""  # where a search looked; empty for everywhere


class Handoff(Record, frozen=True, kw_only=True):
    """What the next agent needs, so that nothing is done twice."""

    handoff_id: str
    mission_id: str
    agent_id: str
    repo: str
    task: str
    mode: MissionMode
    route: Route
    phase: Phase
    mission_summary: str
    event_digest: str
    created_at: str
    parent_mission_id: str | None = None
    ancestors: tuple[str, ...] = ()  # hand-overs that this mission and those before it were begun from
    recipient_agent_id: str | None = None
    verified_claims: tuple[MissionClaim, ...] = ()
    rejected_claims: tuple[MissionClaim, ...] = ()
    inherited_claims: tuple[MissionClaim, ...] = ()  # of missions before this one, and not verified in it
    rests_on: dict[str, tuple[str, ...]] = field(default_factory=dict)  # claim -> paths and commands that show it
    open_hypotheses: tuple[str, ...] = ()
    dead_paths: tuple[DeadPath, ...] = ()
    files_read: tuple[FileRead, ...] = ()
    tests_run: tuple[TestRun, ...] = ()
    graph_anchors: tuple[GraphAnchor, ...] = ()
    queries: tuple[Covered, ...] = ()  # searches and questions, as they are compared; listings and diffs too
    next_required_move: dict[str, Any] = field(default_factory=dict)
    non_claims: tuple[str, ...] = ()
    staleness_criteria: tuple[Staleness, ...] = ()
    trace_id: str = ""
    event_count: Count = 0
    handoff_digest: str = ""  # over all the rest
    schema: str = "hindbrain-mission-handoff-v1"


class Inheritance(Record, frozen=True, kw_only=True):
    """What a mission has from those before it."""

    handoff_ids: tuple[str, ...] = ()
    claims: tuple[MissionClaim, ...] = ()
    rejected: tuple[MissionClaim, ...] = ()
    rests_on: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dead_paths: tuple[DeadPath, ...] = ()
    covered: tuple[Covered, ...] = ()
    files_read: tuple[FileRead, ...] = ()
    tests_run: tuple[TestRun, ...] = ()
    anchors: tuple[GraphAnchor, ...] = ()
    open_hypotheses: tuple[str, ...] = ()
    rechecks: tuple[str, ...] = ()  # what changed since, and has to be looked at again
    reruns: tuple[str, ...] = ()  # those of them that are commands
    next_required_move: dict[str, Any] = field(default_factory=dict)
    parent_span_id: str | None = None


class ProvEdge(Record, frozen=True, kw_only=True):
    subject: str
    relation: Relation
    object: str
    event_id: str


class PacketCounters(Record, frozen=True, kw_only=True):
    tool_calls: Count = 0
    files_read: Count = 0
    direct_evidence_count: Count = 0
    graph_call_count: Count = 0
    repeated_search_count: Count = 0
    loop_warning_count: Count = 0
    claims_verified: Count = 0
    claims_rejected: Count = 0
    dissents: Count = 0
    duration_ms: Count = 0
    first_good_finding_ms: Count | None = None


class LedgerPlace(Record, frozen=True, kw_only=True):
    """The entry of a brain's ledger that records the last event of a packet."""

    brain_id: str
    seq: Count
    hash: str


class ProofPacket(Record, frozen=True, kw_only=True):
    """What a mission has shown, what it has not, and the digest of all that was done."""

    mission_id: str
    agent_id: str
    repo: str
    task: str
    mode: MissionMode
    route: Route
    summary: str
    event_digest: str
    event_count: Count
    first_seq: Count
    last_seq: Count
    verified_claims: tuple[MissionClaim, ...] = ()
    rejected_claims: tuple[MissionClaim, ...] = ()
    evidence_graph: tuple[ProvEdge, ...] = ()
    direct_evidence_classes: dict[str, int] = field(default_factory=dict)
    graph_evidence_classes: dict[str, int] = field(default_factory=dict)
    counters: PacketCounters = PacketCounters()
    context_guard_at_start: ContextGuard | None = None
    context_guard_at_close: ContextGuard | None = None
    control: dict[str, Any] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    non_claims: tuple[str, ...] = ()
    forced: bool = False
    forced_reason: str | None = None
    tools_observed: tuple[str, ...] = ()
    handoff_count: Count = 0
    children: dict[str, str] = field(default_factory=dict)  # mission id -> event digest of what was done by others for this one
    left_out: dict[str, int] = field(default_factory=dict)  # lists that were cut, and how much of each is in the whole file
    full_file: str = ""  # where the whole is: the events, from which everything else follows
    policy_version: str = ""
    created_at: str = ""
    ledger: LedgerPlace | None = None
    packet_digest: str = ""  # over all the rest
    schema: str = "hindbrain-mission-proof-packet-v1"


class FlightRecord(Record, frozen=True, kw_only=True):
    """One line of the recorder. The three counts are totals up to here."""

    mission_id: str
    step_id: Count
    tool_family: Family
    target: str | None
    phase: Phase
    duration_ms: Count
    outcome: Outcome
    confidence_before: Share | None
    confidence_after: Share | None
    direct_evidence_count: Count
    graph_call_count: Count
    loop_warning_count: Count
    event_id: str
    timestamp: str
    trace_id: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    span_id: Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
    parent_span_id: str | None = None
    schema: str = "hindbrain-flight-v1"
