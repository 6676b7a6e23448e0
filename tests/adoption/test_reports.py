"""Reports on outcomes: counted, reviewed, grouped, and changing nothing (MIND-341, MIND-355 to MIND-363)."""

from collections.abc import Mapping
from typing import Any

import pytest

from hindbrain.domain.adoption import AdoptionEvent, Signal, Track
from hindbrain.engines.outcomes import Picked, analytics, picked, reviewed
from tests.adoption.outcomes import seen
from tests.support.still import still
from tests.support.world import DAY, Actor, World

ZEROS = dict.fromkeys(("total", "used", "accepted", "rejected", "misses", "rollbacks", "contradictions", "neutral"), 0)
REPORTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("adoption.list", {}),
    ("adoption.stats", {}),
    ("adoption.review", {}),
    ("adoption.analytics", {}),
    ("adoption.gate", {"candidate": "card-context-default"}),
    ("adoption.readiness", {"candidate": "card-context-default"}),
    ("defaults.show", {}),
    ("defaults.propose", {"candidate": "card-context", "rollback_criteria": ["a rollback"]}),
    ("defaults.rollback", {"candidate": "card-context"}),
)


@pytest.fixture
def actor(any_world: World) -> Actor:
    return any_world.at(any_world.brain("app"))


def made(counts: Mapping[str, int], feature: str = "include_cards", track: Track = Track.CARD_CONTEXT) -> Picked:
    """Outcomes as a store gives them."""
    signals = [Signal(name) for name, number in counts.items() for _ in range(number)]
    events = tuple(
        AdoptionEvent(id=f"adoption_{at}", seq=at, track=track, signal=signal, feature=feature, actor="a", channel="agent", at=at)
        for at, signal in enumerate(signals, 1)
    )
    return Picked(events=events, truncated=False)


@pytest.mark.req("MIND-341")
def test_mind_341_every_signal_is_counted(actor: Actor) -> None:
    for signal in Signal:
        seen(actor, signal.value)
    seen(actor, "used", track="evaluator", feature="advisory_gate")

    found = actor.call("adoption.stats")
    some = actor.call("adoption.stats", track="card_context", feature="include_cards")

    assert {name: found[name] for name in ZEROS} == dict.fromkeys(ZEROS, 1) | {"total": 8, "used": 2}
    assert {name: some[name] for name in ZEROS} == dict.fromkeys(ZEROS, 1) | {"total": 7}


@pytest.mark.req("MIND-355", "MIND-356")
def test_mind_355_mind_356_a_review_counts_by_feature_and_says_its_filters(actor: Actor) -> None:
    seen(actor, "accepted", 2)
    seen(actor, "rejected")
    seen(actor, "used", feature="other")

    whole = actor.call("adoption.review", feature="include_cards")
    some = actor.call("adoption.review", track="card_context", signal="accepted")

    assert (whole["writes"], whole["total"]) == (False, 3)
    assert whole["filters"]["feature"] == "include_cards"
    (one,) = whole["features"]
    assert (one["feature"], one["stats"]["accepted"], one["stats"]["rejected"]) == ("include_cards", 2, 1)
    assert (whole["conclusion"], bool(whole["reasons"])) == ("positive", True)
    assert (some["total"], some["stats"]["accepted"], some["stats"]["rejected"]) == (2, 2, 0)
    assert (some["filters"]["signal"], some["filters"]["track"]) == ("accepted", "card_context")


@pytest.mark.req("MIND-357")
@pytest.mark.parametrize(
    ("counts", "conclusion"),
    [
        ({}, "no_evidence"),
        ({"accepted": 5, "rollback": 1}, "rollback_risk"),
        ({"accepted": 2, "rejected": 1, "miss": 1}, "positive"),
        ({"accepted": 2, "rejected": 1, "miss": 1, "contradiction": 1}, "mixed"),
        ({"used": 3, "neutral": 1}, "mixed"),
        ({"accepted": 1}, "positive"),
    ],
)
def test_mind_357_the_first_conclusion_that_applies(counts: dict[str, int], conclusion: str) -> None:
    assert reviewed(made(counts), {})["conclusion"] == conclusion


@pytest.mark.req("MIND-359")
def test_mind_359_outcomes_are_grouped_by_track_and_feature(actor: Actor) -> None:
    seen(actor, "used", track="evaluator", feature="advisory_gate")
    seen(actor, "accepted", 2)
    seen(actor, "rejected")

    found = actor.call("adoption.analytics")

    assert (found["writes"], found["total_events"]) == (False, 4)
    assert [(one["track"], one["feature"], one["total"]) for one in found["groups"]] == [
        ("card_context", "include_cards", 3),
        ("evaluator", "advisory_gate", 1),
    ]
    assert [set(one) for one in found["groups"]] == [{*ZEROS, "track", "feature", "recommendation"}] * 2


