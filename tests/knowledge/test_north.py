"""The knowledge beat of a first answer: one universal law at most, then by rank, within the budget."""

from typing import Any

import pytest

from tests.support.scholar import Scholar
from tests.support.world import World


@pytest.mark.req("MIND-170", "MIND-047", "MIND-287")
def test_mind_170_north_shows_one_law_then_by_rank_and_no_opt_in_card(scholar: Scholar) -> None:
    for text in ("Every retry budget is finite.", "Every retry budget is spent."):
        scholar.canonical(text)
    scholar.promoted("Spend the retry budget late.", tier="shu")
    scholar.promoted("Read the retry budget with ctl.", tier="qi")
    scholar.promote(scholar.created("Count the retry budget.", tier="qi"))
    candidate = scholar.distilled("Guess the retry budget.", tier="qi")

    answer = scholar.ok("north", task="fix the retry budget")

    assert [item["tier"] for item in answer["knowledge"]] == ["dao_tian", "dao_ren", "dao_ren", "shu"]
    assert candidate not in [item["id"] for item in answer["knowledge"]]
    assert "Spend the retry budget late." in answer["rendered"]
    assert answer["agent_runtime_contract"]["observed"]["candidates"] >= 4


def test_north_says_nothing_of_knowledge_where_there_is_none_about_the_task(scholar: Scholar) -> None:
    scholar.promoted("Spend the retry budget late.", tier="shu")

    assert "knowledge" not in scholar.ok("north", task="paint the fence")
    assert "knowledge" not in scholar.ok("north")
    assert "knowledge" not in scholar.ok("north", task="retry budget", tier="medulla")


def test_conf_01_north_of_another_project_shows_no_card_of_this_one(any_world: World) -> None:
    a, b = Scholar(any_world, any_world.brain("a")), Scholar(any_world, any_world.brain("b"))
    a.promoted("Spend the retry budget late.", tier="shu")

    assert [item["text"] for item in a.ok("north", task="retry budget")["knowledge"]] == ["Spend the retry budget late."]
    assert "knowledge" not in b.ok("north", task="retry budget")


def test_conf_18_north_stays_within_its_budget_with_long_cards_and_claims(world: World) -> None:
    scholar = Scholar(world, world.brain("app"))
    long: Any = " ".join(["retry"] * 35)
    for n in range(6):
        scholar.promoted(f"{n} {long}.")
        scholar.ok("memorize", node_label=f"Retry {n}", text=" ".join(["retry budget"] * 400))

    answer = scholar.ok("north", task="retry budget")

    assert len(answer["knowledge"]) == 4
    assert len(answer["rendered"]) // 4 <= 2000
