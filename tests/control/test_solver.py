"""R7: what it says to whom after each report. Reports go in as the bus delivers them; what it says is read off its voice."""

import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.domain.control import FinalResult, GracefulFailureNote, PlanDirective, PlanFailure, TaskCost
from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import PAYLOADS, MessageType, Role
from hindbrain.domain.notes import Cancel
from hindbrain.domain.task import Record, ReplanRequest, SubTaskOutcome
from hindbrain.policy.control import DEFAULTS, PATHS, Params
from hindbrain.services.control.solver import Solver
from tests.support.examples import VALID
from tests.support.roles import RecordingVoice, heard
from tests.support.rounds import a_call, a_fail, a_pass, a_request, a_round, a_summary, an_outcome, trajectory

ENDINGS = (MessageType.PLAN_FAILURE, MessageType.CANCEL)  # what ends a task besides the reports of the gate
FINAL, DIRECTIVE, GRACEFUL = MessageType.FINAL_RESULT, MessageType.PLAN_DIRECTIVE, MessageType.GRACEFUL_FAILURE_REQUEST


class Numbers:
    """The numbers of each class, as given."""

    def __init__(self, **classes: Params) -> None:
        self.classes = classes

    def of(self, task_class: str) -> Params:
        return self.classes.get(task_class, DEFAULTS)


class Desk:
    """A solver, and what it said."""

    def __init__(self, numbers: Numbers | None = None, **more: Any) -> None:
        self.voice = RecordingVoice(Role.SOLVER)
        self.solver = Solver(self.voice, numbers or Numbers(), **more)
        self._seq = 0

    def hear(self, *records: Record) -> Any:
        """Deliver these; the last directive or result."""
        for record in records:
            self._seq += 1
            self.solver.hear(heard(record, seq=self._seq))
        return next((one.record for one in reversed(self.voice.log) if one.type in (FINAL, DIRECTIVE)), None)

    def directives(self) -> list[PlanDirective]:
        return self.voice.said(DIRECTIVE)

    def final(self) -> FinalResult:
        (only,) = self.voice.said(FINAL)
        assert isinstance(only, FinalResult)
        return only


# -- what it hears and says ------------------------------------------------------------------------------------------


def test_ctl_017_a_role_without_a_voice_cannot_be() -> None:
    with pytest.raises(BoundaryViolation, match="voice"):
        Solver(None, Numbers())  # type: ignore[arg-type]


def test_ctl_240_ctl_250_the_gate_reports_to_the_solver_alone_and_what_is_not_a_report_is_left_alone() -> None:
    assert {kind for kind, (_, to) in PATHS.items() if to is Role.SOLVER} == {
        MessageType.REPLAN_REQUEST,
        MessageType.OUTCOME_SUMMARY,
        MessageType.PLAN_FAILURE,
        MessageType.GRACEFUL_FAILURE_NOTE,
        MessageType.CANCEL,
    }
    assert {PATHS[kind] for kind in (MessageType.REPLAN_REQUEST, MessageType.OUTCOME_SUMMARY)} == {
        (Role.META_VALIDATOR, Role.SOLVER)
    }
    desk = Desk()
    for kind in set(MessageType) - {MessageType.REPLAN_REQUEST, MessageType.OUTCOME_SUMMARY, *ENDINGS}:
        desk.hear(msgspec.convert(VALID[kind], PAYLOADS[kind]))
        assert desk.voice.log == [], kind
    assert isinstance(desk.hear(a_round(0.5, 0)), PlanDirective)
    assert isinstance(desk.hear(a_summary(task="t2")), FinalResult)


def test_ctl_011_ctl_226_the_first_try_is_measured_too() -> None:
    result = Desk().hear(a_summary(ms=12_000))

    assert (result.directive, result.prev_directive, result.replans, result.grad_l) == ("accept", "init", 0, 0.0)
    assert msgspec.to_builtins(result.loss) == {"D": 0.0, "P": 0.0, "Omega": 0.016, "L": 0.0064}
    assert (result.summary, result.output, result.x.evidence_event_ids) == ("built", "a thing", ("e1",))


def test_ctl_165_ctl_245_replans_are_the_requests_in_the_budget_and_the_directives_in_the_result() -> None:
    desk = Desk()
    assert desk.hear(a_round(0.5, 0)).loss.Omega == 0.2
    result = desk.hear(a_summary())

    assert (result.loss.Omega, result.replans, result.prev_directive) == (0.2, 1, "change_path")
    assert Desk().hear(a_summary()).loss.Omega == 0.0


