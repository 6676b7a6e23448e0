"""A graph as a file: GraphML that parses and fits its shape, DOT by its syntax, a snapshot that holds everything, a drawing."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hindbrain.engines.drawing import layout, svg
from hindbrain.engines.graph_formats import dot, graphml, snapshot
from hindbrain.engines.network import Network
from hindbrain.engines.subgraph import around, tree, whole
from tests.support.given_graph import small_project
from tests.support.small_graph import columns, network
from tests.support.world import World

STRANGE = 'weird "quotes" <tags> & back\\slash \x07 und Ümläute 日本'
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
DOT_LINE = re.compile(r'^  ("(?:[^"\\]|\\.)*")( -> "(?:[^"\\]|\\.)*")? \[(?:\w+=(?:"(?:[^"\\]|\\.)*"|\w+)(?:, )?)+\];$')


def some() -> Network:
    nodes = {
        "file::a.py": {"kind": "file", "path": "a.py", "pagerank": 0.5, "last_modified": 17.0, "change_frequency": 0.25},
        "file::a.py::fn::go": {"label": STRANGE, "tags": "x y"},
        "custom::q": {"kind": "custom:3"},
    }
    edges: list[dict[str, Any]] = [
        {"s": "file::a.py", "t": "file::a.py::fn::go", "relation": "contains"},
        {"s": "file::a.py::fn::go", "t": "custom::q", "weight": 0.4, "causal": 0.5, "bidirectional": True},
        {"s": "custom::q", "t": "file::a.py", "weight": 0.3, "inhibitory": True},
    ]
    return network(nodes, edges)


def star(count: int) -> Network:
    return network(["hub", *(f"n{i:03}" for i in range(count))], [{"s": f"n{i:03}", "t": "hub"} for i in range(count)])


# -- formats -------------------------------------------------------------------------------------------------------------


def test_gr_export_graphml_parses_and_declares_what_it_uses() -> None:
    net = some()

    root = ET.fromstring(graphml(net, whole(net, 100)))

    assert root.tag == f"{GRAPHML}graphml"
    keys = {key.get("id"): key.get("for") for key in root.findall(f"{GRAPHML}key")}
    graph = root.find(f"{GRAPHML}graph")
    assert graph is not None
    assert graph.get("edgedefault") == "directed"
    nodes = {node.get("id"): node for node in graph.findall(f"{GRAPHML}node")}
    assert set(nodes) == set(net.ids)
    for edge in graph.findall(f"{GRAPHML}edge"):
        assert {edge.get("source"), edge.get("target")} <= set(nodes)
    for kind in ("node", "edge"):
        used = {data.get("key") for one in graph.findall(GRAPHML + kind) for data in one}
        assert all(keys[key] == kind for key in used)
    label = nodes["file::a.py::fn::go"].find(f"{GRAPHML}data[@key='label']")
    assert label is not None
    assert label.text == STRANGE.replace("\x07", "\ufffd")


def test_gr_export_dot_has_one_quoted_statement_a_line() -> None:
    net = some()

    lines = dot(net, whole(net, 100)).splitlines()

    assert lines[0] == "digraph hindbrain {"
    assert lines[-1] == "}"
    assert all(DOT_LINE.match(line) for line in lines[3:-1]), lines
    assert sum(" -> " in line for line in lines[3:-1]) == 3


def test_gr_133_a_snapshot_of_version_3_holds_everything_of_a_graph() -> None:
    net = some()

    told = json.loads(json.dumps(snapshot(net, whole(net, 100), {})))

    assert told["version"] == 3
    assert [
        set(node) >= {"external_id", "label", "node_type", "tags", "last_modified", "change_frequency", "provenance"}
        for node in told["nodes"]
    ] == [True] * 3
    assert {node["external_id"]: node["node_type"] for node in told["nodes"]} == {
        "custom::q": 103,  # GR-008
        "file::a.py": 0,
        "file::a.py::fn::go": 2,
    }
    edges = [
        {
            "s": edge["source_id"],
            "t": edge["target_id"],
            "relation": edge["relation"],
            "weight": edge["weight"],
            "causal": edge["causal_strength"],
            "inhibitory": edge["inhibitory"],
            "bidirectional": edge["direction"] == "bidirectional",
        }
        for edge in told["edges"]
    ]
    nodes = {
        node["external_id"]: {
            "label": node["label"],
            "kind": node["kind"],
            "path": node["provenance"]["source_path"],
            "tags": " ".join(node["tags"]),
            "last_modified": node["last_modified"],
            "change_frequency": node["change_frequency"],
        }
        for node in told["nodes"]
    }
    assert snapshot(Network(columns(nodes, edges)), whole(net, 100), {}) == told


# -- drawings ------------------------------------------------------------------------------------------------------------


def test_gr_export_a_drawing_parses_and_shows_every_node_and_edge() -> None:
    net = some()

    picture = ET.fromstring(svg(net, whole(net, 100), "a & b"))

    space = "{http://www.w3.org/2000/svg}"
    titles = [one.text for one in picture.iter(f"{space}title")]
    assert titles[0] == "a & b"
    assert {f"{one} ({kind})" for one, kind in zip(net.ids, net.kinds, strict=True)} <= set(titles)
    lines = [one for one in picture.iter(f"{space}path") if one.get("marker-end")]
    markers = {one.get("id") for one in picture.iter(f"{space}marker")}
    assert len(lines) == 3
    assert {str(one.get("marker-end"))[5:-1] for one in lines} <= markers


def test_gr_export_the_same_graph_is_drawn_the_same_and_nodes_lie_apart() -> None:
    net = star(30)
    part = whole(net, 100)

    place = layout(31, net.source.astype(np.int64), net.target.astype(np.int64))

    assert svg(net, part, "x") == svg(star(30), part, "x")
    assert place.min() >= 0.0
    assert place.max() <= 1.0
    apart = np.sqrt(((place[:, None] - place[None]) ** 2).sum(axis=2)) + np.eye(31)
    assert apart.min() > 0.02


# -- parts ---------------------------------------------------------------------------------------------------------------


def test_gr_export_a_neighbourhood_has_what_is_near_in_both_directions() -> None:
    net = network("abcde", [{"s": "a", "t": "b"}, {"s": "c", "t": "b"}, {"s": "c", "t": "d"}, {"s": "d", "t": "e"}])

    one, two = around(net, 1, 1, 100), around(net, 1, 2, 100)

    assert [net.ids[node] for node in one.nodes] == ["a", "b", "c"]
    assert [net.ids[node] for node in two.nodes] == ["a", "b", "c", "d"]


def test_gr_export_what_is_too_much_is_left_out_and_counted() -> None:
    net = star(50)

    assert (len(whole(net, 20).edges), whole(net, 20).left_out) == (20, 30)
    assert (len(around(net, 0, 1, 20).edges), around(net, 0, 1, 20).left_out) == (20, 30)
    assert "30 edges left out" in svg(net, whole(net, 20), "x")


def test_gr_show_a_tree_names_relations_and_counts_what_it_leaves_out() -> None:
    net = star(5)

    lines = tree(net, 0, 1, 3)

    assert lines[0] == "hub  (function)"
    assert lines[1].endswith("← calls")
    assert lines[-1].endswith("and 2 more")


# -- the operation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "begins"), [("graphml", "<?xml"), ("json", "{"), ("dot", "digraph"), ("svg", "<svg xmlns")])
def test_gr_export_writes_a_file_that_nothing_overwrites(world: World, form: str, begins: str) -> None:
    root, agent = small_project(world)

    answer = agent.call("graph.export", target=f"out.{form}", format=form)
    again = agent.call("graph.export", target=f"out.{form}", format=form)

    assert answer["path"] == str(Path(root, f"out.{form}"))
    assert Path(answer["path"]).read_text(encoding="utf-8").startswith(begins)
    assert answer["bytes"] == Path(answer["path"]).stat().st_size
    assert again["error"]["code"] == "invalid_params"


def test_gr_export_a_neighbourhood_fits_into_the_answer(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("graph.export", format="json", node="pkg/hub.zz", depth=1)

    told = json.loads(answer["content"])
    assert "file::pkg/hub.zz" in [node["external_id"] for node in told["nodes"]]
    assert len(told["nodes"]) == answer["nodes"] < agent.call("persist")["node_count"]


def test_gr_export_an_unknown_node_is_told_with_the_nearest(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("graph.export", format="svg", node="pkg/hubb.zz")

    assert answer["ok"] is False
    assert "file::pkg/hub.zz" in answer["error"]["suggestions"]
