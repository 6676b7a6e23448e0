"""Task records: what is asked, how it is divided, what was done and how it was judged. They are closed and check themselves; the
names of their fields are those of the wire."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

__all__ = [
    "CheckKind",
    "CheckSpec",
    "Clarification",
    "Class",
    "Constraints",
    "CorrectionSignal",
    "Count",
    "Criterion",
    "CriterionMore",
    "DispatchManifest",
    "ExecutionMore",
    "ExecutionResult",
    "FailedCriterion",
    "FailureClass",
    "GapPoint",
    "Guards",
    "ManifestMore",
    "Mode",
    "MustNot",
    "OutcomeMore",
    "OutcomeSummary",
    "OverriddenRule",
    "Record",
    "ReplanMore",
    "ReplanRequest",
    "Share",
    "Step",
    "SubTask",
    "SubTaskMore",
    "SubTaskOutcome",
    "SummaryMore",
    "TaskSpec",
    "TaskSpecMore",
    "ToolCall",
    "Verdict",
    "VerdictMore",
]

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]
Class = Literal["logical", "environmental"]
FailureClass = Literal["logical", "environmental", "mixed"]
Mode = Literal["verifiable", "plausible"]
CheckKind = Literal[
    "path_exists",
    "path_nonempty",
    "path_equals",
    "exit_status",
    "contains",
    "regex",
    "number",
    "count_at_least",
    "json_path",
    "claim_verified",
]


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A closed record."""


class Constraints(Record, frozen=True, kw_only=True):
    scope: str | None = None
    deadline: str | None = None


class Clarification(Record, frozen=True, kw_only=True):
    q: str
    a: str


class TaskSpecMore(Record, frozen=True, kw_only=True):
    task_class: str = ""
    clarifications: tuple[Clarification, ...] = ()
    tags: tuple[str, ...] = ()
    declarative: bool = False
    mission_id: str | None = None
    language: str | None = None


class TaskSpec(Record, frozen=True, kw_only=True):
    """The reference signal: what was asked, in one sentence and as it was typed. It has no criteria."""

    task_id: str
    intent: str
    raw_input: str
    constraints: Constraints = Constraints()
    x: TaskSpecMore = TaskSpecMore()


class CheckSpec(Record, frozen=True, kw_only=True):
    kind: CheckKind
    args: dict[str, Any] = field(default_factory=dict)


class CriterionMore(Record, frozen=True, kw_only=True):
    check: CheckSpec | None = None


class Criterion(Record, frozen=True, kw_only=True):
    criterion: str
    mode: Mode = "verifiable"
    x: CriterionMore = CriterionMore()


class Step(Record, frozen=True, kw_only=True):
    tool: str
    input: dict[str, Any]


class MustNot(Record, frozen=True, kw_only=True):
    tools: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


class Guards(Record, frozen=True, kw_only=True):
    caution: bool = False
    confirm: tuple[str, ...] = ()


class SubTaskMore(Record, frozen=True, kw_only=True):
    tool_hints: tuple[str, ...] = ()
    steps: tuple[Step, ...] | None = None
    must_not: MustNot = MustNot()
    guards: Guards = Guards()


class SubTask(Record, frozen=True, kw_only=True):
    subtask_id: str
    parent_task_id: str
    intent: str
    success_criteria: tuple[Criterion, ...]
    context: str = ""
    deadline: str | None = None
    sequence: Annotated[int, Meta(ge=1)] = 1
    x: SubTaskMore = SubTaskMore()


class OverriddenRule(Record, frozen=True, kw_only=True):
    """A rule that newer experience outweighed in a plan: the plan was made without it."""

    id: str
    space: str
    entity: str
    sigma: float


class ManifestMore(Record, frozen=True, kw_only=True):
    round: Count = 0
    plan_fingerprint: str = ""
    memory_recall_id: str | None = None
    sops_used: tuple[str, ...] = ()
    overridden: tuple[OverriddenRule, ...] = ()


class DispatchManifest(Record, frozen=True, kw_only=True):
    task_id: str
    subtask_ids: tuple[str, ...]
    dispatched_at: str
    task_criteria: tuple[Criterion, ...]
    task_spec: TaskSpec | None = None
    x: ManifestMore = ManifestMore()


