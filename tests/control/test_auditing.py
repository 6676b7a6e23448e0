"""What is out of the ordinary: each kind of anomaly from both sides of its boundary, on messages as the tap gives them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import msgspec
import pytest

from hindbrain.domain.audit import Anomaly
from hindbrain.domain.message import TYPES, MessageType, Role
from hindbrain.domain.task import Record
from hindbrain.engines.audit_facts import Seen, facts_of
from hindbrain.engines.audit_window import Finding, Rates, drifted
from hindbrain.engines.auditing import Watch
from hindbrain.engines.slug import class_print
from hindbrain.policy.control import DEFAULTS, PATHS, Params
from tests.support.stream import (
    START,
    call,
    correction,
    directive,
    final,
    manifest,
    outcome,
    replan,
    result,
    spec,
    subtask,
)

BUDGET = 300_000


class Watching:
    """The state machine, fed with records."""

    def __init__(self, numbers: Callable[[str, str], Params] = lambda _, __: DEFAULTS) -> None:
        self.watch = Watch(numbers)
        self.seq = 0

    def sees(self, *records: Record, at: int = START, sender: Role | None = None, to: Role | None = None) -> list[str]:
        """The kinds that these messages show."""
        found: list[str] = []
        for record in records:
            self.seq += 1
            kind = TYPES[type(record)]
            task: Any = getattr(record, "task_id", None) or getattr(record, "parent_task_id", None)
            seen = Seen(
                id=f"m{self.seq}",
                seq=self.seq,
                at=at,
                sender=(sender or PATHS[kind][0]).value,
                recipient=(to or PATHS[kind][1]).value,
                type=kind.value,
                task_id=task,
                payload=msgspec.to_builtins(record),
            )
            shown = self.watch.see(seen, facts_of(seen))
            for finding in shown:
                self.watch.note(finding, at)
            found += [finding.kind.value for finding in shown]
        return found

    def late(self, at: int) -> list[str]:
        return [finding.kind.value for finding in self.watch.late(at)]

    def report(self) -> Any:
        return self.watch.window.report(report_id="r", trigger="on-demand", since=START, until=START + 1)


def test_ctl_271_the_kinds_are_these_and_no_other() -> None:
    assert [kind.value for kind in Anomaly] == [
        "none",
        "boundary_violation",
        "convergence_failure",
        "drift",
        "ggs_thrashing",
        "duplicate_id",
        "fanin_incomplete",
        "excessive_retries",
        "schema_violation",
        "memory_write_dropped",
        "claim_contradiction",
        "missing_final_result",
        "cost_only_gradient",
        "suspicious_improvement",
    ]


@pytest.mark.parametrize("kind", list(MessageType))
def test_ctl_272_a_message_on_any_other_path_is_a_boundary_violation(kind: MessageType) -> None:
    for sender in Role:
        for to in Role:
            watch = Watch(lambda _, __: DEFAULTS)
            seen = Seen(id="m", seq=1, at=START, sender=sender.value, recipient=to.value, type=kind.value, payload={})
            shown = {finding.kind for finding in watch.see(seen, facts_of(seen))}

            assert (Anomaly.BOUNDARY_VIOLATION in shown) == ((sender, to) != PATHS[kind])


def test_ctl_007_no_path_leads_from_one_effector_to_another() -> None:
    effectors = {Role.EXECUTOR, Role.AGENT_VALIDATOR}
    between = {kind for kind, path in PATHS.items() if set(path) <= effectors}

    assert between == {MessageType.EXECUTION_RESULT, MessageType.CORRECTION_SIGNAL}  # each names its one subtask
    assert all(path[0] is not path[1] for path in PATHS.values())
    assert Watching().sees(result("s1"), sender=Role.EXECUTOR, to=Role.EXECUTOR) == ["boundary_violation"]
    assert Watching().sees(correction("s1"), sender=Role.AGENT_VALIDATOR, to=Role.AGENT_VALIDATOR) == ["boundary_violation"]


def test_ctl_267_the_auditor_has_one_path_which_leads_to_the_person_and_one_that_comes_from_there() -> None:
    assert [kind for kind, (sender, _) in PATHS.items() if sender is Role.AUDITOR] == [MessageType.AUDIT_REPORT]
    assert PATHS[MessageType.AUDIT_REPORT][1] is Role.USER
    assert [kind for kind, (_, to) in PATHS.items() if to is Role.AUDITOR] == [MessageType.AUDIT_QUERY]
    assert PATHS[MessageType.AUDIT_QUERY][0] is Role.USER


@pytest.mark.parametrize(
    ("grad", "kinds"),
    [
        (0.2, ["convergence_failure"]),
        (0.1, ["convergence_failure"]),
        (0.1 - 1e-12, ["convergence_failure"]),
        (0.0999, []),
        (-0.2, []),
    ],
)
def test_ctl_273_a_directive_whose_loss_grows_by_epsilon_is_a_convergence_failure(grad: float, kinds: list[str]) -> None:
    assert Watching().sees(directive("t1", grad=grad, parts=(grad, 0.0))) == kinds


def test_ctl_273_epsilon_is_that_of_the_class_and_never_what_the_message_says() -> None:
    watching = Watching(lambda name, _: replace(DEFAULTS, epsilon=0.3) if name == class_print("slow") else DEFAULTS)
    said = directive("t1", grad=0.2, parts=(0.2, 0.0))
    forged = msgspec.structs.replace(said, x=msgspec.structs.replace(said.x, params={"epsilon": 0.9}))

    assert watching.sees(spec("t1"), forged) == ["convergence_failure"]
    assert watching.sees(spec("t2", task_class="slow"), directive("t2", grad=0.2, parts=(0.2, 0.0))) == []


def test_ctl_274_five_corrections_in_a_round_are_drift_and_four_are_none() -> None:
    assert Watching().sees(replan("t1", corrections=5)) == ["drift"]
    assert Watching().sees(replan("t1", corrections=4)) == []


@pytest.mark.parametrize(
    ("rounds", "kinds"),
    [
        ([("break_symmetry", 1.0), ("break_symmetry", 1.0)], [[], ["ggs_thrashing"]]),
        ([("break_symmetry", 1.0), ("break_symmetry", 0.8)], [[], []]),
        ([("break_symmetry", 0.8), ("break_symmetry", 1.0)], [[], ["ggs_thrashing"]]),
        ([("break_symmetry", 1.0), ("refine", 1.0), ("break_symmetry", 1.0)], [[], [], []]),
        ([("break_symmetry", 1.0), ("break_symmetry", 0.8), ("break_symmetry", 0.8)], [[], [], ["ggs_thrashing"]]),
        ([("break_symmetry", 1.0)] * 3, [[], ["ggs_thrashing"], ["ggs_thrashing"]]),
    ],
)
def test_ctl_275_breaks_in_a_row_that_come_no_nearer_are_thrashing(
    rounds: list[tuple[str, float]], kinds: list[list[str]]
) -> None:
    watching = Watching()

    assert [watching.sees(directive("t1", name, d=d, p=1.0)) for name, d in rounds] == kinds


def test_ctl_275_breaks_are_counted_for_each_task() -> None:
    watching = Watching()

    assert watching.sees(directive("t1", "break_symmetry", d=1.0, p=1.0), directive("t2", "break_symmetry", d=1.0, p=1.0)) == []


def test_ctl_276_a_subtask_that_is_dispatched_twice_has_a_duplicate_id() -> None:
    watching = Watching()

    assert watching.sees(manifest("t1", "s1"), subtask("t1", "s1")) == []
    assert watching.sees(subtask("t1", "s1")) == ["duplicate_id"]
    assert watching.sees(manifest("t2", "s1"), subtask("t2", "s1")) == ["duplicate_id"]


def test_ctl_129_a_second_outcome_is_named_and_fills_no_fan_in() -> None:
    watching = Watching()
    watching.sees(manifest("t1", "s1", "s2"), outcome("t1", "s1"))

    assert watching.sees(outcome("t1", "s1")) == ["duplicate_id"]
    assert watching.late(START + BUDGET + 60_000) == ["fanin_incomplete"]


def test_ctl_129_an_outcome_for_a_task_or_a_subtask_that_nobody_planned_is_an_orphan() -> None:
    watching = Watching()
    watching.sees(manifest("t1", "s1"))

    assert watching.sees(outcome("t9", "s1"), outcome("t1", "s9")) == ["boundary_violation"] * 2
    assert all("orphan_outcome" in line for line in watching.report().boundary_violations)


def test_ctl_277_a_fan_in_is_late_when_the_budget_and_a_minute_are_over_and_not_a_millisecond_before() -> None:
    watching = Watching()
    watching.sees(manifest("t1", "s1", "s2", "s3"), outcome("t1", "s1"))

    assert watching.late(START + BUDGET + 59_999) == []
    assert watching.late(START + BUDGET + 60_000) == ["fanin_incomplete"]
    assert watching.late(START + BUDGET + 60_001) == []


def test_ctl_277_a_complete_fan_in_is_never_late() -> None:
    watching = Watching()
    watching.sees(manifest("t1", "s1", "s2"), outcome("t1", "s1"), outcome("t1", "s2", "failed", skipped=True))

    assert watching.late(START + BUDGET + 60_000) == []


def test_ctl_277_a_second_plan_has_a_time_of_its_own() -> None:
    watching = Watching()
    watching.sees(manifest("t1", "s1"), outcome("t1", "s1", "failed"))
    watching.sees(manifest("t1", "s2"), at=START + 100_000)

    assert watching.late(START + BUDGET + 60_000) == []
    assert watching.late(START + BUDGET + 160_000) == ["fanin_incomplete"]


def test_ctl_277_ctl_280_budgets_are_those_of_the_class() -> None:
    watching = Watching(lambda name, _: replace(DEFAULTS, time_budget_ms=1_000) if name == class_print("quick") else DEFAULTS)
    watching.sees(spec("t1", task_class="quick"), manifest("t1", "s1"))

    assert watching.late(START + 1_999) == []
    assert watching.late(START + 2_000) == ["missing_final_result"]
    assert watching.late(START + 60_999) == []
    assert watching.late(START + 61_000) == ["fanin_incomplete"]


def test_ctl_280_a_task_without_an_end_after_two_budgets_is_named_once() -> None:
    watching = Watching()
    watching.sees(spec("t1"), spec("t2"), final("t2"))

    assert watching.late(START + 2 * BUDGET - 1) == []
    assert watching.late(START + 2 * BUDGET) == ["missing_final_result"]
    assert watching.late(START + 9 * BUDGET) == []


def test_ctl_280_a_forged_end_ends_nothing() -> None:
    watching = Watching()
    watching.sees(spec("t1"))

    assert watching.sees(final("t1"), sender=Role.EXECUTOR) == ["boundary_violation"]
    assert watching.late(START + 2 * BUDGET) == ["missing_final_result"]


def _retried(subtasks: int, attempts: int) -> Watching:
    watching = Watching()
    for one in range(subtasks):
        watching.sees(*(result(f"s{one}", attempt=turn + 1) for turn in range(attempts)))
    return watching


def test_ctl_278_more_than_two_attempts_for_each_of_five_subtasks_are_too_many() -> None:
    assert [finding.kind.value for finding in _retried(5, 3).watch.closing()] == ["excessive_retries"]
    assert _retried(4, 3).watch.closing() == ()
    exactly_two = _retried(5, 2)
    assert exactly_two.watch.closing() == ()
    exactly_two.sees(result("s0", attempt=3))
    assert [finding.kind.value for finding in exactly_two.watch.closing()] == ["excessive_retries"]


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        (result("s1", "completed", call("write", "disk full")), ["claim_contradiction"]),
        (result("s1", "completed", call("write", "disk full"), call("read")), ["claim_contradiction"]),
        (result("s1", "completed", call("write", "disk full"), call("write")), []),
        (result("s1", "completed", call("read", "no such file")), []),
        (result("s1", "completed", call("invented", "no")), ["claim_contradiction"]),
        (result("s1", "failed", call("write", "disk full")), []),
        (result("s1", "uncertain", call("write", "disk full")), []),
        (result("s1", "completed"), []),
    ],
)
def test_ctl_279_who_claims_to_be_done_while_the_last_change_failed_contradicts_it(said: Record, kinds: list[str]) -> None:
    assert Watching().sees(said) == kinds


def test_ctl_281_a_loss_that_grows_by_time_alone_is_named_so() -> None:
    """D 0.5 and P 0 at 60 s and at 120 s: 0.412, then 0.524."""
    grown = directive("t1", d=0.5, p=0.0, omega=0.56, grad=0.112, parts=(0.0, 0.0))

    assert Watching().sees(grown) == ["convergence_failure", "cost_only_gradient"]
    assert Watching().sees(directive("t1", grad=0.112, parts=(0.001, 0.0))) == ["convergence_failure"]
    assert Watching().sees(directive("t1", grad=0.112, parts=(0.0, 0.001))) == ["convergence_failure"]
    assert Watching().sees(directive("t1", grad=0.112, parts=(-0.1, -0.1))) == ["convergence_failure", "cost_only_gradient"]
    assert Watching().sees(directive("t1", grad=0.05)) == []
    assert Watching().sees(final("t1", "abandon", grad=0.112)) == ["cost_only_gradient"]


def test_ctl_282_a_loss_that_falls_while_the_approach_is_wrong_is_suspicious() -> None:
    """D 1 and P 1 after 30 s, D 0.6 and P 1 after 60 s: 0.924, then 0.708."""
    watching = Watching()
    first = directive("t1", "break_symmetry", d=1.0, p=1.0, omega=0.24)
    second = directive("t1", "change_approach", d=0.6, p=1.0, omega=0.48, grad=-0.216, parts=(-0.24, -0.072))

    assert watching.sees(first, second) == ["suspicious_improvement"]


@pytest.mark.parametrize(
    ("d", "p", "omega", "grad", "fires"),
    [
        (0.31, 0.51, 0.79, -0.1, True),
        (0.30, 0.51, 0.79, -0.1, False),
        (0.31, 0.50, 0.79, -0.1, False),
        (0.31, 0.51, 0.80, -0.1, False),
        (0.31, 0.51, 0.79, -0.0999, False),
    ],
)
def test_ctl_282_only_the_sixth_cell_is_suspicious(d: float, p: float, omega: float, grad: float, fires: bool) -> None:
    shown = Watching().sees(directive("t1", "change_approach", d=d, p=p, omega=omega, grad=grad))

    assert shown == (["suspicious_improvement"] if fires else [])


def test_ctl_283_ctl_287_a_window_counts_tasks_corrections_trends_and_findings() -> None:
    watching = Watching()
    for task in ("t1", "t2", "t3"):
        watching.sees(manifest(task, f"{task}-s"), *(correction(f"{task}-s") for _ in range(2)))
    watching.sees(
        manifest("t1", "t1-again"),
        directive("t1", grad=0.0),
        directive("t1", grad=-0.2, parts=(-0.2, 0.0)),
        directive("t2", grad=0.2, parts=(0.2, 0.0)),
        replan("t3", corrections=7),
    )
    watching.sees(result("s1"), sender=Role.EXECUTOR, to=Role.MEMORY)
    report = watching.report()

    assert (report.tasks_observed, report.total_corrections) == (3, 6)
    assert report.convergence_health.avg_correction_count == 2.0
    trends = report.convergence_health.gap_trend_distribution
    assert (trends.improving, trends.stable, trends.worsening) == (1, 1, 1)
    assert {one.task_id: one.trend for one in report.gap_trends} == {"t1": "improving", "t2": "worsening"}
    assert report.boundary_violations == (f"ExecutionResult from R3 to R5 (message {watching.seq})",)
    assert [line.split(" corrections")[0] for line in report.drift_alerts] == ["7"]
    kinds = [line.split(":")[0] for line in report.anomalies]
    assert kinds == ["convergence_failure", "drift", "boundary_violation"]


def test_ctl_287_without_tasks_the_average_is_zero() -> None:
    watching = Watching()
    watching.sees(correction("s1"))

    assert watching.report().convergence_health.avg_correction_count == 0.0


def test_ctl_284_tool_health_counts_failed_attempts_and_corrections_by_class() -> None:
    watching = Watching()
    watching.sees(result("s1", "failed"), result("s2", "failed"), result("s3"), result("s4", "uncertain"))
    watching.sees(correction("s1"), correction("s2", "environmental"), correction("s3", "environmental"))
    health = watching.report().tool_health

    assert (health.execution_failures, health.environmental_retries, health.logical_retries) == (2, 2, 1)


def _windows(rates: list[float], role: str = "R3") -> dict[str, list[float]]:
    return {role: rates}


STEADY = [0.1, 0.3] * 10  # mean 0.2, deviation 0.1


@pytest.mark.parametrize(
    ("history", "now", "fires"),
    [
        (STEADY, 0.51, True),
        (STEADY, 0.5, False),
        (STEADY, 0.0, False),
        (STEADY[1:], 0.9, False),
        ([1.0] * 20, 1.0, False),
        ([1.0] * 20, 0.5, True),
    ],
)
def test_ctl_288_a_rate_beyond_three_deviations_of_twenty_windows_names_its_role(
    history: list[float], now: float, fires: bool
) -> None:
    for role in ("R4a", "R2", "R3"):
        found: list[Finding] = list(drifted(_windows(history, role), {role: now}))

        assert [(one.kind.value, one.detail.split(":")[0]) for one in found] == ([("drift", role)] if fires else [])


def test_ctl_288_the_rates_are_those_of_first_matches_replans_and_failures() -> None:
    watching = Watching()
    watching.sees(manifest("t1", "s1", "s2"), manifest("t2", "s3", "s4"), result("s1"), result("s2", "failed"))
    watching.sees(result("s2", attempt=2), result("s3"), outcome("t1", "s1"), outcome("t1", "s2", attempts=2))
    watching.sees(outcome("t2", "s3", "failed"), outcome("t2", "s4", "failed", skipped=True), replan("t2"))
    rates: Rates = watching.watch.window.rates()

    assert rates == {"R4a": round(1 / 3, 9), "R2": 0.5, "R3": 0.25}


def test_ctl_290_every_decision_is_kept_with_its_numbers_and_how_its_task_ended() -> None:
    watching = Watching()
    watching.sees(directive("t1", "change_path"), directive("t2", "refine", grad=-0.204), final("t1", "success", d=0.25))
    kept = watching.watch.window.decided()

    assert [(one.task_id, one.directive, one.outcome) for one in kept] == [
        ("t1", "change_path", "success"),
        ("t2", "refine", None),
        ("t1", "success", "success"),
    ]
    assert (kept[1].D, kept[1].P, kept[1].Omega, kept[1].L, kept[1].grad_l) == (0.5, 0.0, 0.24, 0.396, -0.204)


def test_ctl_297_a_report_has_both_shapes() -> None:
    told = msgspec.to_builtins(Watching().report())

    assert set(told) == {
        "report_id",
        "trigger",
        "period",
        "window_start",
        "tasks_observed",
        "total_corrections",
        "convergence_health",
        "gap_trends",
        "boundary_violations",
        "drift_alerts",
        "anomalies",
        "tool_health",
    }
    assert set(told["period"]) == {"from", "to"}
    assert set(told["convergence_health"]) == {"avg_correction_count", "gap_trend_distribution"}
    assert get_args(type(Watching().report()).__annotations__["trigger"]) == ("periodic", "on-demand")


def test_ctl_271_what_a_schema_refused_is_told_by_its_place_and_never_by_its_words() -> None:
    seen = Seen(
        id="m",
        seq=1,
        at=START,
        sender="R7",
        recipient="User",
        type="FinalResult",
        payload={"refused": "Invalid enum value 'the secret plan' - at `$.directive`"},
    )
    (finding,) = Watch(lambda _, __: DEFAULTS).see(seen, facts_of(seen))

    assert finding.kind is Anomaly.SCHEMA_VIOLATION
    assert finding.detail == "FinalResult from R7 to User does not fit its schema at $.directive"


def test_ctl_267_a_flood_of_findings_is_counted_and_not_spelled_out() -> None:
    watching = Watching()
    watching.sees(*(result(f"s{one}") for one in range(1_000)), to=Role.MEMORY)
    report = watching.report()

    assert len(report.anomalies) == 201
    assert report.anomalies[-1] == "and 800 more"