def test_ctl_012_many_failures_become_one_direction_and_attempts_count() -> None:
    def three(*attempts: tuple[str, ...]) -> ReplanRequest:
        return a_request(
            an_outcome(a_fail("a", mode="plausible"), gap_trajectory=trajectory(*attempts), tool_calls=(a_call("search", "q1"),)),
            an_outcome(a_fail("b"), name="s2"),
            an_outcome(a_fail("c"), name="s3"),
        )

    desk, other = Desk(), Desk()
    said = desk.hear(three(("a",), ("a",)))

    assert len(desk.directives()) == 1
    assert (said.directive, said.blocked_targets, said.failed_criterion) == ("change_path", ("q1",), "a")
    assert pytest.approx(2.5 / 3, abs=1e-9) == other.hear(three(("a",), ())).loss.D
    assert said.loss.D == 1.0


@pytest.mark.parametrize(
    ("rounds", "moves"),
    [
        ([(1, 1, 30_000)], ["break_symmetry"]),
        ([(1, 1, 30_000), (0.6, 1, 60_000)], ["break_symmetry", "change_approach"]),
        ([(0.5, 0, 0)], ["change_path"]),
        ([(1, 0, 30_000), (0.5, 0, 60_000)], ["change_path", "refine"]),
        ([(0.5, 0, 60_000), (0.5, 0, 120_000)], ["change_path", "refine"]),
    ],
)
def test_ctl_176_ctl_177_ctl_178_ctl_179_rounds_lead_to_their_moves(
    rounds: list[tuple[float, float, int]], moves: list[str]
) -> None:
    desk = Desk()
    for distance, process, ms in rounds:
        desk.hear(a_round(distance, process, ms))

    assert [one.directive for one in desk.directives()] == moves


def test_ctl_177_the_worked_example_to_nine_decimals() -> None:
    desk = Desk()
    first, second = desk.hear(a_round(1, 1, 30_000)), desk.hear(a_round(0.6, 1, 60_000))

    assert (first.loss.L, first.grad_l) == (0.924, 0.0)
    assert (second.loss.L, second.grad_l) == (0.708, -0.216)
    parts = second.x.grad_parts
    assert (parts.D, parts.P, parts.Omega) == (-0.24, -0.072, 0.096)


def test_ctl_168_ctl_170_the_loss_before_belongs_to_the_task_and_ends_with_it() -> None:
    desk = Desk()
    desk.hear(a_round(1, 0, 30_000, calls=[a_call("search", "q1")]))
    again = desk.hear(a_round(0.5, 0, 60_000))
    assert (again.loss.L, again.grad_l) == (0.492, -0.204)
    desk.hear(Cancel(task_id="t1"))

    fresh = desk.hear(a_round(0.5, 0, 60_000, task="t2"))

    assert (fresh.prev_directive, fresh.grad_l, fresh.loss.Omega, fresh.blocked_targets) == ("init", 0.0, 0.28, ())


def test_ctl_158_a_rejected_result_is_not_delivered_as_success() -> None:
    good = an_outcome(a_pass("a"), output="x")
    rejected = a_request(good, reason="criteria_rejected", task_criteria_verdicts=(a_fail("whole", "logical"),))
    mostly = (a_fail("whole", "logical"), a_pass("b"), a_pass("c"), a_pass("d"))

    assert Desk().hear(rejected).directive == "break_symmetry"
    result = Desk().hear(a_request(good, reason="criteria_rejected", task_criteria_verdicts=mostly))
    assert (result.directive, result.loss.D, result.x.unmet_criteria, result.output) == ("success", 0.25, ("whole",), "x")


def test_ctl_144_a_gate_that_could_not_judge_delivers_nothing_as_success() -> None:
    said = Desk().hear(a_request(an_outcome(a_pass("a")), reason="validator_error", gap_summary="the model timed out: timeout"))

    assert (said.directive, said.loss.D, said.loss.P) == ("change_path", 1.0, 0.0)


# -- what a directive says -------------------------------------------------------------------------------------------


def two_tools(*more: Any) -> tuple[Any, ...]:
    return (a_call("shell", "make"), a_call("search", "q1"), a_call("shell", "make"), *more)


def test_ctl_211_breaking_symmetry_takes_every_tool_of_what_failed() -> None:
    matched = an_outcome(a_pass("z"), name="s2", tool_calls=(a_call("glob", "*"),))
    failed = an_outcome(a_fail("a", "logical"), tool_calls=two_tools())
    said = Desk().hear(a_request(failed, matched))

    assert (said.directive, said.blocked_tools, said.blocked_targets) == ("break_symmetry", ("shell", "search"), ())


