"""The numbers of the controller: their defaults, who may change them, and which are refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.engines.gradient import loss_of, macro_state
from hindbrain.policy.control import DEFAULTS, Params, altered, in_force
from hindbrain.services.control.params import Parameters, configured
from hindbrain.settings import Settings
from hindbrain.stores.memory import MemoryStore
from tests.control.test_solver import Desk, Numbers
from tests.stores.conftest import BRAIN
from tests.support.rounds import a_round

BUILT_IN = {
    "ggs.alpha": 0.6,
    "ggs.beta": 0.3,
    "ggs.lambda": 0.4,
    "ggs.w1": 0.6,
    "ggs.w2": 0.4,
    "ggs.epsilon": 0.1,
    "ggs.delta": 0.3,
    "ggs.rho": 0.5,
    "ggs.theta": 0.8,
    "ggs.time_budget_ms": 300_000,
    "ggs.max_replans": 3,
    "ggs.law2_rounds": 2,
    "ggs.gradient_basis": "total",
    "ggs.break_credit": "deferred",
    "r4a.max_retries": 2,
    "r3.max_tool_calls": 10,
}
OTHERS = {
    "ggs.alpha": 0.5,
    "ggs.beta": 0.2,
    "ggs.lambda": 0.6,
    "ggs.w1": 0.25,
    "ggs.w2": 0.75,
    "ggs.epsilon": 0.2,
    "ggs.delta": 0.1,
    "ggs.rho": 0.7,
    "ggs.theta": 1,  # a whole number is a number
    "ggs.time_budget_ms": 60_000,
    "ggs.max_replans": 5,
    "ggs.law2_rounds": 3,
    "ggs.gradient_basis": "quality",
    "ggs.break_credit": "immediate",
    "r4a.max_retries": 0,
    "r3.max_tool_calls": 4,
}


def read(place: Path, text: str) -> Settings:
    config = place / "config.toml"
    config.write_text(text, encoding="utf-8")
    return Settings.read(config, {})


def toml(values: dict[str, Any]) -> str:
    return "\n".join(f"{key} = {json.dumps(value) if isinstance(value, str) else value}" for key, value in values.items())


def test_ctl_263_the_built_in_numbers_are_those_of_the_table(tmp_path: Path) -> None:
    assert in_force(DEFAULTS) == BUILT_IN
    assert in_force(configured(read(tmp_path, ""))) == BUILT_IN


def test_ctl_263_each_number_can_be_set(tmp_path: Path) -> None:
    assert in_force(configured(read(tmp_path, toml(OTHERS)))) == OTHERS
    assert set(OTHERS) == set(BUILT_IN)
    assert configured(read(tmp_path, "[ggs]\nalpha = 0.5\n[r4a]\nmax_retries = 1\n")) == replace(
        DEFAULTS, alpha=0.5, max_retries=1
    )


def test_ctl_263_another_epsilon_decides_otherwise_at_the_boundary(tmp_path: Path) -> None:
    wide = configured(read(tmp_path, "ggs.epsilon = 0.15"))
    loss = loss_of(0.5, 0.0, 0.2, DEFAULTS)

    assert (macro_state(loss, 0.12, DEFAULTS), macro_state(loss, 0.12, wide)) == ("refine", "change_path")


def test_ctl_264_a_class_of_tasks_has_its_own_threshold_and_the_decision_says_so() -> None:
    desk = Desk(Numbers(disk_check=replace(DEFAULTS, rho=0.7)))
    own = desk.hear(a_round(0.5, 0.6, task="t1", task_class="disk_check"))
    usual = desk.hear(a_round(0.5, 0.6, task="t2", task_class="other"))

    assert (own.directive, usual.directive) == ("change_path", "break_symmetry")
    assert (own.x.params["ggs.rho"], usual.x.params["ggs.rho"]) == (0.7, 0.5)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"ggs.alpha": -0.1}, "ggs.alpha"),
        ({"ggs.beta": -1}, "ggs.beta"),
        ({"ggs.lambda": -0.0001}, "ggs.lambda"),
        ({"ggs.alpha": float("nan")}, "ggs.alpha"),
        ({"ggs.alpha": float("inf")}, "ggs.alpha"),
        ({"ggs.w1": -0.5, "ggs.w2": 1.5}, "ggs.w1"),
        ({"ggs.w1": 0.7}, "ggs.w1"),
        ({"ggs.w1": 0.6, "ggs.w2": 0.400001}, "ggs.w1"),
        ({"ggs.epsilon": 1.1}, "ggs.epsilon"),
        ({"ggs.delta": -0.1}, "ggs.delta"),
        ({"ggs.rho": 1.00001}, "ggs.rho"),
        ({"ggs.theta": float("nan")}, "ggs.theta"),
        ({"ggs.max_replans": 0}, "ggs.max_replans"),
        ({"ggs.time_budget_ms": 999}, "ggs.time_budget_ms"),
        ({"ggs.law2_rounds": 0}, "ggs.law2_rounds"),
        ({"r4a.max_retries": -1}, "r4a.max_retries"),
        ({"r3.max_tool_calls": 0}, "r3.max_tool_calls"),
        ({"ggs.gradient_basis": "both"}, "ggs.gradient_basis"),
        ({"ggs.break_credit": "never"}, "ggs.break_credit"),
        ({"ggs.max_replans": 2.5}, "ggs.max_replans"),
        ({"ggs.alpha": "much"}, "ggs.alpha"),
        ({"ggs.gamma": 0.1}, "ggs.gamma"),
    ],
)
def test_ctl_265_numbers_that_make_no_sense_are_refused_when_they_are_read(
    values: dict[str, Any], names: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigInvalid, match=names):
        altered(DEFAULTS, values)
    with pytest.raises(ConfigInvalid, match=names):
        read(tmp_path, toml(values))


@pytest.mark.parametrize(
    "values",
    [
        {"ggs.alpha": 0.0},
        {"ggs.w1": 0.1, "ggs.w2": 0.9},
        {"ggs.w1": 0.0, "ggs.w2": 1.0},
        {"ggs.epsilon": 0.0, "ggs.delta": 0.0, "ggs.rho": 1.0, "ggs.theta": 1.0},
        {"ggs.max_replans": 1, "ggs.time_budget_ms": 1000},
    ],
)
def test_ctl_265_the_outermost_numbers_are_taken(values: dict[str, Any], tmp_path: Path) -> None:
    assert in_force(altered(DEFAULTS, values)).items() >= values.items()
    assert in_force(configured(read(tmp_path, toml(values)))).items() >= values.items()


def test_ctl_264_numbers_that_nobody_applied_count_for_nothing() -> None:
    store = MemoryStore(BRAIN)
    with store.writing() as writer:
        writer.set_meta("control.tuning", '{"": {"values": {"ggs.delta": 1.0}, "seq": 1}}')

    assert Parameters(DEFAULTS, store).of("any") == DEFAULTS


def test_a_run_may_have_less_time_than_the_settings_give() -> None:
    numbers = Parameters(Params(alpha=0.5), MemoryStore(BRAIN), time_budget_ms=7000)

    assert numbers.of("any") == Params(alpha=0.5, time_budget_ms=7000)
