"""Potentials: how experience fades, what it adds up to and what that advises, at each threshold from both sides."""

import math
from dataclasses import replace

import pytest

from hindbrain.domain.experience import Action, Level
from hindbrain.domain.message import Role
from hindbrain.engines.potentials import action, attention, contradicted, half_life_days, potentials
from hindbrain.policy.experience import QUANTA
from hindbrain.policy.fading import decayed
from tests.support.experience import Lab, megram, seen
from tests.support.world import DAY, START_MS

MATRIX = {
    "abandon": (0.95, -1.0, 0.05),
    "accept": (0.90, 1.0, 0.05),
    "change_approach": (0.85, -1.0, 0.05),
    "success": (0.80, 1.0, 0.05),
    "break_symmetry": (0.75, 1.0, 0.05),
    "change_path": (0.30, 0.0, 0.2),
    "refine": (0.10, 0.5, 0.5),
}


@pytest.mark.parametrize(("state", "row"), MATRIX.items())
def test_exp_014_exp_015_exp_016_exp_017_exp_018_exp_019_exp_020_a_state_without_numbers_is_stored_with_its_row(state, row):
    lab = Lab()
    lab.experience.write(lab.draft(state, id="00000000-0000-4000-8000-000000000001"), by=Role.SOLVER)
    stored = lab.held("00000000-0000-4000-8000-000000000001").megram
    assert (stored.f, stored.sigma, stored.k) == row
    assert QUANTA[state].why


@pytest.mark.parametrize(
    ("f", "k", "days", "left", "half_life"),
    [
        (0.90, 0.05, 13.862943611, 0.45, 13.863),
        (0.30, 0.2, 3.465735903, 0.15, 3.466),
        (0.10, 0.5, 1.386294361, 0.05, 1.386),
    ],
)
def test_exp_021_half_is_left_after_the_half_life(f, k, days, left, half_life):
    assert round(decayed(f, k, days), 9) == left
    assert round(half_life_days(k), 3) == half_life
    assert decayed(f, k, days - 0.01) > left > decayed(f, k, days + 0.01)


def test_exp_021_what_does_not_decay_has_no_half_life():
    assert half_life_days(0.0) == math.inf


def test_exp_022_dead_ends_do_not_blame_the_tool():
    sums = potentials([seen("change_path") for _ in range(10)], START_MS)
    assert (sums.attention, sums.decision) == (3.0, 0.0)


@pytest.mark.parametrize(("days", "told"), [(0, 0.9), (7, 0.6342), (28, 0.2219)])
def test_exp_024_both_sums_are_computed_for_the_moment_of_asking(days, told):
    sums = potentials([seen("accept", days=days)], START_MS)
    assert (round(sums.attention, 4), round(sums.decision, 4)) == (told, told)


def test_exp_025_good_and_bad_add_up_in_attention_and_cancel_in_decision():
    sums = potentials([seen("accept"), seen("abandon")], START_MS)
    assert (sums.attention, sums.decision, sums.action) == (1.85, -0.05, Action.CAUTION)


def test_exp_026_newer_evidence_outweighs_older_by_decay():
    sums = potentials([seen("accept"), seen("change_approach", days=14)], START_MS)
    assert (round(sums.attention, 4), round(sums.decision, 4), sums.action) == (1.3221, 0.4779, Action.EXPLOIT)


@pytest.mark.parametrize(("state", "days", "heard"), [("accept", 11.755, Action.EXPLOIT), ("abandon", 12.836, Action.AVOID)])
def test_exp_027_below_half_of_attention_nothing_is_advised(state, days, heard):
    assert potentials([seen(state, days=days)], START_MS).action is heard
    assert potentials([seen(state, days=days + 0.002)], START_MS).action is Action.IGNORE


def test_exp_028_five_small_corrections_advise_for_a_moment():
    five = [seen("refine") for _ in range(5)]
    now = potentials(five, START_MS)
    assert (now.attention, now.decision, now.action) == (0.5, 0.25, Action.EXPLOIT)
    later = potentials(five, START_MS + 1000)
    assert later.attention < 0.5
    assert later.action is Action.IGNORE


