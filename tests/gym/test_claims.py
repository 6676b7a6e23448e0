"""Claims as a family of the gym: what each lane verifies, in precision and recall."""

import json
from pathlib import Path

import msgspec
import pytest

from hindbrain.domain.gym import LaneResult, Round, RoundLane
from hindbrain.domain.gym_fixture import LANES, LaneRun
from hindbrain.engines.gym_html import page
from hindbrain.engines.gym_markdown import report_text
from hindbrain.engines.gym_report import reported
from hindbrain.engines.gym_verdict import scored
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.lanes import Lanes
from tests.support.gym import opened

CLAIMS = (
    ("RETRIES is 3", "worker.py:1", "true"),
    ("the worker retries three times", "worker.py:1", "true"),
    ("RETRIES is 4", "worker.py:1", "false"),
    ("RETRIES is 3 seconds", "worker.py:1", "half_true"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Fixtures:
    """A fixture of four claims."""
    place = tmp_path_factory.mktemp("fixtures")
    home = place / "few"
    files = home / "files" / "shop"
    files.mkdir(parents=True)
    (files / "worker.py").write_text("RETRIES = 3\n")
    listed = [{"id": f"c{at}", "claim": claim, "cites": cites} for at, (claim, cites, _) in enumerate(CLAIMS)]
    (files / "claims.json").write_text(json.dumps(listed))
    told = 'title = "Few"\nfamily = "claim_support"\nmode = "review"\nbudget = "deep"\ntask = "Judge every claim."\n'
    (home / "fixture.toml").write_text(f'{told}[[repository]]\nname = "shop"\ncommits = ["files/shop"]\nmessages = ["Shop"]\n')
    truth = "\n".join(f'c{at} = "{said}"' for at, (_, _, said) in enumerate(CLAIMS))
    (home / "seeds.toml").write_text(f"[expects.claims]\n{truth}\n")
    fixtures = Fixtures((place,))
    made = fixtures.make("few", place / "copy", repaired=True)
    (home / "fixture.lock").write_text(f"{made.digest}\n")
    return fixtures


@pytest.fixture(scope="module")
def runs(small: Fixtures, tmp_path_factory: pytest.TempPathFactory) -> dict[str, LaneRun]:
    place: Path = tmp_path_factory.mktemp("runs")
    return {name: Lanes(fixtures=small, opener=opened).run("few", name, place / name) for name in ("direct", "mission")}


def test_a_mission_verifies_what_is_true_and_a_reader_of_words_verifies_all(small: Fixtures, runs: dict[str, LaneRun]) -> None:
    key = small.key("few")
    mission, direct = scored(key, runs["mission"]), scored(key, runs["direct"])

    assert (mission.score, mission.says) == (1.0, ("2 of 2 true claims verified, 0 others",))
    assert direct.score == 0.0
    assert "verified and not true: c2, c3" in direct.says
    verdicts = runs["mission"].answer["verdicts"]
    assert verdicts == {
        "c0": "verified_for_mission",
        "c1": "verified_for_mission",
        "c2": "rejected",
        "c3": "insufficient_evidence",
    }


def test_a_lane_that_verifies_too_little_or_nothing_does_not_pass(small: Fixtures, runs: dict[str, LaneRun]) -> None:
    silent = msgspec.structs.replace(runs["mission"], answer={})
    half = msgspec.structs.replace(runs["mission"], answer={"verdicts": {"c0": "verified_for_mission"}})

    assert scored(small.key("few"), silent).score == 0.0
    score = scored(small.key("few"), half)
    assert score.score is not None
    assert 0.7 < score.score < 0.72
    assert "3 claims were not judged" in score.says


def test_a_report_has_precision_and_recall_of_verdicts(small: Fixtures, runs: dict[str, LaneRun]) -> None:
    lanes = tuple(RoundLane(lane_id=f"few.{name}.1", fixture="few", lane=name, arm=LANES[name].arm) for name in runs)
    asked = Round(
        round_id="rnd_1",
        created_at="2026-01-01T00:00:00.000Z",
        version="1",
        policy_version="1",
        lanes=lanes,
        fixtures=(small.info("few"),),
    )
    report = reported(
        asked, {"few": small.key("few")}, [LaneResult(lane_id=f"few.{name}.1", run=run) for name, run in runs.items()]
    )

    by_lane = {one.lane: (one.verdict_precision, one.verdict_recall) for one in report.lanes}
    assert by_lane == {"direct": (0.5, 1.0), "mission": (1.0, 1.0)}
    assert {one.arm.value: one.verdict_precision for one in report.arms} == {"direct": 0.5, "hindbrain-mission-control": 1.0}
    assert "| few.direct.1 | 4 | 4 | 2 | 0.50 | 1.00 |" in report_text(report)
    assert "Verdicts on claims" in page(report)
