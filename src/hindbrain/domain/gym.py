"""Rounds of the gym: which lanes run over which fixtures, what each lane is worth, and what a report may say. Closed records; a
number that could not be measured is None and never 0."""

from typing import Annotated, Literal

from msgspec import Meta, field

from hindbrain.domain.gym_fixture import Arm, FixtureInfo, GymFamily, LaneRun
from hindbrain.domain.mission import MissionEvent
from hindbrain.domain.task import Count, Record, Share

__all__ = [
    "Acceptance",
    "ArmScore",
    "Candidate",
    "Comparison",
    "Difference",
    "FindingStanding",
    "Gate",
    "Injected",
    "Judge",
    "JudgeRuling",
    "LaneLoop",
    "LaneResult",
    "LaneScore",
    "Median",
    "Report",
    "Round",
    "RoundLane",
    "Standing",
    "Tuning",
    "Wish",
]

Judge = Literal["human", "model", "reproduction"]
Standing = Literal["seeded", "duplicate", "extra_unadjudicated", "extra_confirmed", "extra_refuted"]


class Wish(Record, frozen=True, kw_only=True):
    """What somebody asks of a round."""

    fixtures: tuple[str, ...] = ()  # none: the bundled bug hunts
    lanes: tuple[str, ...] = ()
    repeats: Annotated[int, Meta(ge=1)] = 1
    budget: str | None = None
    change: str = ""
    agent_command: str | None = None
    arm: Arm | None = None  # under which instructions the agent command works; None: it is told nothing of Hindbrain
    out: str | None = None


class RoundLane(Record, frozen=True, kw_only=True):
    """One lane that a round asks for."""

    lane_id: str
    fixture: str
    lane: str
    arm: Arm
    number: Annotated[int, Meta(ge=1)] = 1


class Round(Record, frozen=True, kw_only=True):
    """What a round asks for. It is complete when every one of its lanes has a result."""

    round_id: str
    created_at: str
    version: str
    policy_version: str
    lanes: tuple[RoundLane, ...]
    fixtures: tuple[FixtureInfo, ...]
    budget: str | None = None  # None: that of each fixture
    change: str = ""  # what was changed for it, when it is a candidate
    agent_command: str | None = None
    state: Literal["open", "complete", "incomplete"] = "open"
    why: str = ""  # why it is incomplete
    schema: str = "hindbrain-gym-round-v1"


class Injected(Record, frozen=True, kw_only=True):
    """A wrong binding that the gym put in on purpose, and what was recorded from then on."""

    wrong: str
    events: tuple[MissionEvent, ...] = ()
    note: str = ""


class LaneResult(Record, frozen=True, kw_only=True):
    """What one lane of a round did. Its events stand beside it, one a line."""

    lane_id: str
    run: LaneRun
    injected: tuple[Injected, ...] = ()
    leaked: tuple[str, ...] = ()  # what of the key stood in its workspace or its prompt
    schema: str = "hindbrain-gym-lane-result-v1"


class JudgeRuling(Record, frozen=True, kw_only=True):
    """What a judge says of one finding that the key does not know."""

    lane_id: str
    finding_id: str
    verdict: Literal["confirmed", "refuted", "undecided"]
    judge: Judge
    why: str = ""
    at: str = ""


class FindingStanding(Record, frozen=True, kw_only=True):
    """A finding, and what it counts as."""

    finding_id: str
    standing: Standing
    path: str
    statement: str
    line: int | None = None
    seed_id: str | None = None
    why: str = ""


class LaneLoop(Record, frozen=True, kw_only=True):
    """A circle that a lane went in: the rule that found it, what about, and in words."""

    rule: str
    action: str
    item: str
    message: str


class LaneScore(Record, frozen=True, kw_only=True):
    """One lane in numbers. A rate has its parts beside it, so that arms can be pooled."""

    lane_id: str
    fixture: str
    family: GymFamily
    lane: str
    arm: Arm
    agent: str
    valid: bool
    completed: bool
    missing_capture: bool
    invalid_reason: str = ""
    note: str = ""
    duration_ms: Count = 0
    seeded: Count = 0
    matched: Count = 0
    seeded_recall: Share | None = None
    first_good_finding_ms: Count | None = None
    direct_evidence_count: Count = 0
    graph_call_count: Count = 0
    repeated_search_count: Count = 0
    loop_warnings: tuple[LaneLoop, ...] = ()
    verdicts: Count = 0
    verdicts_failed: Count = 0
    claim_rejection_rate: Share | None = None
    closes: Count = 0
    false_closes: Count = 0
    false_close_rate: Share | None = None
    false_close_reasons: tuple[str, ...] = ()
    injections: Count = 0
    injections_caught: Count = 0
    workspace_drift_catch_rate: Share | None = None
    child_actions: Count = 0
    child_repeats: Count = 0
    handoff_resumability: Share | None = None
    states: Count = 0
    states_right: Count = 0
    host_recovery_correctness: Share | None = None
    claims: Count = 0  # of a fixture with claims: how many there are
    claims_true: Count = 0
    claims_verified: Count = 0
    claims_verified_true: Count = 0
    verdict_precision: Share | None = None  # true ones among those that were verified
    verdict_recall: Share | None = None  # verified ones among those that are true
    family_score: Share | None = None
    family_says: tuple[str, ...] = ()
    tool_calls: Count = 0
    tool_calls_by_family: dict[str, int] = field(default_factory=dict)
    steps_required: tuple[str, ...] = ()
    steps_done: tuple[str, ...] = ()
    adherence: Share | None = None
    findings: tuple[FindingStanding, ...] = ()
    extra: Count = 0
    extra_unadjudicated: Count = 0
    precision: Share | None = None
    events: Count = 0


