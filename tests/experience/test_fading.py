"""Fading: when an experience is gone, to the millisecond, and from both sides of the floor."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.domain.experience import Level, Megram, MegramId, Writer, fresh
from hindbrain.policy.fading import DAY_MS, age_days, decayed, fades_at, gone_at, weights

BORN = 1_800_000_000_000


@pytest.mark.parametrize(
    ("f", "k", "days"),
    [
        *((0.90, 0.05, 43.94), (0.95, 0.05, 45.03), (0.85, 0.05, 42.80), (0.80, 0.05, 41.59), (0.75, 0.05, 40.30)),
        *((0.30, 0.2, 5.49), (1.0, 0.05, 46.05)),
    ],
)
def test_exp_079_exp_080_each_state_fades_after_its_days(f: float, k: float, days: float) -> None:
    gone = fades_at(f, k, BORN)

    assert gone is not None
    assert round((gone - BORN) / DAY_MS, 2) == days
    assert round(decayed(f, k, age_days(BORN, gone)), 9) < 0.1
    assert round(decayed(f, k, age_days(BORN, gone - 1)), 9) == 0.1


def test_exp_081_exactly_the_floor_is_kept_and_a_millisecond_later_is_not() -> None:
    assert fades_at(0.1, 0.5, BORN) == BORN + 1
    assert fades_at(0.1, 0.0, BORN) is None
    assert fades_at(0.0999999999, 0.0, BORN) is None  # in nine decimals it is the floor
    assert fades_at(0.099, 0.0, BORN) == fades_at(0.0, 0.5, BORN) == 0


def test_exp_081_rules_and_values_never_fade() -> None:
    def held(level: Level, k: float) -> Megram:
        return Megram(
            id=MegramId("m"),
            level=level,
            space="s",
            entity="e",
            content="c",
            state="x",
            created_at=BORN,
            writer=Writer.OPERATOR,
            f=0.05,
            sigma=1.0,
            k=k,
        )

    assert [gone_at(fresh(held(level, 0.0))) for level in (Level.C, Level.T)] == [None, None]
    assert [gone_at(fresh(held(level, 0.05))) for level in (Level.M, Level.K)] == [0, 0]


def test_exp_021_half_is_left_after_a_half_life() -> None:
    for weight, k, days in ((0.9, 0.05, 13.862943611), (0.3, 0.2, 3.465735903), (0.1, 0.5, 1.386294361)):
        assert round(decayed(weight, k, days), 9) == weight / 2


def test_exp_034_age_is_never_negative() -> None:
    assert (age_days(BORN, BORN - 1), age_days(BORN, BORN), age_days(BORN, BORN + DAY_MS // 4)) == (0.0, 0.0, 0.25)


@given(f=st.floats(0, 1), k=st.floats(0, 1e6))
def test_exp_080_the_time_of_fading_is_the_first_one(f: float, k: float) -> None:
    gone = fades_at(f, k, BORN)
    if gone is None:
        assert round(decayed(f, k, 3_660_000), 9) >= 0.1
    elif gone == 0:
        assert round(f, 9) < 0.1
    else:
        before, after = (round(decayed(f, k, age_days(BORN, at)), 9) for at in (gone - 1, gone))
        assert after < 0.1 <= before


@given(f=st.floats(0, 1), sigma=st.floats(-1, 1), k=st.floats(0, 1e6), days=st.floats(0, 1e7))
def test_exp_024_no_weight_is_lost_below_what_a_database_can_multiply(f: float, sigma: float, k: float, days: float) -> None:
    attention, decision = weights(f, sigma)

    assert [attention, decision] == pytest.approx([f, sigma * f], abs=1e-12)
    for weight in (attention, decision):
        assert (decayed(weight, k, days) == 0.0) == (weight == 0.0)
        assert decayed(weight, k, days) == pytest.approx(weight * math.exp(-k * days), abs=1e-12)