def test_ctl_212_changing_the_approach_takes_tools_and_leaves_targets() -> None:
    desk = Desk()
    desk.hear(a_round(1, 1, 30_000, calls=two_tools()))
    said = desk.hear(a_round(0.6, 1, 60_000, calls=two_tools()))

    assert (said.directive, said.blocked_tools, said.blocked_targets) == ("change_approach", ("shell", "search"), ())


def test_ctl_213_ctl_214_ctl_217_targets_add_up_over_all_rounds_in_the_order_of_their_failure() -> None:
    desk = Desk()
    first = desk.hear(a_round(1, 0, calls=[a_call("search", "a")]))
    second = desk.hear(a_round(0.5, 0, calls=[a_call("search", "b"), a_call("read", None)]))
    third = desk.hear(a_round(0.5, 0, 1000, calls=[a_call("search", "a")]))

    assert [one.directive for one in (first, second, third)] == ["change_path", "refine", "change_path"]
    assert [one.blocked_targets for one in (first, second, third)] == [("a",), ("a", "b"), ("a", "b")]
    assert [one.blocked_tools for one in (first, second, third)] == [(), (), ()]


def test_ctl_215_ctl_216_tools_and_targets_are_never_blocked_together_and_tools_are_those_of_the_round() -> None:
    desk = Desk()
    first = desk.hear(a_round(0.5, 0, calls=[a_call("search", "q1")]))
    second = desk.hear(a_round(0.45, 1, calls=[a_call("shell", "make")]))
    third = desk.hear(a_round(0.7, 0, calls=[a_call("search", "q2")]))

    assert [one.directive for one in (first, second, third)] == ["change_path", "change_approach", "change_path"]
    assert (first.blocked_tools, first.blocked_targets) == ((), ("q1",))
    assert second.blocked_targets == ()
    assert (third.blocked_tools, third.blocked_targets) == ((), ("q1", "make", "q2"))


def test_ctl_215_a_break_withholds_the_targets_and_a_later_path_has_them_again() -> None:
    desk = Desk()
    first = desk.hear(a_round(1, 0, calls=[a_call("search", "q1")]))
    second = desk.hear(a_round(0.65, 1, calls=[a_call("shell", "make")]))
    third = desk.hear(a_round(0.8, 0, calls=[a_call("search", "q2")]))

    assert [one.directive for one in (first, second, third)] == ["change_path", "break_symmetry", "change_path"]
    assert [one.blocked_targets for one in (first, second, third)] == [("q1",), (), ("q1", "make", "q2")]
    assert [one.blocked_tools for one in (first, second, third)] == [(), ("shell",), ()]


@pytest.mark.parametrize(
    ("target", "blocked"),
    [
        (" a  b ", "a b"),
        ("/site/here/src/./a.py", "src/a.py"),
        ("src//x/../a.py", "src/a.py"),
        ("https://x.org/a//b", "https://x.org/a//b"),
    ],
)
def test_ctl_218_a_target_has_one_form(target: str, blocked: str) -> None:
    desk = Desk(workspace=lambda task_id: "/site/here")

    assert desk.hear(a_round(0.5, 0, calls=[a_call("read", target)])).blocked_targets == (blocked,)


def test_ctl_219_ctl_220_a_target_is_one_value_and_is_free_again_in_another_task() -> None:
    desk = Desk()
    desk.hear(a_round(0.5, 0, calls=[a_call("search", "q1")]))
    assert desk.hear(a_round(0.25, 0)).directive == "success"

    said = desk.hear(a_round(0.5, 0, task="t2", calls=[a_call("search", "q2")]))

    assert (said.blocked_tools, said.blocked_targets) == ((), ("q2",))


def test_ctl_221_the_criterion_that_weighs_most_is_named_and_the_first_of_equals() -> None:
    light = an_outcome(a_fail("p", mode="plausible"), gap_trajectory=trajectory(("p",), ()))
    heavy = an_outcome(a_fail("late"), a_fail("first"), name="s2", gap_trajectory=trajectory(("first", "late")))
    other = an_outcome(a_fail("other"), name="s3")
    skipped = an_outcome(a_fail("after", None), name="s4", skipped=True)

    assert Desk().hear(a_request(light, heavy, other)).failed_criterion == "first"
    assert Desk().hear(a_request(other, heavy)).failed_criterion == "other"
    assert Desk().hear(a_request(skipped, other)).failed_criterion == "other"


