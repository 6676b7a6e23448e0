"""Notes: what the roles say to memory, to the auditor and to the person, as the bus carries it."""

from typing import Annotated, Literal

from msgspec import Meta

from hindbrain.domain.control import Loss
from hindbrain.domain.task import Count, Record, Share

__all__ = [
    "AuditQuery",
    "AuditReport",
    "Cancel",
    "ClarificationAnswer",
    "ClarificationRequest",
    "ConfirmationAnswer",
    "ConfirmationRequest",
    "ConvergenceHealth",
    "GapTrend",
    "MegramMore",
    "MegramNote",
    "MemoryQuery",
    "MemoryRecall",
    "MemoryResponse",
    "Period",
    "PotentialsNote",
    "RecallMore",
    "RuleNote",
    "ToolHealth",
    "TrendCounts",
]


class MegramMore(Record, frozen=True, kw_only=True):
    writer: Literal["R7", "dreamer", "operator"] = "R7"
    task_id: str | None = None
    mission_id: str | None = None
    round: int | None = None
    source_event_id: str | None = None
    loss: Loss | None = None
    category: Literal["fact", "procedure", "constraint"] | None = None
    tags: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    supersedes: str | None = None


class MegramNote(Record, frozen=True, kw_only=True):
    """A megram as the bus carries it; `domain.experience` has the value that is stored."""

    id: str
    level: Literal["M", "K", "C", "T"]
    created_at: str
    space: str
    entity: str
    content: str
    state: str
    f: Share
    sigma: Annotated[float, Meta(ge=-1, le=1)]
    k: Annotated[float, Meta(ge=0)]
    last_recalled_at: str | None = None
    x: MegramMore = MegramMore()


class RuleNote(Record, frozen=True, kw_only=True):
    """A consolidated rule, as data: who asks puts it into words."""

    id: str
    space: str
    entity: str
    content: str
    sigma: float


class PotentialsNote(Record, frozen=True, kw_only=True):
    attention: float
    decision: float
    action: Literal["Ignore", "Exploit", "Avoid", "Caution"]


class MemoryQuery(Record, frozen=True, kw_only=True):
    query_id: str
    kind: Literal["C", "MK", "recent", "tags", "recent_global"]
    space: str = ""
    entity: str = ""
    n: Count = 0
    tags: tuple[str, ...] = ()


class MemoryResponse(Record, frozen=True, kw_only=True):
    query_id: str
    sops: tuple[RuleNote, ...] = ()
    potentials: PotentialsNote | None = None
    megrams: tuple[MegramNote, ...] = ()
    error: str | None = None


class RecallMore(Record, frozen=True, kw_only=True):
    sop_ids: tuple[str, ...] = ()
    megram_ids: tuple[str, ...] = ()
    law_conflicts: tuple[str, ...] = ()  # rules that were kept back, because a law stands above them
    error: str | None = None


class MemoryRecall(Record, frozen=True, kw_only=True):
    task_id: str
    space: str
    entity: str
    sops: Count
    recent: Count
    attention: float
    decision: float
    action: str
    constraints: str
    x: RecallMore = RecallMore()


class AuditQuery(Record, frozen=True, kw_only=True):
    query_id: str
    since: str | None = None


class Period(Record, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    since: str
    until: str


class TrendCounts(Record, frozen=True, kw_only=True):
    improving: Count = 0
    stable: Count = 0
    worsening: Count = 0


class ConvergenceHealth(Record, frozen=True, kw_only=True):
    avg_correction_count: float
    gap_trend_distribution: TrendCounts


class GapTrend(Record, frozen=True, kw_only=True):
    task_id: str
    trend: Literal["improving", "stable", "worsening"]


class ToolHealth(Record, frozen=True, kw_only=True):
    execution_failures: Count = 0
    environmental_retries: Count = 0
    logical_retries: Count = 0


class AuditReport(Record, frozen=True, kw_only=True):
    report_id: str
    trigger: Literal["periodic", "on-demand"]
    period: Period
    window_start: str
    tasks_observed: Count
    total_corrections: Count
    convergence_health: ConvergenceHealth
    gap_trends: tuple[GapTrend, ...]
    boundary_violations: tuple[str, ...]
    drift_alerts: tuple[str, ...]
    anomalies: tuple[str, ...]
    tool_health: ToolHealth


class ClarificationRequest(Record, frozen=True, kw_only=True):
    task_id: str
    request_id: str
    questions: tuple[str, ...]


class ClarificationAnswer(Record, frozen=True, kw_only=True):
    task_id: str
    request_id: str
    answers: tuple[str, ...]


class ConfirmationRequest(Record, frozen=True, kw_only=True):
    """One action that cannot be taken back, before it is taken."""

    task_id: str
    request_id: str
    subtask_id: str
    tool: str
    action: str
    why: str


class ConfirmationAnswer(Record, frozen=True, kw_only=True):
    task_id: str
    request_id: str
    allowed: bool


class Cancel(Record, frozen=True, kw_only=True):
    task_id: str
    why: str = ""