@pytest.mark.req("MIND-360")
@pytest.mark.parametrize(
    ("counts", "recommendation"),
    [
        ({"accepted": 5, "rollback": 1}, "review_before_default_change"),
        ({"accepted": 5, "contradiction": 1}, "review_before_default_change"),
        ({"miss": 2, "accepted": 1}, "investigate_misses"),
        ({"rejected": 2, "accepted": 1}, "observe_or_rollback"),
        ({"accepted": 3}, "candidate_for_workflow_hardening"),
        ({"accepted": 2}, "observe_more_evidence"),
        ({"used": 1}, "observe_more_evidence"),
    ],
)
def test_mind_360_the_first_recommendation_that_applies(counts: dict[str, int], recommendation: str) -> None:
    assert analytics(made(counts))["groups"][0]["recommendation"] == recommendation


@pytest.mark.req("MIND-358", "MIND-361", "MIND-368", "MIND-011", "MIND-005")
def test_mind_358_mind_361_no_report_changes_anything_and_each_says_the_same_twice(world: World) -> None:
    root = world.brain("app")
    here = world.at(root)
    seen(here, "accepted", 5)
    here.call("adoption.review")  # opens what a first call opens

    with still(world.place):
        told = [here.call(operation, **words) for operation, words in REPORTS]
        again = [here.call(operation, **words) for operation, words in REPORTS]

    assert told == again
    assert all(answer.get("writes", False) is False for answer in told)
    assert here.call("adoption.review")["conclusion"] == "positive"
    assert here.call("defaults.show")["include_cards_default"] is False
    assert not world.home.config_file.exists()


@pytest.mark.req("MIND-011")
def test_mind_011_where_no_brain_is_reports_say_zero_and_make_none(world: World) -> None:
    nowhere = world.at(world.directory("nowhere"))

    told = {operation: nowhere.call(operation, **words) for operation, words in REPORTS}

    assert all(answer["ok"] for answer in told.values())
    assert {name: told["adoption.stats"][name] for name in ZEROS} == ZEROS
    assert told["adoption.review"]["conclusion"] == "no_evidence"
    assert told["adoption.analytics"]["groups"] == []
    assert told["defaults.rollback"]["rollback_required"] is False
    assert list(world.place.rglob("*.db")) == []


@pytest.mark.req("MIND-362")
def test_mind_362_reports_read_everything_and_say_when_they_were_told_not_to() -> None:
    many = made({"used": 10_001}).events

    assert (len(picked(many).events), picked(many).truncated) == (10_001, False)
    some = picked(many, limit=100)
    assert (len(some.events), some.truncated) == (100, True)
    assert some.events[-1] == many[-1], "the newest stay"


@pytest.mark.req("MIND-362")
@pytest.mark.parametrize("operation", ["adoption.stats", "adoption.review", "adoption.analytics"])
def test_mind_362_every_report_has_the_limit(world: World, operation: str) -> None:
    here = world.at(world.brain("app"))
    seen(here, "used", 3)

    whole, some = here.call(operation), here.call(operation, limit=2)

    total = "total_events" if operation == "adoption.analytics" else "total"
    assert (whole[total], whole["truncated"]) == (3, False)
    assert (some[total], some["truncated"]) == (2, True)
    assert here.call(operation, limit=0)["error"]["code"] == "invalid_params"


@pytest.mark.req("MIND-363")
def test_mind_363_a_time_restricts_every_report_and_is_told(world: World) -> None:
    here = world.at(world.brain("app"))
    seen(here, "rollback")
    world.clock.forward(365 * DAY)
    yesterday = world.clock() - DAY
    seen(here, "accepted", 3)

    ready = here.call("adoption.readiness", candidate="card-context", since=yesterday)
    before = here.call("adoption.readiness", candidate="card-context")
    gate = here.call("adoption.gate", candidate="card-context", since=yesterday)
    counted = [here.call("adoption.stats", **window)["total"] for window in ({"since": yesterday}, {"until": yesterday}, {})]

    assert (ready["ready"], ready["review"]["stats"]["rollbacks"]) == (True, 0)
    assert ready["window"]["since"].endswith("Z")
    assert ready["window"]["since"] == gate["window"]["since"] == ready["review"]["filters"]["since"]
    assert (before["ready"], before["window"]) == (False, {"since": None, "until": None})
    assert gate["ready"] is True
    assert counted == [3, 1, 4]
    assert len(here.call("adoption.list", since=yesterday)["events"]) == 3
    assert here.call("adoption.analytics", since=yesterday)["total_events"] == 3
    assert here.call("adoption.review", until=yesterday)["conclusion"] == "rollback_risk"
    assert here.call("adoption.stats", since="soon")["error"]["code"] == "invalid_params"