def test_ctl_222_ctl_223_class_and_pressure_are_those_of_the_loss() -> None:
    said = Desk().hear(a_round(0.5, 0.6, 30_000))

    assert (said.failure_class, said.budget_pressure) == ("logical", said.loss.Omega) == ("logical", 0.24)


@pytest.mark.parametrize(("process", "first"), [(0, 1.0), (1, 1.0), (0, 0.5), (1, 0.5)])
def test_ctl_224_the_reason_has_the_numbers_in_it(process: float, first: float) -> None:
    desk = Desk()
    desk.hear(a_round(first, process, 0))
    said = desk.hear(a_round(0.5, process, 0, gap_summary="no such file"))

    for number in (f"{said.grad_l:+g}", f"P {said.loss.P:g}", "epsilon 0.1", "rho 0.5", f"D {said.loss.D:g}", "no such file"):
        assert number in said.rationale, number
    assert said.directive in said.rationale


def test_ctl_225_each_message_names_the_move_before() -> None:
    desk = Desk()
    said = [desk.hear(a_round(d, 0, ms)) for d, ms in ((1, 30_000), (0.5, 60_000), (0.25, 60_000))]

    assert [f"{one.prev_directive}→{one.directive}" for one in said] == [
        "init→change_path",
        "change_path→refine",
        "refine→success",
    ]


