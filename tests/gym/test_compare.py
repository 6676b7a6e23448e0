"""Rounds held against each other: what changed, what may be said of it, and the gates that a change has to pass."""

import msgspec
import pytest

from hindbrain.domain.gym import LaneScore
from hindbrain.domain.gym_fixture import Arm
from hindbrain.engines.gym_compare import accepted, compared, gate, tuned
from hindbrain.engines.gym_markdown import comparison_text, tuning_text
from tests.gym.streams import lane, round_of

HUNTS = ("clix", "pooled", "tabular")
MISSION = (Arm.MISSION_CONTROL, Arm.MISSION_CONTROL)


def hunts(
    found: tuple[int, int, int], first: tuple[int | None, ...], *, name: str = "mission", **changes: object
) -> list[LaneScore]:
    return [
        lane((number, 10), at, name=name, fixture=fixture, **changes)
        for fixture, number, at in zip(HUNTS, found, first, strict=True)
    ]


def test_aol_231_a_comparison_gives_each_difference_the_lanes_and_which_is_better() -> None:
    a = round_of(hunts((4, 4, 4), (100, 100, 100)), round_id="rnd_A")
    b = round_of(hunts((6, 7, 8), (110, 90, 130)), round_id="rnd_B")

    told = compared(a, b, arms=[MISSION], bundled=HUNTS)

    by = {one.metric: one for one in told.differences["hindbrain-mission-control"]}
    assert len(by) == 10
    assert (by["seeded_recall"].a, by["seeded_recall"].b, by["seeded_recall"].change) == (0.4, 0.7, 0.3)
    assert (by["seeded_recall"].better, by["first_good_finding_ms"].better) == ("b", "a")
    assert (by["first_good_finding_ms"].a, by["first_good_finding_ms"].b) == (100, 110)
    assert by["graph_call_count"].better is None
    assert (by["claim_rejection_rate"].a, by["claim_rejection_rate"].change) == (None, None)
    assert told.lanes == {"hindbrain-mission-control": (3, 3)}


def test_aol_231_aol_232_it_says_plainly_what_may_and_may_not_be_claimed() -> None:
    a = round_of(hunts((4, 4, 4), (100, 100, 100)), round_id="rnd_A")
    b = round_of(hunts((6, 7, 8), (110, 90, 130)), round_id="rnd_B")

    told = compared(a, b, arms=[MISSION], bundled=HUNTS)
    text = comparison_text(told)

    assert any("Seeded recall of B is better in these rounds (0.4 to 0.7" in one for one in told.may_claim)
    assert any("First good finding of B is worse" in one for one in told.may_claim)
    assert any("one round supports a public claim" in one for one in told.may_not_claim)
    assert "## What may be claimed" in text
    assert "## What may not be claimed" in text
    assert "| Seeded recall | 0.40 | 0.70 | +0.30 | B |" in text
    assert "Completed lanes: A 3, B 3." in text


def test_aol_231_what_stands_between_the_rounds_is_said() -> None:
    whole = round_of(hunts((4, 4, 4), (100, 100, 100)), round_id="rnd_A", digest="sha256:1")
    other = round_of(
        [lane((9, 10), 5, fixture="clix", extra_unadjudicated=1)],
        round_id="rnd_B",
        digest="sha256:2",
        version="2",
        budget="deep",
        complete=False,
        missing=("pooled.mission.1",),
    )

    said = "\n".join(compared(whole, other, arms=[MISSION], bundled=HUNTS).may_not_claim)

    for part in (
        "is whole: 1 lanes",
        "A ran version 1, B 2",
        "budgets were equal",
        "same fixtures",
        "fixture clix",
        "1 lanes are",
    ):
        assert part in said
    assert "any precision" in said


