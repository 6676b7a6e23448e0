"""The benchmark of hand-overs on a small one of its repositories: the gate holds, and would not without a hand-over."""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("handover")


def test_aol_205_aol_216_aol_285_aol_302_a_resumed_mission_repeats_at_least_80_percent_less(bench: Any, tmp_path: Path) -> None:
    whole = next(one for one in bench.FIXTURES if one.regression)
    packages = {name: modules[:4] for name, modules in whole.packages.items() if name != "render"}

    made = bench.measure(replace(whole, packages=packages, faults=3), tmp_path, seed=7)

    assert made.missed == ()
    assert made.fewer >= 0.8
    assert made.without.again >= 2  # there was something to repeat
    assert made.with_it.repeats.dead == 0
    assert made.with_it.recall == made.without.recall == 1.0  # also the fault that came after the hand-over
    assert 1.0 * (1 - made.with_it.repeats.share) >= 0.8  # completed, and how little of it twice
    untold = bench.Measured(fixture="x", with_it=made.without, without=made.without)
    assert untold.missed[:2] == ("only 0% fewer repeats", "the share of repeated work fell by 0% only")