class ToolCall(Record, frozen=True, kw_only=True):
    """What a tool was asked and what came of it: the ground truth of every verdict."""

    call_id: str
    tool: str
    input: dict[str, Any]
    event_id: str
    rendered: str
    target: str | None = None
    output_snippet: str = ""
    error: str | None = None
    elapsed_ms: Count = 0
    evidence_class: str = "tool"


class ExecutionMore(Record, frozen=True, kw_only=True):
    attempt: Annotated[int, Meta(ge=1)] = 1
    # What each call gave, by its `call_id`, longer than its snippet. The gateway of the tools writes it, whoever runs the steps:
    # `output` may be a model's claim, this never is.
    outputs: dict[str, str] = field(default_factory=dict)


class ExecutionResult(Record, frozen=True, kw_only=True):
    subtask_id: str
    status: Literal["completed", "uncertain", "failed"]
    output: Any = None
    uncertainty: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    x: ExecutionMore = ExecutionMore()


class CorrectionSignal(Record, frozen=True, kw_only=True):
    subtask_id: str
    attempt_number: Annotated[int, Meta(ge=1)]
    failed_criterion: str
    failure_class: Class
    what_was_wrong: str
    what_to_do: str


class VerdictMore(Record, frozen=True, kw_only=True):
    event_ids: tuple[str, ...] = ()


class Verdict(Record, frozen=True, kw_only=True):
    """One criterion, judged alone. A failure has a class, a pass has none."""

    criterion: str
    verdict: Literal["pass", "fail"]
    mode: Mode = "verifiable"
    failure_class: Class | None = None
    evidence: str = ""
    x: VerdictMore = VerdictMore()

    def __post_init__(self) -> None:
        if self.verdict == "pass" and self.failure_class is not None:
            raise ValueError("a criterion that passed has no class of failure")


class FailedCriterion(Record, frozen=True, kw_only=True):
    criterion: str
    failure_class: Class | None = None


class GapPoint(Record, frozen=True, kw_only=True):
    """How far one attempt was from its criteria."""

    attempt: Annotated[int, Meta(ge=1)]
    score: Share
    unmet_criteria: tuple[str, ...] = ()
    failure_class: FailureClass | None = None
    failed_criteria: tuple[FailedCriterion, ...] = ()


class OutcomeMore(Record, frozen=True, kw_only=True):
    skipped: bool = False


class SubTaskOutcome(Record, frozen=True, kw_only=True):
    subtask_id: str
    parent_task_id: str
    intent: str
    success_criteria: tuple[Criterion, ...]
    status: Literal["matched", "failed"]
    output: Any = None
    failure_reason: str | None = None
    criteria_verdicts: tuple[Verdict, ...] = ()
    gap_trajectory: tuple[GapPoint, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    x: OutcomeMore = OutcomeMore()


class ReplanMore(Record, frozen=True, kw_only=True):
    round: Count = 0
    reason: Literal["gate_failed", "criteria_rejected", "validator_error"] = "gate_failed"
    task_criteria_verdicts: tuple[Verdict, ...] = ()
    # Of the manifest, for the controller, which hears no manifest.
    task_class: str = ""
    mission_id: str | None = None
    plan_fingerprint: str = ""
    overridden: tuple[OverriddenRule, ...] = ()
    # What else went wrong on the way, by class: calls that failed, going in circles. It tells of the process, not the distance.
    process: tuple[Class, ...] = ()


class ReplanRequest(Record, frozen=True, kw_only=True):
    task_id: str
    intent: str
    gap_summary: str
    failed_subtasks: tuple[str, ...]
    correction_count: Count
    elapsed_ms: Count
    outcomes: tuple[SubTaskOutcome, ...]
    recommendation: Literal["replan", "abandon"]
    x: ReplanMore = ReplanMore()


class SummaryMore(Record, frozen=True, kw_only=True):
    task_criteria_verdicts: tuple[Verdict, ...] = ()
    task_class: str = ""
    mission_id: str | None = None
    declarative: bool = False
    plan_fingerprint: str = ""
    overridden: tuple[OverriddenRule, ...] = ()


class OutcomeSummary(Record, frozen=True, kw_only=True):
    task_id: str
    intent: str
    summary: str
    merged_output: Any
    elapsed_ms: Count
    outcomes: tuple[SubTaskOutcome, ...]
    x: SummaryMore = SummaryMore()