@pytest.mark.parametrize("word", ["refine", "change_path", "change_approach", "break_symmetry", "accept", "success", "abandon"])
def test_ctl_227_ctl_228_ctl_243_moves_belong_to_their_message_and_results_are_complete(word: str) -> None:
    directive = msgspec.to_builtins(Desk().hear(a_round(0.5, 0)))
    result = msgspec.to_builtins(Desk().hear(a_summary()))
    mine, other = (
        (PlanDirective, FinalResult)
        if word in ("refine", "change_path", "change_approach", "break_symmetry")
        else (FinalResult, PlanDirective)
    )
    bodies = {PlanDirective: directive, FinalResult: result}

    assert msgspec.convert(bodies[mine] | {"directive": word}, mine).directive == word
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bodies[other] | {"directive": word}, other)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(directive | {"gradient": "plateau"}, PlanDirective)
    for field in ("loss", "grad_l", "replans", "prev_directive", "directive"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({key: value for key, value in result.items() if key != field}, FinalResult)


# -- urgency ---------------------------------------------------------------------------------------------------------


def test_ctl_230_a_worsening_approach_loses_the_tools_of_earlier_rounds_too() -> None:
    desk = Desk()
    desk.hear(a_round(0.5, 1, calls=[a_call("a", "x")]))
    said = desk.hear(a_round(0.8, 1, calls=[a_call("b", "y")]))

    assert (said.directive, said.x.urgency, said.blocked_tools) == ("change_approach", "high", ("a", "b"))


def test_ctl_231_an_improving_approach_keeps_what_only_its_surroundings_failed() -> None:
    desk = Desk()
    desk.hear(a_round(1, 1, calls=[a_call("a", "x")]))
    said = desk.hear(
        a_request(
            an_outcome(
                a_fail("l", "logical"),
                a_fail("l2", "logical"),
                *(a_pass(f"p{n}") for n in range(5)),
                tool_calls=(a_call("b", "y"),),
            ),
            an_outcome(a_fail("e", "environmental"), name="s2", tool_calls=(a_call("c", "z"),)),
        )
    )

    assert (said.directive, said.x.urgency, said.blocked_tools) == ("change_approach", "low", ("b",))


def test_ctl_232_refining_what_got_worse_avoids_what_lies_around_it() -> None:
    desk = Desk()
    desk.hear(
        a_round(
            0.5, 0, calls=[a_call("read", "a/b/c.txt"), a_call("web", "https://x.org/p"), a_call("search", 'find "some words"')]
        )
    )
    said = desk.hear(a_round(0.8, 0, calls=[a_call("read", "top.txt")]))

    assert (said.directive, said.x.urgency) == ("refine", "high")
    assert said.x.focus_avoid == ("a/b", "x.org", "some words")
    assert said.x.focus_targets == ()


def test_ctl_233_refining_what_got_better_looks_at_the_latest_failure() -> None:
    desk = Desk()
    desk.hear(a_round(1, 0, calls=[a_call("search", "a")]))
    said = desk.hear(a_round(0.5, 0, calls=[a_call("search", "b")]))

    assert (said.directive, said.x.urgency) == ("refine", "low")
    assert (said.blocked_targets, said.x.focus_targets, said.x.focus_avoid) == (("a", "b"), ("b",), ())


# -- law 2 -----------------------------------------------------------------------------------------------------------


def test_ctl_234_ctl_236_ctl_293_two_worsening_rounds_end_a_task_and_one_does_not() -> None:
    desk = Desk()
    said = [desk.hear(a_round(d, 0)) for d in (0.4, 0.6, 0.8)]

    assert [one.loss.L for one in said] == [0.32, 0.52, 0.72]
    assert [one.grad_l for one in said] == [0.0, 0.2, 0.2]
    assert [one.directive for one in said] == ["change_path", "refine", "abandon"]
    assert (said[2].loss.Omega, said[2].x.abandon_reason) == (0.6, "law2")


def test_ctl_235_a_round_that_is_not_worse_begins_the_count_anew() -> None:
    patient = Numbers(slow=Params(theta=1.0, max_replans=30))
    desk = Desk(patient)
    moves = [desk.hear(a_round(d, 0, task_class="slow")) for d in (0.35, 0.55, 0.55, 0.75, 0.95)]

    assert [one.directive for one in moves] == ["change_path", "refine", "change_path", "refine", "abandon"]
    short = Desk()
    third = [short.hear(a_round(d, 0)) for d in (0.4, 0.6, 0.6)][2]
    assert (third.grad_l, third.directive) == (0.08, "change_path")


def test_ctl_237_a_result_that_is_good_enough_is_delivered_though_it_got_worse_twice() -> None:
    desk = Desk(Numbers(keen=Params(delta=0.3, epsilon=0.01)))
    desk.hear(a_round(0.35, 0, 0, task_class="keen"))
    desk.hear(a_round(0.35, 0, 0, task_class="keen"))  # 0.08 of budget: worse by this epsilon
    result = desk.hear(a_round(0.3, 0, 0, task_class="keen"))

    assert (result.grad_l, result.directive, result.x.abandon_reason) == (0.05, "success", None)


def test_ctl_238_exactly_epsilon_is_worse() -> None:
    def third(second_ms: int) -> str:
        desk = Desk()
        for ms in (0, 37_500, second_ms):
            last = desk.hear(a_round(0.5, 0, ms))
        return str(last.directive)

    assert third(75_000) == "abandon"
    assert third(74_999) == "change_path"


def test_ctl_239_ctl_241_each_way_to_give_up_is_named() -> None:
    def reason(*records: Record) -> str | None:
        desk = Desk()
        desk.hear(*records)
        assert desk.final().directive == "abandon"
        return desk.final().x.abandon_reason

    assert reason(a_round(1, 0, 450_000)) == "budget"
    assert reason(*(a_round(d, 0) for d in (0.4, 0.6, 0.8))) == "law2"
    assert reason(a_round(1, 0, recommendation="abandon")) == "recommendation"
    assert reason(PlanFailure(task_id="t1", round=0, reason="no plan")) == "plan_failure"
    assert reason(Cancel(task_id="t1", why="enough")) == "cancelled"


def test_ctl_141_the_whole_loss_is_there_when_the_gate_says_to_stop() -> None:
    result = Desk().hear(a_round(0.5, 1, 30_000, recommendation="abandon"))

    assert msgspec.to_builtins(result.loss) == {"D": 0.5, "P": 1.0, "Omega": 0.24, "L": 0.624}
    assert Desk().hear(a_round(0.25, 1, recommendation="abandon")).directive == "success"


def test_ctl_241_a_task_that_was_never_measured_is_as_far_as_can_be_and_one_that_was_keeps_its_loss() -> None:
    never = Desk().hear(PlanFailure(task_id="t1", round=0, reason="no plan", validator_findings=("sequence below 1",)))
    desk = Desk()
    measured = desk.hear(a_round(0.5, 0, 30_000))
    later = desk.hear(PlanFailure(task_id="t1", round=1, reason="no plan"))

    assert (never.loss.D, never.directive, never.prev_directive, never.replans) == (1.0, "abandon", "init", 0)
    assert "sequence below 1" in never.summary
    assert (later.loss, later.prev_directive, later.replans) == (measured.loss, "change_path", 1)
    assert len(later.x.unmet_criteria) == 10


# -- endings ---------------------------------------------------------------------------------------------------------


def test_ctl_208_giving_up_tells_the_person_and_directs_nobody() -> None:
    desk = Desk()
    desk.hear(a_round(1, 0, 450_000, calls=two_tools()))

    assert {one.type for one in desk.voice.log} == {GRACEFUL, MessageType.MEGRAM, FINAL}
    assert desk.directives() == []


def test_ctl_209_ctl_244_good_enough_is_success_and_not_accept() -> None:
    desk = Desk()
    result = desk.hear(a_round(0.25, 1))

    assert (result.directive, result.loss.D) == ("success", 0.25)
    assert desk.directives() == []
    assert Desk().hear(a_summary()).loss.D == 0.0
    assert Desk().hear(a_round(0.85, 0, 450_000)).loss.D == 0.85


@pytest.mark.parametrize(("outputs", "output"), [([], None), (["x"], "x"), (["x", {"y": 1}], ["x", {"y": 1}])])
def test_ctl_210_ctl_291_a_result_that_is_good_enough_hides_nothing(outputs: list[Any], output: Any) -> None:
    done = [an_outcome(a_pass(f"p{n}"), name=f"d{n}", output=value) for n, value in enumerate(outputs)]
    plain = [a_pass(f"q{n}") for n in range(9)]
    result = Desk().hear(a_request(*done, an_outcome(a_fail("missing"), a_fail("also"), *plain, name="f")))

    assert (result.directive, result.output) == ("success", output)
    assert result.x.unmet_criteria == ("missing", "also")
    assert "missing" in result.summary


def test_ctl_103_ctl_246_ctl_247_ctl_327_giving_up_leaves_what_was_reached_and_what_to_do() -> None:
    done = an_outcome(a_pass("a"), name="one", output={"n": 3})
    failed = an_outcome(a_fail("b", "environmental"), name="two", failure_reason="[LAW1] rm needs your word")
    result = Desk().hear(a_request(done, failed, ms=450_000, gap_summary="two is missing"))

    assert result.output["partial"] == [{"n": 3}]
    assert result.output["unmet_criteria"] == ["b"] == list(result.x.unmet_criteria)
    assert 2 <= len(result.output["next_moves"]) <= 3
    for text in ("do one", "do two", "two is missing", "[LAW1] rm needs your word", result.output["next_moves"][0]):
        assert text in result.summary


def test_ctl_247_ctl_327_what_matched_in_any_round_is_handed_over_once_and_as_it_matched_last() -> None:
    def part(name: str, *, output: Any = None) -> SubTaskOutcome:
        verdict = a_fail(f"criterion of {name}") if output is None else a_pass(f"criterion of {name}")
        return an_outcome(verdict, name=f"{name} {output}", output=output)

    result = Desk().hear(
        a_request(part("count", output=2), part("list", output=["x"]), part("read")),
        a_request(part("count", output=3), part("list"), part("read")),
        a_request(part("count"), part("list"), part("read"), ms=450_000, gap_summary="read is missing"),
    )

    assert result.directive == "abandon"
    assert result.output["partial"] == [3, ["x"]]
    assert result.output["unmet_criteria"] == ["criterion of read"] == list(result.x.unmet_criteria)
    assert "Done: do count 3; do list ['x']" in result.summary
    assert "Not done: do read None" in result.summary


def test_ctl_247_two_parts_with_the_same_criteria_stay_two() -> None:
    same = [an_outcome(a_pass("exit status is 0"), name=name, output=name) for name in ("one", "two")]
    failed = [an_outcome(a_fail("exit status is 0"), name=name) for name in ("one", "two")]
    bad = an_outcome(a_fail("other"), name="three")

    result = Desk().hear(a_request(*same, bad), a_request(*failed, bad, ms=450_000))

    assert result.output["partial"] == ["one", "two"]


@pytest.mark.parametrize("last", [PlanFailure(task_id="t1", round=2, reason="no way is left"), Cancel(task_id="t1")])
def test_ctl_247_ctl_327_partial_results_survive_a_plan_that_fails_and_a_cancellation(last: Record) -> None:
    done, again = an_outcome(a_pass("a"), name="one", output=3), an_outcome(a_fail("a"), name="one")
    failed = an_outcome(a_fail("b"), name="two")

    result = Desk().hear(a_request(done, failed), a_request(again, failed), last)

    assert result.output["partial"] == [3]
    assert result.output["unmet_criteria"] == ["b"]


@pytest.mark.parametrize(
    "records", [[PlanFailure(task_id="t1", round=0, reason="none")], [Cancel(task_id="t1")], [a_round(1, 1, 450_000)]]
)
def test_ctl_247_there_is_always_something_to_do_next(records: list[Record]) -> None:
    result = Desk().hear(*records)

    assert 2 <= len(result.output["next_moves"]) <= 3
    assert result.output["partial"] == []


def test_ctl_081_the_planner_has_ten_seconds_for_its_last_words() -> None:
    desk = Desk()
    desk.voice.answering(
        MessageType.GRACEFUL_FAILURE_NOTE,
        lambda asked: GracefulFailureNote(
            task_id=asked.task_id, partial=("made up",), next_moves=("one", " ", "two", "three", "four")
        ),
    )
    result = desk.hear(a_round(1, 0, 450_000))

    assert result.output["next_moves"] == ["one", "two", "three"]
    assert result.output["partial"] == []  # what was reached is what matched, whoever says otherwise
    assert desk.voice.timeouts == [10.0]
    assert desk.voice.said(GRACEFUL)[0].deadline_ms == 10_000


@pytest.mark.parametrize("note", [None, GracefulFailureNote(task_id="t1", partial=(), next_moves=("only one",))])
def test_ctl_081_a_planner_that_says_too_little_is_stood_in_for(note: GracefulFailureNote | None) -> None:
    desk = Desk()
    desk.voice.answering(MessageType.GRACEFUL_FAILURE_NOTE, note)

    assert 2 <= len(desk.hear(a_round(1, 0, 450_000)).output["next_moves"]) <= 3


def test_ctl_331_who_is_accountable_is_a_rule() -> None:
    def who(*records: Record) -> str | None:
        result = Desk().hear(*records)
        assert result.directive == "abandon"
        return str(result.x.accountable)

    def failed(failure_class: str, why: str, **more: Any) -> ReplanRequest:
        return a_request(an_outcome(a_fail("a", failure_class), failure_reason=why), ms=450_000, **more)

    assert who(PlanFailure(task_id="t1", round=0, reason="no plan")) == "R2"
    assert who(failed("environmental", "no network")) == "R7"
    assert who(failed("logical", "executor loop")) == "R3"
    assert who(failed("logical", "scoring error: no answer")) == "R4a"
    assert who(a_request(an_outcome(a_pass("a")), ms=450_000, reason="validator_error")) == "R4b"
    assert who(a_round(1, 1, plan_fingerprint="sha256:a"), failed("logical", "wrong", plan_fingerprint="sha256:a")) == "R2"
    assert who(a_round(1, 1, plan_fingerprint="sha256:a"), failed("logical", "wrong", plan_fingerprint="sha256:b")) == "R7"
    assert who(Cancel(task_id="t1")) == "User"
    assert Desk().hear(a_round(0.25, 0)).x.accountable is None


def test_ctl_242_nobody_else_may_end_a_task() -> None:
    assert PATHS[FINAL] == (Role.SOLVER, Role.USER)
    result = Desk().hear(a_summary())
    for role in set(Role) - {Role.SOLVER}:
        with pytest.raises(Exception, match=r"may not say FinalResult"):
            RecordingVoice(role).say(Role.USER, result, task_id="t1")


def test_ctl_249_it_speaks_of_plans_and_makes_none() -> None:
    assert {kind for kind, (sender, _) in PATHS.items() if sender is Role.SOLVER} == {
        DIRECTIVE,
        GRACEFUL,
        MessageType.MEGRAM,
        FINAL,
    }


def test_ctl_248_every_round_leaves_all_its_numbers() -> None:
    desk = Desk()
    for distance in (1.0, 0.5):
        desk.hear(a_round(distance, 0, 30_000))
    desk.hear(a_summary(ms=40_000))

    assert [one.x.round for one in desk.directives()] == [1, 2]
    assert desk.final().x.round == 2
    for record in (*desk.directives(), desk.final()):
        body = msgspec.to_builtins(record)
        assert {"D", "P", "Omega", "L"} == set(body["loss"])
        assert body["x"]["params"]["ggs.theta"] == 0.8
        assert body["grad_l"] == pytest.approx(sum(body["x"]["grad_parts"].values()))
    assert all(one.rationale for one in desk.directives())


def test_ctl_014_what_a_task_cost_comes_with_its_result() -> None:
    desk = Desk(cost=lambda task_id: TaskCost(total_tokens=len(task_id)))

    assert desk.hear(a_summary(task="t1234")).x.cost.total_tokens == 5


# -- many tasks ------------------------------------------------------------------------------------------------------

REPORTS = st.lists(
    st.one_of(
        st.builds(
            lambda d, p, ms, reason, stop: a_round(
                d / 20, p / 20, ms, reason=reason, recommendation="abandon" if stop else "replan", calls=[a_call("t", str(d))]
            ),
            st.integers(0, 20),
            st.integers(0, 20),
            st.integers(0, 500_000),
            st.sampled_from(["gate_failed", "criteria_rejected", "validator_error"]),
            st.integers(0, 5).map(lambda n: n == 0),
        ),
        st.builds(lambda ms: a_summary(ms=ms), st.integers(0, 500_000)),
        st.just(PlanFailure(task_id="t1", round=1, reason="no")),
        st.just(Cancel(task_id="t1")),
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(reports=REPORTS)
def test_ctl_010_however_it_goes_a_task_ends_once(reports: list[Record]) -> None:
    desk = Desk()
    desk.hear(*reports)
    desk.hear(a_summary(), Cancel(task_id="t1"), a_round(0.5, 0))

    assert len(desk.voice.said(FINAL)) == 1
    assert desk.final().directive in ("accept", "success", "abandon")
    assert (desk.final().directive == "abandon") is (desk.final().x.abandon_reason is not None)
    for said in desk.directives():
        assert not (said.blocked_tools and said.blocked_targets)
        assert said.directive not in ("accept", "success", "abandon")
    assert desk.final().replans == len(desk.directives())


@settings(max_examples=20, deadline=None)
@given(tasks=st.lists(REPORTS, min_size=2, max_size=5), order=st.randoms(use_true_random=False))
def test_ctl_251_tasks_that_are_mixed_end_like_tasks_in_a_row(tasks: list[list[Record]], order: Any) -> None:
    named = [[msgspec.structs.replace(one, task_id=f"t{n}") for one in reports] for n, reports in enumerate(tasks)]
    one_by_one, mixed = Desk(), Desk()
    for reports in named:
        one_by_one.hear(*reports)
    queues = [list(reports) for reports in named]
    while any(queues):
        mixed.hear(order.choice([queue for queue in queues if queue]).pop(0))

    def decisions(desk: Desk, task: str) -> list[bytes]:
        return [
            msgspec.json.encode(one.record) for one in desk.voice.log if one.task_id == task and one.type in (FINAL, DIRECTIVE)
        ]

    for n in range(len(tasks)):
        assert decisions(mixed, f"t{n}") == decisions(one_by_one, f"t{n}")


def test_ctl_251_fifty_tasks_from_many_threads_keep_apart() -> None:
    desk, alone = Desk(), Desk()
    rounds = ((1.0, 0), (0.5, 10_000), (0.25, 20_000))

    def run(where: Desk, n: int) -> None:
        for seq, (distance, ms) in enumerate(rounds):
            where.solver.hear(heard(a_round(distance, 0, ms, task=f"t{n}", calls=[a_call("x", f"q{n}-{seq}")]), seq=seq + 1))

    threads = [threading.Thread(target=run, args=(desk, n)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(50):
        run(alone, n)

    def told(where: Desk) -> dict[str, list[Any]]:
        kept: dict[str, list[Any]] = {}
        for one in where.voice.log:
            kept.setdefault(str(one.task_id), []).append(one.record)
        return kept

    assert told(desk) == told(alone)


def test_ctl_251_a_task_that_waits_for_its_last_words_holds_up_no_other() -> None:
    waiting: list[Callable[[], None]] = []
    desk = Desk(apart=waiting.append)
    desk.hear(a_round(1, 0, 450_000, task="slow"), Cancel(task_id="slow"), a_summary(task="quick"))

    assert [one.task_id for one in desk.voice.said(FINAL)] == ["quick"]
    assert len(waiting) == 1
    waiting[0]()
    assert [(one.task_id, one.x.abandon_reason) for one in desk.voice.said(FINAL)] == [("quick", None), ("slow", "budget")]


def test_ctl_032_what_was_recorded_leads_to_the_same_decisions_again() -> None:
    desk = Desk()
    reports = [
        a_round(d, p, ms, calls=[a_call("shell", f"try {d}")])
        for d, p, ms in ((1, 1, 30_000), (0.6, 1, 60_000), (0.5, 0, 90_000))
    ]
    stored = [heard(one, seq=seq) for seq, one in enumerate([*reports, a_summary(ms=100_000)], start=1)]
    for one in stored:
        desk.solver.hear(one)
    again = Desk()
    again.voice.at += 86_400_000  # another day

    for one in stored:
        again.solver.hear(type(one)(message=one.message, record=msgspec.convert(one.message.payload, type(one.record))))

    assert [one.record for one in again.voice.log] == [one.record for one in desk.voice.log]
    assert len(desk.directives()) == 3