def test_exp_029_one_abandoned_task_advises_against():
    sums = potentials([seen("abandon")], START_MS)
    assert (sums.attention, sums.decision, sums.action) == (0.95, -0.95, Action.AVOID)


def test_exp_030_a_tie_asks_for_care():
    dead_ends = potentials([seen("change_path"), seen("change_path")], START_MS)
    assert (dead_ends.attention, dead_ends.decision, dead_ends.action) == (0.6, 0.0, Action.CAUTION)
    mixed = potentials([seen("success"), seen("change_approach")], START_MS)
    assert (mixed.attention, mixed.decision, mixed.action) == (1.65, -0.05, Action.CAUTION)


@pytest.mark.parametrize(
    ("f", "sigma", "told"),
    [
        (0.5, 0.4, Action.CAUTION),
        (0.5, 0.42, Action.EXPLOIT),
        (0.5, -0.4, Action.CAUTION),
        (0.5, -0.42, Action.AVOID),
        (0.499, 1.0, Action.IGNORE),
    ],
)
def test_exp_031_attention_is_reached_at_its_threshold_and_a_decision_only_beyond(f, sigma, told):
    assert potentials([seen("foo", f=f, sigma=sigma)], START_MS).action is told


def test_exp_031_ctl_167_what_is_compared_is_rounded_to_nine_decimals():
    assert action(0.4999999999, 0.3) is Action.EXPLOIT  # 0.5 in nine decimals
    assert action(0.499999999, 0.3) is Action.IGNORE
    assert action(1.0, 0.20000000004) is Action.CAUTION
    assert action(1.0, 0.200000001) is Action.EXPLOIT


def test_exp_032_without_a_megram_nothing_is_advised_and_nothing_fails():
    sums = potentials([], START_MS)
    assert (sums.attention, sums.decision, sums.action) == (0.0, 0.0, Action.IGNORE)


def test_exp_033_thinking_never_counts_and_what_a_rule_carries_no_longer():
    thinking = seen("law", level=Level.T, f=1.0, sigma=1.0)
    carried = replace(seen("accept"), consolidated_at=START_MS)
    replaced = replace(seen("best_practice", level=Level.C, f=1.0, sigma=1.0), superseded_at=START_MS)
    rule = seen("best_practice", level=Level.C, f=1.0, sigma=1.0)
    known = replace(seen("success"), level=Level.K)
    assert potentials([thinking, carried, replaced], START_MS).attention == 0.0
    assert potentials([thinking, carried, replaced, rule, known], START_MS).decision == 1.8


def test_exp_034_what_lies_in_the_future_has_age_zero():
    assert attention(seen("accept", days=-3), START_MS) == 0.9


def test_exp_053_recall_lets_the_age_of_task_knowledge_begin_anew():
    lab = Lab()
    (id_,) = lab.put(megram("accept", days=40, level=Level.K))
    assert lab.store.potentials(megram().pair, at=START_MS).attention == pytest.approx(0.9 * math.exp(-2))
    with lab.store.writing() as writer:
        writer.recall_megrams([id_], at=START_MS)
    assert potentials([lab.held(id_)], START_MS).attention == 0.9
    lab.clock.forward(30 * DAY)
    assert lab.dreamer.cycle().forgotten == 0  # 70 days after it was made, 30 after it was used


def test_exp_056_an_equal_and_opposite_megram_cancels_the_decision_only():
    both = [seen("accept"), seen("correction", f=0.9, sigma=-1.0)]
    sums = potentials(both, START_MS)
    assert (sums.attention, sums.decision, sums.action) == (1.8, 0.0, Action.CAUTION)


def test_exp_006_two_newest_episodes_against_a_rule_overrule_it_for_a_task():
    against, for_it = seen("abandon"), seen("accept")
    assert contradicted(1.0, [against, against, for_it])
    assert contradicted(-1.0, [for_it, for_it])
    assert not contradicted(1.0, [against, for_it, against])
    assert not contradicted(1.0, [against])
    assert not contradicted(1.0, [seen("change_path"), against])
