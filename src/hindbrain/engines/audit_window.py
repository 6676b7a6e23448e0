"""Audit windows: what is counted between two reports, and whether a role has left its usual rate. Knows no messages."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hindbrain.domain.audit import Anomaly, Decision
from hindbrain.domain.message import Role
from hindbrain.domain.notes import AuditReport, ConvergenceHealth, GapTrend, Period, ToolHealth, TrendCounts
from hindbrain.engines.moments import stamped
from hindbrain.policy.auditing import (
    DECISIONS_MOST,
    DRIFT_DEVIATIONS,
    DRIFT_FLOOR,
    DRIFT_WINDOWS,
    REPORT_MOST,
    RETRY_AVERAGE,
    RETRY_SUBTASKS,
)

__all__ = ["RATES", "Finding", "Rates", "Trend", "Window", "drifted", "trend_of"]

Trend = Literal["improving", "stable", "worsening"]
Rates = dict[str, float]  # role -> its rate in one window; a role that had nothing to do has none

# The rate by which each role is known.
RATES: Mapping[str, str] = {
    Role.AGENT_VALIDATOR.value: "rate of subtasks that match at the first attempt",
    Role.PLANNER.value: "rate of plans that are replanned",
    Role.EXECUTOR.value: "rate of attempts that fail",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it should be. `about` is the message it began with."""

    kind: Anomaly
    detail: str
    about: int | None = None
    task: str | None = None


def trend_of(grad_l: float, epsilon: float) -> Trend:
    """Which way the loss goes; a change below epsilon is none."""
    if abs(grad_l) < epsilon:
        return "stable"
    return "worsening" if grad_l > 0 else "improving"


@dataclass(slots=True)
class Listed:
    """Findings in words as far as a reader follows, and how many there were."""

    lines: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, line: str) -> None:
        self.count += 1
        if len(self.lines) < REPORT_MOST:
            self.lines.append(line)

    def told(self) -> tuple[str, ...]:
        rest = self.count - len(self.lines)
        return (*self.lines, f"and {rest} more") if rest else tuple(self.lines)


@dataclass(slots=True)
class Window:
    """The counters of one window. It opens with the first thing it counts; one that never opened is not reported."""

    start: int | None = None
    tasks: set[str] = field(default_factory=set)
    corrections: int = 0
    health: Counter[str] = field(default_factory=Counter)
    trends: Counter[str] = field(default_factory=Counter)
    task_trends: dict[str, Trend] = field(default_factory=dict)
    boundary: Listed = field(default_factory=Listed)
    drift: Listed = field(default_factory=Listed)
    anomalies: Listed = field(default_factory=Listed)
    kinds: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)  # subtask -> attempts
    plans: int = 0
    replans: int = 0
    outcomes: int = 0
    matched_first: int = 0
    decisions: list[Decision] = field(default_factory=list)
    ends: dict[str, str] = field(default_factory=dict)  # task -> how it ended

    def open(self, at: int) -> None:
        if self.start is None:
            self.start = at

    def note(self, finding: Finding) -> None:
        """Count a finding and keep its words."""
        line = finding.detail if finding.about is None else f"{finding.detail} (message {finding.about})"
        self.kinds[finding.kind.value] += 1
        self.anomalies.add(f"{finding.kind.value}: {line}")
        if finding.kind is Anomaly.BOUNDARY_VIOLATION:
            self.boundary.add(line)
        if finding.kind is Anomaly.DRIFT:
            self.drift.add(line)

    def decide(self, decision: Decision, trend: Trend, *, ends: bool) -> None:
        self.trends[trend] += 1
        self.task_trends[decision.task_id] = trend
        if len(self.decisions) < DECISIONS_MOST:
            self.decisions.append(decision)
        if ends:
            self.ends[decision.task_id] = decision.directive

    def decided(self) -> tuple[Decision, ...]:
        """The decisions of the window, each with how its task ended if that is known by now."""
        return tuple(_ended(one, self.ends.get(one.task_id)) for one in self.decisions)

    def retried(self) -> Finding | None:
        """Whether attempts per subtask went beyond what correcting is for."""
        subtasks, attempts = len(self.attempts), self.attempts.total()
        if subtasks < RETRY_SUBTASKS or round(attempts / subtasks, 9) <= RETRY_AVERAGE:
            return None
        return Finding(kind=Anomaly.EXCESSIVE_RETRIES, detail=f"{attempts} attempts for {subtasks} subtasks")

    def rates(self) -> Rates:
        """How each role did that had something to do."""
        pairs = {
            Role.AGENT_VALIDATOR: (self.matched_first, self.outcomes),
            Role.PLANNER: (self.replans, self.plans),
            Role.EXECUTOR: (self.health["execution_failures"], self.attempts.total()),
        }
        return {role.value: round(part / whole, 9) for role, (part, whole) in pairs.items() if whole}

    def report(self, *, report_id: str, trigger: Literal["periodic", "on-demand"], since: int, until: int) -> AuditReport:
        """The window in the form that is sent."""
        tasks = len(self.tasks)
        return AuditReport(
            report_id=report_id,
            trigger=trigger,
            period=Period(since=stamped(since), until=stamped(until)),
            window_start=stamped(since),
            tasks_observed=tasks,
            total_corrections=self.corrections,
            convergence_health=ConvergenceHealth(
                avg_correction_count=round(self.corrections / tasks, 9) if tasks else 0.0,
                gap_trend_distribution=TrendCounts(
                    improving=self.trends["improving"], stable=self.trends["stable"], worsening=self.trends["worsening"]
                ),
            ),
            gap_trends=tuple(GapTrend(task_id=task, trend=trend) for task, trend in self.task_trends.items()),
            boundary_violations=self.boundary.told(),
            drift_alerts=self.drift.told(),
            anomalies=self.anomalies.told(),
            tool_health=ToolHealth(
                execution_failures=self.health["execution_failures"],
                environmental_retries=self.health["environmental_retries"],
                logical_retries=self.health["logical_retries"],
            ),
        )


def _ended(decision: Decision, outcome: str | None) -> Decision:
    if outcome is None:
        return decision
    return Decision(
        task_id=decision.task_id,
        round=decision.round,
        D=decision.D,
        P=decision.P,
        Omega=decision.Omega,
        L=decision.L,
        grad_l=decision.grad_l,
        directive=decision.directive,
        outcome=outcome,
    )


def drifted(history: Mapping[str, Sequence[float]], now: Rates) -> Iterable[Finding]:
    """Roles whose rate is farther from that of the windows before than chance explains."""
    for role, about in RATES.items():
        before = history.get(role, ())[-DRIFT_WINDOWS:]
        if role not in now or len(before) < DRIFT_WINDOWS:
            continue
        mean = math.fsum(before) / len(before)
        spread = math.sqrt(math.fsum((one - mean) ** 2 for one in before) / len(before))
        if round(abs(now[role] - mean), 9) > round(DRIFT_DEVIATIONS * max(spread, DRIFT_FLOOR), 9):
            yield Finding(
                kind=Anomaly.DRIFT,
                detail=f"{role}: {about} is {now[role]:.3f}, in {len(before)} windows before {mean:.3f} ± {spread:.3f}",
            )
