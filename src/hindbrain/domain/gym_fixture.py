"""Gym fixtures: a small repository with planted defects, the private key to them, and the lanes that look for them."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, field

from hindbrain.domain.mission import MissionEvent, MissionMode
from hindbrain.domain.task import Count, Record

__all__ = ["LANES", "AnswerKey", "Arm", "Finding", "FixtureInfo", "GymFamily", "LaneRun", "LaneSpec", "Seed"]


class GymFamily(StrEnum):
    """What kind of work a fixture asks for."""

    SEEDED_BUG_HUNT = "seeded_bug_hunt"
    REAL_AUDIT = "real_audit"
    CODE_REVIEW = "code_review"
    BOUNDED_REFACTOR = "bounded_refactor"
    DOCS_DRIFT = "docs_drift"
    HOST_RECOVERY = "host_recovery"
    MULTI_REPO_ORIENTATION = "multi_repo_orientation"
    HANDOFF_RESUME = "handoff_resume"
    RELEASE_READINESS = "release_readiness"
    LIGHT_BINDING = "light_binding"
    CLAIM_SUPPORT = "claim_support"


class Arm(StrEnum):
    """Under which instructions an agent works. Reports never mix them."""

    DIRECT = "direct"
    BASIC = "hindbrain-basic"
    TRAINED = "hindbrain-trained"
    SHORT_AUDIT = "hindbrain-short-audit"
    MISSION_CONTROL = "hindbrain-mission-control"


class Seed(Record, frozen=True, kw_only=True):
    """One planted defect. The lines are those of the planted repository; `also` names symbols at which it shows."""

    seed_id: str
    repository: str
    path: str
    first_line: Annotated[int, Meta(ge=1)]
    last_line: Annotated[int, Meta(ge=1)]
    kind: str
    statement: str
    symbol: str = ""
    also: tuple[str, ...] = ()
    reproduction: str | None = None


class AnswerKey(Record, frozen=True, kw_only=True):
    """What is right. It is read by whoever scores, never by a lane."""

    fixture: str
    family: GymFamily
    digest: str
    seeds: tuple[Seed, ...] = ()
    expects: dict[str, Any] = field(default_factory=dict)
    schema: str = "hindbrain-gym-answer-key-v1"


class FixtureInfo(Record, frozen=True, kw_only=True):
    """A fixture as an operator sees it. `seeded` is told to no lane."""

    name: str
    family: GymFamily
    title: str
    mode: MissionMode
    budget: str
    task: str
    repositories: tuple[str, ...]
    digest: str
    seeded: Count
    queries: tuple[str, ...] = ()
    request: dict[str, Any] = field(default_factory=dict)  # what else the task names openly: a range of commits, a bound


class Finding(Record, frozen=True, kw_only=True):
    """Something an agent says is wrong. `reproduction` is the text of a small test file that fails because of it."""

    finding_id: str
    path: str
    statement: str
    repository: str = ""
    line: int | None = None
    symbol: str | None = None
    kind: str = ""
    reproduction: str | None = None
    at_ms: Count = 0
    document: str = ""  # the document whose words it is held against
    claim: str = ""  # what its place says, in the words that stand there: that can be proven by reading


class LaneSpec(Record, frozen=True, kw_only=True):
    """A way of working, and the scripted agent that stands for it."""

    name: str
    arm: Arm
    agent: str
    says: str


LANES: dict[str, LaneSpec] = {
    one.name: one
    for one in (
        LaneSpec(name="direct", arm=Arm.DIRECT, agent="greedy-reader", says="reads and searches files, without Hindbrain"),
        LaneSpec(name="graph", arm=Arm.BASIC, agent="graph-happy", says="asks the graph again and again, then reads"),
        LaneSpec(name="trained", arm=Arm.TRAINED, agent="disciplined", says="one look at the graph, then files and contracts"),
        LaneSpec(name="short", arm=Arm.SHORT_AUDIT, agent="disciplined", says="follows a mission with the short budget"),
        LaneSpec(name="mission", arm=Arm.MISSION_CONTROL, agent="disciplined", says="follows what the mission says next"),
        LaneSpec(name="agent", arm=Arm.DIRECT, agent="command", says="any agent command in the lane's workspace"),
    )
}


class LaneRun(Record, frozen=True, kw_only=True):
    """What one lane did. A lane whose fixture was not the locked one, or was changed where it may not be, is not valid."""

    fixture: str
    lane: str
    arm: Arm
    agent: str
    digest_locked: str
    digest_before: str
    digest_after: str
    valid: bool
    completed: bool
    started_ms: Count
    ended_ms: Count
    invalid_reason: str = ""
    findings: tuple[Finding, ...] = ()
    events: tuple[MissionEvent, ...] = ()
    parent_events: tuple[MissionEvent, ...] = ()  # of the first half of a hand-over
    closed: bool = False
    mission_id: str | None = None
    steps: tuple[str, ...] = ()  # the parts of the work loop that were really called
    answer: dict[str, Any] = field(default_factory=dict)  # what a family asks for beside findings
    tests_passed: bool | None = None
    changed_paths: tuple[str, ...] = ()
    note: str = ""
    schema: str = "hindbrain-gym-lane-run-v1"
