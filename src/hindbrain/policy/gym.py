"""The gym's tables: which numbers a report shows, which way each is better, the gates, and what a round never says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hindbrain.domain.gym_fixture import Arm
from hindbrain.policy.missions import NON_CLAIMS

__all__ = [
    "ACCEPTED_FIXTURES",
    "CLAIMS_SHOWN_LEAST",
    "MEDIAN_TIME_MOST",
    "METRICS",
    "NEEDED",
    "ROUND_NON_CLAIMS",
    "STEPS",
    "STEPS_OF",
    "Metric",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One number of a lane or an arm."""

    name: str
    title: str
    kind: Literal["share", "count", "ms"]
    better: Literal["more", "less"] | None  # None: it describes, and does not judge
    says: str


METRICS: tuple[Metric, ...] = (
    Metric(name="seeded_recall", title="Seeded recall", kind="share", better="more", says="planted defects that were found"),
    Metric(
        name="first_good_finding_ms",
        title="First good finding",
        kind="ms",
        better="less",
        says="from the agent's first event to the first finding that is right; median of those that have one",
    ),
    Metric(
        name="direct_evidence_count", title="Direct evidence", kind="count", better=None, says="events that read or ran something"
    ),
    Metric(name="graph_call_count", title="Graph calls", kind="count", better=None, says="events that asked the graph"),
    Metric(name="repeated_search_count", title="Repeated searches", kind="count", better="less", says="searches made before"),
    Metric(name="claim_rejection_rate", title="Claims not accepted", kind="share", better=None, says="of all verdicts"),
    Metric(name="false_close_rate", title="False closes", kind="share", better="less", says="of all closes"),
    Metric(
        name="workspace_drift_catch_rate",
        title="Wrong bindings caught",
        kind="share",
        better="more",
        says="before anything of the wrong workspace was used as evidence",
    ),
    Metric(
        name="handoff_resumability",
        title="Resumability",
        kind="share",
        better="more",
        says="finished after a hand-over, less the share of work that was done twice",
    ),
    Metric(
        name="host_recovery_correctness",
        title="Host recovery",
        kind="share",
        better="more",
        says="host states with the right diagnosis, the needed step and no forbidden claim",
    ),
)

STEPS = ("start", "event", "next", "verify", "close")  # of the work loop; `handoff` is added where one is due
STEPS_OF = frozenset({Arm.SHORT_AUDIT, Arm.MISSION_CONTROL})  # the arms that are told to keep to it

MEDIAN_TIME_MOST = 1.2  # a change of policy may cost a fifth of the time, for what it finds
CLAIMS_SHOWN_LEAST = 0.7  # of true claims, for a family in which no false one may be verified
ACCEPTED_FIXTURES = 3  # one fixture is an anecdote

# Operations that a lane cannot do without. The lanes `direct` and `agent` need none.
_MISSION = (
    "ingest",
    "mission.start",
    "mission.event",
    "mission.next",
    "mission.verify",
    "mission.handoff",
    "mission.resume",
    "mission.close",
    "mission.export",
    "mission.heard",
)
NEEDED: Mapping[str, tuple[str, ...]] = {
    "graph": ("ingest", "seek", "impact"),
    "trained": ("ingest", "seek"),
    "short": _MISSION,
    "mission": _MISSION,
}

ROUND_NON_CLAIMS: tuple[str, ...] = (
    "that one round supports a public claim: it says how these agents did on these fixtures on this machine",
    "that scripted agents stand for any model: they stand for a way of working",
    "that a time says anything beside the other times of the same machine",
    NON_CLAIMS["AOL-309"],
    NON_CLAIMS["AOL-313"],
)
