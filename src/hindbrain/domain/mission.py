"""Missions: one bounded piece of an agent's work, with a route, a budget and events. A mission is what its events say; the
records are closed and the names of their fields are those of the wire."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hindbrain.domain.control import Loss
from hindbrain.domain.mission_comparison import Comparison
from hindbrain.domain.task import Class, Count, Criterion, Record, Share

__all__ = [
    "AGENT_STARTED",
    "Budget",
    "BudgetLeft",
    "Classification",
    "ContextGuard",
    "ControlState",
    "DissentProtocol",
    "DoNot",
    "EventType",
    "EvidenceClass",
    "EvidenceGrade",
    "Family",
    "LoopWarning",
    "MissionClaim",
    "MissionEvent",
    "MissionMode",
    "MissionSpec",
    "MissionState",
    "MissionStatus",
    "Move",
    "MoveType",
    "NextMove",
    "Outcome",
    "Phase",
    "Policy",
    "RecoveryKind",
    "RecoveryPayload",
    "RecoveryStep",
    "Risk",
    "RootOrigin",
    "Route",
    "TrustEnvelope",
    "TrustVerdict",
    "Verdict",
    "VerifyResult",
]

AGENT_STARTED = "agent:"  # what the actor of an agent's own event begins with


class MissionMode(StrEnum):
    """What kind of work it is."""

    BUG_HUNT = "bug_hunt"
    REVIEW = "review"
    REFACTOR = "refactor"
    DOCS_DRIFT = "docs_drift"
    ARCHITECTURE = "architecture"
    RELEASE = "release"
    HOST_RECOVERY = "host_recovery"
    ORIENTATION = "orientation"
    TASK = "task"


class Route(StrEnum):
    """How much is asked of the graph before the files are."""

    DIRECT_PROOF = "direct_proof"
    SHORT_AUDIT = "short_audit"
    TRAINED_AUDIT = "trained_audit"
    RISK_FIRST = "risk_first"
    DOCS_BINDING = "docs_binding"
    ARCHITECTURE_SURVEY = "architecture_survey"
    RELEASE_PREFLIGHT = "release_preflight"
    RECOVERY = "recovery"
    BALANCED = "balanced"


class Phase(StrEnum):
    """Where in its work a mission is."""

    ORIENT = "orient"
    LOCATE = "locate"
    BIND = "bind"
    VERIFY = "verify"
    GATE = "gate"
    REPORT = "report"
    RECOVER = "recover"
    CLOSED = "closed"


class MissionStatus(StrEnum):
    """Whether it goes on."""

    ACTIVE = "active"
    HANDED_OFF = "handed_off"
    CLOSED = "closed"
    ABANDONED = "abandoned"


class EventType(StrEnum):
    """What was done. Which of these only the runtime writes is in `policy.missions`."""

    FILE_READ = "file_read"
    DIR_LIST = "dir_list"
    LITERAL_SEARCH = "literal_search"
    SEMANTIC_SEARCH = "semantic_search"
    GRAPH_QUERY = "graph_query"
    GRAPH_INGEST = "graph_ingest"
    AUDIT = "audit"
    IMPACT = "impact"
    TEST_RUN = "test_run"
    COMPILE = "compile"
    LINT = "lint"
    RUNTIME_PROBE = "runtime_probe"
    DIFF_READ = "diff_read"
    WEB_FETCH = "web_fetch"
    FILE_EDIT = "file_edit"
    COMMAND = "command"
    COVERAGE_SWEEP = "coverage_sweep"
    BOUNDARY_SWEEP = "boundary_sweep"
    EDGE_CASE_SWEEP = "edge_case_sweep"
    NEGATIVE_SPACE_SWEEP = "negative_space_sweep"
    PUBLIC_CONTRACT_SWEEP = "public_contract_sweep"
    FOLLOWUP_SWEEP = "followup_sweep"
    HYPOTHESIS = "hypothesis"
    DEAD_PATH = "dead_path"
    CLAIM = "claim"
    VERIFY = "verify"
    DISSENT = "dissent"
    RECALL = "recall"
    CONTEXT_GUARD = "context_guard"
    HOST_HANDSHAKE = "host_handshake"
    RECOVERY = "recovery"
    HANDOFF = "handoff"
    RESUME = "resume"
    HUMAN_STATEMENT = "human_statement"
    LOOP_WARNING = "loop_warning"
    BUDGET_WARNING = "budget_warning"
    NOTE = "note"
    CLOSE = "close"  # the last event of a mission that is over


class Family(StrEnum):
    """Which kind of tool it was."""

    DIRECT_READ = "direct_read"
    LITERAL_SEARCH = "literal_search"
    GRAPH = "graph"
    TEST = "test"
    COMPILE = "compile"
    RUNTIME = "runtime"
    EDIT = "edit"
    MEMORY = "memory"
    DOCS = "docs"
    RECOVERY = "recovery"
    HOST = "host"
    MISSION = "mission"
    HUMAN = "human"
    OTHER = "other"


class Outcome(StrEnum):
    """What came of it."""

    HYPOTHESIS_SUPPORTED = "hypothesis_supported"
    HYPOTHESIS_REFUTED = "hypothesis_refuted"
    INCONCLUSIVE = "inconclusive"
    PASSED = "passed"
    FAILED = "failed"
    FOUND = "found"
    EMPTY = "empty"
    BLOCKED = "blocked"
    ERROR = "error"
    RULED_OUT = "ruled_out"
    RECOVERED = "recovered"
    NOT_RECOVERED = "not_recovered"
    NOTED = "noted"


class EvidenceClass(StrEnum):
    """What an event can prove. The grade of each is in `policy.missions`."""

    DIRECT_SOURCE = "direct_source"
    DIRECT_SEARCH = "direct_search"
    DIRECT_TEST = "direct_test"
    DIRECT_COMPILER = "direct_compiler"
    DIRECT_RUNTIME = "direct_runtime"
    DIRECT_DIFF = "direct_diff"
    DIRECT_EXTERNAL = "direct_external"
    DIRECT_HUMAN = "direct_human"
    DIRECT_COVERAGE_SWEEP = "direct_coverage_sweep"
    HOST_HANDSHAKE = "host_handshake"
    DIRECT_UNVERIFIED = "direct_unverified"
    GRAPH_ORIENTATION = "graph_orientation"
    GRAPH_STRUCTURAL = "graph_structural"
    MEMORY_RECALL = "memory_recall"
    DOC_BOUND = "doc_bound"
    DOC_STALE = "doc_stale"
    HOST_DESCRIBED = "host_described"
    AGENT_TESTIMONY = "agent_testimony"
    INFERRED = "inferred"
    UNCLASSIFIED = "unclassified"


EvidenceGrade = Literal["direct", "direct_unverified", "graph_only", "inferred"]
Verdict = Literal["candidate", "verified_for_mission", "insufficient_evidence", "rejected", "stale", "inherited"]
Risk = Literal["low", "medium", "high"]
Classification = Literal["single_repo", "federated", "wrong_workspace_binding"]
RootOrigin = Literal["explicit", "mcp_roots", "env", "git", "cwd", "none"]
TrustVerdict = Literal[
    "full_trust",
    "needs_ingest",
    "orientation_only",
    "degraded_host_tool_surface",
    "wrong_workspace_binding",
    "stale_binding_suspected",
    "retrieval_needs_recovery",
]
RecoveryKind = Literal["host_rebind", "same_binding_ingest", "federation", "reindex", "update", "restart", "none"]
MoveType = Literal[
    "read_file",
    "run_test",
    "literal_search",
    "graph_query",
    "ingest",
    "claim",
    "direct_sweep",
    "recover",
    "rebind",
    "handoff",
    "close",
    "ask_human",
]


class Budget(Record, frozen=True, kw_only=True):
    tool_calls_max: Annotated[int, Meta(ge=1, le=100_000)]
    files_read_max: Annotated[int, Meta(ge=1, le=100_000)]
    soft_deadline_ms: Annotated[int, Meta(ge=1, le=30 * 86_400_000)]


class RecoveryStep(Record, frozen=True, kw_only=True):
    order: Annotated[int, Meta(ge=1)]
    surface: Literal["mcp", "cli", "human"]
    call: str
    arguments: dict[str, Any] = field(default_factory=dict)
    mutating: bool = False


class RecoveryPayload(Record, frozen=True, kw_only=True):
    """A way out, ready to be called. Nothing of it has happened yet."""

    kind: RecoveryKind
    why: str
    steps: tuple[RecoveryStep, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    expected_after: dict[str, Any] = field(default_factory=dict)
    proof_required: tuple[str, ...] = ()
    non_claims: tuple[str, ...] = ()


class ContextGuard(Record, frozen=True, kw_only=True):
    """Where a mission really is."""

    repo: str
    workspace_root: str | None
    workspace_root_source: RootOrigin
    ingest_roots: tuple[str, ...]
    runtime_root: str
    binary_version: str
    build_id: str
    graph_generation: Count
    workspace_match: bool
    classification: Classification
    reason: str
    federation_intent: bool = False
    branch_head: str | None = None
    recovery: RecoveryPayload | None = None
    non_claims: tuple[str, ...] = ()
    schema: str = "hindbrain-context-guard-v1"


class TrustEnvelope(Record, frozen=True, kw_only=True):
    """How far the graph can be trusted here, now."""

    verdict: TrustVerdict
    graph_freshness: Literal["fresh", "stale", "empty", "unknown"]
    binding_fingerprint: str
    node_count: Count
    edge_count: Count
    changed_files_since_ingest: Count
    checked_at: str


class MissionSpec(Record, frozen=True, kw_only=True):
    """What was asked when a mission began. It never changes."""

    mission_id: str
    agent_id: str
    repo: str
    task: str
    mode: MissionMode
    route: Route
    risk: Risk
    budget: Budget
    criteria: tuple[Criterion, ...]
    created_at: str
    policy_version: str
    parent_mission_id: str | None = None
    handoff_id: str | None = None  # the hand-over it was begun from
    known_targets: tuple[str, ...] = ()
    federation_intent: bool = False
    scope: str | None = None
    non_goals: tuple[str, ...] = ()
    non_claims: tuple[str, ...] = ()
    trace_id: str = ""
    inherited: dict[str, Any] = field(default_factory=dict)  # what the hand-over brought, as `domain.handover.Inheritance`


class MissionEvent(Record, frozen=True, kw_only=True):
    """One thing that was done, as the runtime wrote it down. `hash` chains it to the one before."""

    event_id: str
    mission_id: str
    seq: Annotated[int, Meta(ge=1)]
    timestamp: str
    actor: str
    source: Literal["agent", "runtime", "import"]
    phase: Phase
    event_type: EventType
    tool_family: Family
    evidence_class: EvidenceClass
    outcome: Outcome
    tool: str | None = None
    target: str | None = None
    target_digest: str | None = None
    failure_class: Class | None = None
    duration_ms: Count = 0
    agent_confidence: Share | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    prev_hash: str = ""
    hash: str = ""
    schema: str = "hindbrain-mission-event-v1"


class MissionClaim(Record, frozen=True, kw_only=True):
    """A conclusion, and how far it is proven within its mission."""

    claim_id: str
    claim: str
    created_at: str
    targets: tuple[str, ...] = ()
    criteria_refs: tuple[str, ...] = ()
    evidence_refs: tuple[str, ...] = ()  # events, once it was judged
    evidence_grade: EvidenceGrade = "inferred"
    evidence_classes: tuple[EvidenceClass, ...] = ()
    verdict: Verdict = "candidate"
    missing: tuple[str, ...] = ()
    confidence: Share | None = None
    confidence_reported: Share | None = None
    verified_at: str | None = None
    inherited_from: str | None = None
    judged: Count = 0  # how often it was verified without anything new
    comparison: Comparison | None = None


class LoopWarning(Record, frozen=True, kw_only=True):
    rule: Literal["LW1", "LW2", "LW3", "LW4", "LW5", "LW6", "LW7", "LW8"]
    event_ids: tuple[str, ...]
    message: str
    action: Literal["warn", "do_not", "block"]


class DoNot(Record, frozen=True, kw_only=True):
    item: str
    kind: Literal["tool", "tool_family", "target"]
    reason: str
    source: Literal["route", "loop", "ggs", "memory", "handoff", "guard"]
    until: str
    since: Count = 0  # the event after which it was said


class BudgetLeft(Record, frozen=True, kw_only=True):
    tool_calls: Count
    files: Count
    ms: Count


class Policy(Record, frozen=True, kw_only=True):
    allowed_tools: tuple[str, ...]
    preferred_tool: str
    do_not: tuple[DoNot, ...]
    stop_condition: str
    fallback: str
    evidence_required: str
    budget_remaining: BudgetLeft
    rule: str = ""
    version: str = ""


class Move(Record, frozen=True, kw_only=True):
    type: MoveType
    tool: str
    target: str
    why: str
    evidence_required: str
    suggested_focus: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)  # what the tool can be called with, as it stands


class DissentProtocol(Record, frozen=True, kw_only=True):
    event: str = "dissent"
    required_fields: tuple[str, ...] = ("why", "chosen_tool", "evidence_required")


class NextMove(Record, frozen=True, kw_only=True):
    """The one next move, and what not to do meanwhile."""

    mission_id: str
    step_id: Count
    phase: Phase
    route: Route
    move: Move
    policy: Policy
    directive: str | None = None
    prev_directive: str | None = None
    loop_warnings: tuple[LoopWarning, ...] = ()
    soft_warning: str | None = None
    doctrine: tuple[str, ...] = ()  # rules of experience, each with the ids it rests on
    dissent_allowed: bool = True
    dissent_protocol: DissentProtocol = DissentProtocol()
    non_claims: tuple[str, ...] = ()
    schema: str = "hindbrain-mission-next-v1"


class VerifyResult(Record, frozen=True, kw_only=True):
    mission_id: str
    claim_id: str
    verdict: Verdict
    evidence_grade: EvidenceGrade
    evidence_classes: tuple[EvidenceClass, ...]
    missing: tuple[str, ...]
    confidence: Share | None
    next_required_move: dict[str, Any]
    comparison: Comparison | None = None
    non_claims: tuple[str, ...] = ()
    schema: str = "hindbrain-mission-verify-v1"


class ControlState(Record, frozen=True, kw_only=True):
    """How the controller sees a mission."""

    round: Count = 0
    loss: Loss | None = None
    grad_l: float = 0.0
    prev_directive: str = "init"
    directive: str | None = None
    blocked_tools: tuple[str, ...] = ()
    blocked_targets: tuple[str, ...] = ()
    rationale: str = ""


class MissionState(Record, frozen=True, kw_only=True):
    """A mission as its file shows it: follows from its spec and its events, and can be made from them again."""

    mission_id: str
    agent_id: str
    repo: str
    task: str
    mode: MissionMode
    route: Route
    risk: Risk
    phase: Phase
    status: MissionStatus
    budget: Budget
    budget_consumed: Share
    context_guard: ContextGuard | None
    trust: TrustEnvelope | None
    criteria: tuple[Criterion, ...]
    created_at: str
    updated_at: str
    next_step_id: Count
    event_count: Count
    event_digest: str
    parent_mission_id: str | None = None
    child_mission_ids: tuple[str, ...] = ()
    events: tuple[MissionEvent, ...] = ()
    claims: tuple[MissionClaim, ...] = ()
    handoffs: tuple[str, ...] = ()
    non_claims: tuple[str, ...] = ()
    non_goals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    policy_version: str = ""
    control: ControlState = ControlState()
    schema: str = "hindbrain-mission-state-v1"