@pytest.mark.parametrize(
    ("found", "first", "passed", "why"),
    [
        ((4, 4, 4), (100, 100, 100), True, "not lower"),
        ((3, 4, 5), (120, 100, 120), True, "not lower"),
        ((4, 4, 4), (121, 121, 121), False, "more than a fifth"),
        ((4, 4, 3), (10, 10, 10), False, "recall fell from 0.400 to 0.367"),
        ((4, 4, 5), (None, None, None), False, "no time"),
    ],
)
def test_aol_233_a_change_needs_equal_recall_and_at_most_a_fifth_more_time(
    found: tuple[int, int, int], first: tuple[int | None, ...], passed: bool, why: str
) -> None:
    before = round_of(hunts((4, 4, 4), (100, 100, 100)))

    ruled = gate(before, round_of(hunts(found, first)), MISSION, HUNTS)

    assert ruled.passed is passed
    assert any(why in one for one in ruled.says)


def test_aol_233_a_round_without_all_bundled_fixtures_decides_nothing() -> None:
    before = round_of(hunts((4, 4, 4), (100, 100, 100)))
    best = hunts((10, 10, 10), (1, 1, 1))

    partly = gate(before, round_of(best[:2]), MISSION, HUNTS)
    broken = gate(before, round_of([*best[:2], msgspec.structs.replace(best[2], valid=False)]), MISSION, HUNTS)
    changed = gate(before, round_of(best, digest="sha256:2"), MISSION, HUNTS)

    assert not partly.passed
    assert "no hindbrain-mission-control lane on tabular" in partly.says[0]
    assert not broken.passed
    assert "tabular" in broken.says[0]
    assert not changed.passed
    assert "not the same in both" in changed.says[0]


@pytest.mark.parametrize(
    ("mission", "fixtures", "met"),
    [((6, 7, 8), HUNTS, True), ((7, 8, 9), HUNTS, True), ((6, 6, 8), HUNTS, False), ((6, 7, 8), HUNTS[:2], False)],
)
def test_aol_301_the_mission_arm_is_accepted_when_it_is_not_worse_than_the_trained_arm_on_three_fixtures(
    mission: tuple[int, int, int], fixtures: tuple[str, ...], met: bool
) -> None:
    lanes = [*hunts((6, 7, 8), (5, 5, 5), name="trained"), *hunts(mission, (9, 9, 9))]

    found = accepted(one for one in lanes if one.fixture in fixtures)

    assert found.met is met
    assert len(found.not_worse) + len(found.worse) == len(fixtures)


def test_aol_301_without_a_trained_lane_there_is_nothing_to_be_not_worse_than() -> None:
    assert not accepted(hunts((10, 10, 10), (1, 1, 1))).met


def test_aol_197_recorded_candidates_are_ranked_by_their_effect_and_nothing_is_changed() -> None:
    base = round_of(hunts((4, 4, 4), (100, 100, 100)), round_id="rnd_0")
    slow = round_of(hunts((9, 9, 9), (900, 900, 900)), round_id="rnd_slow", change="ask the graph three times")
    good = round_of(hunts((6, 6, 6), (100, 100, 100)), round_id="rnd_good", change="sweep before the second claim")
    fine = round_of(hunts((6, 6, 6), (110, 110, 110)), round_id="rnd_fine", change="read documents first")

    told = tuned(base, [slow, fine, good], arm=Arm.MISSION_CONTROL, bundled=HUNTS)
    text = tuning_text(told)

    assert told.best == "rnd_good"
    assert {one.round_id: one.place for one in told.candidates} == {"rnd_slow": 0, "rnd_fine": 2, "rnd_good": 1}
    recall = next(one for one in told.candidates[2].differences if one.metric == "seeded_recall")
    assert (recall.a, recall.b) == (0.4, 0.6)
    assert "sweep before the second claim" in text
    assert "nothing was changed" in text
    assert text.index("rnd_good:") < text.index("rnd_fine:") < text.index("rnd_slow:")


def test_aol_197_when_no_candidate_passes_none_is_proposed() -> None:
    base = round_of(hunts((4, 4, 4), (100, 100, 100)), round_id="rnd_0")
    worse = round_of(hunts((1, 1, 1), (1, 1, 1)), round_id="rnd_1", change="never read")

    told = tuned(base, [worse], arm=Arm.MISSION_CONTROL, bundled=HUNTS)

    assert told.best is None
    assert "no candidate passes" in told.says[0]
