"""A checkout of a handful of files: what is asked for in words is found, and what is not there is not."""

import pytest

from hindbrain.engines.code_question import CodeQuestion
from hindbrain.policy.code_search import QUESTION_CHARS
from tests.support.world import World

FILES = {
    "src__cart_py": '"""The cart."""\n\n\ndef total(cart):\n    """What a cart costs, in cents."""\n    return sum(cart)\n',
    "src__prices_py": '"""Prices, in cents."""\n\nPRICES = {"apple": 30}\n',
    "tests__test_cart_py": "from src.cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
}


@pytest.mark.req("GR-046", "GR-084", "GR-086")
def test_gr_086_rows_of_code_and_of_memory_each_carry_what_they_are(world: World) -> None:
    x = world.brain("x", **FILES)
    world.at(x).memorize("Rounding", "Every sum is cut down to whole cents, with jitter in the last digit.")

    code = next(row for row in world.at(x).seek("what does a cart cost")["results"] if row["node_id"] == "file::src/cart.py")
    light = world.at(x).seek("jitter", scope="light::")["results"][0]
    shared = world.at(x).seek("cart", tier="medulla")["results"]

    keys = {"node_id", "label", "type", "score", "score_breakdown", "intent_summary", "file_path", "line_start", "line_end"}
    assert keys | {"excerpt", "connections"} <= code.keys()
    assert len(code["connections"]) <= 5
    assert all({"node_id", "label", "relation"} <= one.keys() for one in code["connections"])
    assert {"slug", "source_agent", "origin_brain", "age_ms", "tier"} <= light.keys()
    assert light["slug"] == "rounding"
    assert shared == []


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how much does a cart cost", "file::src/cart.py"),
        ("what does a cart cost", "file::src/cart.py"),
        ("where are prices kept", "file::src/prices.py"),
        ("how does payment by credit card work", None),
        ("the weather in Lisbon", None),
    ],
)
def test_a_question_in_words_finds_the_file_or_nothing(world: World, question: str, first: str | None) -> None:
    x = world.brain("x", **FILES)

    found = world.at(x).seek(question)["results"]

    assert (found[0]["node_id"] if found else None) == first


@pytest.mark.parametrize("question", ["aB" * 200_000, "z" * 400_000, "a/b." * 100_000], ids=["camel", "one", "path"])
def test_a_question_without_end_is_read_to_a_bound(world: World, question: str) -> None:
    """Its length is no reason to fail, and nothing beyond the bound is looked at."""
    x = world.brain("x", **FILES)

    for tool, name in (("seek", "query"), ("north", "task"), ("memory.search", "query"), ("activate", "query")):
        assert world.at(x).call(tool, **{name: question})["ok"], tool
    assert CodeQuestion(question).counts.total() <= 2 * QUESTION_CHARS // 100
