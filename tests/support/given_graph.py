"""A brain whose graph is given by hand: what the operations on a graph are asked about."""

from collections.abc import Sequence
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.graph import Edge, Node
from tests.support.world import Actor, World

__all__ = ["brain_of", "given_graph", "small_project", "symbol", "weight_of"]


def brain_of(world: World, root: str) -> Brain:
    brain = world.home.project(root)
    assert brain is not None
    return brain


def given_graph(world: World, root: str, nodes: Sequence[Node], edges: Sequence[Edge], owner: str = "given") -> None:
    """Put nodes and edges into the graph of a brain beside what its files gave."""
    with world.app.house.brains.use(brain_of(world, root)) as opened:
        assert opened.graph is not None
        opened.graph.merge(owner, nodes, edges)


def symbol(path: str, name: str, line: int = 1, end: int = 0, **more: Any) -> Node:
    return Node(
        id=f"file::{path}::fn::{name}", label=name, kind="function", path=path, line_start=line, line_end=end or line + 4, **more
    )


def small_project(world: World, name: str = "app", **files: str) -> tuple[str, Actor]:
    """A brain with a hub, three users of it, a helper in a chain and a lonely file, whatever the extractors make of files."""
    root = world.brain(name, **files)
    paths = ["pkg/hub.zz", "pkg/one.zz", "pkg/two.zz", "pkg/three.zz", "pkg/chain.zz", "pkg/alone.zz"]
    nodes = [Node(id=f"file::{path}", label=path.split("/")[1], kind="file", path=path) for path in paths]
    nodes += [symbol("pkg/hub.zz", "dispatch_event"), symbol("pkg/one.zz", "load_user"), symbol("pkg/two.zz", "load_team")]
    edges = [
        Edge(source=f"file::{path}", target=node.id, relation="contains", weight=1.0)
        for path in paths
        for node in nodes
        if node.kind == "function" and node.path == path
    ]
    edges += [
        Edge(source=f"file::pkg/{user}.zz", target="file::pkg/hub.zz", relation="imports", weight=0.6, causal=0.6)
        for user in ("one", "two", "three")
    ]
    edges.append(Edge(source="file::pkg/hub.zz", target="file::pkg/chain.zz", relation="imports", weight=0.6, causal=0.6))
    given_graph(world, root, nodes, edges)
    return root, world.at(root)


def weight_of(world: World, root: str, source: str, target: str, relation: str = "imports") -> float:
    """The weight of an edge as the brain uses it now."""
    with world.app.house.brains.use(brain_of(world, root)) as opened:
        net = world.app.house.graph.access.warm.of(opened).net
        for edge in net.edge_between(net.index[source], net.index[target]):
            if net.relations[net.relation[edge]] == relation:
                return float(net.strength(edge[None].astype("int32"))[0])
    raise AssertionError(f"no edge {source} -{relation}-> {target}")