class Median(Record, frozen=True, kw_only=True):
    """The middle of what was measured, and how often nothing was."""

    median: float | None
    measured: Count
    missing: Count


class ArmScore(Record, frozen=True, kw_only=True):
    """All lanes of one arm that count. Rates are pooled, times are medians, counts are sums and means of a lane."""

    arm: Arm
    lanes: Count
    completed: Count
    invalid: Count
    missing_capture: Count
    fixtures: tuple[str, ...]
    seeded: Count
    matched: Count
    seeded_recall: Share | None
    first_good_finding_ms: Median
    duration_ms: Median
    direct_evidence_count: Count
    graph_call_count: Count
    repeated_search_count: Count
    tool_calls: Count
    per_lane: dict[str, float | None]
    claim_rejection_rate: Share | None
    false_close_rate: Share | None
    workspace_drift_catch_rate: Share | None
    handoff_resumability: Share | None
    host_recovery_correctness: Share | None
    adherence: Share | None
    claims: Count
    verdict_precision: Share | None
    verdict_recall: Share | None
    extra: Count
    extra_unadjudicated: Count
    precision: Share | None


class Acceptance(Record, frozen=True, kw_only=True):
    """Fixtures on which the mission arm finds at least what the trained arm finds, against how many there have to be."""

    met: bool
    needed: Count
    not_worse: tuple[str, ...]
    worse: tuple[str, ...]
    says: str


class Report(Record, frozen=True, kw_only=True):
    """A round in numbers, and what they do not say."""

    round_id: str
    created_at: str
    version: str
    policy_version: str
    complete: bool
    lanes: tuple[LaneScore, ...]
    arms: tuple[ArmScore, ...]
    by_fixture: dict[str, tuple[ArmScore, ...]]
    fixtures: tuple[FixtureInfo, ...]
    acceptance: Acceptance
    non_claims: tuple[str, ...]
    budget: str | None = None
    change: str = ""
    missing: tuple[str, ...] = ()  # lanes without a result
    warnings: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    schema: str = "hindbrain-gym-report-v1"


class Difference(Record, frozen=True, kw_only=True):
    """One number of A and of B. `better` is None where neither direction is good, or one of them was not measured."""

    metric: str
    a: float | None
    b: float | None
    change: float | None
    better: Literal["a", "b", "same"] | None = None


class Gate(Record, frozen=True, kw_only=True):
    """Whether a change of policy may be kept: recall not lower, median time at most a fifth worse, over the bundled fixtures."""

    passed: bool
    says: tuple[str, ...]
    recall_before: Share | None = None
    recall_after: Share | None = None
    time_before_ms: float | None = None
    time_after_ms: float | None = None
    fixtures: tuple[str, ...] = ()


class Comparison(Record, frozen=True, kw_only=True):
    """A against B, arm by arm, with what may and may not be said of it."""

    a: str
    b: str
    pairs: tuple[str, ...]
    lanes: dict[str, tuple[int, int]]
    differences: dict[str, tuple[Difference, ...]]
    gates: dict[str, Gate]
    may_claim: tuple[str, ...]
    may_not_claim: tuple[str, ...]
    schema: str = "hindbrain-gym-compare-v1"


class Candidate(Record, frozen=True, kw_only=True):
    """A recorded round with a change, held against the round without it."""

    round_id: str
    change: str
    gate: Gate
    differences: tuple[Difference, ...]
    place: Count = 0  # among those that pass, 1 is the best; 0 when it does not


class Tuning(Record, frozen=True, kw_only=True):
    """What the recorded candidates would change. It changes nothing itself."""

    baseline: str
    arm: Arm
    candidates: tuple[Candidate, ...]
    best: str | None
    says: tuple[str, ...]
    schema: str = "hindbrain-gym-tuning-v1"
