"""Experience from above: every pair with its advice, the Dreamer's nights, how a curve came about, what would bankrupt a rule."""

import pytest

from hindbrain.domain.experience import Pair
from tests.experience.test_operations import GLOBAL, put, root, six  # noqa: F401 - root is a fixture
from tests.support.experience import PAIR, megram
from tests.support.world import DAY, World

OTHER = Pair(space="tool:glob", entity="path:docs")


def test_exp_093_pairs_tell_the_strongest_first_with_levels_and_advice(world: World, root: str) -> None:  # noqa: F811
    put(world, root, megram("accept"), megram("abandon", pair=OTHER), megram("accept"), megram("refine", pair=GLOBAL))
    agent = world.at(root)

    answer = agent.call("experience.pairs")
    rows = [(one["space"], one["action"], one["attention"], one["decision"], one["levels"]["M"]) for one in answer["pairs"]]
    assert rows == [
        (PAIR.space, "Exploit", 1.8, 1.8, 2),
        (OTHER.space, "Avoid", 0.95, -0.95, 1),
        (GLOBAL.space, "Ignore", 0.1, 0.05, 1),
    ]
    assert answer["by_action"] == {"Exploit": 1, "Avoid": 1, "Caution": 0, "Ignore": 1}

    found = agent.call("experience.pairs", find="GLOB docs")
    assert [one["space"] for one in found["pairs"]] == [OTHER.space]
    assert [one["space"] for one in agent.call("experience.pairs", action="Avoid")["pairs"]] == [OTHER.space]
    short = agent.call("experience.pairs", limit=1)
    assert (len(short["pairs"]), short["total"], short["left_out"]) == (1, 3, 2)
    assert agent.call("experience.pairs", find="nothing is called so")["pairs"] == []


def test_exp_093_pairs_of_one_brain_are_not_those_of_another(world: World, root: str) -> None:  # noqa: F811
    put(world, root, megram("accept"))
    assert world.at(world.brain("kiosk")).call("experience.pairs")["pairs"] == []
    assert world.at(world.brain("kiosk")).call("experience.nights")["nights"] == []


def test_exp_093_nights_name_the_rules_that_each_made_or_distrusted(world: World, root: str) -> None:  # noqa: F811
    first = six(world, root, content="Succeeded. Tools: glob.")
    world.clock.now += DAY
    second = six(world, root, state="abandon", pair=OTHER)
    world.clock.now += DAY
    told = world.human(root).call("experience.feedback", rule=first, content="It misses what git ignores.")
    assert not told["demoted"]
    assert world.human(root).call("experience.feedback", rule=first, content="It is slow as well.")["demoted"]

    nights = world.at(root).call("experience.nights")["nights"]
    assert [(one["promoted"], one["demoted"]) for one in nights] == [(0, 1), (1, 0), (1, 0)]
    assert [[rule["id"] for rule in one["promoted_rules"]] for one in nights] == [[], [second], [first]]
    assert [rule["id"] for rule in nights[0]["demoted_rules"]] == [first]
    assert nights[0]["demoted_rules"][0]["level"] == "K"
    assert [one["at"] for one in nights] == sorted((one["at"] for one in nights), reverse=True)
    assert len(world.at(root).call("experience.nights", limit=1)["nights"]) == 1

    world.human(root).call("experience.forget", megram=second, reason="made up")
    left = world.at(root).call("experience.nights")["nights"]
    assert (left[1]["promoted"], left[1]["promoted_rules"]) == (1, [])


def test_exp_093_what_would_take_the_trust_of_a_rule_takes_it(world: World, root: str) -> None:  # noqa: F811
    rule = six(world, root, content="Succeeded. Tools: glob.")
    agent, person = world.at(root), world.human(root)

    trust = agent.call("experience.explain", megram=rule)["trust"]
    assert (trust["margin"], trust["against_count"], trust["lost"]) == (1.0, 0, False)
    needed = {one["state"]: one["needed"] for one in trust["would_take_it"]}
    assert needed == {"negative_feedback": 2, "abandon": 2, "change_approach": 2}
    assert agent.call("experience.summary")["c_level"][0]["trust"] == trust

    assert not person.call("experience.feedback", rule=rule, content="It misses what git ignores.")["demoted"]
    trust = agent.call("experience.explain", megram=rule)["trust"]
    assert (trust["margin"], trust["against_count"]) == (0.0, 1)
    assert trust["against"][0]["content"] == "It misses what git ignores."
    assert {one["needed"] for one in trust["would_take_it"]} == {1}

    assert person.call("experience.feedback", rule=rule, content="It is slow as well.")["demoted"]
    assert agent.call("experience.explain", megram=rule)["trust"] is None


def test_exp_093_a_warning_is_taken_by_what_went_well_against_it(world: World, root: str) -> None:  # noqa: F811
    rule = six(world, root, state="abandon", pair=OTHER)
    trust = world.at(root).call("experience.explain", megram=rule)["trust"]
    assert {one["state"] for one in trust["would_take_it"]} == {"negative_feedback", "accept", "success", "dissonance"}
    assert "It would be taken by" in world.at(root).call("experience.explain", megram=rule)["rendered"]


def test_exp_093_the_laws_are_told_beside_the_rules(world: World, root: str) -> None:  # noqa: F811
    put(world, root, megram("accept"))
    summary = world.at(root).call("experience.summary")
    assert len(summary["t_level"]) == summary["level_counts"]["T"] == 4
    assert {one["state"] for one in summary["t_level"]} == {"law"}


def test_curve_looks_back_as_far_as_what_is_kept_tells(world: World, root: str) -> None:  # noqa: F811
    put(world, root, megram("accept"))
    world.clock.now += 10 * DAY
    put(world, root, megram("accept", days=-10))

    answer = world.at(root).call("experience.curve", space=PAIR.space, entity=PAIR.entity, back=59.0, days=10)
    before = answer["before"]
    day = {round(at): value for at, value in zip(before["days"], before["attention"], strict=True)}
    assert (before["days"][0], before["days"][-1]) == (-59.0, 0.0)
    assert day[-11] == 0.0
    assert day[-10] == pytest.approx(0.9)
    assert day[-1] < day[-9] < 0.9
    assert day[0] == pytest.approx(answer["attention"][0])
    assert "before" not in world.at(root).call("experience.curve", space=PAIR.space)


def test_curve_of_what_a_rule_carries_shows_its_past_only(world: World, root: str) -> None:  # noqa: F811
    (one, *_) = put(world, root, *(megram("accept") for _ in range(6)))
    world.clock.now += DAY
    world.human(root).call("experience.dream")
    world.clock.now += DAY
    answer = world.at(root).call("experience.curve", megram=one, back=59.0)
    day = {round(at): value for at, value in zip(answer["before"]["days"], answer["before"]["attention"], strict=True)}
    assert (day[-3], day[-2]) == (0.0, pytest.approx(0.9))
    assert day[0] == answer["attention"][0] == 0.0
