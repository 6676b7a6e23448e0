"""A node is found by its id, its path or a name that only one node has, in every operation that takes one."""

from typing import Any

import pytest

from tests.support.world import World

FILES = {
    "src__shop__app_py": "from shop.base import Base\n\n\nclass Shop(Base):\n    def run(self):\n        return 1\n",
    "src__shop__base_py": "class Base:\n    def run(self):\n        return 2\n\n\ndef shop_of():\n    return Base()\n",
    "tests__test_app_py": "def test_other():\n    class Shop:\n        pass\n\n    assert Shop\n",
    "README_md": "# Shop\n\nShop is a shop.\n\n## Base\n\nThe base.\n",
    "docs__shop_md": "# Shop\n\nMore.\n",
}
SHOP = "file::src/shop/app.py::class::Shop"
BASE = "file::src/shop/base.py::class::Base"


@pytest.mark.parametrize("name", [SHOP, "Shop", "src/shop/app.py::Shop", "./src/shop/app.py::Shop"])
@pytest.mark.parametrize(
    ("operation", "argument", "more"),
    [
        ("impact", "node_id", {}),
        ("why", "source", {"target": "Base"}),
        ("predict", "changed_node", {}),
        ("timeline", "node", {}),
        ("graph.show", "node", {}),
        ("graph.export", "node", {"format": "json"}),
    ],
)
def test_a_class_is_found_by_its_bare_name(world: World, operation: str, argument: str, more: dict[str, Any], name: str) -> None:
    agent = world.at(world.brain("x", **FILES))

    answer = agent.call(operation, **{argument: name}, **more)

    assert answer["ok"], answer
    assert answer.get("proof_state") != "blocked" or "there is no" not in answer["reason"], answer
    assert answer.get("suggestions", []) == []


def test_a_bare_name_and_an_id_give_the_same_answer(world: World) -> None:
    agent = world.at(world.brain("x", **FILES))

    assert agent.call("impact", node_id="Shop")["blast_radius"] == agent.call("impact", node_id=SHOP)["blast_radius"]
    assert agent.call("why", source="Shop", target="Base")["found"] is True
    assert agent.call("counterfactual", node_ids=["Shop"]).get("unknown", []) == []


def test_a_qualified_name_leads_to_the_method(world: World) -> None:
    agent = world.at(world.brain("x", **FILES))

    shown = [agent.call("graph.show", node=name)["node_id"] for name in ("Shop.run", "Base::run", "src/shop/base.py::Base.run")]

    assert shown == [f"{SHOP}::fn::run", f"{BASE}::fn::run", f"{BASE}::fn::run"]


def test_a_name_that_several_nodes_have_is_no_guess_and_they_are_named(world: World) -> None:
    agent = world.at(world.brain("x", **FILES))

    answer = agent.call("impact", node_id="run")

    assert answer["proof_state"] == "blocked"
    assert set(answer["suggestions"]) == {f"{SHOP}::fn::run", f"{BASE}::fn::run"}
    assert answer["reason"].startswith("2 nodes are called 'run'. Name one by its id: file::")


def test_a_name_in_another_case_is_found_when_only_one_node_has_it(world: World) -> None:
    agent = world.at(world.brain("x", **FILES))

    assert agent.call("graph.show", node="SHOP_OF")["node_id"] == "file::src/shop/base.py::fn::shop_of"
    assert agent.call("impact", node_id="Shopp")["suggestions"][0] == SHOP
