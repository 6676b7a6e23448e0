"""The graph as a page draws it: columns of numbers, each claim one node, and limits that say what they left out."""

from typing import Any

from hindbrain.engines.graph_columns import citations, columns
from hindbrain.engines.impact import knowledge
from hindbrain.engines.network import Network
from hindbrain.policy.activation import Drawn
from hindbrain.services.warm_graph import _NO_CODE
from tests.support.given_graph import brain_of, small_project
from tests.support.world import World

HUB = "file::pkg/hub.zz"


def edges_of(answer: dict[str, Any]) -> set[tuple[str, str, str]]:
    """The edges by name: what the numbers stand for."""
    ids, relations, told = answer["nodes"]["id"], answer["relations"], answer["edges"]
    rows = zip(told["source"], told["target"], told["relation"], strict=True)
    return {(ids[source], relations[relation], ids[target]) for source, target, relation in rows}


def test_gr_columns_say_what_the_export_says_in_numbers(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("graph.columns")

    nodes = answer["nodes"]
    assert {len(nodes[name]) for name in ("id", "label", "kind", "path")} == {answer["node_count"]}
    at = nodes["id"].index(HUB)
    assert (nodes["label"][at], answer["kinds"][nodes["kind"][at]], answer["paths"][nodes["path"][at]]) == (
        "hub.zz",
        "file",
        "pkg/hub.zz",
    )
    assert len(edges_of(answer)) == answer["edge_count"]
    assert answer["left_out"] == {"nodes": 0, "edges": 0, "claims": 0}


def test_gr_columns_a_claim_is_one_node_beside_the_code_it_cites(world: World) -> None:
    _, agent = small_project(world, **{"pkg/hub.zz": "first\nsecond\n"})
    agent.call("memorize", node_label="Hub rule", text="The hub dispatches.", evidence=["pkg/hub.zz:2"], confidence="high")
    agent.call("memorize", node_label="Loose", text="A belief without evidence.")

    answer = agent.call("graph.columns")

    ids = answer["nodes"]["id"]
    [claim] = answer["claims"]["node"]
    assert answer["claims"]["slug"] == ["hub-rule"]
    assert (answer["nodes"]["label"][claim], answer["kinds"][answer["nodes"]["kind"][claim]]) == ("Hub rule", "claim")
    assert [one for one in ids if one.startswith("light::")] == [ids[claim]]
    assert (ids[claim], "cites", HUB) in edges_of(answer)
    assert (answer["cited"]["node"], answer["cited"]["claims"]) == ([ids.index(HUB)], [1])


def network(world: World, root: str) -> Network:
    with world.app.house.brains.use(brain_of(world, root)) as opened:
        return world.app.house.graph.access.warm.of(opened).net


def test_gr_columns_leave_out_the_least_and_say_how_many(world: World) -> None:
    root, _ = small_project(world)
    net = network(world, root)

    told = columns(net, citations(net, knowledge(net)), most=Drawn(nodes=3, edges=1, claims=0))

    kinds = [told["kinds"][kind] for kind in told["nodes"]["kind"]]
    assert set(kinds) <= {"file", "directory"}
    assert (told["left_out"]["nodes"], len(told["edges"]["source"])) == (net.nodes - 3, 1)
    assert told["left_out"]["edges"] > 0


def test_gr_columns_a_named_node_is_drawn_however_small_it_is(world: World) -> None:
    root, _ = small_project(world)
    net = network(world, root)
    small = net.index["file::pkg/two.zz::fn::load_team"]

    told = columns(net, citations(net, knowledge(net)), near=[small], most=Drawn(nodes=1, edges=1, claims=0))

    assert told["nodes"]["id"] == ["file::pkg/two.zz::fn::load_team"]


def test_gr_columns_of_a_graph_without_nodes_are_empty(world: World) -> None:
    root = world.brain("bare")
    net = Network(_NO_CODE)

    told = columns(net, citations(net, knowledge(net)))

    assert told["nodes"] == {"id": [], "label": [], "kind": [], "path": []}
    assert world.at(root).call("graph.columns")["ok"]


def test_gr_show_tells_where_a_node_stands(world: World) -> None:
    _, agent = small_project(world)

    node = agent.call("graph.show", node=HUB, depth=1)["node"]

    assert (node["node_id"], node["type"], node["provenance"]["source_path"]) == (HUB, "file", "pkg/hub.zz")
    assert node["pagerank"] >= 0
