"""The gradient by itself: distance, process, budget, loss, their change, and the move that follows. Numbers are the catalog's."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.domain.control import Loss
from hindbrain.engines.gradient import (
    Macro,
    Urgency,
    budget_used,
    failure_class,
    gradient,
    judged,
    loss_of,
    macro_state,
    measured,
    rounded,
    urgency,
    worsening,
)
from hindbrain.policy.control import DEFAULTS, Params
from tests.support.rounds import a_fail, a_pass, an_outcome, trajectory

SHARE = st.integers(0, 10_000).map(lambda n: n / 10_000)
CHANGE = st.integers(-10_000, 10_000).map(lambda n: n / 10_000)


def a_loss(distance: float, process: float, omega: float) -> Loss:
    return loss_of(distance, process, omega, DEFAULTS)


# -- loss ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distance", "process", "omega", "total"),
    [(1, 1, 0.24, 0.924), (0.5, 0, 0.24, 0.396), (1, 0, 0, 0.6), (0, 0, 1, 0.4), (1, 1, 0, 0.9)],
)
def test_ctl_149_the_loss_is_the_weighted_sum(distance: float, process: float, omega: float, total: float) -> None:
    assert total == a_loss(distance, process, omega).L


def test_ctl_150_how_it_went_counts_nothing_once_the_budget_is_used() -> None:
    assert a_loss(0.5, 0, 1).L == a_loss(0.5, 1, 1).L == 0.7
    assert pytest.approx(0.15) == a_loss(0.5, 1, 0.5).L - a_loss(0.5, 0, 0.5).L


# -- distance --------------------------------------------------------------------------------------------------------


def test_ctl_151_distance_is_taken_over_the_criteria_of_all_subtasks() -> None:
    first = an_outcome(a_fail("a"), a_pass("b"), a_pass("c"))
    second = an_outcome(a_fail("d"), a_pass("e"), name="s2")

    assert measured([first, second]).D == 0.4


def test_ctl_152_what_can_be_checked_weighs_one() -> None:
    outcome = an_outcome(a_fail("a"), a_pass("b"), a_pass("c"), a_pass("d"), gap_trajectory=trajectory((), (), ("a",)))

    assert measured([outcome]).D == 0.25


@pytest.mark.parametrize(
    ("attempts", "distance", "move"), [((("p",), ()), 0.30, "success"), ((("p",), ("p",)), 0.40, "change_path")]
)
def test_ctl_153_ctl_326_what_is_only_plausible_weighs_the_share_of_attempts_it_failed_in(
    attempts: tuple[tuple[str, ...], ...], distance: float, move: str
) -> None:
    outcome = an_outcome(
        a_fail("v"), a_fail("p", mode="plausible"), a_pass("b"), a_pass("c"), a_pass("d"), gap_trajectory=trajectory(*attempts)
    )

    found = measured([outcome])

    assert distance == found.D
    assert macro_state(loss_of(found.D, found.P, 0.2, DEFAULTS), 0.0, DEFAULTS) == move


def test_ctl_154_failed_attempts_are_counted_by_the_text_of_the_criterion() -> None:
    def weight(*attempts: tuple[str, ...]) -> float:
        outcome = an_outcome(a_fail("p", mode="plausible"), gap_trajectory=trajectory(*attempts))
        return measured([outcome]).failures[0].weight

    assert weight(("p",), ("q",), ("p", "q")) == 2 / 3
    assert weight() == 1.0
    assert weight(("q",), ("q",)) == 1.0  # it failed; a trajectory that does not know it cannot make it lighter


def test_ctl_155_every_criterion_counts_once_below_the_line_whatever_it_weighs() -> None:
    outcome = an_outcome(a_fail("v"), a_fail("p", mode="plausible"), gap_trajectory=trajectory(("p",), ()))

    assert measured([outcome]).D == 0.75  # 1.5 of 2; over the sum of weights it would be 1.0


def test_ctl_156_nothing_at_all_is_as_far_as_can_be() -> None:
    assert measured([]).D == 1.0


def test_ctl_157_an_outcome_that_nobody_judged_is_one_criterion() -> None:
    failed = an_outcome(status="failed", failure_reason="??")

    assert measured([failed, an_outcome(name="s2")]).D == 0.5
    # A failure that its verdicts do not show is a failure all the same.
    assert measured([an_outcome(a_pass("a"), a_pass("b"), status="failed")]).D == 1.0


def test_ctl_158_a_result_that_was_not_taken_is_measured_by_the_criteria_of_the_task() -> None:
    assert judged([a_fail("a", "logical")], "no").D == 1.0
    assert judged([a_fail("a", "logical"), a_pass("b"), a_pass("c"), a_pass("d")], "no").D == 0.25
    assert judged([], "no").D == 1.0
    assert judged([a_pass("a")], "intent drift").D == 1.0


def test_ctl_159_what_was_skipped_is_missing_and_nobody_s_fault() -> None:
    first = an_outcome(a_fail("a", "environmental"))
    skipped = an_outcome(a_fail("b", None), a_fail("c", None, "plausible"), name="s2", skipped=True)

    found = measured([first, skipped])

    assert (found.D, found.P) == (1.0, 0.0)
    assert measured([an_outcome(a_fail("a", "logical")), skipped]).P == 1.0


# -- process ---------------------------------------------------------------------------------------------------------


def test_ctl_160_process_is_the_share_of_failures_that_the_approach_is_to_blame_for() -> None:
    three = [a_fail(name, "logical") for name in "abc"]

    assert measured([an_outcome(*three, a_fail("d"))]).P == 0.75
    assert measured([an_outcome(*three)]).P == 1.0
    assert measured([an_outcome(a_fail("d"))]).P == 0.0


@pytest.mark.parametrize(
    ("reason", "process"),
    [
        ("connection reset", 0.0),
        ("Permission denied", 0.0),
        ("incorrect column", 1.0),
        ("it is NOT POSSIBLE", 1.0),
        ("??", 0.5),
        ("cannot reach the network", 0.5),  # speaks for both sides
        ("a technological miracle", 0.5),  # a word inside another is not meant
    ],
)
def test_ctl_161_failures_without_a_class_are_told_by_their_words(reason: str, process: float) -> None:
    assert process == measured([an_outcome(a_fail("a", None), failure_reason=reason)]).P


def test_ctl_161_words_of_unmet_criteria_count_and_a_class_makes_words_silent() -> None:
    by_criterion = an_outcome(a_fail("invalid header", None), gap_trajectory=trajectory(("invalid header",)))
    classed = an_outcome(a_fail("a", "environmental"), failure_reason="incorrect column")
    two = [an_outcome(a_fail("a", None), failure_reason=why, name=why) for why in ("timeout", "invalid", "??")]

    assert measured([by_criterion]).P == 1.0
    assert measured([classed]).P == 0.0
    assert measured(two).P == 0.5  # one of each; the third counts for neither


def test_ctl_162_without_failures_the_process_is_faultless() -> None:
    assert measured([an_outcome(a_pass("a"))]).P == 0.0
    assert loss_of(0.0, 0.0, budget_used(0, 12_000, DEFAULTS), DEFAULTS) == Loss(D=0.0, P=0.0, Omega=0.016, L=0.0064)


def test_ctl_222_the_class_of_a_round_is_the_side_of_one_half() -> None:
    assert [failure_class(p) for p in (0.6, 0.500000001, 0.5, 0.499999999, 0.4)] == [
        "logical",
        "logical",
        "mixed",
        "environmental",
        "environmental",
    ]


# -- budget ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replans", "ms", "omega"), [(1, 30_000, 0.24), (2, 60_000, 0.48), (3, 0, 0.6), (0, 300_000, 0.4), (1, 0, 0.2), (0, 0, 0.0)]
)
def test_ctl_163_the_budget_is_replans_and_time(replans: int, ms: int, omega: float) -> None:
    assert budget_used(replans, ms, DEFAULTS) == omega


def test_ctl_164_more_than_the_budget_is_the_budget() -> None:
    assert budget_used(3, 600_000, DEFAULTS) == budget_used(9, 10**9, DEFAULTS) == 1.0


@pytest.mark.parametrize(("replans", "ms"), [(1, 450_000), (2, 300_000), (3, 150_000), (4, 0)])
def test_ctl_166_each_round_has_its_last_millisecond(replans: int, ms: int) -> None:
    def move(at: int) -> str:
        return macro_state(a_loss(1.0, 0.0, budget_used(replans, at, DEFAULTS)), 0.0, DEFAULTS)

    assert move(ms) == "abandon"
    assert ms == 0 or move(ms - 1) != "abandon"


def test_ctl_167_numbers_are_rounded_before_they_are_compared() -> None:
    assert 0.6 * (4 / 3) < 0.8 <= budget_used(4, 0, DEFAULTS)
    before, now = a_loss(0.5, 0, 0.24), a_loss(0.5, 0, 0.49)
    assert (before.L, now.L) == (0.396, 0.496)
    assert now.L - before.L < 0.1 == gradient(now, before, DEFAULTS)[0]
    assert str(rounded(-1e-12)) == "0.0"


# -- gradient --------------------------------------------------------------------------------------------------------


def test_ctl_168_the_gradient_is_the_change_of_the_loss() -> None:
    first, second = (a_loss(d, 0, budget_used(n, n * 30_000, DEFAULTS)) for d, n in ((1, 1), (0.5, 2)))

    assert (first.L, second.L) == (0.696, 0.492)
    assert gradient(second, first, DEFAULTS)[0] == -0.204


def test_ctl_169_the_first_round_has_no_gradient() -> None:
    grad_l, parts = gradient(a_loss(0.5, 1, 0.2), None, DEFAULTS)

    assert (grad_l, parts.D, parts.P, parts.Omega) == (0, 0, 0, 0)


def test_ctl_171_the_parts_tell_what_moved() -> None:
    before, now = (a_loss(0.5, 0, budget_used(n, n * 60_000, DEFAULTS)) for n in (1, 2))

    grad_l, parts = gradient(now, before, DEFAULTS)

    assert (before.L, now.L, grad_l) == (0.412, 0.524, 0.112)
    assert (parts.D, parts.P, parts.Omega) == (0, 0, 0.112)
    assert macro_state(now, grad_l, DEFAULTS) == "refine"


@pytest.mark.parametrize(("ms", "signal"), [(37_500, True), (37_499, False)])
def test_ctl_171_a_round_of_37500_ms_alone_is_a_signal(ms: int, signal: bool) -> None:
    before, now = (a_loss(0.5, 0, budget_used(n, (n - 1) * ms, DEFAULTS)) for n in (1, 2))

    assert (gradient(now, before, DEFAULTS)[0] >= 0.1) is signal


def test_ctl_172_a_gradient_of_quality_leaves_the_cost_out() -> None:
    params = replace(DEFAULTS, gradient_basis="quality")
    before, now = (a_loss(0.5, 0, budget_used(n, n * 60_000, DEFAULTS)) for n in (1, 2))
    better = a_loss(0.25, 1, 0.56)

    assert gradient(now, before, params)[0] == 0
    assert macro_state(now, 0.0, params) == "change_path"
    assert gradient(better, before, params)[0] == rounded(0.6 * -0.25 + 0.3 * (1 - before.Omega))


@given(d=SHARE, p=SHARE, o=SHARE, d2=SHARE, p2=SHARE, o2=SHARE, basis=st.sampled_from(["total", "quality"]))
def test_ctl_171_the_parts_always_add_up(d: float, p: float, o: float, d2: float, p2: float, o2: float, basis: str) -> None:
    grad_l, parts = gradient(a_loss(d2, p2, o2), a_loss(d, p, o), replace(DEFAULTS, gradient_basis=basis))

    assert parts.D + parts.P + parts.Omega == pytest.approx(grad_l, abs=5e-9)
    assert basis == "total" or parts.Omega == 0


@given(d=SHARE, p=SHARE, o=SHARE)
def test_ctl_149_the_loss_stays_within_its_weights(d: float, p: float, o: float) -> None:
    assert 0 <= a_loss(d, p, o).L <= 1.0 + 1e-9
    assert a_loss(d, p, o).L <= a_loss(1.0, p, o).L


# -- moves -----------------------------------------------------------------------------------------------------------

CELLS = {
    "ctl_184": (-0.20, 0.30, 0.50, 0.79, "success"),
    "ctl_185": (-0.20, 0.30, 0.51, 0.79, "success"),
    "ctl_186": (-0.20, 0.30, 0.50, 0.80, "abandon"),
    "ctl_187": (-0.20, 0.30, 0.51, 0.80, "abandon"),
    "ctl_188": (-0.20, 0.31, 0.50, 0.79, "refine"),
    "ctl_189": (-0.20, 0.31, 0.51, 0.79, "change_approach"),
    "ctl_190": (-0.20, 0.31, 0.50, 0.80, "abandon"),
    "ctl_191": (-0.20, 0.31, 0.51, 0.80, "abandon"),
    "ctl_192": (+0.05, 0.30, 0.50, 0.79, "success"),
    "ctl_193": (+0.05, 0.30, 0.51, 0.79, "success"),
    "ctl_194": (+0.05, 0.30, 0.50, 0.80, "abandon"),
    "ctl_195": (+0.05, 0.30, 0.51, 0.80, "abandon"),
    "ctl_196": (+0.05, 0.31, 0.50, 0.79, "change_path"),
    "ctl_197": (+0.05, 0.31, 0.51, 0.79, "break_symmetry"),
    "ctl_198": (+0.05, 0.31, 0.50, 0.80, "abandon"),
    "ctl_199": (+0.05, 0.31, 0.51, 0.80, "abandon"),
    "ctl_200": (+0.20, 0.30, 0.50, 0.79, "success"),
    "ctl_201": (+0.20, 0.30, 0.51, 0.79, "success"),
    "ctl_202": (+0.20, 0.30, 0.50, 0.80, "abandon"),
    "ctl_203": (+0.20, 0.30, 0.51, 0.80, "abandon"),
    "ctl_204": (+0.20, 0.31, 0.50, 0.79, "refine"),
    "ctl_205": (+0.20, 0.31, 0.51, 0.79, "change_approach"),
    "ctl_206": (+0.20, 0.31, 0.50, 0.80, "abandon"),
    "ctl_207": (+0.20, 0.31, 0.51, 0.80, "abandon"),
}


@pytest.mark.parametrize(("grad_l", "distance", "process", "omega", "move"), CELLS.values(), ids=CELLS.keys())
def test_every_cell_has_its_move(grad_l: float, distance: float, process: float, omega: float, move: str) -> None:
    assert macro_state(a_loss(distance, process, omega), grad_l, DEFAULTS) == move


def test_ctl_173_ctl_180_the_table_is_complete_and_has_no_overlap() -> None:
    found = [
        macro_state(a_loss(d, p, o), g, DEFAULTS)
        for g in (-0.20, 0.05, 0.20)
        for d in (0.30, 0.31)
        for p in (0.50, 0.51)
        for o in (0.79, 0.80)
    ]

    assert {move: found.count(move) for move in Macro} == {
        "abandon": 12,
        "success": 6,
        "break_symmetry": 1,
        "change_approach": 2,
        "change_path": 1,
        "refine": 2,
    }
    assert len({cell[:4] for cell in CELLS.values()}) == 24


@given(d=SHARE, p=SHARE, g=CHANGE, o=st.integers(8000, 10_000).map(lambda n: n / 10_000))
def test_ctl_174_a_budget_that_is_used_ends_everything(d: float, p: float, g: float, o: float) -> None:
    assert macro_state(a_loss(d, p, o), g, DEFAULTS) == "abandon"


@given(d=st.integers(0, 3000).map(lambda n: n / 10_000), p=SHARE, g=CHANGE, o=st.integers(0, 7999).map(lambda n: n / 10_000))
def test_ctl_175_close_enough_is_success_whatever_else(d: float, p: float, g: float, o: float) -> None:
    assert macro_state(a_loss(d, p, o), g, DEFAULTS) == "success"


@given(d=SHARE, p=SHARE, o=SHARE, g=CHANGE)
def test_ctl_181_the_sign_of_the_gradient_never_chooses_the_move(d: float, p: float, o: float, g: float) -> None:
    assert macro_state(a_loss(d, p, o), g, DEFAULTS) == macro_state(a_loss(d, p, o), -g, DEFAULTS)


@pytest.mark.parametrize(
    ("grad_l", "distance", "process", "omega", "move"),
    [
        (0.0, 0.3, 1.0, 0.5, "success"),
        (0.0, 0.3001, 1.0, 0.5, "break_symmetry"),
        (0.0, 1.0, 1.0, 0.8, "abandon"),
        (0.0, 1.0, 1.0, 0.7999, "break_symmetry"),
        (0.0, 1.0, 0.5, 0.5, "change_path"),
        (0.0, 1.0, 0.5001, 0.5, "break_symmetry"),
        (0.1, 1.0, 0.0, 0.5, "refine"),
        (0.0999, 1.0, 0.0, 0.5, "change_path"),
        (-0.1, 1.0, 0.0, 0.5, "refine"),
        (-0.0999, 1.0, 0.0, 0.5, "change_path"),
        (0.1, 1.0, 1.0, 0.5, "change_approach"),
        (-0.0999, 1.0, 1.0, 0.5, "break_symmetry"),
    ],
)
def test_ctl_182_each_boundary_from_both_sides(grad_l: float, distance: float, process: float, omega: float, move: str) -> None:
    assert macro_state(a_loss(distance, process, omega), grad_l, DEFAULTS) == move


def test_ctl_183_a_falling_loss_with_a_wrong_approach_is_not_trusted() -> None:
    assert macro_state(a_loss(0.31, 0.51, 0.79), -0.2, DEFAULTS) == "change_approach"
    assert macro_state(a_loss(0.31, 0.50, 0.79), -0.2, DEFAULTS) == "refine"


# -- urgency ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grad_l", "turn"),
    [(-0.2, "low"), (-0.1, "low"), (-0.0999, "normal"), (0.0, "normal"), (0.0999, "normal"), (0.1, "high"), (0.2, "high")],
)
def test_ctl_229_ctl_325_urgency_is_the_sign_of_a_signal(grad_l: float, turn: str) -> None:
    assert urgency(grad_l, DEFAULTS) == Urgency(turn)


def test_ctl_238_worse_begins_at_epsilon() -> None:
    assert [worsening(g, DEFAULTS) for g in (0.1, 0.0999, -0.2)] == [True, False, False]
    assert worsening(0.1, Params(epsilon=0.11)) is False
